# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Environments of one agent, with the interface of `gymnasium.Env`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np

from mvsim_core.envs.core import Core, EnvState, seed_words
from mvsim_core.envs.fields import Floats32
from mvsim_core.envs.randomization import Randomization
from mvsim_core.envs.tasks import Navigation, Racing, Task, TrailerParking, UserWorld
from mvsim_core.errors import BuildError

if TYPE_CHECKING:
    from mvsim_core.envs.human import HumanView

#: Render modes of vector environments, and of those that are one world.
RENDER_MODES = ("rgb_array",)
WORLD_MODES = (*RENDER_MODES, "human")
#: Random seeds that are drawn are below it.
SEEDS = 2**62


class MvsimEnv(gymnasium.Env[Floats32, Floats32]):
    """A task as an environment of one agent.

    Attributes:
        core: Task, agents, layouts of actions and observations.
        max_episode_steps: Steps after which an episode is truncated; None: it is not. By
            `gymnasium.make` a wrapper does this.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (gymnasium's declaration)
        "render_modes": list(WORLD_MODES),
        "render_fps": 10,
    }
    task_class: ClassVar[type[Task]] = Navigation

    def __init__(
        self,
        *,
        frame_skip: int | None = None,
        scaled: bool = True,
        randomization: Randomization | None = None,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        browser: bool = True,
        **options: Any,
    ) -> None:
        """Load the task's world.

        Args:
            frame_skip: Physics steps of an agent step; None: as the task says.
            scaled: Whether actions and observations are divided by their bounds.
            randomization: What each episode draws.
            render_mode: None, "rgb_array", or "human": the viewer shows each step, at real time.
            max_episode_steps: See above.
            browser: Whether "human" opens a browser.
            options: Of the task.

        Raises:
            BuildError: An option is out of range.
        """
        if render_mode is not None and render_mode not in WORLD_MODES:
            raise BuildError(f"render_mode: expected one of {WORLD_MODES}, got {render_mode!r}")
        self.render_mode = render_mode
        self.core = Core(
            self.task_class(**options),
            1,
            frame_skip=frame_skip,
            scaled=scaled,
            randomization=randomization,
        )
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / self.core.step_time))}
        self.max_episode_steps = max_episode_steps
        self.observation_space = self.core.observations.space
        self.action_space = self.core.actions.space
        self._steps = 0
        self._began = False
        self._view = human_view(self.core, browser=browser) if render_mode == "human" else None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats32, dict[str, Any]]:
        """Begin an episode; with a seed, the first one of that seed.

        `options` are not used.
        """
        super().reset(seed=seed)
        if seed is None and not self._began:
            seed = int(self.np_random.integers(SEEDS))
        self._began = True
        self._steps = 0
        copies = np.zeros(1, np.int64)
        self.core.begin(copies, None if seed is None else seed_words([seed]))
        self._show()
        return self.core.observe()[0], {}

    def step(self, action: Floats32) -> tuple[Floats32, float, bool, bool, dict[str, Any]]:
        """Act for one step: observation, reward, terminated, truncated, info."""
        judged = self.core.advance(np.asarray(action, dtype=np.float32)[None])
        self._steps += 1
        most = self.max_episode_steps
        truncated = most is not None and self._steps >= most
        info = {name: values[0].item() for name, values in judged.info.items()}
        reward, ended = float(judged.reward[0]), bool(judged.terminated[0])
        self._show()
        return self.core.observe()[0], reward, ended, truncated, info

    def render(self) -> Any:
        """Return a picture from above, (480, 640, 3) uint8 RGB; None without a render mode."""
        return self.core.picture() if self.render_mode == "rgb_array" else None

    @property
    def url(self) -> str:
        """Where browsers find it with the render mode "human", else ""."""
        return "" if self._view is None else str(self._view.viewer.url)

    def close(self) -> None:
        """Close the viewer, if there is one."""
        if self._view is not None:
            self._view.close()

    def _show(self) -> None:
        if self._view is not None:
            self._view.show()

    def state(self) -> EnvState:
        """Return a snapshot for `restore`."""
        return self.core.state(steps=self._steps)

    def restore(self, state: EnvState) -> None:
        """Return to a snapshot: the episode continues to the byte as it did after it.

        Raises:
            BuildError: It is of an environment with other options.
        """
        self._steps = self.core.restore(state)["steps"]
        self._began = True


def human_view(core: Core, *, browser: bool) -> HumanView:
    """Return the viewer of an environment; see `HumanView`."""
    from mvsim_core.envs.human import HumanView  # imports viser

    return HumanView(core, browser=browser)


class NavigationEnv(MvsimEnv):
    """`mvsim/Navigation-v0`."""

    task_class = Navigation


class RacingEnv(MvsimEnv):
    """`mvsim/Racing-v0`."""

    task_class = Racing


class TrailerParkingEnv(MvsimEnv):
    """`mvsim/TrailerParking-v0`."""

    task_class = TrailerParking


class WorldEnv(MvsimEnv):
    """`mvsim/World-v0`."""

    task_class = UserWorld
