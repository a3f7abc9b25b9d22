# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Studies with Ray: the same table to the byte; an actor that is killed costs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from mvsim_core.batches import run

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow


def test_ray_gives_the_same_bytes(world: Path, functions: str, tmp_path: Path) -> None:
    tables = []
    for with_ray in (False, True):
        out = tmp_path / f"t{with_ray}.csv"
        run(
            world, seeds=range(5), variables={"mu": ["0.3", "-1"]}, time=0.3, workers=2,
            twists={"all": (0.8, 0.0, 0.3)}, measure=f"{functions}ranges", output=out,
            ray=with_ray,
        )  # fmt: skip
        tables.append(out.read_bytes())
    assert tables[0] == tables[1]


def test_a_killed_actor_costs_nothing(world: Path, functions: str) -> None:
    calm = run(world, seeds=range(4), time=0.1, workers=2)
    killed = run(
        world, seeds=range(4), time=0.1, workers=2, setup=f"{functions}killed_once", ray=True
    )
    assert killed.rows == calm.rows
    failed = run(
        world, seeds=range(4), time=0.1, workers=2, setup=f"{functions}always_killed", ray=True
    )
    assert [row["seed"] for row in failed.failures] == [2]
    assert "its process ended twice" in str(failed.rows[2]["error"])


def test_time_limit(world: Path, functions: str) -> None:
    results = run(
        world, seeds=range(3), time=0.1, workers=1, drive=f"{functions}hangs", timeout=1.0,
        ray=True,
    )  # fmt: skip
    assert results.column("error") == [None, "took longer than 1 s", None]
