# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A short run of the fuzzer of worlds, with the same inputs each time."""

from pathlib import Path

from tests.fuzz import worlds
from tests.fuzz.mutations import Mutator


def test_memory_is_of_the_world_alone(tmp_path: Path) -> None:
    before = bytearray(2 * int(worlds.MEMORY * 1e6))
    before[::4096] = b"\1" * len(before[::4096])
    del before
    found = worlds.tried("<mvsim_world version='1.0'/>", tmp_path, steps=1)
    assert found.kind == "stepped"
    assert found.memory < worlds.MEMORY / 4


def test_changed_worlds_are_refused_or_step(tmp_path: Path) -> None:
    mutator = Mutator(1, worlds.seeds(tmp_path)[-4:])
    kinds: dict[str, str] = {}
    for _ in range(15):
        found = worlds.tried(mutator.world(), tmp_path, steps=5)
        kinds[found.kind.split()[0]] = found.detail
    assert {"refused", "stepped"} <= kinds.keys() <= {"refused", "stepped", "slow"}, kinds
