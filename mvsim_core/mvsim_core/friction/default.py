# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`default` and `wardiagnemma`: Coulomb friction that first tries to stop all slip.

Source: "Default Friction Model" and "Ward-Iagnemma Friction Model" of the physics documentation;
step numbers refer to the former.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.friction.base import FRICTION, TableFriction
from mvsim_core.friction.casters import caster_forces
from mvsim_core.friction.contact import (
    LOCKED,
    NEAR_STOP,
    NEAR_STOP_PER_AXIS,
    clamp,
    rolling_torque,
    set_force,
    slope_brake,
    slope_hold,
    stop_slip,
    stops_wheel,
)
from mvsim_core.friction.coupled import motor_brake, wheel_force
from mvsim_core.friction.loads import BRAKED, moved_mass
from mvsim_core.friction.rollers import roller_forces
from mvsim_core.friction.wheel_rows import ACROSS, ALONE, COUPLED, SCRUBS, STOPPING, all_of
from mvsim_core.specs.friction import DefaultFrictionSpec, WardIagnemmaSpec
from mvsim_core.state.arrays import IntArray, Row, Rows

PARAMS = np.dtype(
    [
        ("mu", "f8"),  # 1
        ("c_damping", "f8"),  # N m s/rad
        ("c_rr", "f8"),  # 1
        ("r1", "f8"),  # 1, drag of the ground, constant part
        ("r2", "f8"),  # s/m, part that grows with speed
        ("a_roll", "f8"),  # s/m, how fast the constant part sets in
        ("circle", "i8"),  # 1: the limit holds for the vector sum, 0: for each axis
        ("hold", "i8"),  # 1: a vehicle without torque stays put on slopes
    ]
)
#: Time in which a wheel of a vehicle that scrubs stops its slip across [s]. With the step in its
#: place, as the documentation has it, such a vehicle would turn as fast as the step is long.
#: Recordings of MVSim 1.2 were made with this step, and no automatic one is longer.
SCRUB_TIME = 5e-3


@njit(cache=True, nogil=True, error_model="numpy")
def ground_drag(vx: float, normal: float, r1: float, r2: float, a_roll: float) -> float:
    """Return F_rr = -sign(vx) N [R1 (1 - exp(-A |vx|)) + R2 |vx|] [N]."""
    speed = abs(vx)
    size = normal * (r1 * (1.0 - math.exp(-a_roll * speed)) + r2 * speed)
    return -math.copysign(size, vx)


@njit(cache=True, nogil=True, error_model="numpy")
def coulomb_kernel(bodies: Rows, wheels: Rows, params: Rows, ids: IntArray, dt: float) -> None:
    """Write force and spin of the wheels `ids`."""
    for k in range(ids.shape[0]):
        w = wheels[ids[k]]
        if bodies[w.body].ideal != 0:
            continue
        p = params[k]
        mu = p.mu if math.isnan(w.region_mu) else w.region_mu
        c_rr = p.c_rr if math.isnan(w.region_c_rr) else w.region_c_rr
        limit = mu * w.normal  # 3
        w.limit_x = limit
        w.limit_y = limit if w.rollers == 0 else c_rr * w.normal
        w.limit_round = p.circle
        if w.caster != 0:
            caster_forces(bodies[w.body], w, c_rr, limit, dt)
            continue
        if w.idle == LOCKED and (p.hold == 0 or w.held == 0):
            w.held = p.hold
        if w.held != 0:
            continue
        if w.rollers != 0:  # grips along one direction only
            roller_forces(bodies[w.body], w, p.c_damping * w.omega, limit, c_rr, dt)
            continue
        torque = w.torque - p.c_damping * w.omega
        rolling = rolling_torque(c_rr, w.normal, w.radius, w.omega)
        w.resist = slope_brake(w) if p.hold != 0 else 0.0
        if w.coupled == STOPPING and w.torque * w.omega <= 0.0:  # the motor is a brake
            w.resist += motor_brake(w, 0.0)
            torque -= w.torque
        elif w.coupled == STOPPING:
            w.coupled = COUPLED
        together = p.circle != 0 or p.r1 > 0.0 or p.r2 > 0.0
        near = NEAR_STOP if together else NEAR_STOP_PER_AXIS
        if stops_wheel(bodies[w.body], w, rolling, limit, near, dt):
            w.coupled = all_of(w.coupled)
            w.resist += abs(rolling)
        else:
            torque -= rolling
        drag = 0.0
        if p.r1 > 0.0 or p.r2 > 0.0:
            drag = ground_drag(w.vx, w.normal, p.r1, p.r2, p.a_roll)
            mass = moved_mass(bodies[w.body], w, 1.0, 0.0)
            # it does not push back, and is a force of the ground
            drag = clamp(drag, min(limit, BRAKED * abs(w.vx) * mass / dt))
            w.drag = drag
        # the drag acts on the vehicle, not on the wheel's spin
        w.spin_free = w.omega + (torque + w.radius * drag) / w.inertia * dt
        if p.circle != 0:
            w.coupled = all_of(w.coupled)
            lone_wheel(w, dt)
            continue
        time = dt  # 4
        if w.coupled == SCRUBS:
            time = max(dt, SCRUB_TIME)
            w.coupled = ALONE
            if dt > SCRUB_TIME:
                w.coupled = ACROSS
                w.side_give = SCRUB_TIME * dt / (w.carried * (dt - SCRUB_TIME))
                w.side_bias = SCRUB_TIME / (dt - SCRUB_TIME) * w.vy + w.side_give * w.slope_y
        lateral = clamp(-w.vy * w.carried / time - w.slope_y, limit)
        along = clamp(stop_slip(w, torque, w.inertia, dt), limit)  # 5
        w.omega += (torque - w.radius * along) / w.inertia * dt  # 6, 7
        # what follows acts on the vehicle, not on the wheel's spin
        if p.hold != 0:
            along += slope_hold(w, along, limit, dt)
        if p.r1 > 0.0 or p.r2 > 0.0:
            along = clamp(along + drag, limit)
        set_force(w, along, lateral)  # 8


@njit(cache=True, nogil=True, error_model="numpy")
def lone_wheel(w: Row, dt: float) -> None:
    """Write force and spin of a wheel as if it carried its mass alone, from its motion.

    `friction.coupled` starts from it.
    """
    give = dt / w.carried
    vx, vy = w.vx + w.slope_x * give, w.vy + w.slope_y * give
    along, left, brake = wheel_force(w, (give, 0.0, give), (vx, vy), (0.0, 0.0), dt)
    w.omega = w.spin_free + (brake - w.radius * along) * dt / w.inertia
    set_force(w, along, left)


@FRICTION.register("default")
class DefaultFriction(TableFriction):
    """All wheels with Coulomb friction."""

    PARAMS = PARAMS
    kernel = staticmethod(coulomb_kernel)

    def parameters(self, spec: DefaultFrictionSpec) -> dict[str, float]:
        """Return the fields of PARAMS of a spec."""
        values: dict[str, float] = {
            "mu": spec.mu,
            "c_damping": spec.c_damping,
            "c_rr": spec.c_rr,
            "circle": spec.friction_circle,
            "hold": spec.slope_hold,
        }
        if isinstance(spec, WardIagnemmaSpec):
            values |= {"r1": spec.r1, "r2": spec.r2, "a_roll": spec.a_roll}
        return values


@FRICTION.register("wardiagnemma")
class WardIagnemma(DefaultFriction):
    """The same with a drag of the ground on the vehicle that grows with speed."""
