# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The stepping loop, with a world that only counts."""

import time
from typing import Any

import pytest

pytest.importorskip("diagnostic_msgs")

from mvsim_ros2.conversions.diagnostics import RunStatistics
from mvsim_ros2.runtime import runner as runner_module
from mvsim_ros2.runtime.runner import Mailbox, Runner


class CountingWorld:
    """A world whose steps do nothing."""

    dt = 0.01

    def __init__(self) -> None:
        self.ticks = 0
        self.vehicles: dict[str, Any] = {"r1": None}
        self.seen: list[tuple[int, str]] = []

    @property
    def time(self) -> float:
        return self.ticks * self.dt

    def step(self) -> None:
        self.ticks += 1


def run(world: Any, factor: float, ticks: int, mailbox: Mailbox | None = None) -> float:
    runner = Runner(world, mailbox or Mailbox(), lambda: None, lambda report: None, factor=factor)
    begin = time.monotonic()
    runner.run(lambda: world.ticks >= ticks)
    return time.monotonic() - begin


@pytest.mark.alone
def test_it_keeps_the_wanted_pace() -> None:
    assert run(CountingWorld(), 2.0, 40) == pytest.approx(0.2, abs=0.1)


@pytest.mark.alone
def test_full_speed_does_not_wait() -> None:
    assert run(CountingWorld(), 0.0, 1000) < 0.5


def test_slow_motion_still_stops_at_once() -> None:
    world = CountingWorld()
    end = time.monotonic() + 0.1
    runner = Runner(world, Mailbox(), lambda: None, lambda report: None, factor=1e-3)  # type: ignore[arg-type]
    runner.run(lambda: time.monotonic() > end)
    assert time.monotonic() - end < 2.0  # a step would wait for 10 s
    assert world.ticks == 0


def test_actions_are_done_before_the_step() -> None:
    world, mailbox = CountingWorld(), Mailbox()
    mailbox.post("r1", lambda w: world.seen.append((w.ticks, "command")))
    run(world, 0.0, 3, mailbox)
    assert world.seen == [(0, "command")]


def test_statistics_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "REPORT_PERIOD", 0.05)
    world = CountingWorld()
    reports: list[RunStatistics] = []
    runner = Runner(world, Mailbox(), lambda: None, reports.append, factor=1.0)  # type: ignore[arg-type]
    time.sleep(0.1)  # as between the making of a runner and its start
    begin = time.monotonic()
    runner.run(lambda: world.ticks >= 30)
    elapsed = time.monotonic() - begin
    assert len(reports) >= 3
    assert not reports[0].slow
    assert 0.0 < reports[-1].factor < 1.5
    assert reports[-1].vehicles == 1
    assert 0.0 < reports[-1].step_time < elapsed
