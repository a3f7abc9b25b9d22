# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""All that browsers see of one world: its things, what is around them, layers, cameras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_core.state.arrays import FloatArray
from mvsim_core.viewer.backdrop import Backdrop
from mvsim_core.viewer.camera import Cameras
from mvsim_core.viewer.forces import ContactForces, WheelForces
from mvsim_core.viewer.names import Names
from mvsim_core.viewer.nodes import ROOT
from mvsim_core.viewer.scene import SceneNodes
from mvsim_core.viewer.sensor_views import SensorViews
from mvsim_core.viewer.trails import Trails

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer

#: With more vehicles than this, names and the readings of all sensors are off at first.
MANY = 12


class Stage:
    """Everything in the 3D scene.

    Attributes:
        nodes: The things of the world.
        backdrop: Sky, grid, regions.
        cameras: Views of the browsers.
        sensors: Readings of sensors.
        selected: Name of the entity that panels and keys are about; "": none.
        overlays: Names, trails and forces, by their names in the panel.
    """

    def __init__(self, viewer: Viewer) -> None:
        """Make all nodes of the viewer's world."""
        self._viewer = viewer
        world, server = viewer.world, viewer.server
        self._root = server.scene.add_frame(ROOT, show_axes=False)
        self.nodes = SceneNodes(server, world, self._picked)
        self.backdrop = Backdrop(server, world, self.nodes.origin)
        self.cameras = Cameras(server, world, self.nodes.origin, self._root)
        vehicles = list(world.vehicles)
        gui = world.spec.gui
        follow = gui.follow_vehicle if gui.follow_vehicle in world.vehicles else ""
        self.selected = follow or (vehicles[0] if vehicles else "")
        self.sensors = SensorViews(server, world, self.nodes.origin)
        self.sensors.all_vehicles = len(vehicles) <= MANY
        self.sensors.set_shown("Lidar points", gui.show_sensor_points)
        self.overlays: dict[str, Any] = {
            "Names": Names(server, world, self.nodes.origin, len(vehicles) <= MANY),
            "Trails": Trails(server, world, self.nodes.origin),
            "Wheel forces": WheelForces(server, world, self.nodes.origin, gui.show_forces),
            "Contact forces": ContactForces(server, world, self.nodes.origin, gui.show_forces),
        }
        if follow:
            self.cameras.follow(follow)

    def update(self) -> None:
        """Send what has changed."""
        self.nodes.update()
        if self.selected and self.selected not in self._viewer.world.data.entities:
            vehicles = list(self._viewer.world.vehicles)
            self.select(vehicles[0] if vehicles else "")
        for overlay in self.overlays.values():
            overlay.update()
        self.sensors.update(self.selected, on_demand=self._viewer.on_demand)
        self.cameras.update()

    def refresh(self) -> None:
        """Send where everything is, for a browser that has just come."""
        self.nodes.update(everything=True)

    def note_readings(self) -> None:
        """Remember from where the sensors that are shown took their newest readings."""
        self.sensors.note(self._viewer.world.new_readings)

    def release_sensors(self) -> None:
        """Let the sensors compute no more on the viewer's account."""
        if self._viewer.on_demand:
            self.sensors.release()

    def select(self, name: str) -> None:
        """Choose the entity that panels and keys are about."""
        if name != self.selected:
            self.selected = name
            self._viewer.panel.selection_changed()

    def place(self, point: FloatArray) -> FloatArray:
        """Return a point of the browser's scene [m] in the world."""
        world: FloatArray = np.asarray(point) - self.cameras.shift + self.nodes.origin
        return world

    def remove(self) -> None:
        """Take everything out of the browsers."""
        self.release_sensors()
        self._viewer.server.scene.reset()

    def _picked(self, name: str) -> None:
        self._viewer.submit(lambda: self.select(name))
