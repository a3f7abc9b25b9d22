# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Names of the environments in gymnasium's registry."""

from __future__ import annotations

import gymnasium

#: Name -> classes in `single` and `vector` (its name + "Env" and "VectorEnv"), longest episode
#: in agent steps.
ENVIRONMENTS = {"Navigation": 400, "Racing": 1500, "TrailerParking": 400, "World": 1000}


def register_all() -> None:
    """Register the environments as `mvsim/NAME-v0`; those that are known already stay."""
    for name, steps in ENVIRONMENTS.items():
        known = f"mvsim/{name}-v0"
        if known not in gymnasium.registry:
            gymnasium.register(
                known,
                entry_point=f"mvsim_core.envs.single:{name}Env",
                vector_entry_point=f"mvsim_core.envs.vector:{name}VectorEnv",
                max_episode_steps=steps,
            )
