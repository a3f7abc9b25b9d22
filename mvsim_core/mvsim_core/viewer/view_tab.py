# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The tab of views, and of what is shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

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
        self._boxes: list[tuple[Any, Callable[[], bool]]] = []
        gui, stage = viewer.server.gui, viewer.stage
        views = gui.add_button_group("View", (OVERVIEW, TOP, BEHIND))
        views.on_click(self._on_view)
        follow = stage.cameras.followed != ""
        self._follow = gui.add_checkbox(
            "Follow the selected", follow, hint="Keeps it where it is in the picture"
        )
        self._follow.on_update(self._on_follow)
        parallel = gui.add_checkbox("Parallel projection", stage.cameras.parallel)
        self._on_check(parallel, lambda on: viewer.stage.cameras.set_parallel(on))
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
            box = gui.add_checkbox(layer, sensors.shown[layer])
            self._on_check(box, partial(self._set_layer, layer))
            self._boxes.append((box, partial(self._layer, layer)))
        every = gui.add_checkbox("Of all vehicles", sensors.all_vehicles)
        self._on_check(every, lambda on: setattr(viewer.stage.sensors, "all_vehicles", on))

    def _add_layers(self) -> None:
        gui, viewer = self._viewer.server.gui, self._viewer
        for name, overlay in viewer.stage.overlays.items():
            box = gui.add_checkbox(name, overlay.shown)
            self._on_check(box, partial(self._set_overlay, name))
            self._boxes.append((box, partial(self._overlay, name)))
        scale = gui.add_slider(
            "Arrows m/N",
            LEAST_SCALE,
            MOST_SCALE,
            LEAST_SCALE,
            min(max(viewer.world.spec.gui.force_scale, LEAST_SCALE), MOST_SCALE),
            hint="Length of the arrow of a force of 1 N",
        )
        scale.on_update(self._on_scale)
        if viewer.stage.backdrop.regions:
            box = gui.add_checkbox("Regions", True)
            self._on_check(box, lambda on: viewer.stage.backdrop.show_regions(on))
        for label in viewer.stage.nodes.labels:
            box = gui.add_checkbox(LABELS[label], True)
            self._on_check(box, partial(self._set_label, label))

    def update(self) -> None:
        """Show in the boxes what was switched elsewhere."""
        for box, shown in self._boxes:
            if box.value != shown():
                box.value = shown()

    def _layer(self, layer: str) -> bool:
        return bool(self._viewer.stage.sensors.shown[layer])

    def _overlay(self, name: str) -> bool:
        return bool(self._viewer.stage.overlays[name].shown)

    def _on_scale(self, event: Any) -> None:
        scale, stage = float(event.target.value), self._viewer.stage
        for overlay in (stage.overlays["Wheel forces"], stage.overlays["Contact forces"]):
            overlay.scale = scale

    def _set_layer(self, layer: str, on: bool) -> None:
        self._viewer.stage.sensors.set_shown(layer, on)

    def _set_overlay(self, name: str, on: bool) -> None:
        self._viewer.stage.overlays[name].shown = on

    def _set_label(self, label: str, on: bool) -> None:
        self._viewer.stage.nodes.show(label, on)

    def _on_check(self, box: Any, work: Callable[[bool], Any]) -> None:
        def changed(event: Any) -> None:
            if event.client is not None:
                on = bool(event.target.value)
                self._viewer.submit(lambda: work(on), event.client)

        box.on_update(changed)

    def _on_view(self, event: Any) -> None:
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

    def _on_follow(self, event: Any) -> None:
        if event.client is not None:
            on = bool(event.target.value)
            self._viewer.submit(lambda: self._set_follow(on), event.client)

    def _on_follow_key(self, event: Any) -> None:
        self._viewer.submit(lambda: self._set_follow(not self._viewer.stage.cameras.followed))

    def _set_follow(self, on: bool) -> None:
        stage = self._viewer.stage
        stage.cameras.follow(stage.selected if on else "")
        self._follow.value = on

    def selection_changed(self) -> None:
        """Follow the newly selected instead of the one before."""
        stage = self._viewer.stage
        if stage.cameras.followed and stage.selected:
            stage.cameras.follow(stage.selected)
