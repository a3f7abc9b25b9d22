# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What navsat_transform makes of fixes: the way from the first one, in the frame of odometry."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tests.ros.consumers.plane import moved

MAJOR, FLATTENING = 6378137.0, 1 / 298.257223563  # WGS 84, m


def usable(fix: Any) -> bool:
    """Whether navsat_transform takes a fix: robot_localization, navsat_transform.cpp:651-653."""
    known = not any(math.isnan(v) for v in (fix.latitude, fix.longitude, fix.altitude))
    return known and fix.status.status != -1


def earth_fixed(fix: Any) -> np.ndarray:
    """Return where a fix is (3,) [m]: from the earth's centre, x to 0° 0°, z to the north pole."""
    phi, lam, square = (
        math.radians(fix.latitude),
        math.radians(fix.longitude),
        FLATTENING * (2 - FLATTENING),
    )
    normal = MAJOR / math.sqrt(1 - square * math.sin(phi) ** 2)
    across = (normal + fix.altitude) * math.cos(phi)
    return np.array(
        [
            across * math.cos(lam),
            across * math.sin(lam),
            (normal * (1 - square) + fix.altitude) * math.sin(phi),
        ]
    )


def east_north(fixes: Iterable[Any]) -> np.ndarray:
    """Return how far east and north of the first one fixes are (n, 2) [m]."""
    first, *_ = fixes = list(fixes)
    phi, lam = math.radians(first.latitude), math.radians(first.longitude)
    axes = np.array(
        [
            [-math.sin(lam), math.cos(lam), 0.0],
            [
                -math.sin(phi) * math.cos(lam),
                -math.sin(phi) * math.sin(lam),
                math.cos(phi),
            ],
        ]
    )
    ways = np.array([earth_fixed(fix) - earth_fixed(first) for fix in fixes])
    result: np.ndarray = ways @ axes.T
    return result


def odometry_gps(
    fixes: list[Any], poses: np.ndarray, heading: float, antenna: np.ndarray
) -> np.ndarray:
    """Return where the robot is by fixes (n, 2) [m], in the frame of odometry.

    Args:
        fixes: The first is the datum.
        poses: By odometry at these times (n, 3).
        heading: Of the robot at the datum by an inertial unit, 0 = east, left positive [rad].
        antenna: Where it is in the robot's frame (2,) [m].
    """
    offsets = np.array([moved(np.array([0, 0, yaw]), antenna[None])[0] for *_, yaw in poses])
    turn = np.array([0.0, 0.0, poses[0, 2] - heading])
    result: np.ndarray = moved(turn, east_north(fixes)) + poses[0, :2] + offsets[0] - offsets
    return result
