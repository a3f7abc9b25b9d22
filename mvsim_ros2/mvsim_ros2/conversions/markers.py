# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What rviz needs to show a vehicle: its chassis as a prism and its wheels as discs."""

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
_AHEAD = Pose()


@dataclass(frozen=True, slots=True)
class ChassisLook:
    """A convex prism: polygon (n, 2) in the vehicle frame, from zmin to zmax [m]."""

    polygon: FloatArray
    zmin: float
    zmax: float
    color: Rgba


@dataclass(frozen=True, slots=True)
class WheelLook:
    """A disc: centre x, y in the vehicle frame, diameter and width [m]."""

    x: float
    y: float
    diameter: float
    width: float
    color: Rgba


def polygon_message(corners: FloatArray) -> Polygon:
    """Return corners (n, 2) of the vehicle frame [m]."""
    return Polygon(points=[Point32(x=float(x), y=float(y)) for x, y in corners])


def vehicle_markers(
    chassis: ChassisLook, wheels: list[WheelLook], steering: list[float], header: Header
) -> MarkerArray:
    """Return the markers of a vehicle in its own frame.

    Args:
        chassis: Its body.
        wheels: Its wheels.
        steering: Their angles about the vertical axis [rad].
        header: Frame of the vehicle, and time.
    """
    body = _marker(header, CHASSIS, Marker.TRIANGLE_LIST, chassis.color)
    body.points = list(_prism(chassis))
    markers = [body]
    for i, (wheel, angle) in enumerate(zip(wheels, steering, strict=True)):
        disc = _marker(header, f"{WHEEL}{i}", Marker.CYLINDER, wheel.color)
        # A cylinder's axis is z; the wheel's axis is y, turned by the steering.
        place = Pose(wheel.x, wheel.y, 0.5 * wheel.diameter, math.pi / 2, 0.0, angle)
        disc.pose = pose_message(place)
        disc.scale = Vector3(x=wheel.diameter, y=wheel.diameter, z=wheel.width)
        markers.append(disc)
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
        pose=pose_message(_AHEAD),
        scale=Vector3(x=1.0, y=1.0, z=1.0),
        color=ColorRGBA(r=red, g=green, b=blue, a=alpha),
        frame_locked=True,
    )


def _prism(chassis: ChassisLook) -> Iterator[Point]:
    """Yield the corners of the triangles of a prism, three a triangle."""
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
