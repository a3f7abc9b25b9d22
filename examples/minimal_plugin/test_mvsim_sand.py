# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Sand is found by its name and does what its formula says."""

import pytest

from mvsim_core import FRICTION, load_world

WORLD = """<mvsim_world version="1.0">
  <simul_timestep>0.005</simul_timestep>
  <vehicle name="buggy">
    <dynamics class="differential_4_wheels">
      <chassis mass="20" linear_damping="0" angular_damping="0"/>
      <controller class="twist_pid"><KP>80</KP><max_torque>200</max_torque></controller>
    </dynamics>
    <friction class="{friction}"><mu>0.5</mu>{more}<C_damping>0</C_damping></friction>
    <init_pose>0 0 0</init_pose>
    <init_vel>2 0 0</init_vel>
  </vehicle>
</mvsim_world>"""


def test_the_entry_point_is_found() -> None:
    """Installing the package is enough."""
    assert "sand" in FRICTION


def test_a_buggy_coasts_to_a_stop() -> None:
    """The drag on all wheels is bow_wave times the weight: v² / (2 bow_wave g)."""
    text = WORLD.format(friction="sand", more="<bow_wave>0.1</bow_wave>")
    world = load_world(text=text.replace('class="twist_pid"', 'class="raw"'))
    assert not [problem for problem in world.warnings if "unknown" in problem.message]
    world.run(5.0)
    buggy = world.vehicles["buggy"]
    assert abs(buggy.twist.vx) < 1e-3
    # the spinning wheels carry some of the momentum too
    turning = 1.0 + 4 * 0.5 * 2.0 / buggy.mass
    assert buggy.pose.x == pytest.approx(turning * 2.0**2 / (2 * 0.1 * 9.81), rel=0.03)


def test_without_a_bow_wave_it_is_the_default_model() -> None:
    """The same way, to the micrometre."""
    ways = []
    for friction, more in (("sand", "<bow_wave>0</bow_wave>"), ("default", "")):
        world = load_world(text=WORLD.format(friction=friction, more=more))
        world.vehicles["buggy"].set_twist(1.0, 0.0, 0.8)
        world.run(3.0)
        ways.append(world.vehicles["buggy"].pose)
    assert ways[0] == pytest.approx(ways[1], abs=1e-6)
