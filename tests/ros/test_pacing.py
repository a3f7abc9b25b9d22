# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pacing against a wall clock that the tests set."""

import pytest

from mvsim_ros2.runtime.pacing import MAX_CATCH_UP, Pacer, RateMeter

DT = 0.01


class Wall:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.mark.parametrize("factor", [0.25, 1.0, 5.0])
def test_ticks_are_due_at_absolute_times(wall: Wall, factor: float) -> None:
    pacer = Pacer(DT, factor, now=wall)
    for tick in range(1, 1001):
        wall.time += pacer.time_until(tick) + 1e-4  # each wait ends a little late
    assert wall.time - 100.0 == pytest.approx(1000 * DT / factor + 1e-4, abs=1e-9)


def test_no_waiting_at_full_speed(wall: Wall) -> None:
    assert Pacer(DT, 0.0, now=wall).time_until(10**9) == 0.0


def test_a_short_stall_is_caught_up(wall: Wall) -> None:
    pacer = Pacer(DT, now=wall)
    wall.time += 0.05
    assert [pacer.time_until(tick) for tick in (1, 2, 3, 4, 5)] == [0.0] * 5
    assert pacer.time_until(6) == pytest.approx(DT)
    assert (pacer.dropped_deadlines, pacer.lost_time) == (0, 0.0)


def test_a_long_stall_is_dropped_beyond_the_bound(wall: Wall) -> None:
    pacer = Pacer(DT, now=wall)
    wall.time += 3.0
    burst = 0
    while pacer.time_until(burst + 1) == 0.0:
        burst += 1
    assert burst == pytest.approx(MAX_CATCH_UP / DT, abs=2)
    assert pacer.dropped_deadlines == 1
    assert pacer.lost_time == pytest.approx(3.0 - DT - MAX_CATCH_UP)


def test_a_new_factor_counts_from_now_on(wall: Wall) -> None:
    pacer = Pacer(DT, 1.0, now=wall)
    wall.time += 1.0
    pacer.restart(100, 2.0)
    assert pacer.time_until(101) == pytest.approx(DT / 2)


def test_the_achieved_factor(wall: Wall) -> None:
    meter = RateMeter(now=wall)
    wall.time += 2.0
    assert meter.age == pytest.approx(2.0)
    assert meter.update(1.0) == pytest.approx(0.5)
    wall.time += 0.5
    assert meter.update(2.0) == pytest.approx(2.0)
    assert meter.factor == pytest.approx(2.0)
