# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Poses and twists, with REP-103 axes: x forward, y left, z up, metres and radians."""

from __future__ import annotations

from typing import NamedTuple


class Pose(NamedTuple):
    """Position [m] and attitude [rad] of a frame in its parent frame.

    The rotation is Rz(yaw)·Ry(pitch)·Rx(roll); a positive pitch puts the nose down.
    """

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0


class Twist(NamedTuple):
    """Planar velocity: vx forward, vy to the left [m/s], wz counter-clockwise [rad/s]."""

    vx: float = 0.0
    vy: float = 0.0
    wz: float = 0.0
