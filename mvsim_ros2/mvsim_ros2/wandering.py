# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Driving around without hitting anything, from scans alone: what the demo does with robots."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Half angle of the sector ahead that must be free [rad].
AHEAD = math.radians(35.0)
#: Distance to obstacles ahead at which the robot backs out, and at which it slows [m].
NEAR, FAR = 0.7, 2.0
#: Greatest speed and that of backing out [m/s], greatest yaw rate [rad/s].
SPEED, BACK, TURN = 0.6, -0.2, 0.8
#: Where there are no scans: a circle.
BLIND = (0.4, 0.25)


def clearance(ranges: Sequence[float], angle_min: float, increment: float, centre: float) -> float:
    """Return the distance [m] to the nearest thing in the sector around an angle [rad]."""
    nearest = math.inf
    for i, distance in enumerate(ranges):
        angle = math.remainder(angle_min + i * increment - centre, 2.0 * math.pi)
        # -inf means too near to measure, NaN an error.
        if abs(angle) <= AHEAD and not math.isnan(distance):
            nearest = min(nearest, max(distance, 0.0))
    return nearest


def wander(ranges: Sequence[float], angle_min: float, increment: float) -> tuple[float, float]:
    """Return speed [m/s] and yaw rate [rad/s] towards where there is room.

    Args:
        ranges: Of a scan [m].
        angle_min: Of the first ray [rad].
        increment: From ray to ray [rad].
    """
    ahead = clearance(ranges, angle_min, increment, 0.0)
    left = clearance(ranges, angle_min, increment, 2 * AHEAD)
    right = clearance(ranges, angle_min, increment, -2 * AHEAD)
    side = 1.0 if left >= right else -1.0
    if ahead < NEAR:
        return BACK, side * TURN  # cars cannot turn on the spot
    share = min((ahead - NEAR) / (FAR - NEAR), 1.0)
    return SPEED * (0.3 + 0.7 * share), side * TURN * (1.0 - share)
