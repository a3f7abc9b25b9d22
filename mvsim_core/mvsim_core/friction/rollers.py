# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wheels with rollers (omni, mecanum): they grip along one direction and roll freely across it.

Source: the design of mecanum wheels and rigid islands, section 3: the force of a wheel with
heading ψ and roller angle α has direction ψ + α + 90°, the axis of its rollers; that of an omni
wheel is its heading. Instead of a given effort the force here is what contact needs, as for other
wheels: it stops the slip along the grip direction and is limited by friction.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.friction.contact import clamp, end_at_rest, set_force, stopping_motor
from mvsim_core.friction.coupled import motor_brake
from mvsim_core.friction.loads import BRAKED, moved_mass
from mvsim_core.friction.wheel_rows import COUPLED, STOPPING
from mvsim_core.state.arrays import Row

#: Below this cosine between grip and heading the motor exerts no force on the ground.
NO_HOLD = 1e-6
#: Speed of rollers around which their rolling resistance sets in [m/s].
ONSET = 0.01


@njit(cache=True, nogil=True, error_model="numpy")
def roller_forces(b: Row, w: Row, damping: float, limit: float, c_rr: float, dt: float) -> None:
    """Write force and spin of a wheel with rollers.

    While its vehicle stops, `friction.coupled` finds the force along the grip from here on.

    Args:
        b: Row of BODY of its vehicle.
        w: Row of WHEEL.
        damping: Torque that the bearing takes [N m].
        limit: Largest force of the ground [N].
        c_rr: Rolling resistance of the rollers [1].
        dt: Time step [s].
    """
    c, s = w.grip_c, w.grip_s
    motor, inertia = stopping_motor(w, limit, dt)
    torque = motor - damping
    # across the grip the rollers turn: their speed is that of the contact point
    rolls = -(w.vx - w.omega * w.radius) * s + w.vy * c
    drag = -c_rr * w.normal * rolls / math.sqrt(rolls * rolls + ONSET * ONSET)
    mass = 1.0 / (1.0 / moved_mass(b, w, -s, c) + s * s * w.radius * w.radius / w.inertia)
    drag = clamp(drag, min(limit, BRAKED * abs(rolls) * mass / dt))
    grip = left = 0.0
    if abs(c) > NO_HOLD:
        # the spin at which the contact point does not slip along the grip direction
        alpha = ((w.vx * c + w.vy * s) / (w.radius * c) - w.omega) / dt
        left = math.sqrt(limit * limit - drag * drag)  # both are one force of the ground
        grip = clamp((torque - inertia * alpha) / (w.radius * c), left)
    if w.coupled == STOPPING and abs(c) > NO_HOLD:
        w.resist = 0.0
        if w.torque * w.omega <= 0.0:  # the motor is a brake
            w.resist = motor_brake(w, 0.0)
            motor = 0.0
        else:
            w.coupled = COUPLED
        w.spin_free = w.omega + (motor - damping + w.radius * drag * s) / w.inertia * dt
    w.omega += (torque - w.radius * (grip * c - drag * s)) / inertia * dt
    if w.coupled == STOPPING and abs(grip) == left:
        end_at_rest(w, dt)
    set_force(w, grip * c - drag * s, grip * s + drag * c)
