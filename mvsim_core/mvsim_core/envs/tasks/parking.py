# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Back a trailer into a bay with a car."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from mvsim_core.envs.agents import ALL, Agents, Limits, Which
from mvsim_core.envs.fields import Field, Floats32
from mvsim_core.envs.tasks.base import LIDAR, Judgement, Task, laser_text, world_of, wrapped
from mvsim_core.envs.tasks.racing import car_text
from mvsim_core.errors import BuildError
from mvsim_core.state.arrays import FloatArray, IntArray
from mvsim_core.world.world import World

#: Pivot behind the car's rear axle and ahead of the trailer's axle [m].
PIVOT_CAR, PIVOT_TRAILER = 0.45, 1.1
MOST_HITCH = math.radians(80.0)  # rad, limit of the pivot
JACKKNIFED = math.radians(75.0)  # rad, ends the episode
#: The bay: its back wall, its mouth and half its width [m]. The trailer's axle belongs at (0, 0).
BACK, MOUTH, HALF_BAY = -1.2, 1.4, 1.0
YARD = (-2.0, 14.0, -8.0, 8.0)  # m, walls at x and y
#: Where episodes begin: least and greatest x of the trailer's axle, greatest |y| [m] and |yaw|
#: [rad].
NEAR, FAR, ASIDE, ASKEW = 3.0, 7.0, 2.0, 0.4
MAX_SPEED = 1.5  # m/s
#: What counts as parked: distance [m], angle [rad] and speed [m/s].
PLACE, ANGLE, REST = 0.25, 0.15, 0.2
PARKED, FAILED = 20.0, -10.0
TRAILER = f"""<vehicle name="trailer">
  <dynamics class="differential">
    <l_wheel pos="0  0.40" mass="4" width="0.12" diameter="0.40"/>
    <r_wheel pos="0 -0.40" mass="4" width="0.12" diameter="0.40"/>
    <chassis mass="60" zmin="0.20" zmax="0.60"><shape>
      <pt>-0.60 -0.32</pt><pt>-0.60 0.32</pt><pt>0.60 0.32</pt><pt>1.05 0.04</pt>
      <pt>1.05 -0.04</pt><pt>0.60 -0.32</pt>
    </shape></chassis>
    <controller class="raw"/>
  </dynamics>
  <friction class="default"><mu>0.8</mu><C_damping>0.02</C_damping><C_rr>0.01</C_rr></friction>
  <init_pose>{NEAR:g} 0 0</init_pose>
</vehicle>
<joint type="revolute" body_a="robot" body_b="trailer" anchor_a="-{PIVOT_CAR} 0"
  anchor_b="{PIVOT_TRAILER} 0" enable_limit="true"
  lower_angle_deg="{-math.degrees(MOST_HITCH):g}" upper_angle_deg="{math.degrees(MOST_HITCH):g}"/>
"""


class TrailerParking(Task):
    """Back a trailer into a bay between walls.

    Args:
        rays: Rays of the car's lidar, all round; 0: no lidar.
        lidar_range: Greatest range [m].
        lidar_noise: Standard deviation of ranges [m].
        dt: Time step of the physics [s].

    Raises:
        BuildError: A number is out of range.
    """

    def __init__(
        self,
        rays: int = 0,
        *,
        lidar_range: float = 15.0,
        lidar_noise: float = 0.02,
        dt: float = 0.005,
    ) -> None:
        """Plan the yard."""
        if rays < 0 or rays == 1:
            raise BuildError(f"trailer parking: expected rays = 0 or >= 2, got {rays}")
        self.lidar = LIDAR if rays else None
        self.limits = Limits(MAX_SPEED, 1.0)
        self.draws = 3
        self._laser = laser_text(rays, lidar_range, lidar_noise, 0.8, 0.8)
        self._dt = dt
        self.potential: FloatArray = np.zeros(0)  # (agents,) how far it is from being parked
        self._trailers: Any = ALL

    def load(self) -> World:
        """Load the yard with car and trailer."""
        x0, x1, y0, y1 = YARD
        yard = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
        bay = [(MOUTH, HALF_BAY), (BACK, HALF_BAY), (BACK, -HALF_BAY), (MOUTH, -HALF_BAY)]
        pairs = [*pairwise(yard), *pairwise(bay)]
        walls = "".join(f"<pt>{x:g} {y:g}</pt>" for pair in pairs for x, y in pair)
        car = car_text("robot", NEAR + PIVOT_TRAILER + PIVOT_CAR, 0.0, self._laser)
        return world_of(
            f"""<mvsim_world version="1.0"><simul_timestep>{self._dt:g}</simul_timestep>
            <walls><shape>{walls}</shape></walls>{car}{TRAILER}</mvsim_world>"""
        )

    def fields(self, agents: Agents) -> list[Field]:
        """Return the place of the trailer's axle in the bay, and the angle at the pivot."""
        base = agents.batch.base
        first, size = base.entities["trailer"].row, len(base.bodies)
        self._trailers = slice(first, None, size)
        self.potential = np.zeros(agents.count)
        far = YARD[1] - YARD[0]
        return [
            Field("trailer_x", -far, far, "m"),
            Field("trailer_y", -far, far, "m"),
            Field("trailer_cos", -1.0, 1.0, "1"),
            Field("trailer_sin", -1.0, 1.0, "1"),
            Field("hitch", -0.5 * math.pi, 0.5 * math.pi, "rad"),
        ]

    def begin(self, agents: Agents, copies: IntArray, draws: FloatArray) -> None:
        """Put the trailer before the bay, the car straight before it."""
        x = NEAR + (FAR - NEAR) * draws[:, 0]
        y, yaw = ASIDE * (2.0 * draws[:, 1] - 1.0), ASKEW * (2.0 * draws[:, 2] - 1.0)
        ahead = PIVOT_CAR + PIVOT_TRAILER
        poses = np.empty((len(copies), 2, 3))
        poses[:, 0] = np.column_stack((x + ahead * np.cos(yaw), y + ahead * np.sin(yaw), yaw))
        poses[:, 1] = np.column_stack((x, y, yaw))
        agents.place(("robot", "trailer"), copies, poses)
        self.potential[copies] = self._potential(agents)[copies]

    def judge(self, agents: Agents, actions: Floats32) -> Judgement:
        """Reward what brings the trailer nearer to its place and heading."""
        before, self.potential = self.potential, self._potential(agents)
        x, y, yaw = self._pose(agents)
        bodies = agents.batch.data.bodies
        hit = agents.touched | (bodies["touching"][self._trailers] != 0)
        bent = np.abs(self._hitch(agents)) > JACKKNIFED
        placed = (np.hypot(x, y) < PLACE) & (np.abs(yaw) < ANGLE)
        parked = placed & (np.abs(agents.speed) < REST) & ~hit
        failed = hit | bent
        reward = before - self.potential + PARKED * parked + FAILED * failed
        info = {"success": parked, "collision": hit, "jackknifed": bent}
        return Judgement(reward, parked | failed, info)

    def write(self, agents: Agents, out: Floats32, which: Which = ALL) -> None:
        """Write the place of the trailer, and the angle at the pivot."""
        x, y, yaw = (values[which] for values in self._pose(agents))
        out[:, 0], out[:, 1] = x, y
        out[:, 2], out[:, 3] = np.cos(yaw), np.sin(yaw)
        out[:, 4] = self._hitch(agents)[which]

    def goals(self, which: IntArray) -> FloatArray:
        """Return where the trailer's axle belongs."""
        return np.zeros((1, 2))

    def memory(self) -> dict[str, Any]:
        """Return how far the trailers are from being parked."""
        return {"potential": self.potential}

    def _pose(self, agents: Agents) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return x, y [m] and yaw [rad, within ±π] of the trailers."""
        bodies = agents.batch.data.bodies
        x, y, yaw = (np.array(bodies[name][self._trailers]) for name in ("x", "y", "yaw"))
        return x, y, wrapped(yaw)

    def _hitch(self, agents: Agents) -> FloatArray:
        """Return the angle of the car to the trailer [rad]."""
        yaw = agents.batch.data.bodies["yaw"][self._trailers]
        return wrapped(np.array(agents.body("yaw")) - yaw)

    def _potential(self, agents: Agents) -> FloatArray:
        x, y, yaw = self._pose(agents)
        total: FloatArray = np.hypot(x, y) + np.abs(yaw)
        return total
