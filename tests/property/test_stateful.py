# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random sequences of all that changes a world: snapshots, resets and handles stay true.

A twin of the same file is restored from a snapshot of the world at any tick; from then on both get
the same commands and must agree: to the byte if no contact was open, to 1e-9 m if one was.
"""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from mvsim_core import BuildError, UnknownName, World, load_world
from mvsim_core.world.data import Data, differences

ROBOT = """
<vehicle name="{name}">
  <init_pose>{x} {y} {yaw}</init_pose>
  <dynamics class="differential">
    <l_wheel pos="0.0  0.15" mass="1.0" width="0.04" diameter="0.2"/>
    <r_wheel pos="0.0 -0.15" mass="1.0" width="0.04" diameter="0.2"/>
    <chassis mass="{mass}" zmin="0.05" zmax="0.4"/>
    <controller class="twist_pid"> <KP>20</KP> <KI>5</KI> <max_torque>5</max_torque> </controller>
  </dynamics>
  <friction class="{friction}"/>
  <sensor class="laser" name="laser">
    <nrays>16</nrays> <fov_degrees>360</fov_degrees> <sensor_period>0.02</sensor_period>
    <range_std_noise>0.01</range_std_noise> <pose_3d>0 0 0.3 0 0 0</pose_3d>
  </sensor>
  <sensor class="imu" name="imu"> <sensor_period>0.01</sensor_period>
    <bias_random_walk_std>0.01</bias_random_walk_std> </sensor>
</vehicle>
"""
WORLD = f"""
<mvsim_world version="1.0">
  <simul_timestep>0.005</simul_timestep>
  <element class="vertical_plane"> <x0>4</x0> <y0>-5</y0> <x1>4</x1> <y1>5</y1> </element>
  {{terrain}}
  {ROBOT.format(name="r1", x=0, y=0, yaw=0, mass=10, friction="default")}
  {ROBOT.format(name="r2", x=0, y=2, yaw=90, mass=11, friction="ellipse")}
  <vehicle name="cart">
    <init_pose>-1.2 0 0</init_pose>
    <dynamics class="differential">
      <l_wheel pos="0 0.2" mass="0.5" width="0.04" diameter="0.2"/>
      <r_wheel pos="0 -0.2" mass="0.5" width="0.04" diameter="0.2"/>
      <chassis mass="5" zmin="0.05" zmax="0.4"/> <controller class="raw"/>
    </dynamics>
    <friction class="default"/>
  </vehicle>
  <joint type="revolute" name="elbow" body_a="r1" body_b="cart" anchor_a="-0.6 0" anchor_b="0.6 0">
    <kp>5</kp> <kd>1</kd> <max_torque>3</max_torque> </joint>
  <block name="b1"> <init_pose>1.5 0 0</init_pose> <mass>3</mass> <zmax>0.5</zmax>
    <shape> <pt>-0.2 -0.2</pt> <pt>-0.2 0.2</pt> <pt>0.2 0.2</pt> <pt>0.2 -0.2</pt> </shape>
  </block>
  <block name="b2"> <init_pose>2.2 0 0</init_pose> <mass>4</mass> <zmax>0.5</zmax>
    <shape> <pt>-0.2 -0.2</pt> <pt>-0.2 0.2</pt> <pt>0.2 0.2</pt> <pt>0.2 -0.2</pt> </shape>
  </block>
  <block name="mover"> <init_pose>-3 -3 0</init_pose> <zmax>0.5</zmax>
    <animation type="keyframes"> <time_pose>0 0 0 0</time_pose> <time_pose>2 2 0 0</time_pose>
      <time_pose>4 0 0 0</time_pose>
    </animation>
    <shape> <pt>-0.3 -0.3</pt> <pt>-0.3 0.3</pt> <pt>0.3 0.3</pt> <pt>0.3 -0.3</pt> </shape>
  </block>
</mvsim_world>
"""
HILL = """
<block name="ramp"> <init_pose>0 -2 0</init_pose> <static>true</static>
  <geometry type="ramp" lx="2" ly="2" lz="0.4"/> </block>
"""
FILE_NAMES = ["r1", "r2", "cart", "b1", "b2", "mover"]
SPAWNED = ["s1", "s2", "s3"]
NAMES = st.sampled_from(FILE_NAMES + SPAWNED)
PLACES = st.tuples(st.floats(-3.0, 3.5), st.floats(-3.0, 3.0), st.floats(-math.pi, math.pi))


def readings(world: World) -> dict[str, Any]:
    """Return all newest readings by full name."""
    return {name: data.last for name, data in world.data.sensors.items()}


def agree(a: Data, b: Data, tolerance: float) -> None:
    """Compare two states; positions, velocities and ranges within a tolerance [m, m/s]."""
    if tolerance == 0.0:
        assert differences(a, b) == []
        return
    assert list(a.entities) == list(b.entities)
    for name, entity in a.entities.items():
        one, other = a.bodies[entity.row], b.bodies[b.entities[name].row]
        for field in ("x", "y", "z", "yaw"):
            assert abs(one[field] - other[field]) <= tolerance, (name, field)
    for name, data in a.sensors.items():
        ranges = getattr(data.last, "ranges", None)
        if ranges is not None:
            close = np.isclose(ranges, b.sensors[name].last.ranges, rtol=0.0, atol=1e-6)
            assert close.mean() >= 0.9, name  # a ray may just pass a corner


class Worlds(RuleBasedStateMachine):
    """A world, a twin that is restored from it, and handles of whatever was there."""

    snapshots = Bundle("snapshots")
    terrain = ""

    def __init__(self) -> None:
        super().__init__()
        text = WORLD.format(terrain=self.terrain)
        self.world, self.twin = load_world(text=text), load_world(text=text)
        self.fresh = self.world.state()
        self.handles: list[tuple[Any, float]] = []  # with the mass that tells who it is
        self.next_mass = 20.0
        for name in self.world.vehicles:
            self.keep(name)

    def keep(self, name: str) -> None:
        handle = self.world.vehicles[name]
        self.handles.append((handle, handle.spec.dynamics.chassis.mass))

    @rule(ticks=st.integers(1, 30))
    def step(self, ticks: int) -> None:
        for _ in range(ticks):
            self.world.step()

    @rule(name=st.sampled_from(SPAWNED), place=PLACES)
    def spawn(self, name: str, place: tuple[float, float, float]) -> None:
        self.next_mass += 1.0
        text = ROBOT.format(name=name, x=0, y=0, yaw=0, mass=self.next_mass, friction="default")
        if name in self.world.vehicles:
            before = self.world.state()
            try:
                self.world.add_vehicle(text, pose=place)
            except BuildError:
                assert differences(before, self.world.state()) == []
                return
            raise AssertionError("a taken name was accepted")
        self.world.add_vehicle(text, pose=place)
        self.keep(name)

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        if name in self.world.data.entities:
            self.world.remove(name)

    @rule(name=NAMES, place=PLACES)
    def teleport(self, name: str, place: tuple[float, float, float]) -> None:
        if name in self.world.data.entities:
            self.world.teleport(name, *place)

    @rule(a=NAMES, b=NAMES)
    def weld(self, a: str, b: str) -> None:
        if a != b and {a, b} <= set(self.world.data.entities):
            before = self.world.state()
            try:
                self.world.weld(a, b)
            except BuildError:
                assert differences(before, self.world.state()) == []

    @rule(a=NAMES, b=NAMES)
    def unweld(self, a: str, b: str) -> None:
        if {a, b} <= set(self.world.data.entities):
            self.world.unweld(a, b)

    @rule(name=NAMES, vx=st.floats(-1.0, 1.0), wz=st.floats(-2.0, 2.0))
    def command(self, name: str, vx: float, wz: float) -> None:
        vehicle = self.world.vehicles.get(name)
        if vehicle is not None and "twist" in vehicle.accepts:
            vehicle.set_twist(vx, wz=wz)

    @rule(angle=st.floats(-1.0, 1.0))
    def bend(self, angle: float) -> None:
        if "elbow" in self.world.pivots and self.world.data.joints["elbow"].pivot >= 0:
            self.world.pivots["elbow"].target = angle

    @rule(seed=st.sampled_from([None, 0, 7]))
    def reset(self, seed: int | None) -> None:
        self.world.reset(0 if seed is None else seed)
        if self.world.seed == 0:
            assert differences(self.fresh, self.world.state()) == []

    @rule(target=snapshots)
    def snapshot(self) -> tuple[Data, bytes]:
        kept = self.world.state()
        return kept, pickle.dumps(kept)

    @rule(kept=consumes(snapshots))
    def restore(self, kept: tuple[Data, bytes]) -> None:
        snapshot, raw = kept
        assert differences(snapshot, pickle.loads(raw)) == []
        self.world.restore(snapshot)
        assert differences(snapshot, self.world.state()) == []

    @rule(
        ticks=st.integers(1, 60),
        vx=st.floats(-1.0, 1.0),
        through_pickle=st.booleans(),
        at_once=st.booleans(),
    )
    def fork(self, ticks: int, vx: float, through_pickle: bool, at_once: bool) -> None:
        """Let a twin go on from a snapshot beside the world, step by step or in one run."""
        kept = self.world.state()
        self.twin.restore(pickle.loads(pickle.dumps(kept)) if through_pickle else kept)
        open_contact = bool(self.world.contacts)
        for world in (self.world, self.twin):
            for vehicle in world.vehicles.values():
                if "twist" in vehicle.accepts:
                    vehicle.set_twist(vx, wz=0.3)
        for _ in range(ticks):
            self.world.step()
        if at_once:
            self.twin.run(ticks * self.twin.dt)
        else:
            for _ in range(ticks):
                self.twin.step()
        assert self.twin.ticks == self.world.ticks
        agree(self.world.data, self.twin.data, 1e-9 if open_contact else 0.0)

    @invariant()
    def a_handle_reaches_its_own_entity_or_none(self) -> None:
        for handle, mass in self.handles:
            try:
                reached = handle.spec.dynamics.chassis.mass
                pose, last = handle.pose, handle.sensors
            except UnknownName:
                assert not handle.valid
                continue
            assert handle.valid
            assert reached == mass
            assert pose == self.world.vehicles[handle.name].pose
            assert all(sensor.parent == handle.name for sensor in last.values())

    @invariant()
    def all_numbers_are_finite(self) -> None:
        for name in ("x", "y", "yaw", "cvx", "cvy", "wz"):
            assert np.isfinite(self.world.data.bodies[name]).all()


class HillyWorlds(Worlds):
    """The same on ground that is not level."""

    terrain = HILL


OPTIONS = settings(
    max_examples=30,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestWorlds = Worlds.TestCase
TestWorlds.settings = OPTIONS
TestHillyWorlds = HillyWorlds.TestCase
TestHillyWorlds.settings = OPTIONS
