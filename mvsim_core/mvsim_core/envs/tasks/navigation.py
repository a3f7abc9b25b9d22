# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Drive to a goal among boxes, without touching anything."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from mvsim_core.envs.agents import ALL, Agents, Limits, Which
from mvsim_core.envs.fields import Field, Floats32
from mvsim_core.envs.tasks.base import LIDAR, Bounds, Judgement, Task, laser_text, world_of
from mvsim_core.errors import BuildError
from mvsim_core.state.arrays import FloatArray, IntArray
from mvsim_core.state.columns import arrive_kernel
from mvsim_core.state.episodes import cells_kernel
from mvsim_core.state.parts import parts_of
from mvsim_core.world.ticks import Finish
from mvsim_core.world.world import World

#: Side of the cells of which boxes, starts and goals take one each [m], and how far from its
#: middle they are put at most: whatever is drawn, a robot fits between any two boxes.
CELL, JITTER = 2.5, 0.6
BOX = 0.6  # m, side of a box
#: Cells a thing: more than one, so that there is room.
CELLS_EACH = 1.5
LEAST_CELLS = 4  # along a side
MAX_SPEED, MAX_TURN = 1.0, 1.5  # m/s, rad/s
ARRIVED = 0.4  # m, distance from the goal that counts as arrival
ARRIVAL, COLLISION = 10.0, -10.0


def robot_text(name: str, x: float, laser: str) -> str:
    """Return the XML of a robot with two driven wheels."""
    return f"""<vehicle name="{name}">
    <dynamics class="differential">
      <l_wheel pos="0 0.18" mass="0.5" width="0.05" diameter="0.2"/>
      <r_wheel pos="0 -0.18" mass="0.5" width="0.05" diameter="0.2"/>
      <chassis mass="10" zmin="0.05" zmax="0.4">
        <shape><pt>-.2 -.15</pt><pt>.2 -.15</pt><pt>.2 .15</pt><pt>-.2 .15</pt></shape>
      </chassis>
      <controller class="twist_pid"><KP>5</KP><KI>20</KI><max_torque>8</max_torque></controller>
    </dynamics>
    <init_pose>{x:g} 0 0</init_pose> {laser}
  </vehicle>"""


class Navigation(Task):
    """Drive to a goal in a walled square with boxes.

    Args:
        rays: Rays of the lidar, all round; 0: no lidar.
        obstacles: Boxes; None: 20 with a lidar, none without one, which could not see them.
        robots: Robots in each copy, all agents.
        lidar_range: Greatest range [m].
        lidar_noise: Standard deviation of ranges [m].
        dt: Time step of the physics [s].

    Raises:
        BuildError: A number is out of range.
    """

    def __init__(
        self,
        rays: int = 64,
        obstacles: int | None = None,
        *,
        robots: int = 1,
        lidar_range: float = 6.0,
        lidar_noise: float = 0.01,
        dt: float = 0.005,
    ) -> None:
        """Plan the world."""
        self.boxes = (20 if rays else 0) if obstacles is None else obstacles
        if rays < 0 or rays == 1 or self.boxes < 0 or robots < 1:
            raise BuildError(
                "navigation: expected rays = 0 or >= 2, obstacles >= 0 and robots >= 1, got"
                f" {rays}, {self.boxes} and {robots}"
            )
        self.vehicles = tuple(f"robot{k + 1}" for k in range(robots)) if robots > 1 else ("robot",)
        self.lidar = LIDAR if rays else None
        self.limits = Limits(MAX_SPEED, MAX_TURN)
        self._laser = laser_text(rays, lidar_range, lidar_noise, 0.3)
        self._dt = dt
        things = self.boxes + 2 * robots
        self._side = max(LEAST_CELLS, math.ceil(math.sqrt(CELLS_EACH * things)))
        self.half = 0.5 * CELL * self._side
        self.diagonal = 2.0 * math.sqrt(2.0) * self.half
        self._things = things
        self.draws = self._side**2 + 3 * things
        self._names = [f"box{k + 1}" for k in range(self.boxes)] + list(self.vehicles)
        self.goal: FloatArray = np.zeros((0, 2))  # (agents, 2) m
        # (agents, 3) of the goal: distance [m], cosine and sine of the bearing
        self.seen: FloatArray = np.zeros((0, 3))
        self._results: Any = ()  # of the last step: reward, distance, success and ended

    def load(self) -> World:
        """Load a walled square with boxes and robots, which episodes put elsewhere."""
        s, half = self.half, 0.5 * BOX
        corners = [(-s, -s), (s, -s), (s, s), (-s, s), (-s, -s)]
        ends = [p for pair in pairwise(corners) for p in pair]
        walls = "".join(f"<pt>{x:g} {y:g}</pt>" for x, y in ends)
        box = f"<pt>-{half} -{half}</pt><pt>{half} -{half}</pt><pt>{half} {half}</pt>"
        boxes = "".join(
            f"""<block name="box{k + 1}"><static>true</static><zmax>1</zmax>
            <shape>{box}<pt>-{half} {half}</pt></shape>
            <init_pose>{k % 200:g} {s + 2 + k // 200:g} 0</init_pose></block>"""
            for k in range(self.boxes)
        )
        robots = "".join(
            robot_text(name, k - 0.5 * len(self.vehicles), self._laser)
            for k, name in enumerate(self.vehicles)
        )
        return world_of(
            f"""<mvsim_world version="1.0"><simul_timestep>{self._dt:g}</simul_timestep>
            <walls><shape>{walls}</shape></walls>{boxes}{robots}</mvsim_world>"""
        )

    def fields(self, agents: Agents) -> list[Field]:
        """Return distance and bearing of the goal."""
        self.goal = np.zeros((agents.count, 2))
        self.seen = np.zeros((agents.count, 3))
        none: Any = np.zeros(0, bool)
        results = np.zeros(0), np.zeros(0), none, none
        given = self.goal[:0], self.seen[:0], self.seen[:0], 0.0, (0.0, 0.0), results
        one = np.zeros(0, np.float32)
        bounds, out = (one, one, one), np.zeros((0, 0), np.float32)
        others = agents.motion_readings, bounds, out
        arrive_kernel(parts_of(()), 0, 0, agents.touching, *given, *others)  # to load it
        return [
            Field("goal_distance", 0.0, self.diagonal, "m"),
            Field("goal_cos", -1.0, 1.0, "1"),
            Field("goal_sin", -1.0, 1.0, "1"),
        ]

    def begin(self, agents: Agents, copies: IntArray, draws: FloatArray) -> None:
        """Put boxes, starts and goals into cells that are drawn without repetition."""
        cells, n = self._side**2, self._things
        chosen = np.argsort(draws[:, :cells], axis=1, kind="stable")[:, :n]
        poses: FloatArray = np.empty((len(copies), n, 3))
        whole = np.ascontiguousarray(chosen), np.ascontiguousarray(draws[:, cells:])
        cells_kernel(*whole, self._side, CELL, JITTER, poses)
        bodies = len(self._names)
        agents.place(self._names, copies, poses[:, :bodies])
        which = agents.of_copies(copies)
        self.goal[which] = poses[:, bodies:, :2].reshape(-1, 2)
        self.seen[which] = agents.bearings(self.goal[which], which)

    def prepare(self, agents: Agents, out: Floats32, bounds: Bounds) -> Finish:
        """Return what judges and observes a part of the agents."""
        count, before, seen = agents.count, self.seen, np.empty_like(self.seen)
        results = np.empty(count), np.empty(count), np.empty(count, bool), np.empty(count, bool)
        self.seen, self._results = seen, results
        way = self.goal, before, seen, ARRIVED, (ARRIVAL, COLLISION), results
        others = agents.motion_readings, bounds, out

        def finish(parts: IntArray, begin: int) -> None:
            arrive_kernel(parts, begin, agents.per_copy, agents.touching, *way, *others)

        return finish

    def judge(self, agents: Agents, actions: Floats32) -> Judgement:
        """Reward metres that the goal came nearer, arrival, and no collision."""
        reward, distance, success, ended = self._results
        hit = agents.touched.copy()
        info = {"distance": distance, "success": success, "collision": hit}
        return Judgement(reward, ended, info)

    def write(self, agents: Agents, out: Floats32, which: Which = ALL) -> None:
        """Write distance and bearing of the goal in the vehicle's frame."""
        out[:] = self.seen[which]

    def goals(self, which: IntArray) -> FloatArray:
        """Return the goals of agents."""
        return self.goal[which]

    def memory(self) -> dict[str, Any]:
        """Return goals and where they are."""
        return {"goal": self.goal, "seen": self.seen}
