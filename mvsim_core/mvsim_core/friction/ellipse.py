# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`ellipse`: tyre forces limited by slip angle and slip ratio inside a friction ellipse.

Source: "Ellipse Curve Friction Method" of the physics documentation. Capacities are magnitudes, so
that both sides and both directions are alike.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.friction.base import FRICTION, TableFriction
from mvsim_core.friction.casters import caster_forces
from mvsim_core.friction.contact import (
    NEAR_STOP,
    center_of_island,
    clamp,
    rolling_torque,
    set_force,
    slope_brake,
    slope_hold,
    stop_slip,
    stopping_motor,
    stops_wheel,
)
from mvsim_core.friction.coupled import motor_brake
from mvsim_core.friction.wheel_rows import ACROSS, COUPLED, STOPPING
from mvsim_core.specs.friction import EllipseSpec
from mvsim_core.state.arrays import IntArray, Row, Rows

PARAMS = np.dtype(
    [
        ("c_damping", "f8"),  # N m s/rad
        ("c_rr", "f8"),  # 1
        ("c_alpha", "f8"),  # 1/rad
        ("c_s", "f8"),  # 1
        ("alpha_sat", "f8"),  # rad
        ("s_sat", "f8"),  # 1
        ("c_alpha_s", "f8"),  # 1
        ("c_s_alpha", "f8"),  # 1
        ("hold", "i8"),  # 1: a vehicle without torque stays put on slopes
    ]
)
#: Below this speed slip is undefined and a tyre sticks with all it has [m/s].
STICK_SPEED = 0.05
#: Below this speed along it a tyre counts as one that stands: rounding errors are no motion [m/s].
#: On the spot, with wheels that spin against each other, they would become a drift: the slip
#: angles of what is as good as at rest are those of any motion, however slow.
STILL = 1e-9


@njit(cache=True, nogil=True, error_model="numpy")
def slip_angle(vx: float, vy: float) -> float:
    """Return the angle between rolling direction and velocity, at most 90° [rad].

    Velocities in the wheel frame [m/s], in which the steering angle is already contained.
    """
    if vy == 0.0:
        return 0.0
    return math.atan(vy / abs(vx))  # ±90° for vx = 0


@njit(cache=True, nogil=True, error_model="numpy")
def turned_across(bodies: Rows, w: Row, dt: float) -> float:
    """Return the speed across that a wheel has lost by the turn of its body in a step [m/s].

    Force and slip of a tyre agree before a body turns by ω dt. What the velocity v of the centre
    of mass of its island turns by then in its frame, ω dt v across, is no slip that a force has
    left.
    """
    b = bodies[w.body]
    x, y = center_of_island(bodies, b)
    along = w.vx + b.wz * (w.yaw_c * (w.y - y) - w.yaw_s * (w.x - x))
    return float(b.wz * dt * along)


@njit(cache=True, nogil=True, error_model="numpy")
def capacities(p: Row, normal: float, alpha: float, s: float) -> tuple[float, float]:
    """Return the largest longitudinal and lateral force at a slip angle and ratio [N]."""
    a = clamp(alpha, p.alpha_sat)
    r = clamp(s, p.s_sat)
    left = max(0.0, 1.0 - p.c_s_alpha * (a * (1.0 / p.alpha_sat)) ** 2)
    right = max(0.0, 1.0 - p.c_alpha_s * (r * (1.0 / p.s_sat)) ** 2)
    along = normal * p.c_s * abs(r) * math.sqrt(left)
    across = normal * p.c_alpha * abs(a) * math.sqrt(right)
    return along, across


@njit(cache=True, nogil=True, error_model="numpy")
def settled_slip(vx: float, free: float, give: float) -> float:
    """Return the slip ratio (u - vx) / |u| within ±1 that the tyre's own force leaves.

    A tyre is stiff: taken at the start of a step, the force of its slip throws the wheel to the
    other side of it, step by step. Here force and slip agree at the end of the step. For forward
    motion the surface speed u follows from u = free - give (u - vx) / u, a quadratic equation.

    Args:
        vx: Speed over the ground [m/s].
        free: Surface speed after the step without the ground [m/s].
        give: Change of the surface speed in a step for a slip ratio of 1 [m/s]. Without any, there
            is no force either, and the result means nothing.
    """
    sign = 1.0 if vx > 0.0 or (vx == 0.0 and free >= 0.0) else -1.0
    forward = sign * free
    rest = forward - give
    surface = 0.5 * (rest + math.sqrt(rest * rest + 4.0 * give * abs(vx)))
    return sign * clamp((forward - surface) * (1.0 / max(give, 1e-12)), 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def angle_of_force(p: Row, w: Row, surface: float) -> float:
    """Return the slip angle [rad] of which a wheel shows the forces of the step before.

    Of a tyre at rest any angle may be that of its motion to come: what it gives along follows
    from what is asked of it across. So it neither loses nor gets back force by starting to move.
    With a and s the slips as shares of their saturations, its forces as shares of the largest are
    s √(1 - C_sα a²) and a √(1 - C_αs s²), a quadratic equation for s². A tyre that spins shows s
    itself, which is more than what its force says.

    Args:
        p: Parameters of the tyre.
        w: Row of WHEEL.
        surface: Its surface speed [m/s].
    """
    along = (w.yaw_c * w.fx + w.yaw_s * w.fy) / max(w.normal * p.c_s * p.s_sat, 1e-12)
    across = (w.yaw_c * w.fy - w.yaw_s * w.fx) / max(w.normal * p.c_alpha * p.alpha_sat, 1e-12)
    along *= along
    across *= across
    slip = clamp((surface - w.vx) / max(abs(surface), 1e-12), p.s_sat) / p.s_sat
    slip *= slip
    half = 0.5 * (1.0 - p.c_s_alpha * across + p.c_alpha_s * along)
    root = half * half - p.c_alpha_s * along
    if root < 0.0 or half <= 0.0:
        slip = 1.0
    else:
        slip = max(slip, min(along / (half + math.sqrt(root)), 1.0))
    left = 1.0 - p.c_alpha_s * slip
    return float(p.alpha_sat * math.sqrt(across / left)) if across < left else float(p.alpha_sat)


@njit(cache=True, nogil=True, error_model="numpy")
def side_give(p: Row, w: Row, across: float, alpha: float, most: float) -> float:
    """Return by how much a tyre slips across for its force across [m/s per N].

    Taken at the start of a step, the force of its slip angle throws the wheel to the other side
    of it. Here force and slip agree at the end of the step, for all wheels of a vehicle together.

    Args:
        p: Parameters of the tyre.
        w: Row of WHEEL.
        across: Speed across at the start of the step [m/s].
        alpha: Slip angle that follows from it [rad].
        most: Largest force across at its slip ratio [N].
    """
    size = abs(alpha)
    speed = abs(w.vx)
    if speed < STILL:
        return 0.0
    if size >= p.alpha_sat:
        speed *= math.tan(p.alpha_sat) / p.alpha_sat
    elif size > 0.0:
        speed = abs(across) / size
    return float(speed * p.alpha_sat / max(most, 1e-12))


@njit(cache=True, nogil=True, error_model="numpy")
def stick_share(squared: float) -> float:
    """Return the share of its grip with which a tyre sticks, from the square of its speed."""
    return max(0.0, 1.0 - math.sqrt(squared) / STICK_SPEED)


@njit(cache=True, nogil=True, error_model="numpy")
def ellipse_kernel(bodies: Rows, wheels: Rows, params: Rows, ids: IntArray, dt: float) -> None:
    """Write force and spin of the wheels `ids`.

    Written with few divisions and roots: they are what this kernel's time goes to.
    """
    for k in range(ids.shape[0]):
        w = wheels[ids[k]]
        if bodies[w.body].ideal != 0:
            continue
        p = params[k]
        if w.caster != 0:
            mu = p.c_s * p.s_sat if math.isnan(w.region_mu) else w.region_mu
            c_rr = p.c_rr if math.isnan(w.region_c_rr) else w.region_c_rr
            caster_forces(bodies[w.body], w, c_rr, mu * w.normal, dt)
            continue
        surface = w.omega * w.radius
        c_rr = p.c_rr if math.isnan(w.region_c_rr) else w.region_c_rr
        across = w.vy + turned_across(bodies, w, dt)
        alpha = slip_angle(w.vx, across)
        turned = alpha
        squared = w.vx * w.vx + w.vy * w.vy
        if squared < STICK_SPEED * STICK_SPEED:
            turned = angle_of_force(p, w, surface)
        most = capacities(p, w.normal, turned, p.s_sat)[0]
        motor, inertia = stopping_motor(w, most, dt)
        torque = motor - p.c_damping * w.omega
        rolling = rolling_torque(c_rr, w.normal, w.radius, w.omega)
        holds = w.coupled != 0 and p.hold != 0 and w.idle != 0 and w.slope_x != 0.0
        brakes = w.coupled == STOPPING and w.torque * w.omega <= 0.0
        w.coupled = STOPPING if brakes else ACROSS
        spin = dt / inertia
        w.resist = 0.0
        if holds or stops_wheel(bodies[w.body], w, rolling, most, NEAR_STOP, dt):
            w.coupled = STOPPING if brakes else COUPLED
            w.resist = abs(rolling) + (slope_brake(w) if p.hold != 0 else 0.0)
        else:
            torque -= rolling
        free = surface + w.radius * spin * torque
        give = w.radius * w.radius * spin * most * (1.0 / p.s_sat)
        slip = settled_slip(w.vx, free, give)
        most_x = capacities(p, w.normal, turned, slip)[0]
        most_x = max(most_x, stick_share(max(squared, surface * surface)) * most)
        most_y = capacities(p, w.normal, p.alpha_sat, slip)[1]
        if w.coupled == ACROSS and w.held == 0:
            w.side_give = side_give(p, w, across, alpha, most_y)
            w.stick = stick_share(squared)
        else:
            most_y *= max(min(abs(alpha) / p.alpha_sat, 1.0), stick_share(squared))
        if not math.isnan(w.region_mu):
            most = min(most, w.region_mu * w.normal)
            most_x = min(most_x, w.region_mu * w.normal)
            most_y = min(most_y, w.region_mu * w.normal)
        w.limit_x = most
        w.limit_y = most_y
        w.limit_round = 0
        if w.held != 0:
            continue
        w.spin_free = w.omega + torque * spin
        w.slip_give = 0.0
        if brakes and most > 0.0:
            w.resist += motor_brake(w, 0.0)
            w.spin_free = w.omega + (torque - motor) / w.inertia * dt
            w.slip_give = abs(free - give * slip) * p.s_sat / most
        lateral = clamp(-w.vy * w.carried * (1.0 / dt) - w.slope_y, most_y)
        along = clamp(stop_slip(w, torque, inertia, dt), most_x)
        w.omega += (torque - w.radius * along) * spin
        if p.hold != 0:
            along += slope_hold(w, along, most, dt)  # a held tyre slips as needed
        set_force(w, along, lateral)


@FRICTION.register("ellipse")
class Ellipse(TableFriction):
    """All wheels with the ellipse model."""

    PARAMS = PARAMS
    kernel = staticmethod(ellipse_kernel)

    def parameters(self, spec: EllipseSpec) -> dict[str, float]:
        """Return the fields of PARAMS of a spec."""
        return {
            "c_damping": spec.c_damping,
            "c_rr": spec.c_rr,
            "hold": spec.slope_hold,
            "c_alpha": spec.c_alpha,
            "c_s": spec.c_s,
            "alpha_sat": spec.slip_angle_saturation,
            "s_sat": spec.slip_ratio_saturation,
            "c_alpha_s": spec.c_alpha_s,
            "c_s_alpha": spec.c_s_alpha,
        }
