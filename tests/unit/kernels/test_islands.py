# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Forces of wheels to velocities of bodies, and blocks that rub, step by step."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.dynamics.islands import (
    apply_ground_friction,
    integrate_velocities_kernel,
    sum_wheel_forces_kernel,
)
from mvsim_core.state.arrays import BODY, DYNAMIC, KINEMATIC, STATIC
from tests.unit.kernels.rows import DT, GRAVITY, axes_in_plan_view, random_state, turn


@pytest.mark.parametrize("seed", range(4))
def test_forces_and_torques_are_summed_about_the_centre_of_mass(seed: int) -> None:
    """The third body is a member of the second one's island, turned and shifted."""
    state = random_state(seed)
    bodies, wheels = state.bodies, state.wheels
    bodies["leader"][2] = 1
    bodies["off_x"][2], bodies["off_y"][2], bodies["off_yaw"][2] = 0.7, -0.4, 0.9
    bodies["fx"] = bodies["fy"] = bodies["torque"] = math.nan
    assert sum_wheel_forces_kernel(bodies, wheels, state.vehicles, np.arange(3)) == -1
    want = np.zeros((3, 3))
    for w in wheels:
        k = int(w["body"])
        force = np.array([w["fx"] + w["gravity_x"], w["fy"] + w["gravity_y"]])
        plan = axes_in_plan_view(bodies[k]) @ force
        at = np.array([w["x"], w["y"]])
        if k == 2:
            plan, force, at = turn(0.9) @ plan, turn(0.9) @ force, (0.7, -0.4) + turn(0.9) @ at
            k = 1
        arm = at - (bodies["com_x"][k], bodies["com_y"][k])
        want[k] += *plan, arm[0] * force[1] - arm[1] * force[0]
    got = np.column_stack([bodies[name] for name in ("fx", "fy", "torque")])
    assert got == pytest.approx(want)


@pytest.mark.parametrize("field", ["omega", "torque", "fx", "fy"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -1e300])
def test_the_first_wheel_that_is_not_finite_is_named(field: str, value: float) -> None:
    state = random_state(0)
    state.wheels[field][5] = state.wheels[field][9] = value
    assert sum_wheel_forces_kernel(state.bodies, state.wheels, state.vehicles, np.arange(3)) == 5
    state = random_state(0)
    state.wheels[field][0] = value
    assert sum_wheel_forces_kernel(state.bodies, state.wheels, state.vehicles, np.arange(3)) == 0


def test_velocities_follow_newton_and_the_implicit_damping() -> None:
    state = random_state(1)
    bodies = state.bodies
    for name, values in (("fx", (3, -2, 5)), ("fy", (1, 4, -6)), ("torque", (2, -3, 7))):
        bodies[name] = values
    before = bodies.copy()
    integrate_velocities_kernel(bodies, np.arange(len(bodies)), np.zeros((3, 4)), GRAVITY, DT)
    for b, old in zip(bodies, before, strict=True):
        push = turn(old["yaw"]) @ (old["fx"], old["fy"]) / old["mass"] * DT
        linear = (np.array([old["cvx"], old["cvy"]]) + push) / (1 + old["damp_lin"] * DT)
        angular = (old["wz"] + old["torque"] / old["inertia"] * DT) / (1 + old["damp_ang"] * DT)
        assert (b["cvx"], b["cvy"], b["wz"]) == pytest.approx((*linear, angular), rel=1e-14)


@pytest.mark.parametrize(
    ("kind", "ideal"),
    [(STATIC, 0), (KINEMATIC, 0), (DYNAMIC, 1)],
    ids=["static", "moved", "ideal"],
)
def test_forces_do_not_move_what_does_not_obey_them(kind: int, ideal: int) -> None:
    state = random_state(2)
    state.bodies["fx"] = 9.0
    state.bodies["ground_mu"] = 0.5
    state.bodies["kind"][1], state.bodies["ideal"][1] = kind, ideal
    before = state.bodies.copy()
    rubbed = np.zeros((len(state.bodies), 4))
    integrate_velocities_kernel(state.bodies, np.arange(len(state.bodies)), rubbed, GRAVITY, DT)
    assert state.bodies[1] == before[1]
    assert state.bodies["cvx"][0] != before["cvx"][0]
    assert state.bodies["cvx"][2] != before["cvx"][2]


def rubbing(**values: float) -> np.ndarray:
    """A block of 6 kg and 0.8 kg m² on ground with friction 0.4, resting on points at ±0.5 m."""
    b = np.zeros(1, BODY)
    defaults = {"mass": 6.0, "inertia": 0.8, "ground_mu": 0.4, "ground_r": 0.5, "kind": DYNAMIC}
    for name, value in {**defaults, **values}.items():
        b[name] = value
    return b


def rub(b: np.ndarray) -> np.ndarray:
    """Let friction act for a step; return the impulses of both points, (2, 2), in the world."""
    rubbed = np.full(4, math.nan)
    apply_ground_friction(b[0], rubbed, GRAVITY, DT)
    return rubbed.reshape(2, 2) @ turn(float(b["yaw"][0])).T


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.0])
@pytest.mark.parametrize("course", [0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi, 0.6, -2.5])
def test_a_fast_block_loses_mu_g_dt(yaw: float, course: float) -> None:
    """Both points slide the same way, each with half of the weight: mu m g against the slip."""
    b = rubbing(yaw=yaw)
    way = np.array([math.cos(yaw + course), math.sin(yaw + course)])
    b["cvx"], b["cvy"] = 3.0 * way
    rub(b)
    want = (3.0 - 0.4 * GRAVITY * DT) * way
    assert (b["cvx"][0], b["cvy"][0], b["wz"][0]) == pytest.approx((*want, 0.0), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_friction_pushes_with_mu_m_g_at_most(seed: int) -> None:
    """Whatever the motion; with all of it where the block slides without turning."""
    rng = np.random.default_rng(seed)
    course, yaw = rng.uniform(-3, 3, 2)
    limit = 0.4 * GRAVITY * DT
    b = rubbing(yaw=yaw, cvx=3 * math.cos(course), cvy=3 * math.sin(course))
    before = b.copy()
    rub(b)
    lost = math.hypot(b["cvx"][0] - before["cvx"][0], b["cvy"][0] - before["cvy"][0])
    assert lost == pytest.approx(limit)
    b = rubbing(yaw=yaw, com_x=0.1, com_y=-0.2, cvx=course, cvy=-0.3, wz=rng.normal(0, 3))
    before = b.copy()
    rub(b)
    lost = math.hypot(b["cvx"][0] - before["cvx"][0], b["cvy"][0] - before["cvy"][0])
    assert lost <= limit * (1 + 1e-12)


def test_friction_beside_the_centre_of_mass_turns_the_block() -> None:
    """Sliding along x with the centre of mass 0.2 m to the left, it turns to the right."""
    b = rubbing(com_y=0.2, cvx=3.0)
    rub(b)
    limit = 0.4 * 6.0 * GRAVITY * DT
    assert float(b["cvx"][0]) == pytest.approx(3.0 - limit / 6.0, rel=1e-3)
    # less by the part that both points, now turning, push against each other
    assert float(b["wz"][0]) == pytest.approx(-0.2 * limit / 0.8, rel=0.03)


@pytest.mark.parametrize("yaw", [0.0, 0.7])
def test_a_fast_spin_loses_the_torque_of_both_points(yaw: float) -> None:
    b = rubbing(yaw=yaw, wz=9.0)
    rub(b)
    assert float(b["wz"][0]) == pytest.approx(9.0 - 0.4 * 6.0 * GRAVITY * 0.5 / 0.8 * DT)
    assert float(np.hypot(b["cvx"][0], b["cvy"][0])) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("com", [(0.0, 0.0), (0.1, -0.2)])
@pytest.mark.parametrize("yaw", [0.0, 0.7, 2.9])
def test_a_slow_block_stops(yaw: float, com: tuple[float, float]) -> None:
    """What friction can stop within the step stands afterwards, and does not turn back."""
    b = rubbing(yaw=yaw, com_x=com[0], com_y=com[1], cvx=0.006, cvy=-0.004, wz=0.01)
    before = b.copy()
    impulses = rub(b)
    assert b["cvx"][0] == b["cvy"][0] == b["wz"][0] == 0.0
    assert impulses.sum(axis=0) == pytest.approx((-6.0 * 0.006, 6.0 * 0.004))
    assert torque(before, impulses) == pytest.approx(-0.8 * 0.01)


def arms(b: np.ndarray) -> np.ndarray:
    """Return where both points are from the centre of mass, (2, 2), in the world [m]."""
    own = np.array([(0.5, 0.0), (-0.5, 0.0)]) - (b["com_x"][0], b["com_y"][0])
    return own @ turn(float(b["yaw"][0])).T


def torque(b: np.ndarray, impulses: np.ndarray) -> float:
    """Return the angular impulse of the impulses of both points [N m s]."""
    at = arms(b)
    return float((at[:, 0] * impulses[:, 1] - at[:, 1] * impulses[:, 0]).sum())


def test_each_point_pushes_against_the_slip_that_is_left() -> None:
    """Sliding, turning or nearly at rest: Coulomb's law at both points, and Newton's for all."""
    rng = np.random.default_rng(5)
    limit = 0.5 * 0.4 * 6.0 * GRAVITY * DT
    sticking = 0
    for _ in range(300):
        size = 10.0 ** rng.uniform(-2.5, 1.0)
        values = dict(zip(("cvx", "cvy", "wz"), rng.normal(0, size, 3), strict=True))
        com = dict(zip(("com_x", "com_y"), rng.uniform(-0.2, 0.2, 2), strict=True))
        b = rubbing(yaw=rng.uniform(-3, 3), **com, **values)
        before = b.copy()
        impulses = rub(b)
        change = 6.0 * np.array([b[n][0] - before[n][0] for n in ("cvx", "cvy")])
        assert change == pytest.approx(impulses.sum(axis=0), abs=1e-12)
        assert 0.8 * (b["wz"][0] - before["wz"][0]) == pytest.approx(
            torque(b, impulses), abs=1e-12
        )
        for p, (x, y) in zip(impulses, arms(b), strict=True):
            slip = np.array([b["cvx"][0] - b["wz"][0] * y, b["cvy"][0] + b["wz"][0] * x])
            assert np.hypot(*p) <= limit * (1 + 1e-12)
            if np.hypot(*slip) < 1e-9 * size:
                sticking += 1
                continue
            assert p == pytest.approx(-limit * slip / np.hypot(*slip), abs=1e-6 * limit)
    assert sticking > 20


def test_friction_takes_energy() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        values = dict(zip(("cvx", "cvy", "wz", "yaw"), rng.normal(0, 0.1, 4), strict=True))
        b = rubbing(com_x=rng.uniform(-0.2, 0.2), com_y=rng.uniform(-0.2, 0.2), **values)
        before = 3.0 * (b["cvx"] ** 2 + b["cvy"] ** 2) + 0.4 * b["wz"] ** 2
        rub(b)
        after = 3.0 * (b["cvx"] ** 2 + b["cvy"] ** 2) + 0.4 * b["wz"] ** 2
        assert after[0] < before[0]


def test_a_block_at_rest_stays_at_rest() -> None:
    b = rubbing(yaw=0.4)
    before = b.copy()
    rub(b)
    assert b.tobytes() == before.tobytes()
