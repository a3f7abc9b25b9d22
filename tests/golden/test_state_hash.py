# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The same world gives the same bytes in any process, and the same numbers as were stored."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.state_hash import Hashes, hashes, run, stored

ROOT = Path(__file__).resolve().parents[2]
#: Threads and hash seeds must not matter.
PROCESSES = [("1", "0"), ("4", "4711")]


@pytest.fixture(scope="module")
def found() -> list[dict[str, Hashes]]:
    """Hashes from processes with different numbers of threads and hash seeds."""
    running = []
    for threads, seed in PROCESSES:
        variables = {name: threads for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")}
        running.append(
            subprocess.Popen(
                [sys.executable, "-m", "tests.golden.state_hash"],
                cwd=ROOT,
                env={**os.environ, **variables, "PYTHONHASHSEED": seed},
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    outputs = [process.communicate(timeout=900)[0] for process in running]
    assert all(process.returncode == 0 for process in running)
    return [json.loads(text) for text in outputs]


def differing(one: Hashes, other: Hashes) -> list[str]:
    """Return the names whose hashes differ or that only one of both has."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def test_processes_give_the_same_bytes(found: list[dict[str, Hashes]]) -> None:
    first, second = (result["exact"] for result in found)
    assert differing(first, second) == []


def test_numbers_are_the_stored_ones(found: list[dict[str, Hashes]]) -> None:
    table = stored()
    if platform.machine() not in table:
        pytest.skip(f"no hashes are stored for {platform.machine()}")
    changed = differing(table[platform.machine()], found[0]["rounded"])
    assert changed == [], "if this is meant: python -m tests.golden.state_hash --write"


def test_the_world_has_something_of_everything() -> None:
    """Contacts, slopes, slip and all sensors take part, so that their numbers are in the hash."""
    sim, readings = run()
    bodies = sim.bodies
    assert (bodies["touching"] > 0).any()
    assert (bodies["pitch"] != 0.0).any()
    assert bodies["z"].max() > 0.05
    assert sim.blocks["pushed"].pose.x > 1.35
    assert {type(item[0]).__name__ for item in readings.values()} >= {
        "LaserReading",
        "ImuReading",
        "GnssReading",
        "EncoderReading",
    }
    assert len({type(item[0]) for item in readings.values()}) == 5
    assert len(hashes(sim, readings, exact=True)) > 100


def test_a_changed_bit_changes_the_exact_hash_only() -> None:
    """Rounding forgives the last bit and nothing that a person would call a change."""
    sim, readings = run()
    exact, rough = (hashes(sim, readings, exact=kind) for kind in (True, False))
    rows = sim.data.bodies
    rows["x"][0] += abs(rows["x"][0]) * 2.3e-16
    assert differing(exact, hashes(sim, readings, exact=True)) == ["bodies.x"]
    assert differing(rough, hashes(sim, readings, exact=False)) == []
    rows["x"][0] += 2e-9
    assert differing(rough, hashes(sim, readings, exact=False)) == ["bodies.x"]
