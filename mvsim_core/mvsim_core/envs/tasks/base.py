# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a task is. All methods work on arrays with a row an agent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from mvsim_core.assembly import load_world
from mvsim_core.envs.agents import ALL, Agents, Limits, Which
from mvsim_core.envs.fields import Field, Floats32
from mvsim_core.state.arrays import BoolArray, FloatArray, IntArray
from mvsim_core.world.ticks import Finish
from mvsim_core.world.world import World

Bounds = tuple[Floats32, Floats32, Floats32]
#: Name of the lidar in the worlds of tasks.
LIDAR = "lidar"


class Judgement(NamedTuple):
    """What an agent step is worth: (agents,) rewards, ends, and arrays for the info."""

    reward: FloatArray
    terminated: BoolArray
    info: dict[str, Any]


class Task(ABC):
    """One kind of task.

    Attributes:
        vehicles: Names of the vehicles of a copy that are agents.
        lidar: Name of their lidar; None: none.
        limits: Greatest values of actions.
        frame_skip: Physics steps of an agent step, unless the user says otherwise.
        draws: Random numbers that `begin` takes for a copy.
    """

    vehicles: tuple[str, ...] = ("robot",)
    lidar: str | None = None
    limits: Limits
    frame_skip: int = 20
    draws: int = 0

    @abstractmethod
    def load(self) -> World:
        """Load the world of one copy."""

    @abstractmethod
    def fields(self, agents: Agents) -> list[Field]:
        """Return the fields that the task adds to the observation."""

    @abstractmethod
    def begin(self, agents: Agents, copies: IntArray, draws: FloatArray) -> None:
        """Begin an episode in copies that were reset.

        Args:
            agents: The agents.
            copies: (m,) which copies.
            draws: (m, draws) uniform random numbers of [0, 1).
        """

    def prepare(self, agents: Agents, out: Floats32, bounds: Bounds) -> Finish | None:
        """Prepare for a step; return what does `judge` and `write` for parts of the agents.

        It is called in threads, with the parts of the copies, once agents have acted; it renews
        `Agents.touched` too. None: there is no such thing.

        Args:
            agents: The agents.
            out: (agents, m) where it writes observations, all columns; empty: nowhere.
            bounds: Factors, low and high of `bound_kernel` for it.
        """
        return None

    @abstractmethod
    def judge(self, agents: Agents, actions: Floats32) -> Judgement:
        """Judge what all agents did in this step; `actions` as they were given."""

    @abstractmethod
    def write(self, agents: Agents, out: Floats32, which: Which = ALL) -> None:
        """Write the task's fields of agents, in their units, into columns."""

    def goals(self, which: IntArray) -> FloatArray:
        """Return (m, 2) places [m] that pictures mark for agents."""
        return np.zeros((0, 2))

    def memory(self) -> dict[str, Any]:
        """Return what a snapshot of the task must keep: arrays by attribute name."""
        return {}


def world_of(text: str) -> World:
    """Load a world from text."""
    return load_world(text=text)


def laser_text(rays: int, reach: float, noise: float, z: float, x: float = 0.0) -> str:
    """Return the XML of a lidar that looks all round; nothing for no rays."""
    if not rays:
        return ""
    return f"""<sensor class="laser" name="{LIDAR}"><fov_degrees>360</fov_degrees>
      <nrays>{rays}</nrays><max_range>{reach:g}</max_range><sensor_period>0.1</sensor_period>
      <pose_3d>{x:g} 0 {z:g} 0 0 0</pose_3d><range_std_noise>{noise:g}</range_std_noise>
      <angle_std_noise_deg>0</angle_std_noise_deg>
    </sensor>"""


def wrapped(angle: FloatArray) -> FloatArray:
    """Return angles within -π … π [rad]."""
    turned: FloatArray = angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
    return turned
