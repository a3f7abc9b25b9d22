# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What all friction models start from: motion, load and slope of each wheel.

Velocities are taken along the ground: on a slope they are longer than in plan view.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.dynamics.islands import upright
from mvsim_core.dynamics.motor import motor_range
from mvsim_core.friction.casters import swivel
from mvsim_core.friction.coupled import overshoots
from mvsim_core.friction.loads import transfer_weight
from mvsim_core.friction.wheel_rows import ALONE, COUPLED, SCRUBS, STOPPING, all_of
from mvsim_core.state.arrays import ACKERMANN, NEVER, TWIST, Row, Rows
from mvsim_core.state.plan_view import is_level, to_ground

#: Value of WHEEL.idle where the wheels of a vehicle with rollers hold it together on a slope.
LOCKED = 2
#: A vehicle without torque that is slower than this is held on its slope [m/s].
HOLD_SPEED = 0.05
#: Share of the torque that stops a vehicle within a step above which resistance acts as a brake:
#: the spin that it depends on is a step old, and a turning vehicle answers more. For the law per
#: axis the share is larger and of what the wheel carries, since recordings of MVSim 1.2 hold so.
NEAR_STOP, NEAR_STOP_PER_AXIS = 0.1, 0.3


@njit(cache=True, nogil=True, error_model="numpy")
def contact_kernel(bodies: Rows, wheels: Rows, vehicles: Rows, gravity: float, dt: float) -> None:
    """Write velocity, carried mass, normal force and slope forces of all wheels."""
    per_gravity = 1.0 / gravity if gravity > 0.0 else 0.0
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body < 0:
            continue
        b = bodies[v.body]
        c, s = math.cos(b.yaw), math.sin(b.yaw)
        body_vx = c * b.vx + s * b.vy
        body_vy = -s * b.vx + c * b.vy
        tilted = not is_level(b)
        ground_vx, ground_vy = body_vx, body_vy
        if tilted:
            ground_vx, ground_vy = reference_velocity(bodies, b, body_vx, body_vy)
        pressing = gravity * upright(b)
        if v.transfer != 0:
            transfer_weight(b, wheels, v, gravity, dt)
        held = 1 if (v.held != 0 or v.cmd_brake != 0) and b.ideal == 0 else 0
        # slope_hold is what motors without torque do; a trailer has none
        trailer = v.cmd_tick == NEVER and v.cmd_kind != TWIST and v.cmd_kind != ACKERMANN
        idle = 0 if held != 0 or (trailer and (v.joints > 0 or b.leader >= 0)) else 1
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            if v.cmd_brake != 0:
                w.torque = 0.0
            if w.torque != 0.0:
                idle = 0
                if v.motor_stall > 0.0 and v.engine == 0:
                    low, high = motor_range(v, w.omega)
                    w.torque = min(max(w.torque, low), high)
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            vx = ground_vx - b.wz * w.y
            vy = ground_vy + b.wz * w.x
            cw, sw = w.yaw_c, w.yaw_s
            w.vx = cw * vx + sw * vy
            w.vy = -sw * vx + cw * vy
            w.carried = w.load * per_gravity + w.mass
            w.normal = w.carried * pressing
            w.gravity_x = w.carried * gravity * b.slope_x
            w.gravity_y = w.carried * gravity * b.slope_y
            w.limit_x = math.nan
            w.side_give = w.side_bias = 0.0
            w.stick = 1.0
            w.spin_free = math.nan
            w.omega0 = w.omega
        if tilted and idle != 0 and v.free != 0 and b.ideal == 0 and rollers_lock(wheels, v):
            idle = LOCKED
        if tilted:
            balance_weight(b, wheels, v)
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            w.idle = idle
            if held == 0 and idle != LOCKED:
                w.held = 0
            elif held != 0 and w.held == 0:  # `friction.hold` tells those apart that stood
                w.held = held
            w.slope_x = w.yaw_c * w.gravity_x + w.yaw_s * w.gravity_y
            w.slope_y = -w.yaw_s * w.gravity_x + w.yaw_c * w.gravity_y
        lead = bodies[b.leader] if b.leader >= 0 else b
        stopping = v.stop_time > 0.0 and v.coast == 0
        # the wheels of what is pushed or stops turn as fast as it moves at the end of the step
        coupled = STOPPING if stopping else ALONE
        # what slips down a slope and is turned round by each wheel alone would be pushed uphill
        rolls = tilted and idle != 0
        if not stopping and (rolls or lead.push_steps > 0 or overshoots(b, wheels, v)):
            coupled = COUPLED
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            if wheels[k].caster != 0 and idle != 0:
                # on a slope the other wheels hold what the caster carries
                coupled = all_of(coupled)
        if coupled == ALONE and v.scrubs != 0:
            coupled = SCRUBS
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            wheels[k].coupled = coupled
        if b.ideal != 0:
            roll_along(b, wheels, v, dt)


@njit(cache=True, nogil=True, error_model="numpy")
def roll_along(b: Row, wheels: Rows, v: Row, dt: float) -> None:
    """Let the wheels of a kinematic vehicle roll along, without forces."""
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        if w.caster != 0:
            swivel(w, math.hypot(w.vx, w.vy), b.wz, dt)
        else:
            w.omega = (w.vx + w.vy * w.tan_grip) / w.radius
        w.fx = 0.0
        w.fy = 0.0
        w.gravity_x = 0.0
        w.gravity_y = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def center_of_island(bodies: Rows, b: Row) -> tuple[float, float]:
    """Return where the centre of mass of a vehicle's island is, vehicle frame [m]."""
    if b.leader < 0:
        return b.com_x, b.com_y
    lead = bodies[b.leader]
    c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
    x, y = lead.com_x - b.off_x, lead.com_y - b.off_y
    return c * x + s * y, -s * x + c * y


@njit(cache=True, nogil=True, error_model="numpy")
def reference_velocity(bodies: Rows, b: Row, vx: float, vy: float) -> tuple[float, float]:
    """Return the velocity of a vehicle's reference point along the ground, vehicle frame [m/s].

    It is that of the centre of mass of its island along the ground less ψ' × r.

    Args:
        bodies: BODY.
        b: Row of BODY of the vehicle.
        vx: Velocity of the reference point in plan view [m/s].
        vy: Its other component.
    """
    x, y = center_of_island(bodies, b)
    vx, vy = to_ground(b, vx - b.wz * y, vy + b.wz * x)
    return vx + b.wz * y, vy - b.wz * x


@njit(cache=True, nogil=True, error_model="numpy")
def balance_weight(b: Row, wheels: Rows, v: Row) -> None:
    """Let the weight along a slope act at the centre of mass, whatever each wheel carries.

    A weight that acts elsewhere turns a vehicle without losing height. What one of several
    vehicles in an island carries is not known: it stays as it is.
    """
    moment, carried, mx, my = 0.0, 0.0, 0.0, 0.0
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        moment += (w.x - b.com_x) * w.gravity_y - (w.y - b.com_y) * w.gravity_x
        carried += w.carried
        mx += w.x / v.n_wheels
        my += w.y / v.n_wheels
    if b.leader >= 0 or abs(carried - b.mass) > 1e-9 * b.mass:
        return
    spread = 0.0
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        spread += (w.x - mx) * (w.x - mx) + (w.y - my) * (w.y - my)
    if spread > 0.0:
        couple = -moment / spread
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            w.gravity_x -= couple * (w.y - my)
            w.gravity_y += couple * (w.x - mx)


@njit(cache=True, nogil=True, error_model="numpy")
def rollers_lock(wheels: Rows, v: Row) -> bool:
    """Return whether a vehicle with rollers is as slow as what `slope_hold` holds."""
    rollers = False
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        rollers = rollers or w.rollers != 0
        if math.hypot(w.vx, w.vy) >= HOLD_SPEED:
            return False
    return rollers


@njit(cache=True, nogil=True, error_model="numpy")
def rolling_torque(c_rr: float, normal: float, radius: float, omega: float) -> float:
    """Return T_rr = C_rr N R tanh(100 ω), the torque of the tyre's deformation [N m]."""
    if c_rr <= 0.0 or abs(omega) <= 1e-4:
        return 0.0
    return c_rr * normal * radius * math.tanh(100.0 * omega)


@njit(cache=True, nogil=True, error_model="numpy")
def stops_wheel(b: Row, w: Row, rolling: float, limit: float, near: float, dt: float) -> bool:
    """Return whether rolling resistance [N m] is near to turning a wheel's motion round.

    It brakes the wheel's inertia and, through the ground, its share in the mass that all wheels
    move (`moved_mass`) at the speed at which wheel and vehicle agree; on ice, only the former.
    Then it has to act as a brake, which stops and holds; as a torque it would throw the wheel to
    and fro. For the law per axis that is so where it would turn round all of that motion, or a
    share `near` of what the wheel carries.
    """
    if rolling == 0.0:
        return False
    per_axis = near == NEAR_STOP_PER_AXIS
    own = w.inertia * abs(w.omega)
    rolls = w.radius * w.radius * abs(w.omega)
    lever = 0.0
    if w.torque == 0.0 or not per_axis:
        lever = (w.x - b.com_x) * w.yaw_s - (w.y - b.com_y) * w.yaw_c
    if w.torque == 0.0:  # a motor may turn a wheel whose vehicle stands against an obstacle
        speed = abs(w.vy) + (abs(w.vx) if w.omega * w.vx > 0.0 else 0.0)
        rolls = min(rolls, w.radius * speed)
    torque = abs(rolling) * dt
    moved = w.carried * b.inertia / (b.inertia + b.mass * lever * lever)
    if torque > (1.0 if per_axis else near) * (own + moved * rolls):
        return True
    if per_axis and torque > near * (own + w.carried * rolls):
        return True
    return bool(torque - w.radius * limit * dt > 0.5 * own)


@njit(cache=True, nogil=True, error_model="numpy")
def stop_slip(w: Row, torque: float, inertia: float, dt: float) -> float:
    """Return the force along the wheel after which it just rolls: (τ - I α) / R [N]."""
    alpha = (w.vx / w.radius - w.omega) / dt
    return float((torque - inertia * alpha) / w.radius)


@njit(cache=True, nogil=True, error_model="numpy")
def slope_hold(w: Row, along: float, limit: float, dt: float) -> float:
    """Return the force that keeps a vehicle without torque from rolling downhill [N].

    Standing vehicles stay put, rolling ones do not get faster; an ascending one is not helped.
    Only what the limit leaves over is used.
    """
    if w.idle == 0 or w.slope_x == 0.0:
        return 0.0
    rest = limit - abs(along)
    if abs(w.vx) < HOLD_SPEED:
        return float(min(max(-w.vx * w.carried / dt - w.slope_x, -rest), rest))
    if w.slope_x * w.vx > 0.0:
        return float(min(max(-w.slope_x, -rest), rest))
    return 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def slope_brake(w: Row) -> float:
    """Return the torque that keeps a wheel without motor torque from rolling downhill [N m].

    What `slope_hold` does to the vehicle, as a brake: a standing wheel is locked, one that rolls
    downhill does not get faster, an ascending one is free.
    """
    if w.idle == 0 or w.slope_x == 0.0:
        return 0.0
    if abs(w.vx) < HOLD_SPEED:
        return math.inf
    return float(w.radius * abs(w.slope_x)) if w.slope_x * w.vx > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def stopping_motor(w: Row, limit: float, dt: float) -> tuple[float, float]:
    """Return the torque of a wheel's motor [N m] and the inertia that it turns [kg m²].

    A motor that stops its wheel answers to the spin after the step, by WHEEL.soft. That acts as
    an inertia, unless the torque stays at its limit.

    Args:
        w: Row of WHEEL.
        limit: Largest force of the ground on it [N].
        dt: Time step [s].
    """
    if w.coupled != STOPPING or w.soft == 0.0 or w.torque * w.omega >= 0.0:
        return w.torque, w.inertia
    torque = w.at_rest + w.soft * abs(w.omega)
    inertia = w.inertia + w.soft * dt
    most = max(w.brake, abs(w.torque))
    if torque > most:
        lost = max(0.0, most - w.radius * limit) * dt / w.inertia
        if w.at_rest + w.soft * max(0.0, abs(w.omega) - lost) >= most:
            torque, inertia = most, w.inertia
    return -math.copysign(torque, w.omega), inertia


@njit(cache=True, nogil=True, error_model="numpy")
def end_at_rest(w: Row, dt: float) -> None:
    """Keep the torque of a motor that stops a slipping wheel from turning it backwards."""
    if w.omega * w.omega0 < 0.0 and w.torque * w.omega0 < 0.0:
        most = abs(w.torque)
        w.torque = min(max(w.torque - w.inertia * w.omega / dt, -most), most)
        w.omega = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def clamp(value: float, limit: float) -> float:
    """Return value within ±limit."""
    return min(max(value, -limit), limit)


@njit(cache=True, nogil=True, error_model="numpy")
def set_force(w: Row, along: float, lateral: float) -> None:
    """Store a force given in the wheel frame in the vehicle frame."""
    c, s = w.yaw_c, w.yaw_s
    w.fx = c * along - s * lateral
    w.fy = s * along + c * lateral
