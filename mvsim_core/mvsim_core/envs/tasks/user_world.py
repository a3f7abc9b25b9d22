# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Any world file as an environment; the user says what is rewarded."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mvsim_core.assembly import load_world
from mvsim_core.envs.agents import ALL, Agents, Limits, Which
from mvsim_core.envs.fields import Field, Floats32
from mvsim_core.envs.tasks.base import Judgement, Task
from mvsim_core.errors import BuildError
from mvsim_core.sensors.lidar2d import Lidar2d
from mvsim_core.state.arrays import BoolArray, FloatArray, IntArray
from mvsim_core.world.world import World

#: Greatest speed and turn rate of vehicles without kinematics [m/s, rad/s].
SPEED, TURN = 1.0, 1.0


@dataclass(frozen=True, slots=True)
class TaskState:
    """What a reward can be computed from, for n agents (1 in a single environment).

    Attributes:
        pose: (n, 3) x, y [m] and yaw [rad, not wrapped] in the world.
        before: (n, 3) the pose before the step.
        speed: (n,) true forward speed [m/s].
        collision: (n,) whether it touched something during the step.
        time: (n,) s since the reset.
        actions: (n, width) as they were given.
        ranges: (n, rays) float32 m, the newest scan, which was cast before the step; None: no
            lidar.
    """

    pose: FloatArray
    before: FloatArray
    speed: FloatArray
    collision: BoolArray
    time: FloatArray
    actions: Floats32
    ranges: Floats32 | None


#: Returns (n,) rewards, or these and (n,) bools: whether the episode ends.
Reward = Callable[[TaskState], Any]


def drive_on(state: TaskState) -> tuple[FloatArray, BoolArray]:
    """Reward metres driven forwards; a collision costs 10 and ends the episode."""
    way = state.pose[:, :2] - state.before[:, :2]
    yaw = state.before[:, 2]
    forward = way[:, 0] * np.cos(yaw) + way[:, 1] * np.sin(yaw)
    return forward - 10.0 * state.collision, state.collision


class UserWorld(Task):
    """A vehicle in a world file.

    Args:
        world: Path of a world file, or the text of one.
        vehicle: Name of the vehicle that acts; None: the first one.
        reward: Computes rewards, and possibly ends, from a `TaskState`.
        lidar: Name of the planar lidar that is observed; None: the first one; "": none.
        max_speed: Greatest speed of actions [m/s]; None: that of the vehicle's kinematics, else 1.
        max_turn: Greatest yaw rate [rad/s], likewise.
        start: Largest offsets of the start from the pose in the file: along x and y [m], and of
            the yaw [rad].

    Raises:
        BuildError: An option is out of range, or there is no vehicle.
        WorldFileError: The file has errors.
    """

    def __init__(  # noqa: PLR0913 (options)
        self,
        world: str | Path,
        vehicle: str | None = None,
        *,
        reward: Reward = drive_on,
        lidar: str | None = None,
        max_speed: float | None = None,
        max_turn: float | None = None,
        start: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """Load the world and choose vehicle and lidar."""
        text = str(world)
        self._world = load_world(text=text) if "<" in text else load_world(world)
        if not self._world.vehicles:
            raise BuildError("the world has no vehicle that could act")
        name = vehicle or next(iter(self._world.vehicles))
        handle = self._world.vehicles[name]
        self.vehicles = (name,)
        found = [key for key, one in handle.sensors.items() if isinstance(one, Lidar2d)]
        self.lidar = (found[0] if found else None) if lidar is None else lidar or None
        kinematics = handle.kinematics
        speed = _finite(max_speed, getattr(kinematics, "max_speed", None), SPEED)
        turn = _finite(max_turn, getattr(kinematics, "max_angular_speed", None), TURN)
        if not (speed > 0.0 and turn > 0.0):
            raise BuildError(f"expected max_speed and max_turn > 0, got {speed} and {turn}")
        self.limits = Limits(speed, turn)
        self.frame_skip = max(1, round(0.1 / self._world.dt))
        self.draws = 3
        self._reward = reward
        self._start = np.array(start, dtype=float)
        pose = handle.pose
        self._home = np.array([pose.x, pose.y, pose.yaw])
        self.before: FloatArray = np.zeros((1, 3))

    def load(self) -> World:
        """Return the world."""
        return self._world

    def fields(self, agents: Agents) -> list[Field]:
        """Return none: the vehicle's motion and its lidar are all that it knows."""
        self.before = np.zeros((agents.count, 3))
        return []

    def begin(self, agents: Agents, copies: IntArray, draws: FloatArray) -> None:
        """Put the vehicle near its place in the file."""
        if self._start.any():
            poses = self._home + self._start * (2.0 * draws - 1.0)
            agents.place(self.vehicles, copies, poses[:, None])
        self.before[copies] = self._pose(agents)[copies]

    def judge(self, agents: Agents, actions: Floats32) -> Judgement:
        """Ask the user's function."""
        pose, hit = self._pose(agents), agents.touched.copy()
        ranges = None if agents.lidar is None else agents.ranges.copy()
        time: FloatArray = agents.clock.astype(np.float64) * agents.batch.dt
        state = TaskState(pose, self.before, agents.speed, hit, time, actions, ranges)
        found = self._reward(state)
        reward, ended = found if isinstance(found, tuple) else (found, np.zeros(len(hit), bool))
        self.before = pose
        info = {"collision": hit}
        return Judgement(_checked(reward, hit, float), _checked(ended, hit, bool), info)

    def write(self, agents: Agents, out: Floats32, which: Which = ALL) -> None:
        """Write nothing."""

    def memory(self) -> dict[str, Any]:
        """Return the last poses."""
        return {"before": self.before}

    @staticmethod
    def _pose(agents: Agents) -> FloatArray:
        return np.column_stack(agents.pose())


def _finite(given: float | None, own: float | None, otherwise: float) -> float:
    """Return the first of the values that is a finite number."""
    if given is not None:
        return given
    return own if own is not None and math.isfinite(own) else otherwise


def _checked(values: Any, like: BoolArray, kind: type) -> Any:
    """Return values as an array with a number an agent."""
    array: Any = np.asarray(values, dtype=kind)
    if array.shape != like.shape:
        raise BuildError(
            f"reward: expected arrays of shape {like.shape}, got one of shape {array.shape}"
        )
    return array
