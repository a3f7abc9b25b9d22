# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scratch rows of wheels whose ground forces are found together (`friction.coupled`)."""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import FloatArray, Row
from mvsim_core.state.plan_view import seen_along, to_plan

# Columns of the scratch rows, one row a wheel.
# A force of 1 N along the grip of the wheel pushes the island by (FX, FY, torque), and a velocity
# (VX, VY, W) of the island moves the wheel; the same to the left (L).
FX, FY, TORQUE, VX, VY, W = range(6)
LFX, LFY, L_TORQUE, LVX, LVY, LW = range(6, 12)
ALONG, LEFT = 12, 13  # N, the force so far
BRAKE = 14  # N m, torque of the brake so far
# 1: the force along, or to the left, is to be found; 0: it is given
FREE_ALONG, FREE_LEFT = 15, 16
STIFFNESS = 17  # N s/m, of its force to the left; 0 where that is the largest that there is
COLUMNS = 18

#: Values of WHEEL.coupled: the force is found by the model, here, here across the wheel only, or
#: here, and the motor acts as a brake that does not turn the wheel backwards; or by the model, on
#: a vehicle whose wheels slip across in turns.
ALONE, COUPLED, ACROSS, STOPPING, SCRUBS = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True, error_model="numpy")
def all_of(coupled: int) -> int:
    """Return the value of WHEEL.coupled with which the force along the wheel is found here too."""
    return STOPPING if coupled == STOPPING else COUPLED


@njit(cache=True, nogil=True, error_model="numpy")
def takes_part(w: Row) -> bool:
    """Return whether a wheel is solved here: not if its model leaves its motion open."""
    return bool(w.coupled != 0 and w.held == 0 and w.spin_free == w.spin_free)


@njit(cache=True, nogil=True, error_model="numpy")
def enter_wheel(lead: Row, b: Row, w: Row, r: FloatArray) -> None:
    """Write what forces of a wheel do to its island, and what the island's motion does to it."""
    x, y = w.x, w.y
    c, s = 1.0, 0.0
    if b.leader >= 0:
        c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
        x, y = b.off_x + c * x - s * y, b.off_y + s * x + c * y
    x -= lead.com_x
    y -= lead.com_y
    grip_x, grip_y = grip_axis(w)
    for side in range(2):
        ax, ay = (grip_x, grip_y) if side == 0 else (-grip_y, grip_x)
        fx, fy = to_plan(b, ax, ay)
        gx, gy = seen_along(b, ax, ay)
        first = 6 * side
        r[first + FX], r[first + FY] = c * fx - s * fy, s * fx + c * fy
        r[first + VX], r[first + VY] = c * gx - s * gy, s * gx + c * gy
        lever = x * (s * ax + c * ay) - y * (c * ax - s * ay)
        r[first + TORQUE] = r[first + W] = lever
    r[ALONG] = grip_x * w.fx + grip_y * w.fy
    r[LEFT] = -grip_y * w.fx + grip_x * w.fy
    r[BRAKE] = 0.0
    r[FREE_ALONG] = 0.0 if w.coupled == ACROSS else 1.0
    r[FREE_LEFT] = 0.0 if w.rollers != 0 else 1.0


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def pushed(
    velocity: tuple[float, float, float],
    r: FloatArray,
    forces: tuple[float, float],
    give: tuple[float, float],
) -> tuple[float, float, float]:
    """Return the velocity of an island that forces along and to the left of a wheel push too.

    Args:
        velocity: Of its centre of mass after the step [m/s, m/s, rad/s].
        r: Scratch row of the wheel.
        forces: Along its grip and to the left of it [N].
        give: What 1 N and 1 N m change of the velocity.
    """
    along, left = forces
    return (
        velocity[0] + give[0] * (r[FX] * along + r[LFX] * left),
        velocity[1] + give[0] * (r[FY] * along + r[LFY] * left),
        velocity[2] + give[1] * (r[TORQUE] * along + r[L_TORQUE] * left),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def grip_axis(w: Row) -> tuple[float, float]:
    """Return the direction in which a wheel grips, vehicle frame."""
    if w.rollers == 0:
        return w.yaw_c, w.yaw_s
    return w.yaw_c * w.grip_c - w.yaw_s * w.grip_s, w.yaw_s * w.grip_c + w.yaw_c * w.grip_s


@njit(cache=True, nogil=True, error_model="numpy")
def lever_of(w: Row) -> float:
    """Return the torque that 1 N along its grip has on a wheel [m]."""
    return float(w.radius if w.rollers == 0 else w.radius * w.grip_c)
