# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One plug-in of each kind, as docs/extending.md shows them, found by its entry point."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_core.controllers import CONTROLLERS
from mvsim_core.kinematics import KINEMATICS
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
    from mvsim_core import load_world

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
