# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""RViz markers of a vehicle: its chassis as a prism and its wheels as cylinders."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Point32, Polygon, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from mvsim_core import Pose
from mvsim_core.geometry.poses import FloatArray
from mvsim_ros2.conversions.motion import pose_message

Rgba = tuple[float, float, float, float]
#: Namespaces as in the C++ MVSim, so that its rviz configurations work.
CHASSIS, WHEEL = "mvsim.chassis_shape", "mvsim.chassis_shape.wheel"
_IDENTITY = Pose()


@dataclass(frozen=True, slots=True)
class ChassisShape:
    """A convex prism: polygon (n, 2) in the vehicle frame, from zmin to zmax [m]."""

    polygon: FloatArray
    zmin: float
    zmax: float
    color: Rgba


@dataclass(frozen=True, slots=True)
class WheelShape:
    """A cylinder: centre x, y in the vehicle frame, diameter and width [m]."""

    x: float
    y: float
    diameter: float
    width: float
    color: Rgba


def polygon_message(vertices: FloatArray) -> Polygon:
    """Return a polygon with vertices (n, 2) in the vehicle frame [m]."""
    return Polygon(points=[Point32(x=float(x), y=float(y)) for x, y in vertices])


def vehicle_markers(
    chassis: ChassisShape, wheels: list[WheelShape], steering: list[float], header: Header
) -> MarkerArray:
    """Return the markers of a vehicle in its own frame.

    Args:
        chassis: Shape of the chassis.
        wheels: Shapes of the wheels.
        steering: Their angles about the vertical axis [rad].
        header: Frame of the vehicle, and stamp.
    """
    prism = _marker(header, CHASSIS, Marker.TRIANGLE_LIST, chassis.color)
    prism.points = list(_prism(chassis))
    markers = [prism]
    for i, (wheel, angle) in enumerate(zip(wheels, steering, strict=True)):
        cylinder = _marker(header, f"{WHEEL}{i}", Marker.CYLINDER, wheel.color)
        # The axis of a cylinder is z; that of the wheel is y, rotated by the steering angle.
        pose = Pose(wheel.x, wheel.y, 0.5 * wheel.diameter, math.pi / 2, 0.0, angle)
        cylinder.pose = pose_message(pose)
        cylinder.scale = Vector3(x=wheel.diameter, y=wheel.diameter, z=wheel.width)
        markers.append(cylinder)
    return MarkerArray(markers=markers)


def header_of(frame: str, stamp: Time) -> Header:
    """Return a header."""
    return Header(frame_id=frame, stamp=stamp)


def _marker(header: Header, namespace: str, kind: int, color: Rgba) -> Marker:
    red, green, blue, alpha = color
    return Marker(
        header=header,
        ns=namespace,
        type=kind,
        action=Marker.ADD,
        pose=pose_message(_IDENTITY),
        scale=Vector3(x=1.0, y=1.0, z=1.0),
        color=ColorRGBA(r=red, g=green, b=blue, a=alpha),
        frame_locked=True,
    )


def _prism(chassis: ChassisShape) -> Iterator[Point]:
    """Yield the vertices of the triangles of a prism, three a triangle."""
    low = [Point(x=float(x), y=float(y), z=chassis.zmin) for x, y in chassis.polygon]
    high = [Point(x=p.x, y=p.y, z=chassis.zmax) for p in low]
    n = len(low)
    for i in range(1, n - 1):
        yield from (high[0], high[i], high[i + 1])
        yield from (low[0], low[i + 1], low[i])
    for i in range(n):
        k = (i + 1) % n
        yield from (low[i], low[k], high[k])
        yield from (low[i], high[k], high[i])
