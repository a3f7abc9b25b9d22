# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Forces of wheels that are found together: minimum on the circle, bound of chatter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.friction.coupled import (
    STABLE,
    brake_torque,
    circle_force,
    motor_brake,
    overshoots,
    wheel_force,
)
from mvsim_core.friction.wheel_rows import STOPPING
from mvsim_core.state.arrays import WHEEL
from tests.unit.kernels.rows import random_state


def test_rollers_keep_their_force_across_and_a_tyre_slips_by_its_give() -> None:
    """Along the grip: the rim ends F give slower than the ground, or the limit is reached."""
    w = np.zeros(1, WHEEL).view(np.recarray)[0]
    w.radius, w.inertia, w.spin_free, w.limit_x, w.limit_y = 0.1, 0.01, 5.0, 50.0, 2.0
    w.grip_c, w.rollers, w.slip_give = math.cos(math.pi / 4), 1, 0.03
    dt, give, speed, across = 0.01, (0.002, 0.0005, 0.002), (2.0, 0.3), 1.5
    along, left, brake = wheel_force(w, give, speed, (0.0, across), dt)
    lever = w.radius * w.grip_c
    rim = lever * (w.spin_free - lever * along * dt / w.inertia)
    ground = speed[0] + give[0] * along + give[1] * across
    assert (left, brake) == (across, 0.0)
    assert ground - rim == pytest.approx(-along * w.slip_give)
    assert -50.0 < along < 0.0
    w.limit_x = 20.0  # of one force of the ground
    along, left, _ = wheel_force(w, give, speed, (0.0, across), dt)
    assert along == pytest.approx(-math.sqrt(20.0**2 - across**2))


@pytest.mark.parametrize("limit", [0.0, 1e-300, 0.01, 1.0, 30.0, 1e6])
def test_force_on_the_circle_is_the_minimum(limit: float) -> None:
    """It ends the slip, or the slip that it leaves is exactly against it."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        a = rng.normal(size=(2, 2))
        a = a @ a.T + 1e-3 * np.eye(2)
        slip = rng.normal(size=2) * 10.0 ** rng.uniform(-6, 3)
        force = np.array(circle_force((a[0, 0], a[0, 1], a[1, 1]), tuple(slip), limit))
        left = a @ force + slip
        size = float(np.hypot(*force))
        assert size <= limit * (1 + 1e-12)
        if float(np.hypot(*left)) <= 1e-9 * float(np.hypot(*slip)):
            continue
        assert size == pytest.approx(limit, rel=1e-9)
        against = -limit * left
        scale = limit * float(np.hypot(*left)) + 1e-300
        assert force * np.hypot(*left) / scale == pytest.approx(against / scale, abs=1e-6)


def test_chatter_is_where_a_step_answers_twice() -> None:
    """Against the eigenvalues of the step matrix of all contact points, W D <= 2."""
    found = set()
    for seed in range(60):
        state = random_state(seed, vehicles=1)
        b, w, v = state.bodies, state.wheels, state.vehicles[0]
        rng = np.random.default_rng(seed)
        w["carried"] = rng.uniform(1.0, 20.0)
        b["mass"] = w["carried"].sum()
        b["inertia"] = b["mass"] * rng.uniform(0.02, 2.0)
        w["inertia"] = rng.uniform(0.0005, 0.02, len(w)) * w["radius"] ** 2 * b["mass"]
        w["rollers"] = w["caster"] = 0
        rows, weights = [], []
        for k in range(v["wheel0"], v["wheel0"] + v["n_wheels"]):
            rx, ry = w["x"][k] - b["com_x"][0], w["y"][k] - b["com_y"][0]
            c, s = w["yaw_c"][k], w["yaw_s"][k]
            rows += [(c, s, rx * s - ry * c), (-s, c, rx * c + ry * s)]
            weights += [w["inertia"][k] / w["radius"][k] ** 2, w["carried"][k]]
        jacobian, root = np.array(rows), np.sqrt(np.array(weights))
        give = np.diag([1 / b["mass"][0], 1 / b["mass"][0], 1 / b["inertia"][0]])
        matrix = root[:, None] * (jacobian @ give @ jacobian.T) * root / STABLE
        matrix += np.diag([1.0, 0.0] * (len(rows) // 2))  # the spin takes the same again
        worst = float(np.linalg.eigvalsh(matrix).max())
        if abs(worst - 2.0) > 1e-6:
            assert overshoots(b[0], w, v) == (worst > 2.0)
            found.add(worst > 2.0)
    assert found == {True, False}


def test_no_energy_from_a_force_on_the_circle() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        a = rng.normal(size=(2, 2))
        a = a @ a.T + 1e-6 * np.eye(2)
        slip = rng.normal(size=2)
        limit = float(10.0 ** rng.uniform(-3, 3))
        force = np.array(circle_force((a[0, 0], a[0, 1], a[1, 1]), tuple(slip), limit))
        assert force @ slip + 0.5 * force @ a @ force <= 1e-12
        assert math.isfinite(force.sum())


@pytest.mark.parametrize("omega", [6.0, -6.0])
@pytest.mark.parametrize("limit", [0.0, 30.0, 300.0])
@pytest.mark.parametrize("brake", [2.0, 6.0, 40.0])
@pytest.mark.parametrize("soft", [0.0, 0.5, 20.0])
def test_a_motor_that_stops_its_wheel_answers_to_the_spin_after_the_step(
    omega: float, limit: float, brake: float, soft: float
) -> None:
    """Brake and spin agree with the law of the motor, within its limit, or the wheel is locked."""
    dt = 0.01
    row = np.zeros(1, WHEEL)
    for name, value in {"radius": 0.1, "inertia": 0.005, "brake": brake, "soft": soft}.items():
        row[name] = value
    row["spin_free"] = row["omega"] = omega
    row["at_rest"], row["torque"] = min(1.5, brake), -math.copysign(min(3.0, brake), omega)
    row["limit_x"] = row["limit_y"] = limit
    row["coupled"] = STOPPING
    w = row[0]
    w["resist"] = motor_brake(w, 0.0)
    give = (dt / 4.0, 0.0, dt / 4.0)
    along, _, torque = wheel_force(w, give, (0.1 * omega, 0.0), (0.0, 0.0), dt)
    spin = omega + (torque - 0.1 * along) * dt / 0.005
    assert abs(along) <= limit
    assert omega * spin >= -1e-12
    assert abs(torque) <= brake + 1e-12
    if abs(spin) > 1e-9:
        assert torque == pytest.approx(-math.copysign(motor_brake(w, spin), omega))
    assert torque == pytest.approx(brake_torque(w, along, dt))
