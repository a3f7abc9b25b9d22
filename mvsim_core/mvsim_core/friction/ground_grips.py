# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Friction of the ground inside the contact solution: the grips of blocks and wheels.

The friction of a step is found before its contacts are known. What a contact pushes would then
move by F dt / m in each step, however well it grips. So the bodies that something may act on in a
step get rows of GRIP for the contact solver: it starts from the friction that was found and adds
what contacts call for, within the limits that are left.

* A block grips with half of mu times its weight on the ground at each of its two points, in all
  directions.
* A wheel grips across with WHEEL.limit_y; if a brake or a motor that holds locks it, along too,
  with the lesser of WHEEL.limit_x and brake / R. What is left of a friction circle counts.
* A wheel that turns does not grip along: a push there turns it, and its motor answers in the next
  step. Nor do wheels with rollers across, unless they are held.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from mvsim_core.dynamics.islands import upright
from mvsim_core.friction.hold import HELD, brake_of, grip_forces
from mvsim_core.solver.contact_types import GRIP, NO_GRIPS
from mvsim_core.state.arrays import DYNAMIC, FloatArray, IntArray, Row, Rows, State
from mvsim_core.state.plan_view import seen_along, to_ground, to_plan


class GroundGrips:
    """Makes the grips of a step and takes their impulses into WHEEL.

    It holds nothing from step to step.

    Attributes:
        rubbed: (bodies, 4) impulses of `apply_ground_friction` in this step.
        count: Number of grips of this step.
    """

    def __init__(self) -> None:
        """Start small."""
        self.rubbed: FloatArray = np.zeros((0, 4))
        self.count = 0
        self._grips: Rows = NO_GRIPS
        self._step: Any = None

    def begin(self, state: State, movers: IntArray, gravity: float, dt: float) -> None:
        """Begin a step of a state in which the rows `movers` of BODY move."""
        self.count = 0
        self._step = state, movers, gravity, dt
        bodies = len(state.bodies)
        if len(self.rubbed) < bodies:
            self.rubbed = np.zeros((2 * bodies, 4))

    def make(self, touched: IntArray) -> Rows:
        """Return the grips of the bodies that are 1 in `touched`.

        Their velocities have the friction of this step already.
        """
        state, movers, gravity, dt = self._step
        most = 2 * len(movers) + len(state.wheels)
        if len(self._grips) < most:
            self._grips = np.zeros(2 * most, GRIP)
        self.count = grips_kernel(
            state.bodies,
            state.wheels,
            state.vehicles,
            movers,
            touched,
            self.rubbed,
            self._grips,
            gravity,
            dt,
        )
        return self._grips[: self.count]

    def warm(self, state: State) -> None:
        """Compile or load the kernels, so that the first contact does not stall a step."""
        nothing: IntArray = np.zeros(0, np.int64)
        self.begin(state, nothing, 0.0, 1.0)
        self.make(np.zeros(len(state.bodies), np.int64))
        store_kernel(state.bodies, state.wheels, state.vehicles, self._grips[:0], 1.0)

    def store(self, state: State, dt: float) -> None:
        """Add what contacts called for to the forces of the wheels."""
        if self.count:
            store_kernel(state.bodies, state.wheels, state.vehicles, self._grips[: self.count], dt)


@njit(cache=True, nogil=True, error_model="numpy")
def grips_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    wheels: Rows,
    vehicles: Rows,
    movers: IntArray,
    touched: IntArray,
    rubbed: FloatArray,
    grips: Rows,
    gravity: float,
    dt: float,
) -> int:
    """Write the grips of bodies that are 1 in `touched`; return how many."""
    count = 0
    for i in movers:
        b = bodies[i]
        if touched[i] == 0 or b.kind != DYNAMIC or b.ideal != 0 or not b.ground_mu > 0.0:
            continue
        c, s = math.cos(b.yaw), math.sin(b.yaw)
        for side in range(2):
            g = grips[count]
            g.body, g.owner = i, -1
            g.x, g.y = b.ground_x + (b.ground_r if side == 0 else -b.ground_r), b.ground_y
            g.direction = 0.0
            px, py = rubbed[i, 2 * side], rubbed[i, 2 * side + 1]
            g.limit_y = 0.5 * b.ground_mu * b.mass * gravity * upright(b) * shrink(b, px, py)
            g.limit_x = g.limit_y
            g.round = 1
            g.given_x, g.given_y = c * px - s * py, s * px + c * py
            count += 1
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body < 0:
            continue
        b = bodies[v.body]
        lead = v.body if b.leader < 0 else b.leader
        if touched[lead] == 0 or b.ideal != 0:
            continue
        for k in range(v.n_wheels):
            w = wheels[v.wheel0 + k]
            if w.limit_x >= 0.0:  # else its friction model does not tell
                g = grips[count]
                g.body, g.owner = lead, v.wheel0 + k
                wheel_grip(g, b, v, w, k, dt)
                count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def shrink(b: Row, px: float, py: float) -> float:
    """Return how long what is 1 along the ground is in plan view, in the direction of (px, py)."""
    if px == 0.0 and py == 0.0:
        return math.sqrt(b.plan_xx * b.plan_yy)
    x, y = to_ground(b, px, py)
    return math.hypot(px, py) / math.hypot(x, y)


@njit(cache=True, nogil=True, error_model="numpy")
def wheel_grip(g: Row, b: Row, v: Row, w: Row, k: int, dt: float) -> None:
    """Write the limits of wheel `k` of a vehicle, its place, and the friction that it gave."""
    along, across = grip_forces(w)
    locked = w.held != 0 and w.omega == 0.0
    g.limit_x, g.limit_y, g.round = 0.0, w.limit_y, 0
    if locked:
        brake, lever = brake_of(v, w, k), w.radius * abs(w.grip_c)
        g.limit_x = w.limit_x
        if brake < w.limit_x * lever:
            g.limit_x = max(brake / lever, abs(along))  # more in the step in which it locks
    elif w.rollers != 0:
        g.limit_y = 0.0
    if w.limit_round != 0:
        if g.limit_x > 0.0:
            g.round, g.limit_y = 1, w.limit_x
        else:
            g.limit_y = math.sqrt(max(0.0, w.limit_x * w.limit_x - along * along))
    dx = w.yaw_c * w.grip_c - w.yaw_s * w.grip_s  # direction of its grip, vehicle frame
    dy = w.yaw_s * w.grip_c + w.yaw_c * w.grip_s
    along = along if g.limit_x > 0.0 else 0.0
    across = across if g.limit_y > 0.0 else 0.0
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    fx, fy = to_plan(b, dx * along - dy * across, dy * along + dx * across)
    g.given_x, g.given_y = (c * fx - s * fy) * dt, (s * fx + c * fy) * dt
    # in plan view, as the solver counts
    x, y = to_plan(b, dx, dy)
    g.limit_x *= math.hypot(x, y)
    x, y = to_plan(b, -dy, dx)
    g.limit_y *= math.hypot(x, y)
    x, y = seen_along(b, dx, dy)
    g.direction = math.atan2(y, x)
    g.x, g.y = w.x, w.y
    if b.leader >= 0:
        c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
        g.x, g.y = b.off_x + c * w.x - s * w.y, b.off_y + s * w.x + c * w.y
        g.direction += b.off_yaw


@njit(cache=True, nogil=True, error_model="numpy")
def store_kernel(bodies: Rows, wheels: Rows, vehicles: Rows, grips: Rows, dt: float) -> None:
    """Add what grips gave beyond the given to force and torque of their wheels.

    The forces of a held vehicle that was pushed are none to start from in the next step.
    """
    first = 0
    while first < grips.shape[0] and grips[first].owner < 0:
        first += 1
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body < 0 or first == grips.shape[0]:
            continue
        if not v.wheel0 <= grips[first].owner < v.wheel0 + v.n_wheels:
            continue  # it has none: they are in the order of the vehicles
        b = bodies[v.body]
        c, s = math.cos(b.yaw), math.sin(b.yaw)
        pushed = False
        for k in range(v.n_wheels):
            if first == grips.shape[0] or grips[first].owner != v.wheel0 + k:
                continue
            g, w = grips[first], wheels[v.wheel0 + k]
            first += 1
            x, y = (g.impulse_x - g.given_x) / dt, (g.impulse_y - g.given_y) / dt
            if x == 0.0 and y == 0.0:
                continue
            pushed = True
            fx, fy = to_ground(b, c * x + s * y, -s * x + c * y)
            before = grip_forces(w)[0]
            w.fx += fx
            w.fy += fy
            if w.held != 0 and brake_of(v, w, k) < math.inf:  # a parking brake is no motor
                w.torque += w.radius * w.grip_c * (grip_forces(w)[0] - before)
        if pushed and wheels[v.wheel0].held != 0:
            for k in range(v.wheel0, v.wheel0 + v.n_wheels):
                wheels[k].held = HELD
