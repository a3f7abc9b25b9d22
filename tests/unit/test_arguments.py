# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The Python API refuses arguments that cannot be meant, in one line that names them."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mvsim_core
from mvsim_core import ArgumentError, MvsimError, UnknownName, World, load_world, read_world
from mvsim_core.errors import require_number
from mvsim_core.xmlfile import UsedVariables

ROOT = Path(__file__).resolve().parents[2]
WORLD = """<mvsim_world>
  <simul_timestep>0.01</simul_timestep> <variable name="N" value="1"/>
  <vehicle name="r1"><init_pose>0 0 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics>
    <sensor class="laser" name="scan"/></vehicle>
  <sensor class="laser" name="gate"/>
</mvsim_world>"""
VEHICLE = '<vehicle><dynamics class="differential"/></vehicle>'
NAN, INF = math.nan, math.inf


@pytest.fixture(scope="module")
def world() -> World:
    return load_world(text=WORLD)


def _timeout(world: World, value: Any) -> None:
    world.command_timeout = value


def _look(world: World, **view: Any) -> None:
    world.picture(replace(world.gui_view(), **view), (8, 8))


CALLS: dict[str, tuple[Callable[[World, Any], object], tuple[Any, ...]]] = {
    "seconds": (lambda w, v: w.run(v), (NAN, INF, -INF, -1, -0.5, "abc", None)),
    "seconds of a batch": (lambda w, v: w.replicate(1).run(v), (NAN, INF, -1, "abc")),
    "count": (lambda w, v: w.replicate(v), (NAN, INF, 0, -1, 1.5, "abc")),
    "seed": (lambda w, v: load_world(text=WORLD, seed=v), (NAN, INF, -1, 1.5, "abc")),
    "seed of reset": (lambda w, v: w.reset(v), (NAN, INF, -1, 1.5, "abc")),
    "timeout": (_timeout, (NAN, INF, -1, "abc")),
    "vx": (lambda w, v: w.vehicles["r1"].set_twist(v), (NAN, INF, -INF, "abc", None)),
    "wz": (lambda w, v: w.vehicles["r1"].set_twist(0, 0, v), (NAN, INF, -INF, "abc")),
    "x": (lambda w, v: w.vehicles["r1"].teleport(v, 0, 0), (NAN, INF, "abc")),
    "velocity": (lambda w, v: w.vehicles["r1"].set_velocity(0, v, 0), (NAN, INF, "abc")),
    "force": (lambda w, v: w.vehicles["r1"].apply_force(v, 0), (NAN, INF, "abc")),
    "pose": (
        lambda w, v: w.add_vehicle(VEHICLE, pose=v),
        ((NAN, 0, 0), (0, INF, 0), (0, 0, "abc"), (0, 0), 7),
    ),
    "vehicle": (
        lambda w, v: w.add_vehicle(v),
        ("", "hello", "<vehicle", "<block/>", "<mvsim_world/>", VEHICLE * 2, None, 42),
    ),
    "every": (lambda w, v: w.start_logging("log", every=v), (NAN, INF, 0, -1, 1.5)),
    "size": (lambda w, v: w.picture(size=v), ((0, 8), (8, 0), (-1, 8), (1.5, 8), (8, 99999))),
    "size of a view": (lambda w, v: w.whole_view(v), ((0, 0), (NAN, 8))),
    "eye": (
        lambda w, v: _look(w, eye=v),
        ((NAN, 0, 0), (0, 0, INF), (0, "abc", 0), (1e30, 0, 0)),
    ),
    "at": (lambda w, v: _look(w, at=v), ((NAN, 0, 0), (0, 0, -INF))),
    "fov": (lambda w, v: _look(w, fov=v), (NAN, INF, 0.0, -1.0, math.pi, 4.0)),
    "near": (lambda w, v: _look(w, near=v), (NAN, INF, 0.0, -1.0)),
}


@pytest.mark.parametrize(
    ("call", "value"),
    [pytest.param(name, v, id=f"{name} {v!r:.30}") for name, (_, vs) in CALLS.items() for v in vs],
)
def test_arguments_that_cannot_be_meant(world: World, call: str, value: Any) -> None:
    before = world.state()
    with pytest.raises(MvsimError) as caught:
        CALLS[call][0](world, value)
    assert len(str(caught.value).splitlines()) == 1
    assert world.ticks == before.ticks
    assert list(world.vehicles) == ["r1"]
    assert not world.logging


def test_the_message_names_argument_rule_and_unit(world: World) -> None:
    with pytest.raises(ArgumentError) as caught:
        world.run(NAN)
    assert str(caught.value) == "run: seconds must be a finite number >= 0 [s], got nan"
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ArgumentError) as caught:
        require_number("n", 7.5, "pixel", least=1, most=7, whole=True)
    assert str(caught.value) == "n must be a whole number >= 1 and <= 7 [pixel], got 7.5"
    require_number("n", 7, least=7, most=7, whole=True)


def test_sensors_by_a_wrong_name(world: World) -> None:
    sensors = world.vehicles["r1"].sensors
    assert list(sensors) == ["scan"]
    assert sensors.get("scam") is None
    with pytest.raises(UnknownName) as caught:
        sensors["scam"]
    text = "unknown sensor of 'r1': 'scam'. Did you mean 'scan'? Known: scan"
    assert str(caught.value) == text
    with pytest.raises(UnknownName, match=r"unknown sensor 'gates'\. Did you mean 'gate'"):
        world.standalone_sensors["gates"]
    with pytest.raises(UnknownName, match=r"unknown sensor 'r1/scam'\. Did you mean 'r1/scan'"):
        world.set_sensor_active("r1/scam", True)
    copy = world.replicate(1)[0]
    with pytest.raises(UnknownName, match="unknown sensor 'x'"):
        copy.standalone_sensors["x"]


def test_variables_that_the_file_does_not_use() -> None:
    """A vehicle that is added later may use them: a warning, unless the caller wants an error."""
    assert load_world(text=WORLD, variables={"N": "2"}).warnings == ()
    (warning,) = load_world(text=WORLD, variables={"M": "2"}).warnings
    assert str(warning) == "the file uses no variable 'M'. Known: N"
    with pytest.raises(mvsim_core.WorldFileError, match="the file uses no variable 'M'"):
        load_world(text=WORLD, variables=UsedVariables(M="2"))


def test_repr_and_with(world: World, tmp_path: Path) -> None:
    assert repr(world) == "<World without a file: t=0.000 s, 1 vehicle>"
    file = tmp_path / "w.world.xml"
    file.write_text(WORLD.replace("</mvsim_world>", "<block name='b'/></mvsim_world>"))
    opened = load_world(file)

    def fail() -> None:
        with opened as same:
            assert same is opened
            same.start_logging(tmp_path / "log", format="npz")
            same.run(0.05)
            assert repr(same) == "<World w.world.xml: t=0.050 s, 1 vehicle, 1 block>"
            raise RuntimeError("in the block")

    with pytest.raises(RuntimeError, match="in the block"):
        fail()
    assert not opened.logging
    assert list((tmp_path / "log").glob("*.npz"))  # written at the end only
    assert repr(world.replicate(2)[1]).startswith("<WorldCopy without a file: t=0.000 s")


def test_public_names_are_listed() -> None:
    """Without being imported: completion in an editor must not load the simulator."""
    code = (
        "import mvsim_core, sys; print(*dir(mvsim_core)); assert 'numba' not in sys.modules;"
        "assert all(hasattr(mvsim_core, name) for name in dir(mvsim_core))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    listed = set(done.stdout.split())
    assert listed >= set(mvsim_core.__all__)
    assert not listed & {"Any", "TYPE_CHECKING", "import_module", "choose_kernel_cache"}


@pytest.mark.parametrize(
    "file", sorted((ROOT / "worlds").glob("*.world.xml")), ids=lambda f: f.name
)
def test_specs_can_be_pickled(file: Path) -> None:
    spec, problems = read_world(file)
    assert pickle.loads(pickle.dumps((spec, problems))) == (spec, problems)
    state = mvsim_core.read_world_file(file).state
    assert pickle.loads(pickle.dumps(state)) == state
    for vehicle in spec.vehicles[:2]:
        copy = pickle.loads(pickle.dumps(vehicle))
        assert copy == vehicle
        assert (copy.where, hash(copy.name)) == (vehicle.where, hash(vehicle.name))
