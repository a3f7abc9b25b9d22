# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`default` and `wardiagnemma` wheel by wheel, against the documented steps in their order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.friction.contact import HOLD_SPEED
from mvsim_core.friction.default import PARAMS, coulomb_kernel, ground_drag
from mvsim_core.state.arrays import State
from tests.unit.kernels.rows import DT, GRAVITY, random_state, turn

MU, DAMPING, C_RR = 0.6, 0.3, 0.02


def wheels_on_ground(seed: int, idle: bool) -> State:
    """Twelve wheels: slow and fast, on ice, on slopes, in the air, of an ideal vehicle."""
    state = random_state(seed)
    rng = np.random.default_rng(seed + 100)
    w = state.wheels
    w["carried"] = rng.uniform(3.0, 20.0, 12)
    w["normal"] = w["carried"] * GRAVITY * 0.97
    for name in ("vx", "vy", "slope_x", "slope_y"):
        w[name] = rng.normal(0.0, 1.0, 12)
    w["slope_x"] *= 8.0
    w["vx"][::3] *= 0.02
    w["normal"][1] = 0.0
    w["region_mu"][2] = 0.05
    w["region_c_rr"][3] = 0.2
    w["inertia"] = rng.uniform(0.01, 0.2, 12)
    w["idle"] = idle
    if idle:
        w["torque"] = 0.0
    state.bodies["ideal"][2] = 1
    return state


def expected(w: np.ndarray, p: np.ndarray) -> tuple[float, float, float]:
    """Force along and across the wheel and its new spin, as the document has it."""
    mu = MU if math.isnan(w["region_mu"]) else float(w["region_mu"])
    c_rr = C_RR if math.isnan(w["region_c_rr"]) else float(w["region_c_rr"])
    limit = mu * w["normal"]
    across = float(np.clip(-w["vy"] * w["carried"] / DT - w["slope_y"], -limit, limit))
    torque = w["torque"] - DAMPING * w["omega"]
    if abs(w["omega"]) > 1e-4:
        torque -= c_rr * w["normal"] * w["radius"] * math.tanh(100.0 * w["omega"])
    alpha = (w["vx"] / w["radius"] - w["omega"]) / DT
    wish = (torque - w["inertia"] * alpha) / w["radius"]
    along = float(np.clip(wish, -limit, limit))
    spin = w["omega"] + (torque - w["radius"] * along) / w["inertia"] * DT
    if p["hold"] and w["idle"]:
        hold = 0.0
        if abs(w["vx"]) < HOLD_SPEED:
            hold = -w["vx"] * w["carried"] / DT - w["slope_x"]
        elif w["vx"] * w["slope_x"] > 0.0:
            hold = -w["slope_x"]
        rest = limit - abs(along)
        along += float(np.clip(hold, -rest, rest))
    if p["r1"] > 0.0 or p["r2"] > 0.0:
        speed = abs(w["vx"])
        part = p["r1"] * (1.0 - math.exp(-p["a_roll"] * speed)) + p["r2"] * speed
        drag = min(w["normal"] * part, speed * w["carried"] / DT, limit)
        along = float(np.clip(along - math.copysign(drag, w["vx"]), -limit, limit))
    return along, across, spin


@pytest.mark.parametrize("idle", [False, True])
@pytest.mark.parametrize("hold", [0, 1])
@pytest.mark.parametrize(
    "drag", [(0.0, 0.0, 0.0), (0.02, 0.0, 50.0), (0.0, 0.3, 50.0), (0.4, 0.1, 2.0)]
)
def test_forces_and_spins(idle: bool, hold: int, drag: tuple[float, float, float]) -> None:
    compared = 0
    for seed in range(3):
        state = wheels_on_ground(seed, idle)
        params = np.zeros(12, PARAMS)
        params["mu"], params["c_damping"], params["c_rr"] = MU, DAMPING, C_RR
        params["r1"], params["r2"], params["a_roll"] = drag
        params["hold"] = hold
        before = state.wheels.copy()
        coulomb_kernel(state.bodies, state.wheels, params, np.arange(12), DT)
        for k, (w, old) in enumerate(zip(state.wheels, before, strict=True)):
            if k >= 8:  # of the ideal vehicle
                assert w.tobytes() == old.tobytes()
                continue
            if w["resist"] > 0.0 and w["coupled"] != 0:
                continue  # about to stop: rolling resistance is a brake
            compared += 1
            along, across, spin = expected(old, params[k])
            assert (w["fx"], w["fy"]) == pytest.approx(tuple(turn(w["yaw"]) @ (along, across)))
            assert w["omega"] == pytest.approx(spin)
    assert compared >= 15


def test_parameters_are_those_of_the_wheel_not_of_its_row() -> None:
    """The k-th parameters belong to the k-th of the ids."""
    state = wheels_on_ground(0, False)
    ids = np.array([6, 2, 5])
    params = np.zeros(3, PARAMS)
    params["mu"], params["c_damping"], params["c_rr"] = MU, DAMPING, C_RR
    params["c_damping"][1] = 0.0
    before = state.wheels.copy()
    coulomb_kernel(state.bodies, state.wheels, params, ids, DT)
    free = before[2].copy()
    free["torque"] += DAMPING * free["omega"]
    assert state.wheels["omega"][2] == pytest.approx(expected(free, params[1])[2])
    assert state.wheels["omega"][6] == pytest.approx(expected(before[6], params[0])[2])
    assert state.wheels[0].tobytes() == before[0].tobytes()


@pytest.mark.parametrize("v", [-2.0, -0.01, 0.01, 0.5])
def test_drag_of_the_ground(v: float) -> None:
    want = 30.0 * (0.02 * (1.0 - math.exp(-7.0 * abs(v))) + 0.3 * abs(v))
    assert ground_drag(v, 30.0, 0.02, 0.3, 7.0) == pytest.approx(-math.copysign(want, v))
