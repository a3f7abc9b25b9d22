# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Casters: wheels that swivel, so that they roll in any direction and grip in none.

The wheel trails behind its swivel axis by its radius and turns after the motion of the axis. An
angle δ between heading and motion shrinks as tan(δ/2) ~ exp(-s/trail) on a way s, the same law
as that of a trailer. Swivel and spin follow the motion and take no energy from it.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.friction.loads import BRAKED, moved_mass
from mvsim_core.state.arrays import Row

#: Speed around which rolling resistance sets in [m/s].
ONSET = 0.01


@njit(cache=True, nogil=True, error_model="numpy")
def caster_forces(b: Row, w: Row, c_rr: float, limit: float, dt: float) -> None:
    """Write force, heading and spin of a caster.

    Args:
        b: Row of BODY of its vehicle.
        w: Row of WHEEL.
        c_rr: Rolling resistance [1].
        limit: Largest force of the ground [N].
        dt: Time step [s].
    """
    speed = math.hypot(w.vx, w.vy)
    w.fx = 0.0
    w.fy = 0.0
    w.limit_x = min(limit, c_rr * w.normal)  # nothing more can hold a vehicle
    w.limit_y = w.limit_x
    w.limit_round = 1
    if speed == 0.0:
        w.omega = 0.0
        return
    resistance = c_rr * w.normal * speed / math.sqrt(speed * speed + ONSET * ONSET)
    ahead, aside = w.vx / speed, w.vy / speed
    resistance = min(resistance, limit, BRAKED * speed * moved_mass(b, w, ahead, aside) / dt)
    along = -resistance * ahead
    left = -resistance * aside
    w.fx = w.yaw_c * along - w.yaw_s * left
    w.fy = w.yaw_s * along + w.yaw_c * left
    swivel(w, speed, b.wz, dt)


@njit(cache=True, nogil=True, error_model="numpy")
def swivel(w: Row, speed: float, turn: float, dt: float) -> None:
    """Turn a caster after its motion [m/s]; `turn` is the yaw rate of its vehicle [rad/s]."""
    if speed == 0.0:
        w.omega = 0.0
        return
    ahead = math.atan2(w.vy, w.vx)  # direction of motion, from its heading
    left = 2.0 * math.atan(math.tan(0.5 * ahead) * math.exp(-speed * dt / w.radius))
    w.yaw += ahead - left - turn * dt
    if abs(w.yaw) > math.pi:
        w.yaw -= 2.0 * math.pi * round(w.yaw / (2.0 * math.pi))
    w.yaw_c, w.yaw_s = math.cos(w.yaw), math.sin(w.yaw)
    w.omega = speed * math.cos(left) / w.radius
