# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The comparison with other simulators: who is left out, what MVSim's robots do, tables."""

from __future__ import annotations

import math
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest
from benchmarks import peers


def test_a_simulator_that_is_not_installed_is_named_and_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def version(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(peers, "version", version)
    assert peers.in_process("vmas", [1]) == []
    assert capsys.readouterr().err == "vmas: not installed, left out\n"


def test_one_that_fails_is_named_with_its_last_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "version", lambda _: "1.0")
    monkeypatch.setattr(peers.sys, "executable", "/bin/false")
    assert peers.in_process("vmas", [1]) == []
    assert "vmas 1.0: failed: no message" in capsys.readouterr().err


@pytest.mark.parametrize("case", peers.PEERS["mvsim_core"], ids=lambda c: f"{c.physics}_{c.dt}")
def test_robots_drive_their_circle_and_see_their_pillar(case: peers.Case) -> None:
    advance: Any = case.make(3, 8, case.dt)
    world = advance.world
    advance(round(1.0 / case.dt))
    assert world.ticks == round(1.0 / case.dt)
    for vehicle, (x, y) in zip(world.vehicles.values(), peers.places(3), strict=True):
        assert vehicle.pose.x - x == pytest.approx(math.sin(0.5), abs=0.03)
        assert vehicle.pose.y - y == pytest.approx(1.0 - math.cos(0.5), abs=0.06)
        assert 0.5 < vehicle.sensors["lidar"].last.ranges.min() < 1.3


def test_tables_have_a_line_a_case_and_gaps_where_nothing_was_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        peers, "measure", lambda make, robots, rays, dt: 1e-3 * robots * (1 + rays)
    )
    monkeypatch.setattr(peers, "PATIENCE", 6.5)
    rows = peers.rows_of("mvsim_core", [1, 10, 100])
    assert {row["rays"] for row in rows} == {0, 64}
    assert peers.table(rows, 64).splitlines()[:3] == [
        "| simulator | what moves | step [ms] | 1 | 10 | 100 |",
        "|---|---|---:|---:|---:|---:|",
        f"| mvsim_core {rows[0]['version']} | wheels | 5 | 13 |  |  |",
    ]
