# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The tab that changes the world: poses, by number or by dragging; vehicles added and removed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_core.errors import CommandError
from mvsim_core.viewer.nodes import ROOT
from mvsim_core.viewer.simulation import Simulation
from mvsim_core.viewer.vehicle_sources import sources_of

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer

#: Largest coordinate that can be typed [m].
FARTHEST = 1e6
#: The handles for dragging are so much larger than what is dragged.
LARGER = 1.6
#: So far above what is dragged are they, since the mouse meets the nearest thing first [m].
ABOVE = 0.05
NO_CLASS = "(no vehicle classes)"


class EditTab:
    """Poses, new vehicles, removal."""

    def __init__(self, viewer: Viewer) -> None:
        """Make the widgets."""
        self._viewer = viewer
        gui = viewer.server.gui
        self._gizmo: Any = None
        self._dragging = False
        self._known: tuple[float, ...] = ()
        self._numbers: list[Any] = []
        with gui.add_folder("Pose of the selected"):
            for label, step in (("x m", 0.1), ("y m", 0.1), ("yaw °", 5.0)):
                number = gui.add_number(label, 0.0, min=-FARTHEST, max=FARTHEST, step=step)
                self._numbers.append(number)
            gui.add_button("Set pose").on_click(self._on_set)
            self._drag = gui.add_checkbox("Drag with the mouse", False)
            self._drag.on_update(self._on_drag_box)
        with gui.add_folder("Add a vehicle"):
            self._sources = sources_of(viewer.world)
            self._class = gui.add_dropdown("Class", list(self._sources) or [NO_CLASS])
            self._name = gui.add_text("Name", "", hint="Empty: the next free one")
            add = gui.add_button(
                "Add where I look", hint="On the ground, in the middle of the view"
            )
            add.on_click(self._on_add)
        gui.add_button("Remove the selected", color="red").on_click(self._on_remove)
        self.selection_changed()

    @property
    def _controls(self) -> Simulation:
        controls = self._viewer.controls
        assert isinstance(controls, Simulation)
        return controls

    @property
    def gizmo(self) -> Any:
        """The handles for dragging; None: there are none."""
        return self._gizmo

    @property
    def dragging(self) -> bool:
        """Whether a browser holds a handle."""
        return self._dragging

    # ------------------------------------------------------------ poses
    def selection_changed(self) -> None:
        """Show the pose of the newly selected entity."""
        handle = self._handle()
        if handle is not None:
            pose = handle.pose
            values = (pose.x, pose.y, math.degrees(pose.yaw))
            for number, value in zip(self._numbers, values, strict=True):
                number.value = round(value, 3)
        self._place_gizmo()

    def follow(self) -> None:
        """Keep the handles for dragging where the selected entity is."""
        if self._gizmo is None or self._dragging:
            return
        handle = self._handle()
        if handle is None:
            self._place_gizmo()
            return
        pose = handle.pose
        place = np.array(pose[:3]) - self._viewer.stage.nodes.origin
        place[2] += self._viewer.world.entity(handle.name).model.z_range[1] + ABOVE
        now = (*place.tolist(), pose.yaw)
        if now != self._known:
            self._known = now
            self._gizmo.position = now[:3]
            self._gizmo.wxyz = (math.cos(0.5 * pose.yaw), 0.0, 0.0, math.sin(0.5 * pose.yaw))

    def _handle(self) -> Any:
        """Return the selected vehicle or block; None: neither is selected."""
        world, name = self._viewer.world, self._viewer.stage.selected
        return world.vehicles.get(name) or world.blocks.get(name)

    async def _on_set(self, event: Any) -> None:
        x, y, degrees = (float(number.value) for number in self._numbers)
        self._viewer.submit(lambda: self._teleport(x, y, math.radians(degrees)), event.client)

    def _teleport(self, x: float, y: float, yaw: float) -> None:
        handle = self._handle()
        if handle is None:
            raise CommandError("select a vehicle or a block to move it")
        handle.teleport(x, y, yaw)

    # ------------------------------------------------------------ dragging
    def _on_drag_box(self, event: Any) -> None:
        self._viewer.submit(self._place_gizmo, event.client)

    def _place_gizmo(self) -> None:
        """Make handles for dragging at the selected entity, or none."""
        if self._gizmo is not None:
            self._gizmo.remove()
            self._gizmo = None
        self._dragging = False
        self._known = ()
        handle = self._handle()
        if not self._drag.value or handle is None:
            return
        outline = self._viewer.world.entity(handle.name).model.outline
        size = LARGER * float(np.hypot(*np.asarray(outline).T).max())
        self._gizmo = self._viewer.server.scene.add_transform_controls(
            f"{ROOT}/drag",
            scale=max(size, 0.3),
            active_axes=(True, True, False),
            depth_test=False,
            translation_limits=((-FARTHEST, FARTHEST),) * 3,
        )
        self._gizmo.on_update(self._on_drag)
        self.follow()

    def let_go(self) -> None:
        """End a drag, whose browser may be gone."""
        self._dragging = False

    async def _on_drag(self, event: Any) -> None:
        gizmo, phase = event.target, event.phase
        x, y = (gizmo.position + self._viewer.stage.nodes.origin)[:2].tolist()
        w, _, _, z = gizmo.wxyz.tolist()
        yaw = 2.0 * math.atan2(z, w)

        def move() -> None:
            self._dragging = phase != "end"
            self._known = ()
            self._teleport(x, y, math.remainder(yaw, math.tau))

        self._viewer.submit(move, event.client)

    # ------------------------------------------------------------ vehicles come and go
    async def _on_add(self, event: Any) -> None:
        client = event.client
        text = self._sources.get(self._class.value)
        name = str(self._name.value).strip() or None
        self._viewer.submit(lambda: self._add(text, name, client), client)

    def _add(self, text: str | None, name: str | None, client: Any) -> None:
        if text is None:
            raise CommandError("the world has no vehicle classes")
        stage = self._viewer.stage
        eye, at = stage.cameras.seen(client)
        x, y, _ = stage.place(on_floor(eye, at, stage.place(np.zeros(3))[2])).tolist()
        added = self._controls.add_vehicle(self._viewer, text, name, (x, y, 0.0))
        self._name.value = ""
        stage.select(added)

    def _on_remove(self, event: Any) -> None:
        self._viewer.submit(self._remove, event.client)

    def _remove(self) -> None:
        handle = self._handle()
        if handle is None:
            raise CommandError("select a vehicle or a block to remove it")
        self._controls.remove(self._viewer, handle.name)


def on_floor(eye: Any, at: Any, height: float) -> Any:
    """Return where a look from an eye meets the level of z = 0 of the world, or its target.

    Args:
        eye: Place of the camera in the scene [m].
        at: What it looks at [m].
        height: z of the world at the origin of the scene [m].
    """
    down = eye[2] - at[2]
    if down <= 1e-6:
        return at
    share = (eye[2] + height) / down
    return eye + min(max(share, 0.0), 3.0) * (at - eye)
