# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A task on the copies of a world: what single, vector and parallel environments share."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_core.envs.agents import ALL, Agents, Which
from mvsim_core.envs.draws import Words, episode_words, uniforms
from mvsim_core.envs.fields import Field, Floats32, Layout
from mvsim_core.envs.randomization import DRAWS, Randomization
from mvsim_core.envs.tasks.base import Judgement, Task
from mvsim_core.errors import BuildError
from mvsim_core.state.arrays import IntArray
from mvsim_core.state.columns import bound_kernel

#: Size of pictures [pixel].
PICTURE = (640, 480)
#: Radius of the rings that mark goals [pixel], and their colour.
MARK, GREEN = 7.0, (40, 220, 60)


@dataclass(frozen=True, slots=True)
class EnvState:
    """A snapshot of the copies of an environment, for its `restore`.

    Attributes:
        worlds: State of each copy.
        arrays: What task and environment keep beside it.
    """

    worlds: list[Any]
    arrays: dict[str, Any]


class Core:
    """Copies of a task's world, with episodes.

    Attributes:
        task: The task.
        agents: The vehicles that are agents.
        actions: Layout of an action.
        observations: Layout of an observation.
        frame_skip: Physics steps of an agent step.
        seeds: (copies,) seed of each copy.
        episodes: (copies,) number of the episode of each, since its seed was set.
    """

    def __init__(
        self,
        task: Task,
        copies: int,
        *,
        frame_skip: int | None = None,
        scaled: bool = True,
        randomization: Randomization | None = None,
    ) -> None:
        """Load the world and replicate it.

        Args:
            task: The task.
            copies: Number of copies.
            frame_skip: Physics steps of an agent step; None: as the task says.
            scaled: Whether actions and observations are divided by their bounds.
            randomization: What each episode draws; None: nothing.

        Raises:
            BuildError: `frame_skip` or `copies` is less than 1.
        """
        self.frame_skip = task.frame_skip if frame_skip is None else frame_skip
        if self.frame_skip < 1:
            raise BuildError(f"frame_skip: expected at least 1, got {self.frame_skip}")
        self.task = task
        self.randomization = randomization or Randomization()
        self.agents = Agents(
            task.load(), copies, task.vehicles, limits=task.limits, lidar=task.lidar
        )
        lidar = self.agents.lidar
        own = task.fields(self.agents)
        rays = [] if lidar is None else [Field("ranges", 0.0, lidar.range_max, "m", lidar.n)]
        self.actions = Layout(self.agents.actions, scaled)
        self.observations = Layout([*own, *self.agents.motion, *rays], scaled)
        self._own = sum(field.size for field in own)
        self._moves = self._own + len(self.agents.motion)
        self._inverse = (1.0 / self.observations.one).astype(np.float32)
        self.seeds: Words = np.zeros(copies, np.uint64)
        self.episodes: IntArray = np.zeros(copies, np.int64)
        self._words: Words = np.zeros(self.agents.count, np.uint64)
        # without a lidar, what agents see after they have acted; copies that began since
        self._observed: Floats32 | None = None
        self._begun: list[IntArray] = []

    @property
    def step_time(self) -> float:
        """Simulated time of an agent step [s]."""
        return self.frame_skip * self.agents.batch.dt

    def begin(self, copies: IntArray, seeds: Words | None = None) -> None:
        """Begin an episode in some copies; the others go on.

        Args:
            copies: (m,) which, each once.
            seeds: (m,) seeds from now on; None: the next episode of the present ones.
        """
        if seeds is None:
            self.episodes[copies] += 1
        else:
            self.seeds[copies], self.episodes[copies] = seeds, 0
        self.agents.batch.reset_copies(copies)
        words = episode_words(self.seeds[copies], self.episodes[copies])
        self._words[self.agents.of_copies(copies)] = self._each(words)
        draws = uniforms(words, DRAWS + self.task.draws)
        self.agents.vary(copies, self.randomization.drawn(draws))
        self.task.begin(self.agents, copies, draws[:, DRAWS:])
        self._begun.append(copies)

    def _each(self, words: Words) -> Words:
        """Return a seed of the noise for each agent of copies."""
        count = self.agents.per_copy
        if count == 1:
            return words
        each = words[:, None] + np.arange(count, dtype=np.uint64)
        return each.ravel().astype(np.uint64)

    def advance(self, actions: Any) -> Judgement:
        """Let all agents act for one step: (count, width) actions."""
        actions = np.asarray(actions, dtype=np.float32)
        agents = self.agents
        agents.command(self.actions, actions)
        width = self.observations.width if agents.lidar is None else 0
        out: Floats32 = np.empty((agents.count if width else 0, width), np.float32)
        bounds = self._inverse, self.observations.low, self.observations.high
        finish = self.task.prepare(agents, out, bounds)
        agents.advance(self.frame_skip, finish)
        self._observed = out if width and finish is not None else None
        self._begun = []
        return self.task.judge(agents, actions)

    def observe(self, which: Which = ALL) -> Floats32:
        """Return a new array (m, width) of observations of agents; their lidars are cast."""
        agents, known = self.agents, self._observed
        if which is ALL and known is not None:  # by those that have acted
            self._observed = None
            for copies in self._begun:
                begun = agents.of_copies(copies)
                known[begun] = self.observe(begun)
            return known
        count = agents.count if isinstance(which, slice) else len(which)
        out: Floats32 = np.empty((count, self.observations.width), np.float32)
        self.task.write(agents, out[:, : self._own], which)
        agents.write_motion(out[:, self._own : self._moves], which)
        if agents.lidar is not None:
            out[:, self._moves :] = agents.scan(self._words, which)
        bound_kernel(out, self._inverse, self.observations.low, self.observations.high, out)
        return out

    # ------------------------------------------------------------ snapshots, pictures
    def state(self, **more: Any) -> EnvState:
        """Return a snapshot; `more` are arrays to keep with it."""
        kept = {
            **more,
            **self.task.memory(),
            "seeds": self.seeds,
            "episodes": self.episodes,
            "words": self._words,
            "range_sigma": self.agents.range_sigma,
        }
        return EnvState([copy.state() for copy in self.agents.batch], deepcopy(kept))

    def restore(self, state: EnvState) -> dict[str, Any]:
        """Return to a snapshot of an environment with the same options.

        Returns:
            The arrays that were kept with it.

        Raises:
            BuildError: It has another number of copies, or other contents.
        """
        batch = self.agents.batch
        if len(state.worlds) != len(batch):
            raise BuildError(
                f"the snapshot has {len(state.worlds)} copies, the environment {len(batch)}"
            )
        for copy, world in zip(batch, state.worlds, strict=True):
            copy.restore(world)
        kept = deepcopy(state.arrays)
        self._observed = None
        self.seeds, self.episodes = kept.pop("seeds"), kept.pop("episodes")
        self._words = kept.pop("words")
        self.agents.range_sigma = kept.pop("range_sigma")
        for name in self.task.memory():
            setattr(self.task, name, kept.pop(name))
        return kept

    def picture(self, copy: int = 0) -> Any:
        """Return a picture of a copy from above, (height, width, 3) uint8 RGB, goals in green."""
        world = self.agents.world
        world.restore(self.agents.batch[copy].state())
        view = world.whole_view(PICTURE, top=True)
        picture = world.picture(view, PICTURE).copy()
        half = 0.5 * PICTURE[1]
        per_metre = half / (math.tan(0.5 * view.fov) * (view.eye[2] - view.at[2]))
        rows, columns = np.mgrid[: PICTURE[1], : PICTURE[0]]
        for x, y in self.task.goals(self.agents.of_copies(np.array([copy]))):
            right = columns - 0.5 * PICTURE[0] - (x - view.eye[0]) * per_metre
            down = rows - half + (y - view.eye[1]) * per_metre
            away = np.hypot(right, down)
            picture[(away > MARK - 2.0) & (away < MARK)] = GREEN
        return picture


def seed_words(seeds: Any) -> Words:
    """Return (m,) words of integer seeds of any size."""
    return np.array([int(seed) % 2**64 for seed in seeds], dtype=np.uint64)
