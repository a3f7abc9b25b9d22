# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""DC motors: the torque that is left at a speed.

At full voltage a DC motor gives τ = τ_stall (1 - ω/ω_0) (Siegwart, Introduction to Autonomous
Mobile Robots, or any text on DC motors), at the opposite voltage -τ_stall (1 + ω/ω_0); drivers
limit the current to that of the stall, so that no torque exceeds τ_stall. With a gear of ratio G
the wheel has G τ_stall and ω_0 / G.
"""

from __future__ import annotations

from numba import njit

from mvsim_core.state.arrays import Row


@njit(cache=True, nogil=True, error_model="numpy")
def motor_range(v: Row, omega: float) -> tuple[float, float]:
    """Return the least and the largest torque of a motor at a speed of the wheel [N m].

    Args:
        v: Row of VEHICLE whose `motor_stall` is not 0.
        omega: Speed of the wheel, or of an engine's shaft [rad/s].
    """
    stall, part = v.motor_stall, omega / v.motor_speed
    high = stall * max(-1.0, min(1.0, 1.0 - part))
    low = -stall * max(-1.0, min(1.0, 1.0 + part))
    return low, high
