# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The twist that wheels' spins amount to, and the pose that it sums up to, in one step."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.dynamics.odometry import WRAP_BEYOND, odometry_kernel, wheel_twist
from tests.unit.kernels.rows import DT, random_state, turn


@pytest.mark.parametrize("seed", range(4))
def test_two_wheels_give_speed_and_rate(seed: int) -> None:
    """Both wheels roll: v_left = vx - wz y_left, and so on the right."""
    state = random_state(seed)
    v = state.vehicles
    v["odo_vx"] = v["odo_vy"] = v["odo_wz"] = math.nan
    for row in v:
        wheel_twist(row, state.wheels)
        left, right = state.wheels[row["odo_left"]], state.wheels[row["odo_right"]]
        for w in (left, right):
            assert w["omega"] * w["radius"] == pytest.approx(
                row["odo_vx"] - row["odo_wz"] * w["y"]
            )
        assert row["odo_vy"] == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_any_wheels_give_the_sum_of_their_shares(seed: int) -> None:
    state = random_state(seed)
    state.vehicles["free"] = 1
    state.vehicles["odo_vx"] = state.vehicles["odo_vy"] = state.vehicles["odo_wz"] = math.nan
    for k, row in enumerate(state.vehicles):
        wheel_twist(row, state.wheels)
        w = state.wheels[4 * k : 4 * k + 4]
        along = w["omega"] * w["radius"] * w["grip_c"]
        want = [float((w[name] * along).sum()) for name in ("odo_vx", "odo_vy", "odo_wz")]
        assert (row["odo_vx"], row["odo_vy"], row["odo_wz"]) == pytest.approx(tuple(want))


@pytest.mark.parametrize("free", [0, 1])
@pytest.mark.parametrize("ideal", [0, 1])
def test_the_pose_moves_along_the_tangent_at_the_middle(free: int, ideal: int) -> None:
    """Multipliers scale the increments; kinematic bases show their sideways motion."""
    state = random_state(5)
    state.vehicles["free"] = free
    state.bodies["ideal"] = ideal
    before = state.vehicles.copy()
    odometry_kernel(state.bodies, state.wheels, state.vehicles, DT)
    for row, old, b in zip(state.vehicles, before, state.bodies, strict=True):
        sideways = row["odo_vy"]
        if ideal and not free:
            across = (turn(-b["yaw"]) @ (b["vx"], b["vy"]))[1] / b["plan_yy"]
            assert sideways == pytest.approx(across)
        turned = old["odo_kyaw"] * row["odo_wz"] * DT
        step = np.array([old["odo_kx"] * row["odo_vx"], old["odo_ky"] * sideways]) * DT
        want = turn(old["odo_yaw"] + 0.5 * turned) @ step
        assert (row["odo_x"] - old["odo_x"], row["odo_y"] - old["odo_y"]) == pytest.approx(
            tuple(want)
        )
        assert row["odo_yaw"] - old["odo_yaw"] == pytest.approx(turned)


def test_spin_angles_sum_up() -> None:
    state = random_state(6)
    before = state.wheels["phi"].copy()
    odometry_kernel(state.bodies, state.wheels, state.vehicles, DT)
    assert state.wheels["phi"] == pytest.approx(before + state.wheels["omega"] * DT)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_large_spin_angles_lose_whole_turns(sign: float) -> None:
    """Beyond 10,000 rad only: the rest keeps its sign, as C's fmod has it."""
    state = random_state(7)
    state.wheels["omega"] = 0.0
    start = np.linspace(WRAP_BEYOND - 20.0, WRAP_BEYOND + 20.0, 12) * sign
    state.wheels["phi"] = start
    odometry_kernel(state.bodies, state.wheels, state.vehicles, DT)
    want = np.where(np.abs(start) > WRAP_BEYOND, np.fmod(start, 2.0 * math.pi), start)
    assert state.wheels["phi"] == pytest.approx(want, abs=1e-9)
    assert (state.wheels["phi"] != start).any()
    assert (state.wheels["phi"] == start).any()
