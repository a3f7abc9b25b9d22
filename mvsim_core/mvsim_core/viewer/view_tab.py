# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The tab of views, and of what is shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from mvsim_core.viewer.fields import Field
from mvsim_core.viewer.scene import LABELS

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer

#: Lengths of arrows that can be chosen [m/N].
LEAST_SCALE, MOST_SCALE = 0.001, 0.2
OVERVIEW, TOP, BEHIND = "Overview", "Top", "Behind"


class ViewTab:
    """Views of the camera, following, and check boxes for all that can be shown."""

    def __init__(self, viewer: Viewer) -> None:
        """Make the widgets."""
        self._viewer = viewer
        self._fields: list[Field] = []
        gui, stage = viewer.server.gui, viewer.stage
        views = gui.add_button_group("View", (OVERVIEW, TOP, BEHIND))
        views.on_click(self._on_view)
        hint = "Keeps it where it is in the picture"
        cameras = stage.cameras
        self._add_box(
            "Follow the selected", lambda: cameras.followed != "", self._set_follow, hint
        )
        self._add_box("Parallel projection", lambda: cameras.parallel, cameras.set_parallel)
        for label, key, view in (("Overview", "O", OVERVIEW), ("View from above", "T", TOP)):
            command = gui.add_command(label, hotkey=key)
            command.on_trigger(lambda event, view=view: self._look(view, event.client))
        command = gui.add_command("Follow the selected", hotkey="F")
        command.on_trigger(self._on_follow_key)
        with gui.add_folder("Sensors"):
            self._add_sensors()
        with gui.add_folder("Layers"):
            self._add_layers()

    def _add_sensors(self) -> None:
        gui, viewer = self._viewer.server.gui, self._viewer
        sensors = viewer.stage.sensors
        layers = sensors.layers
        if not layers:
            gui.add_markdown("The world has no lidars and no cameras.")
            return
        for layer in layers:
            self._add_box(
                layer, partial(sensors.shown.get, layer), partial(sensors.set_shown, layer)
            )
        self._add_box(
            "Of all vehicles",
            lambda: sensors.all_vehicles,
            lambda on: setattr(sensors, "all_vehicles", on),
        )

    def _add_layers(self) -> None:
        stage = self._viewer.stage
        for name, overlay in stage.overlays.items():
            self._add_box(
                name, partial(getattr, overlay, "shown"), partial(setattr, overlay, "shown")
            )
        scale = self._viewer.server.gui.add_slider(
            "Arrows m/N",
            LEAST_SCALE,
            MOST_SCALE,
            LEAST_SCALE,
            self._scale(),
            hint="Length of the arrow of a force of 1 N",
        )
        self._fields.append(Field(self._viewer, scale, self._scale, self._set_scale))
        backdrop, nodes = stage.backdrop, stage.nodes
        if backdrop.regions:
            self._add_box("Regions", lambda: backdrop.regions_shown, backdrop.show_regions)
        for label in nodes.labels:
            self._add_box(LABELS[label], partial(nodes.shows, label), partial(nodes.show, label))

    def _add_box(
        self,
        label: str,
        shown: Callable[[], Any],
        show: Callable[[bool], object],
        hint: str | None = None,
    ) -> None:
        box = self._viewer.server.gui.add_checkbox(label, bool(shown()), hint=hint)
        self._fields.append(Field(self._viewer, box, shown, show))

    def update(self) -> None:
        """Show in the boxes what was switched elsewhere."""
        for field in self._fields:
            field.update()

    def _scale(self) -> float:
        scale = self._viewer.stage.overlays["Wheel forces"].scale
        return float(min(max(scale, LEAST_SCALE), MOST_SCALE))

    def _set_scale(self, scale: float) -> None:
        overlays = self._viewer.stage.overlays
        for overlay in (overlays["Wheel forces"], overlays["Contact forces"]):
            overlay.scale = scale

    async def _on_view(self, event: Any) -> None:
        self._look(event.target.value, event.client)

    def _look(self, view: str, client: Any) -> None:
        cameras, viewer = self._viewer.stage.cameras, self._viewer
        work = {
            OVERVIEW: lambda: cameras.overview(client),
            TOP: lambda: cameras.top(client),
            BEHIND: lambda: self._behind(client),
        }[view]
        viewer.submit(work, client)

    def _behind(self, client: Any) -> None:
        selected = self._viewer.stage.selected
        if selected in self._viewer.world.vehicles:
            self._viewer.stage.cameras.behind(selected, client)

    def _on_follow_key(self, event: Any) -> None:
        self._viewer.submit(lambda: self._set_follow(not self._viewer.stage.cameras.followed))

    def _set_follow(self, on: bool) -> None:
        stage = self._viewer.stage
        stage.cameras.follow(stage.selected if on else "")

    def selection_changed(self) -> None:
        """Follow the newly selected instead of the one before."""
        stage = self._viewer.stage
        if stage.cameras.followed and stage.selected:
            stage.cameras.follow(stage.selected)
