# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Processes of this machine that carry out runs.

A worker reads runs from a pipe and writes messages to it. It ends with its parent, whatever ends
that; Ctrl-C is the parent's alone.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import connection, resource_tracker
from typing import Any, NamedTuple, Protocol

from mvsim_core.batches.files import FileLog
from mvsim_core.batches.outcome import RunOutcome
from mvsim_core.batches.plan import Run, StudyPlan
from mvsim_core.progress import reporting

#: Time that workers get to end by themselves [s].
PATIENCE = 0.5


class Ready(NamedTuple):
    """The worker takes runs."""


class Loaded(NamedTuple):
    """The world of the worker's run is loaded: its kernels are compiled."""


class ProgressLine(NamedTuple):
    """A line about the progress of the first loading."""

    text: str


class Ended(NamedTuple):
    """The worker ended, which it must not."""

    reason: str


Message = Ready | Loaded | ProgressLine | RunOutcome | Ended


class Worker(Protocol):
    """A process somewhere that carries out runs."""

    def send(self, run: Run) -> None:
        """Let it carry out a run; its messages follow, the last one an `RunOutcome` or `Ended`."""

    def kill(self) -> None:
        """End it at once, whatever it does."""


class Workers(Protocol):
    """A kind of workers."""

    def start(self) -> Worker:
        """Start one more."""

    def wait(self, seconds: float | None) -> list[tuple[Worker, Message]]:
        """Return the messages that have come; wait for one for some seconds, or None: for long."""

    def discard(self, worker: Any) -> None:
        """End one of them."""

    def close(self) -> None:
        """End all of them."""


class LocalWorker:
    """A process of this machine."""

    def __init__(self, plan: StudyPlan) -> None:
        """Start it."""
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, plan), daemon=True)
        resource_tracker.ensure_running()  # with the first process it would unblock the signal
        # Ctrl-C in a terminal goes to all processes: blocked here, it is in the new one too.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        other.close()

    def send(self, run: Run) -> None:
        """Let it carry out a run; that it has ended is seen by `receive`."""
        with suppress(OSError):
            self.pipe.send(run)

    def receive(self) -> Message:
        """Return its next message; must be called when there is one, or when it ended."""
        try:
            if self.pipe.poll():
                message: Message = self.pipe.recv()
                return message
        except (EOFError, OSError):
            pass
        self.process.join()
        code = self.process.exitcode or 0
        return Ended(_signal_text(-code) if code < 0 else f"exit code {code}")

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


class LocalWorkers:
    """The processes of this machine."""

    def __init__(self, plan: StudyPlan) -> None:
        """Start none yet."""
        self._plan = plan
        self._workers: list[LocalWorker] = []

    def start(self) -> LocalWorker:
        """Start one more."""
        self._workers.append(LocalWorker(self._plan))
        return self._workers[-1]

    def wait(self, seconds: float | None) -> list[tuple[Worker, Message]]:
        """Return the messages that have come, at most one of each worker."""
        by_object: dict[Any, LocalWorker] = {}
        for worker in self._workers:
            by_object[worker.pipe] = by_object[worker.process.sentinel] = worker
        ready = connection.wait(list(by_object), seconds)
        messages: list[tuple[Worker, Message]] = []
        for worker in dict.fromkeys(by_object[one] for one in ready):
            message = worker.receive()
            messages.append((worker, message))
            if isinstance(message, Ended):
                self.discard(worker)
        return messages

    def discard(self, worker: LocalWorker) -> None:
        """End a worker and forget it."""
        worker.kill()
        self._workers.remove(worker)

    def close(self) -> None:
        """End all of them; those that are in a run at once."""
        _end(self._workers)
        self._workers = []


def _end(workers: Iterable[LocalWorker]) -> None:
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(PATIENCE)
        worker.kill()


def _signal_text(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _serve(pipe: Any, plan: StudyPlan) -> None:
    """Carry out runs until the parent ends it; the main function of a worker."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from mvsim_core.batches.simulator import RunSimulator

    runner = RunSimulator(plan, FileLog())
    first = True

    def loaded() -> None:
        nonlocal first
        first = False
        pipe.send(Loaded())

    def report(line: str) -> None:
        if first:
            pipe.send(ProgressLine(line))

    pipe.send(Ready())
    with reporting(report):
        while True:
            pipe.send(runner.run(pipe.recv(), loaded))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
