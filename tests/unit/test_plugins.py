# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One plug-in of each kind, as docs/extending.md shows them, found by its entry point."""

from __future__ import annotations

import pickle
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_core import FRICTION, UnknownName, WorldFileError, load_world, read_world
from mvsim_core.controllers import CONTROLLERS
from mvsim_core.kinematics import KINEMATICS
from mvsim_core.schema import as_markdown, as_text, as_xsd
from mvsim_core.sensors import SENSORS
from mvsim_core.specs import KINEMATICS as KINEMATICS_SPECS
from mvsim_core.specs import SENSORS as SENSOR_SPECS
from mvsim_core.specs.controller import DIFFERENTIAL_CONTROLLERS

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "extending.md").read_text(), re.S)
ENTRY_POINTS = """
[mvsim.controllers]
constant_torque = documented_plugins:ConstantTorque
[mvsim.kinematics]
Careful = documented_plugins:Careful
[mvsim.sensors]
compass = documented_plugins:Compass
"""
REGISTRIES: list[Any] = [CONTROLLERS, KINEMATICS, SENSORS]
SPECS: list[Any] = [DIFFERENTIAL_CONTROLLERS, KINEMATICS_SPECS, SENSOR_SPECS]
GROUPS = ["mvsim.controllers", "mvsim.kinematics", "mvsim.sensors"]

WORLD = """<mvsim_world version="1.0">
  <simul_timestep>0.01</simul_timestep>
  <vehicle name="pushed">
    <dynamics class="differential"><controller class="constant_torque"><torque>3</torque>
    </controller></dynamics>
    <init_pose>0 0 0</init_pose>
  </vehicle>
  <vehicle name="pulled">
    <dynamics class="differential"><controller class="constant_torque"><torque>-3</torque>
    </controller></dynamics>
    <init_pose>0 5 0</init_pose>
  </vehicle>
  <vehicle name="careful">
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics>
    <kinematics class="Careful"><max_speed>2</max_speed></kinematics>
    <init_pose>0 10 90</init_pose>
    <sensor class="compass"><sensor_period>0.05</sensor_period><declination>0.1</declination>
    </sensor>
  </vehicle>
</mvsim_world>"""


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the samples as a package, for one test."""
    (tmp_path / "documented_plugins.py").write_text("\n".join(SAMPLES))
    info = tmp_path / "documented_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: documented-plugins\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "documented_plugins", raising=False)
    for registry in REGISTRIES:
        monkeypatch.setattr(registry, "_classes", dict(registry._classes))
        monkeypatch.setattr(registry, "_loaded", False)
    for variants, group in zip(SPECS, GROUPS, strict=True):
        monkeypatch.setattr(variants, "_known", dict(variants._known))
        monkeypatch.setattr(variants, "_group", group)


@pytest.mark.usefixtures("plugins")
def test_documented_plugins_work() -> None:
    world = load_world(text=WORLD)
    assert not [problem for problem in world.warnings if "unknown" in problem.message]
    careful = world.vehicles["careful"]
    careful.set_twist(1.0, 0.0, 4.0)
    world.run(1.0)
    pushed, pulled = world.vehicles["pushed"], world.vehicles["pulled"]
    assert [wheel.torque for wheel in pushed.wheels] == [3.0, 3.0]
    assert pushed.pose.x > 0.2
    assert pulled.pose.x == pytest.approx(-pushed.pose.x)
    assert careful.target.vx == pytest.approx(1.0 / (1.0 + 4.0))
    assert careful.target.wz == 4.0
    compass = careful.sensors["compass1"]
    assert compass.last.heading == pytest.approx(np.pi / 2 + 4.0 * compass.last.time + 0.1)


def test_samples_are_complete() -> None:
    assert len(SAMPLES) == 3


NOTEBOOK = """
from dataclasses import dataclass
from mvsim_core import FRICTION, load_world
from mvsim_core.friction import PerWheelFriction
from mvsim_core.specs import FrictionSpec
from mvsim_core.specs.params import NOT_NEGATIVE, param

@dataclass(frozen=True, slots=True, kw_only=True)
class MudSpec(FrictionSpec):
    kind: str = "mud"
    depth: float = param({depth}, unit="m", check=NOT_NEGATIVE, help="of the mud")

@FRICTION.register("mud")
class Mud(PerWheelFriction):
    Spec = MudSpec
    def force(self, wheel):
        return 0.0, -wheel.vx * wheel.spec.depth
"""


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of a notebook: a module without a file."""
    module = types.ModuleType("notebook_of_a_user")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(FRICTION, "_classes", dict(FRICTION._classes))
    return vars(module)


def test_a_class_of_a_notebook_needs_no_package(
    notebook: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """No source file, no entry point; a cell may be run again."""
    text = """<mvsim_world><vehicle name="r1"><init_pose>0 0 0</init_pose>
      <dynamics class="differential"/><friction class="mud"/></vehicle></mvsim_world>"""
    with pytest.raises(WorldFileError, match="unknown friction class 'mud'"):
        read_world(text=text)
    for depth in (0.25, 0.5):
        exec(compile(NOTEBOOK.replace("{depth}", str(depth)), "<cell>", "exec"), notebook)
        spec, problems = read_world(text=text)
        friction: Any = spec.vehicles[0].friction
        assert problems == ()
        assert (friction.kind, friction.depth) == ("mud", depth)
        assert type(friction) is notebook["MudSpec"]
        assert pickle.loads(pickle.dumps(spec)) == spec
    load_world(text=text).run(0.1)
    assert "depth: number [m] = 0.5" in as_text("mud")
    assert 'class="mud"' in as_markdown(plugins=True)
    assert "mud" in as_xsd(plugins=True)
    assert "mud" not in as_markdown()  # the document of the suite
    with pytest.raises(WorldFileError, match=r"unknown friction class 'mut'\. Did you mean 'mud'"):
        read_world(text=text.replace("mud", "mut"))
    with pytest.raises(ValueError, match="'mud' is registered twice"):
        FRICTION.register("mud")(FRICTION.get("default"))


@pytest.mark.usefixtures("plugins")
def test_the_schema_knows_installed_plugins() -> None:
    assert "torque: number [N m] = 0" in as_text("constant_torque")
    assert "declination" in as_text("compass")
    with pytest.raises(UnknownName, match="Did you mean 'compass'"):
        as_text("compas")
