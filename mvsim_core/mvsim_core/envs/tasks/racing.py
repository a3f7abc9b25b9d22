# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Drive laps on a track between walls, as fast as the car can."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from mvsim_core.envs.agents import ALL, Agents, Limits, Which
from mvsim_core.envs.fields import Field, Floats32
from mvsim_core.envs.tasks.base import LIDAR, Judgement, Task, laser_text, world_of, wrapped
from mvsim_core.errors import BuildError
from mvsim_core.state.arrays import FloatArray, IntArray
from mvsim_core.world.world import World

#: Points of the centre line, and of each wall.
POINTS, WALL_POINTS = 600, 150
#: The centre line in polar coordinates: radius and its waves [m].
RADIUS, WAVES = 30.0, ((2, 6.0, 0.4), (3, 4.0, 1.9))
WIDTH = 6.0  # m, of the track
MAX_SPEED = 8.0  # m/s
#: How far ahead the curvature is observed [m], and its greatest value [1/m].
AHEAD, MOST_CURVATURE = (4.0, 8.0, 14.0), 0.25
#: Points of the centre line around the last one that are searched for the nearest, before and
#: after it: enough for the way of a step.
BACK, FORTH = 12, 24
COLLISION = -10.0


def car_text(name: str, x: float, y: float, laser: str = "", yaw_deg: float = 0.0) -> str:
    """Return the XML of a small car; its reference point is the middle of the rear axle."""
    return f"""<vehicle name="{name}">
    <dynamics class="ackermann">
      <rl_wheel pos="0  0.54" mass="10" width="0.145" diameter="0.56"/>
      <rr_wheel pos="0 -0.54" mass="10" width="0.145" diameter="0.56"/>
      <fl_wheel mass="10" width="0.125" diameter="0.55"/>
      <fr_wheel mass="10" width="0.125" diameter="0.55"/>
      <f_wheels_x>1.69</f_wheels_x> <f_wheels_d>1.09</f_wheels_d>
      <max_steer_ang_deg>35</max_steer_ang_deg>
      <chassis mass="410" zmin="0.15" zmax="1.2"><shape>
        <pt>-0.3 -0.62</pt><pt>-0.3 0.62</pt><pt>1.8 0.62</pt><pt>2.04 0.35</pt>
        <pt>2.04 -0.35</pt><pt>1.8 -0.62</pt>
      </shape></chassis>
      <controller class="twist_front_steer_pid">
        <KP>300</KP><KI>150</KI><KD>0</KD><max_torque>200</max_torque>
      </controller>
    </dynamics>
    <friction class="default"><mu>0.8</mu><C_damping>0.5</C_damping><C_rr>0.01</C_rr></friction>
    <init_pose>{x:g} {y:g} {yaw_deg:g}</init_pose> {laser}
  </vehicle>"""


class Track:
    """A closed centre line.

    Attributes:
        points: (n, 2) m.
        heading: (n,) rad.
        curvature: (n,) 1/m, positive to the left.
        spacing: (n,) m, from each point to the next.
        length: Of the whole line [m].
    """

    def __init__(self) -> None:
        """Compute the line."""
        angle = 2.0 * np.pi * np.arange(POINTS) / POINTS
        radius = RADIUS + sum(a * np.cos(k * angle + phase) for k, a, phase in WAVES)
        self.points: FloatArray = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
        ahead = np.roll(self.points, -1, axis=0) - self.points
        self.spacing: FloatArray = np.hypot(*ahead.T)
        course = np.arctan2(ahead[:, 1], ahead[:, 0])
        turn = wrapped(course - np.roll(course, 1))
        self.heading: FloatArray = course - 0.5 * turn
        self.curvature: FloatArray = turn / (0.5 * (self.spacing + np.roll(self.spacing, 1)))
        self.length = float(self.spacing.sum())
        self.step = self.length / POINTS

    def wall(self, side: float) -> FloatArray:
        """Return (m + 1, 2) points [m] of a closed wall at a distance to the left of the line."""
        normal = np.column_stack((-np.sin(self.heading), np.cos(self.heading)))
        line = (self.points + side * normal)[:: POINTS // WALL_POINTS]
        return np.concatenate((line, line[:1]))


class Racing(Task):
    """Drive laps on a track of 6 m width and about 200 m length.

    Args:
        rays: Rays of the lidar, all round; 0: no lidar.
        laps: Laps after which the episode ends.
        lidar_range: Greatest range [m].
        lidar_noise: Standard deviation of ranges [m].
        dt: Time step of the physics [s].

    Raises:
        BuildError: A number is out of range.
    """

    frame_skip = 10

    def __init__(
        self,
        rays: int = 0,
        laps: int = 2,
        *,
        lidar_range: float = 20.0,
        lidar_noise: float = 0.02,
        dt: float = 0.005,
    ) -> None:
        """Lay out the track."""
        if rays < 0 or rays == 1 or laps < 1:
            raise BuildError(
                f"racing: expected rays = 0 or >= 2, laps >= 1, got {rays} and {laps}"
            )
        self.lidar = LIDAR if rays else None
        self.limits = Limits(MAX_SPEED, 1.0)
        self.draws = 3
        self.track = Track()
        self._laps, self._dt = laps, dt
        self._laser = laser_text(rays, lidar_range, lidar_noise, 0.6, 0.8)
        # of each agent: nearest point of the line, metres driven along it, how it stands to it
        self.nearest: IntArray = np.zeros(0, np.int64)
        self.driven: FloatArray = np.zeros(0)
        self.offset: FloatArray = np.zeros(0)
        self.along: FloatArray = np.zeros(0)
        self._window = np.arange(-BACK, FORTH + 1)

    def load(self) -> World:
        """Load the track with a car on it."""
        walls = ""
        for side in (-0.5 * WIDTH, 0.5 * WIDTH):
            line = self.track.wall(side)
            pairs = pairwise(line)
            ends = "".join(f"<pt>{p[0]:.4f} {p[1]:.4f}</pt>" for pair in pairs for p in pair)
            walls += f"<walls><shape>{ends}</shape></walls>"
        x, y = self.track.points[0]
        car = car_text("robot", x, y, self._laser, math.degrees(self.track.heading[0]))
        return world_of(
            f"""<mvsim_world version="1.0"><simul_timestep>{self._dt:g}</simul_timestep>
            {walls}{car}</mvsim_world>"""
        )

    def fields(self, agents: Agents) -> list[Field]:
        """Return place on the track and curvature ahead."""
        self.nearest = np.zeros(agents.count, np.int64)
        self.driven, self.offset, self.along = (np.zeros(agents.count) for _ in range(3))
        most = MOST_CURVATURE
        return [
            Field("offset", -WIDTH, WIDTH, "m"),
            Field("heading_cos", -1.0, 1.0, "1"),
            Field("heading_sin", -1.0, 1.0, "1"),
            Field("curvature_ahead", -most, most, "1/m", len(AHEAD)),
        ]

    def begin(self, agents: Agents, copies: IntArray, draws: FloatArray) -> None:
        """Put the car anywhere on the line, with a small error."""
        at = (draws[:, 0] * POINTS).astype(np.int64)
        side, turn = 2.0 * draws[:, 1] - 1.0, 0.4 * draws[:, 2] - 0.2
        line, heading = self.track.points[at], self.track.heading[at]
        poses = np.empty((len(copies), 1, 3))
        poses[:, 0, 0] = line[:, 0] - side * np.sin(heading)
        poses[:, 0, 1] = line[:, 1] + side * np.cos(heading)
        poses[:, 0, 2] = heading + turn
        agents.place(self.vehicles, copies, poses)
        self.nearest[copies], self.driven[copies] = at, 0.0
        self._find(agents, copies)

    def judge(self, agents: Agents, actions: Floats32) -> Judgement:
        """Reward metres along the line, and no collision."""
        nearest, along = self.nearest.copy(), self.along.copy()
        self._find(agents, ALL)
        passed = (self.nearest - nearest + POINTS // 2) % POINTS - POINTS // 2
        way = passed * self.track.step + self.along - along
        self.driven = self.driven + way
        hit = agents.touched | (np.abs(self.offset) > WIDTH)
        done = self.driven >= self._laps * self.track.length
        info = {"laps": self.driven / self.track.length, "success": done & ~hit, "collision": hit}
        return Judgement(way + COLLISION * hit, hit | done, info)

    def write(self, agents: Agents, out: Floats32, which: Which = ALL) -> None:
        """Write place on the track and curvature ahead."""
        at = self.nearest[which]
        error = np.array(agents.body("yaw", which)) - self.track.heading[at]
        out[:, 0] = self.offset[which]
        out[:, 1], out[:, 2] = np.cos(error), np.sin(error)
        for k, way in enumerate(AHEAD):
            ahead = (at + round(way / self.track.step)) % POINTS
            out[:, 3 + k] = self.track.curvature[ahead]

    def memory(self) -> dict[str, Any]:
        """Return places on the track."""
        return {name: getattr(self, name) for name in ("nearest", "driven", "offset", "along")}

    def _find(self, agents: Agents, which: Which) -> None:
        """Find the point of the line that is nearest now, near the last one."""
        x, y, _ = agents.pose(which)
        around = (self.nearest[which][:, None] + self._window) % POINTS
        points = self.track.points[around]
        squares = (points[:, :, 0] - x[:, None]) ** 2 + (points[:, :, 1] - y[:, None]) ** 2
        at = around[np.arange(len(x)), squares.argmin(axis=1)]
        dx, dy = x - self.track.points[at, 0], y - self.track.points[at, 1]
        c, s = np.cos(self.track.heading[at]), np.sin(self.track.heading[at])
        self.nearest[which] = at
        self.offset[which] = c * dy - s * dx
        self.along[which] = c * dx + s * dy
