# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tasks: what stands in a world, what is observed and rewarded, and when an episode ends."""

from mvsim_core.envs.tasks.base import Judgement, Task
from mvsim_core.envs.tasks.navigation import Navigation
from mvsim_core.envs.tasks.parking import TrailerParking
from mvsim_core.envs.tasks.racing import Racing
from mvsim_core.envs.tasks.user_world import TaskState, UserWorld

__all__ = [
    "Judgement",
    "Navigation",
    "Racing",
    "Task",
    "TaskState",
    "TrailerParking",
    "UserWorld",
]
