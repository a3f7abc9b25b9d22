# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which sensors' readings are drawn in the scene, and from where they were taken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mvsim_core.state.arrays import FloatArray
from mvsim_core.viewer.camera_views import CameraView, StereoView
from mvsim_core.viewer.lidar_views import CloudView, RangeView, ScanView
from mvsim_core.viewer.nodes import ROOT
from mvsim_core.world.world import World

#: Views by kind of sensor.
VIEWS: dict[str, Any] = {
    "laser": ScanView,
    "lidar3d": CloudView,
    "range": RangeView,
    "camera": CameraView,
    "rgbd_camera": CameraView,
    "stereo_camera": StereoView,
}
#: Layers that can be switched, and whether they are on at first.
LAYERS = {
    "Lidar points": True,
    "Lidar rays": False,
    "Lidar area": False,
    "Camera views": True,
    "Depth clouds": False,
}
#: What asks the world for readings.
ASKER = "viewer"


class SensorViews:
    """The readings of all sensors of a world.

    Attributes:
        shown: Whether each of LAYERS is drawn.
        all_vehicles: Whether those of all vehicles are drawn, not only of the selected one.
        also: Full names of sensors whose readings are wanted elsewhere.
    """

    def __init__(self, server: Any, world: World, origin: FloatArray) -> None:
        """Start without views."""
        self._server = server
        self._world = world
        self._origin = origin
        self.shown = dict(LAYERS)
        self.all_vehicles = True
        self.also: frozenset[str] = frozenset()
        self._version = -1
        self._views: dict[str, Any] = {}
        self._drawn: set[str] = set()
        self._poses: dict[str, FloatArray] = {}
        self._active: dict[Any, bool] = {}
        specs = [sensor.spec for sensor in world.all_sensors()]
        self.shown["Lidar area"] = any(getattr(s, "viz_visible_plane", False) for s in specs)
        self.shown["Depth clouds"] = any(getattr(s, "show_3d_pointcloud", False) for s in specs)

    @property
    def layers(self) -> list[str]:
        """The layers that some sensor of the world has."""
        kinds = {sensor.kind for sensor in self._world.all_sensors()}
        found = {layer for kind in kinds if kind in VIEWS for layer in VIEWS[kind].layers}
        return [layer for layer in LAYERS if layer in found]

    @property
    def views(self) -> dict[str, Any]:
        """Views by full name of the sensor."""
        return dict(self._views)

    def set_shown(self, layer: str, shown: bool) -> None:
        """Switch a layer."""
        self.shown[layer] = shown
        for view in self._views.values():
            view.forget()

    def note(self, sensors: Iterable[Any]) -> None:
        """Remember where sensors are that have just taken a reading."""
        for sensor in sensors:
            if sensor.full_name in self._drawn:
                self._poses[sensor.full_name] = self._pose(sensor)

    def update(self, selected: str, *, on_demand: bool) -> None:
        """Draw the readings that are new."""
        if self._version != self._world.scene3d.version:
            self._version = self._world.scene3d.version
            self._follow()
        drawn = set()
        for sensor in self._world.all_sensors():
            view = self._views.get(sensor.full_name)
            near = sensor.parent is None or self.all_vehicles or sensor.parent == selected
            wanted = view is not None and near and any(self.shown[k] for k in view.layers)
            if wanted:
                drawn.add(sensor.full_name)
                self._draw(sensor, view)
            elif view is not None:
                view.hide()
            if on_demand:
                self._ask(sensor, wanted or sensor.full_name in self.also)
        self._drawn = drawn

    def release(self) -> None:
        """Ask for no readings."""
        present = set(self._world.all_sensors())
        for sensor in [s for s, active in self._active.items() if active and s in present]:
            self._ask(sensor, False)

    def _ask(self, sensor: Any, wanted: bool) -> None:
        if self._active.get(sensor) != wanted:
            self._active[sensor] = wanted
            self._world.set_sensor_active(sensor, wanted, ASKER)

    def _draw(self, sensor: Any, view: Any) -> None:
        reading = sensor.last
        if reading is None:
            view.hide()
            return
        if view.is_drawn(reading):
            return
        pose = self._poses.pop(sensor.full_name, None)
        if pose is None:
            pose = self._pose(sensor)
        pose = pose.copy()
        pose[:, 3] -= self._origin
        view.draw(reading, pose, self.shown)

    def _pose(self, sensor: Any) -> FloatArray:
        """Return (3, 4) rotation and place [m] of the frame of a sensor's readings."""
        view = self._views[sensor.full_name]
        row = self._world.data.bodies[sensor.body] if sensor.body >= 0 else None
        pose: FloatArray = view.frame(row)
        return pose

    def _follow(self) -> None:
        """Make views of new sensors, remove those that are gone."""
        sensors = {s.full_name: s for s in self._world.all_sensors() if s.kind in VIEWS}
        for name in [*self._views]:
            if sensors.get(name) is not self._views[name].sensor:
                self._views.pop(name).remove()
        for name, sensor in sensors.items():
            if name not in self._views:
                node = f"{ROOT}/readings/{name}"
                self._views[name] = VIEWS[sensor.kind](self._server, node, sensor)
        present = set(self._world.all_sensors())
        self._active = {s: active for s, active in self._active.items() if s in present}
        self._poses.clear()
