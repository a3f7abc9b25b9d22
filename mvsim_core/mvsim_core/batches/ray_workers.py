# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Workers of a Ray cluster, or of the machine's own Ray."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from mvsim_core.batches.errors import BatchError
from mvsim_core.batches.files import FileLog
from mvsim_core.batches.outcome import RunOutcome
from mvsim_core.batches.plan import Run, StudyPlan
from mvsim_core.batches.workers import Ended, Loaded, Message, Ready, Worker


class RayActor:
    """What runs in a process of Ray."""

    def __init__(self, plan: StudyPlan) -> None:
        """Load the functions of the plan."""
        from mvsim_core.batches.simulator import RunSimulator

        self._runner = RunSimulator(plan, FileLog())

    def ready(self) -> Message:
        """Return that it takes runs."""
        return Ready()

    def load(self, run: Run) -> Message:
        """Load the world of a run, so that its kernels are compiled."""
        with suppress(Exception):  # the run itself reports it
            self._runner.load(run)
        return Loaded()

    def run(self, run: Run) -> RunOutcome:
        """Carry out a run."""
        return self._runner.run(run)


class RayWorker:
    """An actor, and the messages that it has not sent yet."""

    def __init__(self, ray: Any, actor: Any) -> None:
        """Ask it whether it is ready."""
        self.pending = [actor.ready.remote()]
        self._ray = ray
        self._actor = actor
        self._first = True

    def send(self, run: Run) -> None:
        """Let it carry out a run; the first time its world is loaded as a call of its own."""
        load = self._actor.load.remote(run) if self._first else self._ray.put(Loaded())
        self._first = False
        self.pending += [load, self._actor.run.remote(run)]

    def kill(self) -> None:
        """End it at once."""
        self._ray.kill(self._actor)


class RayWorkers:
    """The workers of a cluster: that of RAY_ADDRESS, else one of this machine."""

    def __init__(self, plan: StudyPlan, count: int) -> None:
        """Connect to it, or start it.

        Raises:
            BatchError: Ray is not installed or does not start.
        """
        try:
            import ray
        except ImportError:
            raise BatchError("--ray needs Ray: pip install ray") from None
        self._ray = ray
        self._plan = plan
        self._workers: list[RayWorker] = []
        self._own = not ray.is_initialized()
        if self._own:
            place = {"address": os.environ["RAY_ADDRESS"]} if "RAY_ADDRESS" in os.environ else {
                "num_cpus": count, "include_dashboard": False
            }  # fmt: skip
            try:
                ray.init(log_to_driver=False, logging_level="ERROR", **place)
            except Exception as error:
                raise BatchError(f"Ray does not start: {error}") from None
        self._actor = ray.remote(num_cpus=1, max_restarts=0)(RayActor)

    def start(self) -> RayWorker:
        """Start one more."""
        self._workers.append(RayWorker(self._ray, self._actor.remote(self._plan)))
        return self._workers[-1]

    def wait(self, seconds: float | None) -> list[tuple[Worker, Message]]:
        """Return the messages that have come, at most one of each worker."""
        waiting = {worker.pending[0]: worker for worker in self._workers if worker.pending}
        done, _ = self._ray.wait(list(waiting), num_returns=1, timeout=seconds)
        messages: list[tuple[Worker, Message]] = []
        for reference in done:
            worker = waiting[reference]
            worker.pending.remove(reference)
            try:
                messages.append((worker, self._ray.get(reference)))
            except self._ray.exceptions.RayError as error:
                self._workers.remove(worker)
                text = str(error).strip().split("\n")[0]
                messages.append((worker, Ended(f"{type(error).__name__}: {text}")))
        return messages

    def discard(self, worker: RayWorker) -> None:
        """End a worker and forget it."""
        worker.kill()
        self._workers.remove(worker)

    def close(self) -> None:
        """End all workers, and Ray if it was started here."""
        for worker in self._workers:
            worker.kill()
        self._workers = []
        if self._own:
            self._ray.shutdown()
