# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tasks on several cores: order of results, errors, and processes that fork."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from functools import partial

import pytest

from mvsim_core import threads


@pytest.fixture(params=[1, 2, 4], autouse=True)
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the machine have so many cores."""
    monkeypatch.setattr(threads, "usable_cores", lambda: request.param)
    return int(request.param)


def test_results_come_in_the_order_of_the_tasks() -> None:
    assert threads.run_all([partial(pow, k, 2) for k in range(50)]) == [k**2 for k in range(50)]
    assert threads.run_all([]) == []


def test_tasks_run_at_the_same_time(cores: int) -> None:
    """Each waits for all others."""
    meeting = threading.Barrier(cores, timeout=20.0)
    places = threads.run_all([meeting.wait] * cores)
    assert sorted(places) == list(range(cores))


def test_error_of_the_first_task_is_raised_and_the_next_call_works() -> None:
    def fail(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match="first"):
        threads.run_all([partial(fail, "first"), *[partial(fail, "other")] * 5])
    assert threads.run_all([lambda: 1, lambda: 2]) == [1, 2]


def test_ctrl_c_waits_for_what_others_write(cores: int) -> None:
    """They write to the same arrays, which a caller may use again at once."""
    if cores == 1:
        pytest.skip("the calling thread does all")
    meeting = threading.Barrier(2, timeout=20.0)
    main = threading.main_thread().ident or 0
    written: list[bool] = []

    def task() -> None:
        meeting.wait()
        if threading.get_ident() != main:
            time.sleep(0.1)  # it waits now
            signal.pthread_kill(main, signal.SIGINT)
            time.sleep(0.3)
            written.append(True)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # others may ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            threads.run_all([task, task])
    finally:
        signal.signal(signal.SIGINT, before)
    assert written == [True]
    assert threads.run_all([lambda: 1, lambda: 2]) == [1, 2]


@pytest.mark.parametrize("each", [1, 3])
def test_parts_cover_all_rows_once(cores: int, each: int) -> None:
    for count, least in ((0, 5), (4, 5), (100, 7), (1000, 1)):
        parts = threads.in_parts(count, least, lambda first, end: (first, end), each=each)
        assert [row for first, end in parts for row in range(first, end)] == list(range(count))
        assert len(parts) == (1 if cores == 1 else max(1, min(cores * each, count // least)))
        assert len(parts) == 1 or min(end - first for first, end in parts) >= least


def test_work_beside_the_caller_gives_its_result() -> None:
    assert threads.start(pow, 3, 2).result(20.0) == 9


def _in_child() -> None:
    assert threads.run_all([partial(pow, k, 2) for k in range(9)]) == [k**2 for k in range(9)]


def test_forked_process_starts_its_own_threads() -> None:
    """Threads do not live on in a fork: one that waited for them would wait for ever."""
    threads.run_all([lambda: None] * 4)
    child = multiprocessing.get_context("fork").Process(target=_in_child)
    child.start()
    child.join(20.0)
    assert child.exitcode == 0
    child.close()
