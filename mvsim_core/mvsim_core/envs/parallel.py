# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Many robots in one world, each an agent: crowd navigation, with PettingZoo's parallel API."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise ImportError(
        "mvsim_core.envs.parallel_env needs pettingzoo: pip install 'mvsim_core[envs]'"
    ) from error

from mvsim_core.envs.core import Core, EnvState, seed_words
from mvsim_core.envs.fields import Floats32
from mvsim_core.envs.randomization import Randomization
from mvsim_core.envs.single import SEEDS, WORLD_MODES, human_view
from mvsim_core.envs.tasks import Navigation
from mvsim_core.errors import BuildError

ByAgent = dict[str, Any]


class CrowdEnv(ParallelEnv[str, Floats32, Floats32]):
    """Robots that drive to a goal each, among boxes and each other.

    A robot that has arrived or touched something is no agent any longer, and stays where it is
    as an obstacle for the others.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo's declaration)
        "name": "mvsim_crowd_v0",
        "render_modes": list(WORLD_MODES),
        "is_parallelizable": True,
    }

    def __init__(  # noqa: PLR0913 (options)
        self,
        robots: int = 8,
        rays: int = 64,
        obstacles: int = 8,
        *,
        max_episode_steps: int = 400,
        frame_skip: int | None = None,
        scaled: bool = True,
        randomization: Randomization | None = None,
        render_mode: str | None = None,
        browser: bool = True,
        **options: Any,
    ) -> None:
        """Load a world with robots.

        Args:
            robots: Their number, at least 2.
            rays: Rays of each one's lidar; 0: no lidar.
            obstacles: Boxes.
            max_episode_steps: Steps after which all are truncated.
            frame_skip: Physics steps of an agent step; None: those of 0.1 s.
            scaled: Whether actions and observations are divided by their bounds.
            randomization: What each episode draws.
            render_mode: None, "rgb_array", or "human": the viewer shows each step, at real time.
            browser: Whether "human" opens a browser.
            options: Further ones of `Navigation`.

        Raises:
            BuildError: An option is out of range.
        """
        if render_mode is not None and render_mode not in WORLD_MODES:
            raise BuildError(f"render_mode: expected one of {WORLD_MODES}, got {render_mode!r}")
        if robots < 2:
            raise BuildError(f"robots: expected at least 2, got {robots}")
        task = Navigation(rays, obstacles, robots=robots, **options)
        self.core = Core(
            task, 1, frame_skip=frame_skip, scaled=scaled, randomization=randomization
        )
        self.render_mode = render_mode
        self._view = human_view(self.core, browser=browser) if render_mode == "human" else None
        self.max_episode_steps = max_episode_steps
        self.possible_agents = list(task.vehicles)
        self.agents: list[str] = []
        self._number = {name: k for k, name in enumerate(self.possible_agents)}
        width = self.core.actions.width
        self._actions: Floats32 = np.zeros((robots, width), np.float32)
        self._steps = 0
        self._random = np.random.default_rng()
        spaces = [self.core.observations.space for _ in range(robots)]
        self.observation_spaces = dict(zip(self.possible_agents, spaces, strict=True))
        spaces = [self.core.actions.space for _ in range(robots)]
        self.action_spaces = dict(zip(self.possible_agents, spaces, strict=True))

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ByAgent, ByAgent]:
        """Begin an episode; with a seed, the first one of that seed. `options` are not used."""
        began = self._steps > 0 or bool(self.agents)
        if seed is None and not began:
            seed = int(self._random.integers(SEEDS))
        self.core.begin(np.zeros(1, np.int64), None if seed is None else seed_words([seed]))
        self.agents = list(self.possible_agents)
        self._steps = 0
        self._actions[:] = 0.0
        self._show()
        return self._by_agent(self.core.observe()), {name: {} for name in self.agents}

    def step(self, actions: ByAgent) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Act for one step: observations, rewards, terminated, truncated, infos by agent."""
        self._actions[:] = 0.0
        for name, action in actions.items():
            self._actions[self._number[name]] = action
        judged = self.core.advance(self._actions)
        self._steps += 1
        over = self._steps >= self.max_episode_steps
        self._show()
        observations = self._by_agent(self.core.observe())
        rewards = {name: float(v) for name, v in self._by_agent(judged.reward).items()}
        ended = {name: bool(v) for name, v in self._by_agent(judged.terminated).items()}
        truncated = dict.fromkeys(self.agents, over)
        infos = {
            name: {key: values[self._number[name]].item() for key, values in judged.info.items()}
            for name in self.agents
        }
        self.agents = [name for name in self.agents if not (ended[name] or over)]
        return observations, rewards, ended, truncated, infos

    def render(self) -> Any:
        """Return a picture from above, (480, 640, 3) uint8 RGB; None without a render mode."""
        return self.core.picture() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Close the viewer, if there is one."""
        if self._view is not None:
            self._view.close()

    def _show(self) -> None:
        if self._view is not None:
            self._view.show()

    def state(self) -> Floats32:
        """Return the observations of all robots side by side: PettingZoo's global state."""
        flat: Floats32 = self.core.observe().ravel()
        return flat

    def snapshot(self) -> EnvState:
        """Return a snapshot for `restore`."""
        return self.core.state(steps=self._steps, agents=list(self.agents))

    def restore(self, state: EnvState) -> None:
        """Return to a snapshot.

        Raises:
            BuildError: It is of an environment with other options.
        """
        kept = self.core.restore(state)
        self._steps, self.agents = kept["steps"], kept["agents"]

    def _by_agent(self, rows: Any) -> ByAgent:
        return {name: rows[self._number[name]] for name in self.agents}
