# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readings of lidars and range sensors in the scene."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mvsim_core.state.arrays import FloatArray
from mvsim_core.viewer.lines import Lines
from mvsim_core.viewer.sensor_view import Points, SensorView, shades, to_scene

#: Points of a cloud that are sent at most.
MOST_POINTS = 40_000
#: Size of a point whose `viz_pointSize` is 1 [m].
POINT_UNIT = 0.01
#: Share of their size by which points are drawn nearer, so that surfaces do not cut them.
LIFT = 0.5
#: Heights between which points of clouds are coloured [m].
LOW, HIGH = -0.3, 3.0
#: How much of white is mixed with the colour of rays, of which there are many.
PALE = 0.65


class ScanView(SensorView):
    """A planar scan: points, rays, and the area that is seen to be free."""

    layers: ClassVar[tuple[str, ...]] = ("Lidar points", "Lidar rays", "Lidar area")

    def __init__(self, server: Any, name: str, sensor: Any) -> None:
        """Start without nodes."""
        super().__init__(server, name, sensor)
        spec = sensor.spec
        self._color = np.round(255.0 * np.array(spec.viz_points_color[:3])).astype(np.uint8)
        size = POINT_UNIT * spec.viz_point_size
        self._lift = LIFT * size
        self._points = Points(self._scene, f"{name}/points", size)
        pale = tuple(round((1.0 - PALE) * c + PALE * 255) for c in self._color.tolist())
        self._rays = Lines(server, f"{name}/rays", pale, 1.0)
        self._area: Any = None

    @property
    def nodes(self) -> list[Any]:
        """The nodes so far."""
        nodes = (self._points.node, self._rays.node, self._area)
        return [node for node in nodes if node is not None]

    def _fill(self, reading: Any, pose: FloatArray, shown: dict[str, bool]) -> None:
        ranges = np.asarray(reading.ranges, np.float64)
        angles = reading.angle_min + reading.angle_increment * np.arange(len(ranges))
        ways = np.stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))], axis=1)
        seen = np.isfinite(ranges)
        hits = to_scene(ranges[seen, None] * ways[seen], pose)
        if shown["Lidar points"]:
            dots = to_scene((ranges[seen, None] - self._lift) * ways[seen], pose)
            self._points.set(dots, np.tile(self._color, (len(hits), 1)))
        else:
            self._points.hide()
        if shown["Lidar rays"]:
            start = np.broadcast_to(pose[:, 3], hits.shape)
            self._rays.set(np.stack([start, hits], axis=1))
        else:
            self._rays.hide()
        reach = np.where(seen, ranges, reading.range_max)
        corners = to_scene(np.vstack([np.zeros((1, 3)), reach[:, None] * ways]), pose)
        self._fill_area(corners.astype(np.float32), shown["Lidar area"])

    def _fill_area(self, corners: Any, shown: bool) -> None:
        if not shown:
            if self._area is not None and self._area.visible:
                self._area.visible = False
            return
        if self._area is None:
            color = self.sensor.spec.viz_plane_color
            first = np.arange(1, len(corners) - 1)
            self._area = self._scene.add_mesh_simple(
                f"{self._name}/area",
                corners,
                np.stack([np.zeros_like(first), first, first + 1], axis=1),
                color=tuple(float(c) for c in color[:3]),
                opacity=max(float(color[3]), 0.1),
                side="double",
                cast_shadow=False,
                receive_shadow=False,
            )
            return
        self._area.vertices = corners
        self._area.visible = True


class CloudView(SensorView):
    """A cloud of a 3D lidar, coloured by height."""

    layers: ClassVar[tuple[str, ...]] = ("Lidar points",)

    def __init__(self, server: Any, name: str, sensor: Any) -> None:
        """Start without nodes."""
        super().__init__(server, name, sensor)
        size = POINT_UNIT * sensor.spec.viz_point_size
        self._lift = LIFT * size
        self._points = Points(self._scene, f"{name}/points", size)

    @property
    def nodes(self) -> list[Any]:
        """The nodes so far."""
        return [] if self._points.node is None else [self._points.node]

    def _fill(self, reading: Any, pose: FloatArray, shown: dict[str, bool]) -> None:
        points = reading.points
        if len(points) > MOST_POINTS:
            points = points[:: -(-len(points) // MOST_POINTS)]
        places = np.stack([points["x"], points["y"], points["z"]], axis=1).astype(np.float64)
        places = places[np.isfinite(places).all(axis=1)]
        colors = shades(to_scene(places, pose)[:, 2], LOW, HIGH)
        places *= (
            1.0 - self._lift / np.maximum(np.linalg.norm(places, axis=1), self._lift)[:, None]
        )
        self._points.set(to_scene(places, pose), colors)


class RangeView(SensorView):
    """The cone of a range sensor up to what it sees."""

    layers: ClassVar[tuple[str, ...]] = ("Lidar rays",)

    def __init__(self, server: Any, name: str, sensor: Any) -> None:
        """Start without nodes."""
        super().__init__(server, name, sensor)
        self._cone = Lines(server, f"{name}/cone", (200, 120, 40), 1.5)

    @property
    def nodes(self) -> list[Any]:
        """The nodes so far."""
        return [] if self._cone.node is None else [self._cone.node]

    def _fill(self, reading: Any, pose: FloatArray, shown: dict[str, bool]) -> None:
        reach = reading.range if np.isfinite(reading.range) else reading.range_max
        around = np.linspace(0.0, 2.0 * np.pi, 13)
        c, s = np.cos(0.5 * reading.field_of_view), np.sin(0.5 * reading.field_of_view)
        rim = reach * np.stack([np.full(13, c), s * np.cos(around), s * np.sin(around)], axis=1)
        edges = np.stack([rim[:-1], rim[1:]], axis=1)
        sides = np.stack([np.zeros((4, 3)), rim[0:12:3]], axis=1)
        self._cone.set(to_scene(np.concatenate([edges, sides]), pose))
