# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What every friction model must do, of this project or of a plug-in."""

from __future__ import annotations

import inspect
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_core.errors import StepError
from mvsim_core.friction import FRICTION, PerWheelFriction
from mvsim_core.specs import FRICTIONS, violations
from mvsim_core.state.arrays import BODY, WHEEL, State, fields
from mvsim_core.world.data import Data

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "minimal_plugin"))
from mvsim_sand import Sand, SandSpec  # type: ignore[import-not-found]

GRAVITY, DT, COUNT = 9.81, 0.005, 400
MODELS = {**{name: cls for name, cls in FRICTION.items()}, "sand": Sand}
SPECS = {**{name: FRICTIONS[name] for name in FRICTIONS}, "sand": SandSpec()}
#: Models whose force per axis is at most mu times the normal force.
LIMITED = [name for name in FRICTIONS if hasattr(SPECS[name], "mu")]
OUTPUTS = (
    *("fx", "fy", "omega", "drag", "limit_x", "limit_y", "limit_round"),
    *("coupled", "spin_free", "resist", "side_give", "side_bias", "stick"),
)
CIRCLED = [name for name in LIMITED if hasattr(SPECS[name], "friction_circle")]


@pytest.fixture(params=sorted(MODELS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def random_state(seed: int = 0, idle: bool = False) -> State:
    """Return wheels in any motion, under any load, on slopes and in friction regions."""
    rng = np.random.default_rng(seed)
    state = Data()
    state.insert("bodies", np.zeros(2, BODY))
    state.insert("wheels", np.zeros(COUNT, WHEEL))
    state.bodies["ideal"] = 0, 1
    state.bodies["plan_xx"] = state.bodies["plan_yy"] = 1.0
    wheels = state.wheels
    for field in ("omega0", "yaw", "omega", "vx", "vy", "torque", "slope_x", "slope_y"):
        wheels[field] = rng.normal(0.0, 5.0, COUNT)
    wheels["yaw_c"], wheels["yaw_s"] = np.cos(wheels["yaw"]), np.sin(wheels["yaw"])
    for field in ("radius", "inertia", "mass"):
        wheels[field] = rng.uniform(0.05, 2.0, COUNT)
    wheels["carried"] = wheels["mass"] + rng.uniform(0.0, 50.0, COUNT)
    wheels["normal"] = wheels["carried"] * GRAVITY * rng.uniform(0.0, 1.0, COUNT)
    wheels["vx"][::5] = wheels["vy"][::7] = wheels["omega"][::11] = 0.0  # standing, locked
    wheels["normal"][::13] = 0.0  # in the air
    wheels["region_mu"] = wheels["region_c_rr"] = math.nan
    wheels["region_mu"][::3] = 0.2
    wheels["region_c_rr"][::4] = 0.03
    if idle:
        wheels["torque"] = 0.0
        wheels["idle"] = 1
    return state


def model(name: str, ids: Any = None, **changes: Any) -> Any:
    """Return a model that serves some wheels (all) with default parameters."""
    rows = np.arange(COUNT) if ids is None else np.array(ids)
    spec = SPECS[name]
    if changes:
        spec = type(spec)(**{"kind": name, **changes})
    return MODELS[name]([spec] * len(rows), rows.astype(np.int64))


def test_names_are_those_of_the_file_format() -> None:
    assert {name for name, _ in FRICTION.items()} == set(FRICTIONS)


def test_default_parameters_are_valid(name: str) -> None:
    assert list(violations(SPECS[name])) == []
    assert SPECS[name].kind == name


def test_every_output_is_written_and_finite(name: str) -> None:
    for idle in (False, True):
        state = random_state(1, idle)
        state.wheels["fx"] = state.wheels["fy"] = math.nan
        model(name).apply(state, GRAVITY, DT)
        for field in ("fx", "fy", "omega"):
            assert np.isfinite(state.wheels[field]).all(), field


def test_only_its_own_wheels_and_outputs_change(name: str) -> None:
    state = random_state(2)
    before = state.copy()
    ids = np.arange(0, COUNT, 2)
    model(name, ids).apply(state, GRAVITY, DT)
    assert state.bodies.tobytes() == before.bodies.tobytes()
    assert state.wheels[1::2].tobytes() == before.wheels[1::2].tobytes()
    for field in state.wheels.dtype.names or ():
        if field not in OUTPUTS:
            same = np.array_equal(state.wheels[field], before.wheels[field], equal_nan=True)
            assert same, field


def test_limits_are_written_and_held_wheels_left_alone(name: str) -> None:
    """The forces of held wheels are found elsewhere, within these limits."""
    state = random_state(12)
    state.wheels["region_mu"] = math.nan
    state.wheels["held"][::2] = 1
    state.wheels["limit_x"] = state.wheels["limit_y"] = math.nan
    before = state.wheels.copy()
    model(name).apply(state, GRAVITY, DT)
    w = state.wheels
    assert (w["limit_x"] >= 0.0).all()
    assert (w["limit_y"] >= 0.0).all()
    for field in ("fx", "fy", "omega"):
        assert (w[field][::2] == before[field][::2]).all()
    c, s = np.cos(w["yaw"]), np.sin(w["yaw"])
    free = w[1::2]
    along = np.abs(c * w["fx"] + s * w["fy"] - w["drag"])[1::2]
    assert (along <= free["limit_x"] * (1 + 1e-9) + 1e-9).all()


@pytest.mark.parametrize("limited", LIMITED)
@pytest.mark.parametrize("idle", [False, True])
def test_force_is_at_most_mu_times_the_normal_force(limited: str, idle: bool) -> None:
    state = random_state(3, idle)
    state.wheels["region_mu"] = math.nan
    model(limited).apply(state, GRAVITY, DT)
    w = state.wheels
    c, s = np.cos(w["yaw"]), np.sin(w["yaw"])
    limit = SPECS[limited].mu * w["normal"] * (1 + 1e-12) + 1e-12
    assert (np.abs(c * w["fx"] + s * w["fy"]) <= limit).all()
    assert (np.abs(-s * w["fx"] + c * w["fy"]) <= limit).all()


def test_a_wheel_in_the_air_feels_nothing(name: str) -> None:
    state = random_state(4)
    state.wheels["normal"] = 0.0
    model(name).apply(state, GRAVITY, DT)
    assert (state.wheels["fx"] == 0.0).all()
    assert (state.wheels["fy"] == 0.0).all()


def test_a_rolling_wheel_at_rest_stays_at_rest(name: str) -> None:
    state = random_state(5, idle=True)
    for field in ("vx", "vy", "omega", "omega0", "slope_x", "slope_y"):
        state.wheels[field] = 0.0
    model(name).apply(state, GRAVITY, DT)
    for field in ("fx", "fy", "omega"):
        assert (state.wheels[field] == 0.0).all(), field


def test_wheels_of_ideal_vehicles_are_left_alone(name: str) -> None:
    state = random_state(6)
    state.wheels["body"] = 1
    before = state.wheels.copy()
    model(name).apply(state, GRAVITY, DT)
    assert state.wheels.tobytes() == before.tobytes()


def test_same_input_same_bytes(name: str) -> None:
    first, second = random_state(7), random_state(7)
    model(name).apply(first, GRAVITY, DT)
    model(name).apply(second, GRAVITY, DT)
    assert first.wheels.tobytes() == second.wheels.tobytes()


def test_each_wheel_is_computed_for_itself(name: str) -> None:
    """All at once, or one after the other in any order: the same bytes."""
    whole, parts = random_state(8), random_state(8)
    model(name).apply(whole, GRAVITY, DT)
    for i in np.random.default_rng(0).permutation(COUNT):
        model(name, [i]).apply(parts, GRAVITY, DT)
    assert whole.wheels.tobytes() == parts.wheels.tobytes()


def test_left_is_as_right(name: str) -> None:
    """Mirrored motion gives mirrored forces."""
    state, mirror = random_state(9), random_state(9)
    for field in ("yaw", "yaw_s", "vy", "slope_y"):
        mirror.wheels[field] *= -1.0
    model(name).apply(state, GRAVITY, DT)
    model(name).apply(mirror, GRAVITY, DT)
    assert mirror.wheels["fx"] == pytest.approx(state.wheels["fx"], abs=1e-9)
    assert mirror.wheels["fy"] == pytest.approx(-state.wheels["fy"], abs=1e-9)
    assert (mirror.wheels["omega"] == state.wheels["omega"]).all()


COMPILED = sorted(key for key, cls in MODELS.items() if not issubclass(cls, PerWheelFriction))


@pytest.mark.parametrize("compiled_name", COMPILED)
def test_compiled_code_equals_its_python(compiled_name: str) -> None:
    cls = MODELS[compiled_name]
    kernel = cls.kernel
    compiled, plain = random_state(10), random_state(10)
    system = model(compiled_name)
    system.apply(compiled, GRAVITY, DT)
    params, ids = fields(system.table.params), system.table.ids
    kernel.py_func(fields(plain.bodies), fields(plain.wheels), params, ids, DT)
    assert compiled.wheels.tobytes() == plain.wheels.tobytes()


def test_documented(name: str) -> None:
    cls = MODELS[name]
    assert inspect.getdoc(cls)
    assert inspect.getdoc(type(SPECS[name]))


def test_the_adapter_gives_what_a_kernel_gives() -> None:
    """Sand without a bow wave is the default model without slope hold, wheel by wheel."""
    ours, theirs = random_state(11), random_state(11)
    for state in (ours, theirs):
        state.wheels["region_mu"] = state.wheels["region_c_rr"] = math.nan
    model("sand", mu=0.6, bow_wave=0.0).apply(ours, GRAVITY, DT)
    model("default", mu=0.6, slope_hold=False).apply(theirs, GRAVITY, DT)
    for field in ("fx", "fy", "omega"):
        assert ours.wheels[field] == pytest.approx(theirs.wheels[field], abs=1e-9)


def test_the_adapter_refuses_rollers() -> None:
    state = random_state(12)
    state.wheels["rollers"][3] = 1
    with pytest.raises(StepError, match="friction 'sand' knows no wheels with rollers"):
        model("sand").apply(state, GRAVITY, DT)


@pytest.mark.parametrize("limited", CIRCLED)
@pytest.mark.parametrize("idle", [False, True])
def test_friction_circle_bounds_the_sum_of_all_forces(limited: str, idle: bool) -> None:
    """Grip, drag of the ground and the hold on a slope together are at most mu N."""
    state = random_state(13, idle)
    state.wheels["region_mu"] = math.nan
    changes = {"r1": 0.3, "r2": 0.2} if hasattr(SPECS[limited], "r1") else {}
    model(limited, friction_circle=True, **changes).apply(state, GRAVITY, DT)
    w = state.wheels
    force = np.hypot(w["fx"], w["fy"])
    limit = SPECS[limited].mu * w["normal"]
    assert (force <= limit * (1 + 1e-12)).all()
    assert (force[w["normal"] > 0.0] > 0.999 * limit[w["normal"] > 0.0]).any(), "the limit is met"


def test_friction_circle_opposes_the_slip_and_turns_the_wheel() -> None:
    """A locked wheel is pushed against its slip, by the force that its spin feels."""
    state = random_state(14)
    w = state.wheels
    w["rollers"] = 0
    w["torque"] = w["omega"] = w["slope_x"] = w["slope_y"] = 0.0
    w["normal"] = 10.0
    w["vx"], w["vy"] = 3.0, np.linspace(-3.0, 3.0, COUNT)
    w["yaw"], w["yaw_c"], w["yaw_s"] = 0.0, 1.0, 0.0
    w["region_mu"], w["region_c_rr"] = math.nan, 0.0
    w["body"] = 0
    # heavy enough that mu N does not end the slip within the step
    w["carried"], w["inertia"], w["radius"] = 1e3, 1e3, 0.2
    model("default", friction_circle=True, c_damping=0.0).apply(state, GRAVITY, DT)
    angle = np.arctan2(-w["fy"], -w["fx"])
    assert angle == pytest.approx(np.arctan2(w["vy"], w["vx"]), abs=1e-3)
    assert w["omega"] == pytest.approx(-w["radius"] * w["fx"] / w["inertia"] * DT, rel=1e-9)
