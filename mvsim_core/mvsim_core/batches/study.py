# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a study, shared out to workers."""

from __future__ import annotations

import multiprocessing
import time as wall
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mvsim_core import progress, threads
from mvsim_core.batches.errors import BatchError
from mvsim_core.batches.files import files_of_functions
from mvsim_core.batches.functions import FunctionName, function_name
from mvsim_core.batches.journal import Journal
from mvsim_core.batches.outcome import RunOutcome
from mvsim_core.batches.plan import ALL, Run, StudyPlan, make_plan
from mvsim_core.batches.table import Results, check_output, table_of
from mvsim_core.batches.workers import (
    Ended,
    Loaded,
    LocalWorkers,
    Message,
    ProgressLine,
    Ready,
    Worker,
    Workers,
)
from mvsim_core.errors import UnknownName, WorldFileError, require_number
from mvsim_core.xmlfile import UsedVariables, read_world

Function = Callable[..., Any] | FunctionName | str | None
#: Most workers of a machine.
MOST_WORKERS = 1024
#: Workers that may end in succession without having taken a run.
MOST_BAD_STARTS = 3
WORK = "runs"
PERIOD = 5.0  # s between lines of progress without a terminal


def run(  # noqa: PLR0913 (one argument for each option)
    world: str | Path,
    *,
    seeds: Iterable[int] = (0,),
    variables: Mapping[str, Sequence[object]] | None = None,
    time: float = 10.0,
    twists: Mapping[str, Sequence[float]] | None = None,
    setup: Function = None,
    drive: Function = None,
    measure: Function = None,
    workers: int | None = None,
    ray: bool = False,
    timeout: float | None = None,
    output: str | Path | None = None,
    columns: Sequence[str] = (),
) -> Results:
    """Simulate a world with each seed and each combination of values, and return the table.

    The same arguments give the same table to the byte, with any number of workers. Processes are
    started by importing the main script again: call this below `if __name__ == "__main__":`.

    Args:
        world: The world file.
        seeds: Random seeds.
        variables: Values of variables of the world file.
        time: Simulated time of each run [s].
        twists: Commands (vx, vy, wz) [m/s, m/s, rad/s] by vehicle; "all": those without their own.
        setup: Called with the world before the first step: a function of a module or file, or
            "file.py:function".
        drive: Called with the world before each step; it returns True to end the run.
        measure: Called with the world at the end; returns a dict of more columns.
        workers: How many processes; None: one for each core.
        ray: Let Ray run them, on the cluster of RAY_ADDRESS if that is set.
        timeout: Most wall time of a run, without loading [s]; None: any.
        output: File of the table; with it an interrupted study continues where it was.
        columns: Patterns of the measured columns to keep, such as "*.distance"; none: all.

    Raises:
        ArgumentError: An argument cannot be meant.
        WorldFileError: The world file has errors with any of the values.
        BatchError: The study cannot be run, continued or written.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise BatchError('call mvsim_core.batches.run() below `if __name__ == "__main__":`')
    functions = {"setup": setup, "drive": drive, "measure": measure}
    plan = make_plan(
        world,
        seeds=seeds,
        variables=variables or {},
        time=time,
        twists=twists or {},
        functions={name: function_name(function, name) for name, function in functions.items()},
    )
    count = threads.usable_cores() if workers is None else workers
    require_number("workers", count, least=1, most=MOST_WORKERS, whole=True)
    if timeout is not None:
        require_number("timeout", timeout, "s", least=1e-3)
    output = None if output is None else Path(output)
    if output is not None:
        check_output(output)
    check_world(plan)
    journal = Journal(output, plan.settings(), files_of_functions(plan))
    try:
        runs = plan.runs()
        todo = [one for one in runs if one.number not in journal.done]
        if journal.resumed:
            progress.announce(f"{journal.resumed} of {len(runs)} runs were done before")
        if todo:
            carry_out(plan, todo, journal, min(int(count), len(todo)), ray, timeout)
        results = table_of(plan, runs, journal.done, columns)
        if output is not None:
            results.write(output)
            journal.remove()
        return results
    finally:
        journal.close()


def check_world(plan: StudyPlan) -> None:
    """Check what concerns all runs: the file, the names of variables and vehicles.

    Raises:
        WorldFileError: The file cannot be read with any combination of values, or does not use a
            variable.
        UnknownName: A twist is for no vehicle of it.
    """
    first: WorldFileError | None = None
    for combination in plan.combinations():
        try:
            given = UsedVariables(combination)
            spec, _ = read_world(plan.world, variables=given, seed=plan.seeds[0])
        except WorldFileError as error:
            first = first or error
            if any("uses no variable" in problem.message for problem in error.errors):
                raise
            continue
        names = [vehicle.name for vehicle in spec.vehicles]
        for name, _ in plan.twists:
            if name not in (ALL, *names) and plan.setup is None:
                raise UnknownName("vehicle", name, names)
        return
    if first is not None:
        raise first


def carry_out(
    plan: StudyPlan,
    todo: Sequence[Run],
    journal: Journal,
    count: int,
    ray: bool,
    timeout: float | None,
) -> None:
    """Carry out runs and keep their outcomes in the journal."""
    workers: Workers
    if ray:
        from mvsim_core.batches.ray_workers import RayWorkers

        workers = RayWorkers(plan, count)
    else:
        workers = LocalWorkers(plan)
    execution = _Execution(workers, todo, journal, timeout)
    try:
        execution.go(count)
    finally:
        workers.close()


class _Execution:
    """Which worker does what."""

    def __init__(
        self, workers: Workers, todo: Sequence[Run], journal: Journal, timeout: float | None
    ) -> None:
        self._workers = workers
        self._todo = deque(todo)
        self._journal = journal
        self._timeout = timeout
        self._total = len(todo) + len(journal.done)
        self._starting: set[Any] = set()
        self._idle: list[Worker] = []
        self._busy: dict[Any, Run] = {}
        self._deadlines: dict[Any, float] = {}
        self._repeated: set[int] = set()  # runs whose worker ended once
        # one worker alone loads its world first: the others find its kernels compiled
        self._warm = False
        self._bad_starts = 0

    def go(self, count: int) -> None:
        """Carry out all runs with some workers."""
        for _ in range(count):
            self._start()
        while self._todo or self._busy:
            self._hand_out()
            progress.count(WORK, len(self._journal.done), self._total, PERIOD)
            for worker, message in self._workers.wait(self._patience()):
                self._take(worker, message)
            self._end_overdue()
        progress.end_count()

    def _start(self) -> None:
        self._starting.add(self._workers.start())

    def _hand_out(self) -> None:
        while self._todo and self._idle and (self._warm or not self._busy):
            worker = self._idle.pop(0)
            one = self._todo.popleft()
            self._busy[worker] = one
            worker.send(one)

    def _patience(self) -> float | None:
        """Return how long to wait for messages [s]: the bar shows the time that goes by."""
        dues = [due - wall.monotonic() for due in self._deadlines.values()]
        return max(0.0, min([1.0, *dues]))

    def _take(self, worker: Any, message: Message) -> None:
        match message:
            case Ready():
                self._starting.discard(worker)
                self._idle.append(worker)
                self._bad_starts = 0
            case Loaded():
                self._warm = True
                if self._timeout is not None:
                    self._deadlines[worker] = wall.monotonic() + self._timeout
            case ProgressLine(text=text):
                if not self._warm:
                    progress.announce(text)
            case RunOutcome():
                self._warm = True
                self._journal.add(message)
                self._free(worker)
                self._idle.append(worker)
            case Ended(reason=reason):
                self._replace(worker, reason)

    def _free(self, worker: Any) -> Run:
        self._deadlines.pop(worker, None)
        return self._busy.pop(worker)

    def _replace(self, worker: Any, reason: str) -> None:
        """Start another worker; the run of the one that ended is repeated once."""
        if worker in self._starting:
            self._starting.discard(worker)
            self._bad_starts += 1
            if self._bad_starts >= MOST_BAD_STARTS:
                raise BatchError(f"worker processes end while they start: {reason}")
        elif worker in self._busy:
            one = self._free(worker)
            if one.number in self._repeated:
                self._fail(one, f"its process ended twice: {reason}")
            else:
                self._repeated.add(one.number)
                self._todo.appendleft(one)
        else:
            self._idle.remove(worker)
        if self._todo:
            self._start()

    def _fail(self, one: Run, text: str) -> None:
        self._journal.add(RunOutcome(one.number, {}, text))

    def _end_overdue(self) -> None:
        now = wall.monotonic()
        for worker in [w for w, due in self._deadlines.items() if due <= now]:
            one = self._free(worker)
            self._workers.discard(worker)
            self._fail(one, f"took longer than {self._timeout:g} s")
            if self._todo:
                self._start()


def failures_text(results: Results, most: int = 20) -> list[str]:
    """Return a line for each run that failed, `most` lines at most, with seed and variables."""
    failed = results.failures
    lines = [
        f"{', '.join(f'{name} {row[name]}' for name in results.given)}: {row['error']}"
        for row in failed[:most]
    ]
    if len(failed) > most:
        lines.append(f"and {len(failed) - most} more")
    return lines
