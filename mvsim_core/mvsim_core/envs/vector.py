# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Environments of many agents, each in its copy of a world: `gymnasium.vector.VectorEnv`.

One step of all copies is one step of the batch and a few array operations; nothing loops over
copies.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from mvsim_core.envs.core import Core, EnvState, seed_words
from mvsim_core.envs.fields import Floats32
from mvsim_core.envs.randomization import Randomization
from mvsim_core.envs.single import RENDER_MODES, SEEDS
from mvsim_core.envs.tasks import Navigation, Racing, Task, TrailerParking, UserWorld
from mvsim_core.errors import BuildError
from mvsim_core.state.arrays import BoolArray, FloatArray, IntArray
from mvsim_core.state.columns import count_kernel

Infos = dict[str, Any]
#: More steps than any episode has.
ENDLESS = 2**62


class MvsimVectorEnv(gymnasium.vector.VectorEnv[Floats32, Floats32, Any]):
    """A task as a vector environment. Copy k behaves as the single environment of its seed.

    Attributes:
        core: Task, agents, layouts of actions and observations.
        autoreset_mode: What happens to copies whose episode ended, see gymnasium.
        max_episode_steps: Steps after which an episode is truncated; None: it is not.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (gymnasium's declaration)
        "render_modes": list(RENDER_MODES),
        "render_fps": 10,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    task_class: ClassVar[type[Task]] = Navigation

    def __init__(  # noqa: PLR0913 (options)
        self,
        num_envs: int = 1,
        *,
        frame_skip: int | None = None,
        scaled: bool = True,
        randomization: Randomization | None = None,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        """Load the task's world and replicate it.

        Args:
            num_envs: Number of copies.
            frame_skip: Physics steps of an agent step; None: as the task says.
            scaled: Whether actions and observations are divided by their bounds.
            randomization: What each episode draws.
            render_mode: None or "rgb_array".
            max_episode_steps: See above.
            autoreset_mode: See above.
            options: Of the task.

        Raises:
            BuildError: An option is out of range.
        """
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise BuildError(f"render_mode: expected one of {RENDER_MODES}, got {render_mode!r}")
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.max_episode_steps = max_episode_steps
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.core = Core(
            self.task_class(**options),
            num_envs,
            frame_skip=frame_skip,
            scaled=scaled,
            randomization=randomization,
        )
        self.single_observation_space = self.core.observations.space
        self.single_action_space = self.core.actions.space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._steps: IntArray = np.zeros(num_envs, np.int64)
        self._over: BoolArray = np.zeros(num_envs, bool)  # episodes that ended
        self._over_count = 0  # how many of them there are
        none: BoolArray = np.zeros(0, bool)
        count_kernel(self._steps[:0], 0, none, none, none, none)  # to load it
        self._began = False

    # ------------------------------------------------------------ gymnasium
    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Floats32, Infos]:
        """Begin an episode in all copies, or in those of ``options["reset_mask"]``.

        Args:
            seed: Copy k gets seed + k, or the k-th of a list; None: its next episode.
            options: "reset_mask": (num_envs,) bool, the copies to reset; the others go on.

        Raises:
            ValueError: The mask or the list of seeds has another shape.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        mask = self._mask(options)
        copies = np.flatnonzero(mask)
        if seed is None and not self._began:
            self.core.begin(copies, self.np_random.integers(SEEDS, size=len(copies)).astype("u8"))
        elif seed is None:
            self.core.begin(copies)
        else:
            self._begin_seeded(seed, mask)
        self._began = True
        self._steps[mask], self._over[mask] = 0, False
        self._over_count = int(np.count_nonzero(self._over))
        # Of copies that go on this is the last observation: their scans are cast again, the same.
        return self.core.observe(), {}

    def step(self, actions: Floats32) -> tuple[Floats32, FloatArray, BoolArray, BoolArray, Infos]:
        """Act for one step in all copies.

        Returns:
            Observations (num_envs, width), rewards, terminated and truncated (num_envs,), info.

        Raises:
            RuntimeError: Without autoreset, an episode that ended was not reset.
        """
        if self._over_count and self.autoreset_mode == AutoresetMode.DISABLED:
            raise RuntimeError(
                f"the episodes of copies {np.flatnonzero(self._over).tolist()[:10]} have ended:"
                ' call reset(options={"reset_mask": ...})'
            )
        judged = self.core.advance(actions)
        reward, terminated, info = judged.reward, judged.terminated, judged.info
        begun, acted = self._over, ~self._over
        truncated: BoolArray = np.empty(self.num_envs, bool)
        over: BoolArray = np.empty(self.num_envs, bool)
        most = ENDLESS if self.max_episode_steps is None else self.max_episode_steps
        count = count_kernel(self._steps, most, begun, terminated, truncated, over)
        if self._over_count:  # NEXT_STEP: these copies begin an episode instead of acting
            self.core.begin(np.flatnonzero(begun))
            reward, terminated = np.where(begun, 0.0, reward), terminated & acted
            info = {name: np.where(acted, v, np.zeros_like(v)) for name, v in info.items()}
        observed = self.core.observe()
        infos = self._infos(info, acted)
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            if count:
                self._restart(over, observed, infos)
        else:
            self._over, self._over_count = over, count
        return observed, reward, terminated, truncated, infos

    def _restart(self, over: BoolArray, observed: Floats32, infos: Infos) -> None:
        """Begin episodes in the step in which others ended; keep how these ended."""
        copies = np.flatnonzero(over)
        final = np.full(self.num_envs, None, dtype=object)
        for k, row in zip(copies.tolist(), observed[copies], strict=True):
            final[k] = row
        ended = {
            name: np.where(over, values, np.zeros_like(values))
            for name, values in infos.items()
            if not name.startswith("_")
        }
        ended.update({f"_{name}": over for name in list(ended)})
        infos.clear()
        infos.update(final_obs=final, _final_obs=over, final_info=ended, _final_info=over)
        self.core.begin(copies)
        self._steps[copies] = 0
        observed[copies] = self.core.observe(copies)

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture of each copy from above; None without a render mode."""
        if self.render_mode is None:
            return None
        return tuple(self.core.picture(k) for k in range(self.num_envs))

    # ------------------------------------------------------------ snapshots
    def state(self) -> EnvState:
        """Return a snapshot for `restore`."""
        return self.core.state(steps=self._steps, over=self._over)

    def restore(self, state: EnvState) -> None:
        """Return to a snapshot: all episodes continue to the byte as they did after it.

        Raises:
            BuildError: It is of an environment with other options.
        """
        kept = self.core.restore(state)
        self._steps, self._over = kept["steps"], kept["over"]
        self._over_count = int(np.count_nonzero(self._over))
        self._began = True

    # ------------------------------------------------------------ internal
    def _mask(self, options: dict[str, Any] | None) -> BoolArray:
        if not options or "reset_mask" not in options:
            return np.ones(self.num_envs, bool)
        mask = options["reset_mask"]
        shape, kind = getattr(mask, "shape", None), getattr(mask, "dtype", None)
        if shape != (self.num_envs,) or kind != np.dtype(bool) or not mask.any():
            raise ValueError(
                f"reset_mask: expected a bool array of shape {(self.num_envs,)} with at least one"
                f" True, got shape {shape} of {kind}"
            )
        chosen: BoolArray = mask.copy()
        return chosen

    def _begin_seeded(self, seed: int | list[int | None], mask: BoolArray) -> None:
        seeds = [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else list(seed)
        if len(seeds) != self.num_envs:
            raise ValueError(f"expected {self.num_envs} seeds, got {len(seeds)}")
        given = np.flatnonzero([m and s is not None for m, s in zip(mask, seeds, strict=True)])
        rest = np.flatnonzero([m and s is None for m, s in zip(mask, seeds, strict=True)])
        if len(given):
            self.core.begin(given, seed_words([seeds[k] for k in given]))
        if len(rest) and self._began:
            self.core.begin(rest)
        elif len(rest):
            self.core.begin(rest, self.np_random.integers(SEEDS, size=len(rest)).astype("u8"))

    @staticmethod
    def _infos(info: Infos, there: BoolArray) -> Infos:
        """Add the masks that say which copies have the info."""
        masks = {f"_{name}": there for name in info}
        return {**info, **masks}


class NavigationVectorEnv(MvsimVectorEnv):
    """`mvsim/Navigation-v0`."""

    task_class = Navigation


class RacingVectorEnv(MvsimVectorEnv):
    """`mvsim/Racing-v0`."""

    task_class = Racing


class TrailerParkingVectorEnv(MvsimVectorEnv):
    """`mvsim/TrailerParking-v0`."""

    task_class = TrailerParking


class WorldVectorEnv(MvsimVectorEnv):
    """`mvsim/World-v0`."""

    task_class = UserWorld
