# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The ROS output of a sensor plug-in, as docs/extending.md shows it, publishes its readings."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from std_msgs.msg import Float64

from mvsim_core import load_world
from mvsim_core.sensors import SENSORS
from mvsim_core.specs import SENSORS as SENSOR_SPECS
from mvsim_ros2.outputs.sensors import SENSOR_OUTPUTS
from mvsim_ros2.outputs.world import WorldOutputs
from mvsim_ros2.parameters.settings import Settings
from mvsim_ros2.simulation.stamp_clock import StampClock
from tests.conftest import ROOT
from tests.ros.node_process import Observer, eventually

pytestmark = pytest.mark.ros

PAGE = (ROOT / "docs" / "extending.md").read_text()
WORLD = """<mvsim_world version="1.0">
  <simul_timestep>0.01</simul_timestep>
  <vehicle name="r1">
    <init_pose>0 0 90</init_pose> <dynamics class="differential"/>
    <sensor class="compass" name="heading"> <sensor_period>0.05</sensor_period> </sensor>
  </vehicle>
</mvsim_world>"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The sensor and its output, registered as a notebook does."""
    sensor = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (output,) = re.findall(r"```py\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "shown_plugins.py").write_text("\n".join([*sensor, output]))
    monkeypatch.syspath_prepend(str(tmp_path))
    registries: list[Any] = [SENSORS, SENSOR_OUTPUTS]
    for registry in registries:
        monkeypatch.setattr(registry, "_classes", dict(registry._classes))
    monkeypatch.setattr(SENSOR_SPECS, "_known", dict(SENSOR_SPECS._known))
    SENSORS.register("compass")(importlib.import_module("shown_plugins").Compass)
    yield
    del sys.modules["shown_plugins"]


@pytest.mark.usefixtures("plugin")
def test_its_readings_are_published(domain: int, tmp_path: Path) -> None:
    file = tmp_path / "compass.world.xml"
    file.write_text(WORLD)
    observer = Observer(domain)
    world = load_world(file)
    outputs = WorldOutputs(observer.node, world, Settings(), StampClock(world.dt))
    headings: list[float] = []
    observer.node.create_subscription(
        Float64, "heading", lambda message: headings.append(message.data), 10
    )

    def heard() -> bool:
        outputs.update_demand()
        for _ in range(10):
            world.step()
            outputs.publish()
        return bool(headings)

    try:
        eventually(heard, "a heading")
        assert headings[0] == pytest.approx(1.5708, abs=1e-3)
    finally:
        outputs.close()
        world.close()
        observer.close()
