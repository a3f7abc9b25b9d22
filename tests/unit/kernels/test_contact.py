# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Motion, load and slope of wheels, and the small laws that friction models share."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.friction.contact import (
    HOLD_SPEED,
    clamp,
    contact_kernel,
    rolling_torque,
    set_force,
    slope_hold,
    stop_slip,
)
from mvsim_core.friction.loads import TRANSFER_TIME, transfer_weight, upright
from mvsim_core.state.arrays import BODY, WHEEL, State
from tests.unit.kernels.rows import DT, GRAVITY, axes_in_plan_view, random_state, turn


def wheel(**values: float) -> np.ndarray:
    """One wheel of 0.2 m and 0.1 kg m² that carries 10 kg."""
    w = np.zeros(1, WHEEL)
    defaults = {"radius": 0.2, "inertia": 0.1, "carried": 10.0, "yaw_c": 1.0}
    for name, value in {**defaults, **values}.items():
        w[name] = value
    return w


def pressing(state: State, k: int) -> float:
    """The cosine of the ground's slope below a body."""
    b = state.bodies[k]
    return math.cos(b["roll"]) * math.cos(b["pitch"])


@pytest.mark.parametrize("seed", range(4))
def test_motion_load_and_weight_of_each_wheel(seed: int) -> None:
    state = random_state(seed)
    contact_kernel(state.bodies, state.wheels, state.vehicles, GRAVITY, DT)
    for w in state.wheels:
        b = state.bodies[w["body"]]
        middle = np.array([b["com_x"], b["com_y"]])
        spin = b["wz"] * np.array([[0.0, -1.0], [1.0, 0.0]])
        over = turn(-b["yaw"]) @ (b["vx"], b["vy"]) + spin @ middle  # of the centre of mass
        over = np.linalg.solve(axes_in_plan_view(b), over) + spin @ ((w["x"], w["y"]) - middle)
        assert (w["vx"], w["vy"]) == pytest.approx(tuple(turn(-w["yaw"]) @ over))
        carried = w["load"] / GRAVITY + w["mass"]
        assert w["carried"] == pytest.approx(carried)
        assert w["normal"] == pytest.approx(carried * GRAVITY * pressing(state, int(w["body"])))
        weight = carried * GRAVITY * np.array([b["slope_x"], b["slope_y"]])
        assert (w["gravity_x"], w["gravity_y"]) == pytest.approx(tuple(weight))
        assert (w["slope_x"], w["slope_y"]) == pytest.approx(tuple(turn(-w["yaw"]) @ weight))
        assert w["omega0"] == w["omega"]


def test_without_gravity_wheels_carry_their_own_mass() -> None:
    state = random_state(0)
    contact_kernel(state.bodies, state.wheels, state.vehicles, 0.0, DT)
    assert state.wheels["carried"] == pytest.approx(state.wheels["mass"])
    assert (state.wheels["normal"] == 0.0).all()


def test_a_vehicle_is_idle_if_no_wheel_has_torque() -> None:
    state = random_state(1)
    state.wheels["torque"] = 0.0
    state.wheels["torque"][[0, 7]] = -1e-9, 3.0
    contact_kernel(state.bodies, state.wheels, state.vehicles, GRAVITY, DT)
    assert state.wheels["idle"].tolist() == [0] * 8 + [1] * 4


def test_wheels_of_kinematic_vehicles_roll_along() -> None:
    state = random_state(2)
    state.bodies["ideal"][1] = 1
    spins = state.wheels["omega"].copy()
    contact_kernel(state.bodies, state.wheels, state.vehicles, GRAVITY, DT)
    own = state.wheels[4:8]
    assert own["omega"] == pytest.approx((own["vx"] + own["vy"] * own["tan_grip"]) / own["radius"])
    for name in ("fx", "fy", "gravity_x", "gravity_y"):
        assert (own[name] == 0.0).all()
        assert (state.wheels[name][:4] != 0.0).all()
    assert (state.wheels["omega"][:4] == spins[:4]).all()
    assert (state.wheels["omega"][8:] == spins[8:]).all()


@pytest.mark.parametrize(("fastest", "torque", "idle"), [(0.04, 0, 2), (0.06, 0, 1), (0.04, 1, 0)])
def test_slow_rollers_are_locked_on_a_slope_together(
    fastest: float, torque: float, idle: int
) -> None:
    state = random_state(0)
    state.vehicles["free"] = state.wheels["rollers"] = 1
    state.wheels["torque"] = 0.0
    for name in ("vx", "vy", "wz"):
        state.bodies[name][1] = 0.0
    state.bodies["wz"][1] = fastest / np.hypot(state.wheels["x"], state.wheels["y"])[4:8].max()
    state.bodies["com_x"][1] = state.bodies["com_y"][1] = 0.0
    state.wheels["torque"][4] = torque
    contact_kernel(state.bodies, state.wheels, state.vehicles, GRAVITY, DT)
    assert (state.wheels["idle"][4:8] == idle).all()


def balanced(state: State, k: int) -> np.ndarray:
    """Loads of a four-wheeled vehicle once they have followed the forces [N]."""
    transfer_weight(state.bodies[k], state.wheels, state.vehicles[k], GRAVITY, TRANSFER_TIME)
    return state.wheels["load"][4 * k : 4 * k + 4].copy()


def rectangle(com_z: float = 0.5) -> State:
    """Return a vehicle of 20 kg on a rectangle of wheels off its frame's middle, level."""
    state = random_state(0, vehicles=1)
    state.wheels["x"], state.wheels["y"] = (1.2, 1.2, -0.6, -0.6), (0.5, -0.3, 0.5, -0.3)
    for name in ("roll", "pitch", "slope_x", "slope_y"):
        state.bodies[name] = 0.0
    v = state.vehicles
    v["transfer"], v["chassis_mass"], v["com_z"] = 1, 20.0, com_z
    v["chassis_x"], v["chassis_y"] = 0.5, 0.15
    return state


def test_transferred_loads_balance_all_moments() -> None:
    """The loads carry the weight, and their moments those of weight and ground forces."""
    state = rectangle()
    w = state.wheels
    w["fx"], w["fy"] = (3.0, 5.0, -1.0, 2.0), (-4.0, 1.0, 2.0, -6.0)
    loads = balanced(state, 0)
    weight = 20.0 * GRAVITY
    assert loads.sum() == pytest.approx(weight)
    assert (loads * w["x"]).sum() == pytest.approx(weight * 0.5 - w["fx"].sum() * 0.5)
    assert (loads * w["y"]).sum() == pytest.approx(weight * 0.15 - w["fy"].sum() * 0.5)
    assert (loads > 0).all()


def test_transferred_loads_on_a_slope_press_less() -> None:
    """The array holds loads as on flat ground; the slope's cosine comes in where they press."""
    state = rectangle(com_z=0.0)
    b = state.bodies
    b["pitch"], b["roll"] = 0.3, 0.2
    b["slope_x"], b["slope_y"] = math.sin(0.3), -math.cos(0.3) * math.sin(0.2)
    assert balanced(state, 0).sum() == pytest.approx(20.0 * GRAVITY)


@pytest.mark.parametrize("dt", [0.001, 0.01, 0.02, 0.05])
def test_loads_follow_at_once_or_by_their_time_constant(dt: float) -> None:
    state = rectangle()
    w = state.wheels
    w["fx"] = w["fy"] = 0.0
    final = balanced(state, 0)
    w["load"] = final + np.array([1.0, -2.0, 3.0, -4.0])
    transfer_weight(state.bodies[0], w, state.vehicles[0], GRAVITY, dt)
    left = max(0.0, 1.0 - dt / TRANSFER_TIME)
    assert w["load"] - final == pytest.approx(np.array([1, -2, 3, -4]) * left, abs=1e-9)


def test_loads_are_never_negative() -> None:
    state = rectangle(com_z=5.0)
    state.wheels["fx"] = 40.0
    assert balanced(state, 0).min() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("axis", ["x", "y"])
def test_wheels_in_a_line_share_alike_across_it(axis: str) -> None:
    """One axle cannot balance a moment along the vehicle: its wheels carry equal loads then."""
    state = rectangle(com_z=0.0)
    state.wheels[axis] = 0.3
    state.vehicles["chassis_x"], state.vehicles["chassis_y"] = (
        (0.9, 0.1) if axis == "x" else (0.3, 0.9)
    )
    loads = balanced(state, 0)
    other = "y" if axis == "x" else "x"
    assert loads.sum() == pytest.approx(20.0 * GRAVITY)
    assert (loads * state.wheels[other]).sum() == pytest.approx(
        20.0 * GRAVITY * float(state.vehicles[f"chassis_{other}"][0])
    )


def test_upright_is_the_cosine_of_the_slope() -> None:
    b = np.zeros(1, BODY)
    assert upright(b[0]) == 1.0
    for pitch, roll in ((0.3, 0.0), (0.0, -0.4), (0.5, 0.6)):
        b["slope_x"], b["slope_y"] = math.sin(pitch), -math.cos(pitch) * math.sin(roll)
        assert upright(b[0]) == pytest.approx(math.cos(pitch) * math.cos(roll))
    b["slope_x"], b["slope_y"] = 1.0, 0.5
    assert upright(b[0]) == pytest.approx(1e-3)  # overturned: no division by zero


@pytest.mark.parametrize("omega", [3.0, 0.02, 2e-4, -0.5, -2e-4])
def test_rolling_resistance_is_its_formula(omega: float) -> None:
    assert rolling_torque(0.02, 50.0, 0.3, omega) == pytest.approx(
        0.02 * 50.0 * 0.3 * math.tanh(100.0 * omega)
    )


@pytest.mark.parametrize(("c_rr", "omega"), [(0.0, 3.0), (-0.1, 3.0), (0.02, 1e-4), (0.02, -9e-5)])
def test_no_rolling_resistance(c_rr: float, omega: float) -> None:
    assert rolling_torque(c_rr, 50.0, 0.3, omega) == 0.0


def test_after_the_force_against_slip_the_wheel_rolls() -> None:
    for torque, vx, omega in ((2.0, 1.0, -3.0), (-5.0, -2.0, 8.0), (0.0, 0.3, 1.5)):
        w = wheel(vx=vx, omega=omega)
        force = stop_slip(w[0], torque, w["inertia"][0], DT)
        spin = omega + (torque - 0.2 * force) / 0.1 * DT
        assert spin * 0.2 == pytest.approx(vx)


@pytest.mark.parametrize("slope", [7.0, -7.0])
@pytest.mark.parametrize("vx", [0.0, 0.049, -0.049, 0.2, -0.2])
@pytest.mark.parametrize("along", [0.0, 4.0, -4.0, 55.0])
def test_slope_hold(slope: float, vx: float, along: float) -> None:
    """Slow: stop and hold. Faster downhill: no faster. Uphill: no help. Within what is left."""
    w = wheel(idle=1, slope_x=slope, vx=vx)
    wish = 0.0
    if abs(vx) < HOLD_SPEED:
        wish = -vx * 10.0 / DT - slope
    elif vx * slope > 0:
        wish = -slope
    rest = 60.0 - abs(along)
    assert slope_hold(w[0], along, 60.0, DT) == pytest.approx(float(np.clip(wish, -rest, rest)))


@pytest.mark.parametrize("values", [{"idle": 0, "slope_x": 5.0}, {"idle": 1, "slope_x": 0.0}])
def test_nothing_holds_what_is_driven_or_on_flat_ground(values: dict[str, float]) -> None:
    assert slope_hold(wheel(vx=0.01, **values)[0], 0.0, 60.0, DT) == 0.0


def test_clamp() -> None:
    values = (-9.0, -2.0, -1.9, 0.0, 1.9, 2.0, 9.0)
    assert [clamp(value, 2.0) for value in values] == [-2.0, -2.0, -1.9, 0.0, 1.9, 2.0, 2.0]


def test_forces_are_turned_into_the_vehicle_frame() -> None:
    w = wheel(yaw_c=math.cos(0.7), yaw_s=math.sin(0.7))
    set_force(w[0], 3.0, -2.0)
    assert (w["fx"][0], w["fy"][0]) == pytest.approx(tuple(turn(0.7) @ (3.0, -2.0)))
