# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""How costs are measured, with a clock that the test turns."""

from __future__ import annotations

from typing import Any

import pytest

from mvsim_core.bench import timing
from mvsim_core.bench.timing import BATCH, WARM_UP, best_of, compared_cost, step_cost


class Clock:
    """Stands in for perf_counter: time goes on by what things are said to take [s]."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class FakeWorld:
    """A world whose steps take as long as a list says [s], the last one for ever after."""

    def __init__(self, clock: Clock, costs: list[float]) -> None:
        self.vehicles: dict[str, Any] = {}
        self.steps = 0
        self._clock, self._costs = clock, costs
        self._spent = {"friction": 0.0, "solver": 0.0}

    def step(self) -> None:
        cost = self._costs[min(self.steps // BATCH, len(self._costs) - 1)]
        self.steps += 1
        self._clock.now += cost
        self._spent["friction"] += 0.75 * cost
        self._spent["solver"] += 0.25 * cost

    def clear_profile(self) -> None:
        self._spent = dict.fromkeys(self._spent, 0.0)
        self.steps = 0

    @property
    def profile(self) -> dict[str, float]:
        return self._spent


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timing, "perf_counter", clock)
    return clock


def test_a_step_costs_its_best_batch_and_its_mean(clock: Clock) -> None:
    """Four batches of 5, 2, 4 and 5 ms a step: the best is 2 ms and the mean 4 ms, in µs."""
    world = FakeWorld(clock, [0.005, 0.002, 0.004, 0.005])
    cost = step_cost(world, seconds=0.0159 * BATCH)  # type: ignore[arg-type]
    assert world.steps == 4 * BATCH
    assert cost["best"] == pytest.approx(2000.0)
    assert cost["mean"] == pytest.approx(4000.0)
    assert cost["friction"] == pytest.approx(3000.0)
    assert cost["solver"] == pytest.approx(1000.0)


def test_first_steps_do_not_count(clock: Clock) -> None:
    """The profile is cleared after the steps that warm up."""
    world = FakeWorld(clock, [9.0, 9.0, 9.0])
    cleared: list[int] = []
    clear = world.clear_profile

    def note() -> None:
        cleared.append(world.steps)
        clear()
        world._costs = [0.001]

    world.clear_profile = note  # type: ignore[method-assign]
    cost = step_cost(world, seconds=0.01)  # type: ignore[arg-type]
    assert cleared == [WARM_UP]
    assert (cost["best"], cost["mean"]) == pytest.approx((1000.0, 1000.0))


def test_worlds_are_compared_by_their_best_batches(clock: Clock) -> None:
    worlds: Any = {
        "one": FakeWorld(clock, [0.004, 0.001, 0.003]),
        "other": FakeWorld(clock, [0.002, 0.005, 0.006]),
    }
    cost = compared_cost(worlds, seconds=0.0209 * BATCH)
    assert cost == pytest.approx({"one": 1000.0, "other": 2000.0})
    assert worlds["one"].steps == worlds["other"].steps == 3 * BATCH


def test_a_call_costs_its_best_round(clock: Clock) -> None:
    """Calls of 3 ms, in the end of 1 ms: as many a round as fill 4 ms."""
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        clock.now += 0.003 if calls < 60 else 0.001

    assert best_of(call, seconds=0.004) == pytest.approx(0.001)
    assert calls == 1 + 1 + 2 + timing.ROUNDS * 2
