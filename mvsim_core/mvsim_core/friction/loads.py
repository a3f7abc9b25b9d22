# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Loads of the wheels under accelerations and slopes, and whether a vehicle would tip over.

Quasi-static: all forces on a vehicle but its weight act on the ground, so that the loads must
balance their moment about the centre of mass. Vehicles do not tip over here; they stay on their
wheels, and the loads tell that real ones would not.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.dynamics.islands import upright
from mvsim_core.state.arrays import Row, Rows

#: Time in which wheel loads follow the forces [s]: about that of a stiff tyre.
TRANSFER_TIME = 0.02
#: Spreads of wheels below this share of the largest one, squared, count as a line.
LINE = 1e-12
#: Part of its speed that a resistance may take from a vehicle in a step: near rest it is a brake.
#: Together with laws that are left alone up to `friction.coupled.STABLE` no energy appears.
BRAKED = 0.2
#: Values of VEHICLE.tipping: all wheels carry the chassis, some do not, it would tip over.
STANDS, LIFTS, TIPS = 0, 1, 2


@njit(cache=True, nogil=True, error_model="numpy")
def moved_mass(b: Row, w: Row, along: float, left: float) -> float:
    """Return the share of a wheel in the mass that forces at all wheels move [kg].

    If each wheel takes a part c of its velocity times this mass in a direction of its own, the
    vehicle loses at most the part c of its energy of motion: Σ m_i d dᵀ <= M, d being the
    direction with its lever about the centre of mass.

    Args:
        b: Row of BODY of its vehicle.
        w: Row of WHEEL.
        along: Direction, a unit vector in the frame of the wheel.
        left: Its other component.
    """
    dx = w.yaw_c * along - w.yaw_s * left
    dy = w.yaw_s * along + w.yaw_c * left
    lever = (w.x - b.com_x) * dy - (w.y - b.com_y) * dx
    return float(w.carried * b.inertia / (b.inertia + b.mass * lever * lever))


@njit(cache=True, nogil=True, error_model="numpy")
def transfer_weight(b: Row, wheels: Rows, v: Row, gravity: float, dt: float) -> None:
    """Let the loads of the wheels of a vehicle follow its accelerations and slopes.

    Their sum is the weight of the chassis. Of all loads that balance the moments those are taken
    that differ least from each other: they vary linearly over the wheels. A wheel whose load would
    be negative is lifted, and the others carry all. Where they stand in a line, nothing balances
    the moment across it: the vehicle tips, and two wheels stand on casters that carry nothing.
    """
    pressing = upright(b)
    weight = v.chassis_mass * gravity * pressing
    fx = 0.0
    fy = 0.0
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        fx += wheels[k].fx
        fy += wheels[k].fy
        wheels[k].lifted = 0
    centre_x = v.chassis_x - (fx * v.com_z / weight if weight > 0.0 else 0.0)
    centre_y = v.chassis_y - (fy * v.com_z / weight if weight > 0.0 else 0.0)
    level, along_x, along_y = 0.0, 0.0, 0.0
    for _ in range(v.n_wheels):
        level, along_x, along_y = load_plane(wheels, v, weight, centre_x, centre_y)
        least = -1e-9 * weight
        lightest = -1
        standing = 0
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            load = level + along_x * w.x + along_y * w.y
            if w.lifted == 0:
                standing += 1
                if load < least:
                    least, lightest = load, k
        if lightest < 0 or standing == 1:
            break
        wheels[lightest].lifted = 1
    follow = min(1.0, dt / TRANSFER_TIME)
    v.tipping = STANDS
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        load = 0.0
        if w.lifted == 0:
            load = max(0.0, level + along_x * w.x + along_y * w.y)
        else:
            v.tipping = LIFTS
        w.load += follow * (load / pressing - w.load)
    if v.tipping == LIFTS and tip_margin(b, wheels, v, gravity) < 0.0:
        v.tipping = TIPS


@njit(cache=True, nogil=True, error_model="numpy")
def load_plane(
    wheels: Rows, v: Row, weight: float, centre_x: float, centre_y: float
) -> tuple[float, float, float]:
    """Return a, b, c of the loads a + b x + c y [N] of the wheels that are not lifted.

    They carry a weight [N] whose line of action meets the ground at a centre [m].
    """
    n = 0
    mx, my = 0.0, 0.0
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        if w.lifted == 0:
            n += 1
            mx += w.x
            my += w.y
    mx /= n
    my /= n
    xx, xy, yy = 0.0, 0.0, 0.0
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        if w.lifted == 0:
            xx += (w.x - mx) * (w.x - mx)
            xy += (w.x - mx) * (w.y - my)
            yy += (w.y - my) * (w.y - my)
    px, py = weight * (centre_x - mx), weight * (centre_y - my)
    size = xx + yy
    det = xx * yy - xy * xy
    slope_x, slope_y = 0.0, 0.0
    if det > LINE * size * size:
        slope_x = (yy * px - xy * py) / det
        slope_y = (xx * py - xy * px) / det
    elif size > 0.0:  # wheels in a line: the pseudo-inverse
        slope_x = (xx * px + xy * py) / (size * size)
        slope_y = (xy * px + yy * py) / (size * size)
    return weight / n - slope_x * mx - slope_y * my, slope_x, slope_y


@njit(cache=True, nogil=True, error_model="numpy")
def tip_margin(b: Row, wheels: Rows, v: Row, gravity: float) -> float:
    """Return how far inside of its wheels' hull the line of all forces meets the ground [m].

    The point where weight and the forces that accelerate the vehicle have no moment (the zero
    moment point; M. Vukobratović, 1972); outside, negative, the vehicle would tip over. Vehicles
    whose wheels stand in a line lean on casters: only the ends of the line count.
    """
    pressing = upright(b)
    weight = v.chassis_mass
    px, py = v.chassis_mass * v.chassis_x, v.chassis_mass * v.chassis_y
    fx, fy = 0.0, 0.0
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        weight += w.mass
        px += w.mass * w.x
        py += w.mass * w.y
        fx += w.fx
        fy += w.fy
    down = weight * gravity * pressing
    px = px / weight - (fx * v.com_z / down if down > 0.0 else 0.0)
    py = py / weight - (fy * v.com_z / down if down > 0.0 else 0.0)
    margin = math.inf
    for i in range(v.wheel0, v.wheel0 + v.n_wheels):
        for j in range(v.wheel0, v.wheel0 + v.n_wheels):
            dx, dy = wheels[j].x - wheels[i].x, wheels[j].y - wheels[i].y
            length = math.hypot(dx, dy)
            if length > 0.0 and is_edge(wheels, v, i, j):
                left = dx * (py - wheels[i].y) - dy * (px - wheels[i].x)
                margin = min(margin, left / length)
    if margin < math.inf:
        return margin
    for i in range(v.wheel0, v.wheel0 + v.n_wheels):  # in a line: between which ends?
        for j in range(v.wheel0, v.wheel0 + v.n_wheels):
            dx, dy = wheels[j].x - wheels[i].x, wheels[j].y - wheels[i].y
            length = math.hypot(dx, dy)
            if length > 0.0:
                along = (dx * (px - wheels[i].x) + dy * (py - wheels[i].y)) / length
                inside = min(along, length - along)
                margin = inside if margin == math.inf else max(margin, inside)
    return margin if margin < math.inf else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def is_edge(wheels: Rows, v: Row, i: int, j: int) -> bool:
    """Return whether all wheels are to the left of the line from wheel i to j, some truly."""
    dx, dy = wheels[j].x - wheels[i].x, wheels[j].y - wheels[i].y
    some = False
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        x, y = wheels[k].x - wheels[i].x, wheels[k].y - wheels[i].y
        left = dx * y - dy * x
        size = 1e-9 * (dx * dx + dy * dy + x * x + y * y)
        if left < -size:
            return False
        some = some or left > size
    return some
