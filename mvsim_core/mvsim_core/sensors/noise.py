# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random streams of sensors: one a sensor, keyed by its name, so that none disturbs another."""

from __future__ import annotations

import hashlib

import numpy as np


def sensor_rng(seed: int, name: str) -> np.random.Generator:
    """Return the random stream of one sensor of a world.

    The same seed and name give the same stream on every machine, whatever other sensors exist.

    Args:
        seed: Seed of the world; any integer.
        name: Name of the sensor that is unique in the world, such as ``r1/laser1``.
    """
    digest = hashlib.sha256(name.encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4)]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed % 2**64, *words])))
