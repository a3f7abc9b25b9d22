# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Environments for reinforcement learning: gymnasium, its vector environments, PettingZoo.

    import gymnasium
    import mvsim_core.envs

    env = gymnasium.make("mvsim/Navigation-v0", rays=64)
    envs = gymnasium.make_vec("mvsim/Navigation-v0", num_envs=256, rays=0)

Importing this room registers the environments. See docs/learning.md.
"""

from __future__ import annotations

from typing import Any

try:
    import gymnasium  # noqa: F401
except ImportError as error:
    raise ImportError("mvsim_core.envs needs gymnasium: pip install 'mvsim_core[envs]'") from error

from mvsim_core.envs.fields import Field
from mvsim_core.envs.randomization import Randomization
from mvsim_core.envs.registration import register_all
from mvsim_core.envs.single import MvsimEnv
from mvsim_core.envs.tasks import Task, TaskState
from mvsim_core.envs.vector import MvsimVectorEnv

__all__ = [
    "Field",
    "MvsimEnv",
    "MvsimVectorEnv",
    "Randomization",
    "Task",
    "TaskState",
    "parallel_env",
    "register_all",
]

register_all()


def parallel_env(**options: Any) -> Any:
    """Return many robots in one world as a PettingZoo `ParallelEnv`, see `envs.parallel`.

    Raises:
        ImportError: PettingZoo is not installed.
    """
    from mvsim_core.envs.parallel import CrowdEnv

    return CrowdEnv(**options)
