# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A small world with a variable, and functions of a user."""

from __future__ import annotations

from pathlib import Path

import pytest

WORLD = """<mvsim_world version="1.0">
  <variable name="mu" value="0.7"/>
  <variable name="mass" value="10"/>
  <simul_timestep>0.005</simul_timestep>
  <element class="vertical_plane">
    <x0>1</x0> <y0>-3</y0> <x1>1</x1> <y1>3</y1> <height>2</height>
  </element>
  <vehicle name="r1">
    <init_pose>0 0 0</init_pose>
    <dynamics class="differential">
      <l_wheel pos="0.0  0.2" mass="1.5" width="0.05" diameter="0.2"/>
      <r_wheel pos="0.0 -0.2" mass="1.5" width="0.05" diameter="0.2"/>
      <chassis mass="${mass}" zmin="0.05" zmax="0.4"/>
      <controller class="twist_pid"> <KP>25</KP> <KI>60</KI> <max_torque>4</max_torque>
      </controller>
    </dynamics>
    <friction class="default"> <mu>${mu}</mu> </friction>
    <sensor class="laser" name="laser">
      <pose_3d>0.1 0 0.3 0 0 0</pose_3d> <fov_degrees>180</fov_degrees>
      <nrays>31</nrays> <sensor_period>0.1</sensor_period> <range_std_noise>0.05</range_std_noise>
    </sensor>
  </vehicle>
</mvsim_world>
"""

FUNCTIONS = '''
import os, pathlib, signal, time
import numpy as np

FOLDER = pathlib.Path(__file__).parent


def ranges(world):
    """The noise of a sensor depends on the seed alone."""
    last = world.vehicles["r1"].sensors["laser"].last
    return {"nearest": float(min(last.ranges)), "rays": len(last.ranges), "seed_of": world.seed}


def circle(world):
    world.vehicles["r1"].set_twist(vx=0.4, wz=0.5)
    return world.time >= 0.3


def moved(world):
    world.vehicles["r1"].teleport(-3.0, 0.0, 0.0)


def third_fails(world):
    if world.seed == 3:
        raise RuntimeError("no route\\nsecond line")
    return {}


def killed_once(world):
    """Its process is killed the first time that seed 2 is run."""
    mark = FOLDER / "killed"
    if world.seed == 2 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {}


def always_killed(world):
    if world.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return {}


def hangs(world):
    while world.seed == 1:
        time.sleep(0.01)
    return {}


def slow(world):
    with open(FOLDER / "begun", "a") as file:
        file.write(f"{world.seed}\\n")
    time.sleep(0.05)
    return {}


def odd(world):
    return {"nan": float("nan"), "inf": float("-inf"), "none": None, "flag": np.bool_(True),
            "count": np.int32(3), "text": "a, \\"b\\"", "mixed": world.seed if world.seed else 0.5}


def wrong(world):
    return [{"list": [1]}, {"x": object()}, {"time": 1}, [1]][world.seed]
'''


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A world file."""
    path = tmp_path / "w.world.xml"
    path.write_text(WORLD)
    return path


@pytest.fixture
def functions(tmp_path: Path) -> str:
    """A Python file of a user, with the colon that the name of a function follows."""
    path = tmp_path / "mine.py"
    path.write_text(FUNCTIONS)
    return f"{path}:"
