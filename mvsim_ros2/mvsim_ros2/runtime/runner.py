# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The stepping loop, in the thread that calls it, and the mailbox that it empties each step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable

from mvsim_core import World
from mvsim_ros2.conversions.diagnostics import RunStatistics
from mvsim_ros2.runtime.pacing import Pacer, RateMeter
from mvsim_ros2.simulation.sim_state import SimState

#: Longest sleep [s], and so the longest delay of a stop.
MAX_SLEEP = 0.05
#: Wall time between two reports of the run statistics [s].
REPORT_PERIOD = 1.0

Action = Callable[[World], None]


class Mailbox:
    """Actions that callbacks leave for the stepping thread, done before its next step.

    It holds one action for each key; a new one replaces one that has not been taken. So a flood
    of commands costs the stepping thread no more than one command a vehicle and step.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = threading.Lock()
        self._actions: dict[Hashable, Action] = {}

    def post(self, key: Hashable, action: Action) -> None:
        """Leave an action; any thread may call it."""
        with self._lock:
            self._actions[key] = action

    def take(self) -> list[Action]:
        """Return and remove all actions, ordered by the first post of their keys."""
        if not self._actions:  # read without the lock: an action may wait for the next step
            return []
        with self._lock:
            actions, self._actions = self._actions, {}
        return list(actions.values())


class Runner:
    """Steps a world at the wanted real-time factor until it is stopped.

    Args:
        world: The world to step.
        mailbox: Actions to be done before the next step.
        after_step: Called after each step.
        report: Called about once a second with the run statistics.
        factor: Wanted real-time factor; 0: as fast as possible.
        sim_state: Playing, paused, …, and the queue of requests served between steps; None:
            always playing.
    """

    def __init__(
        self,
        world: World,
        mailbox: Mailbox,
        after_step: Callable[[], None],
        report: Callable[[RunStatistics], None],
        *,
        factor: float,
        sim_state: SimState | None = None,
    ) -> None:
        """Prepare; nothing runs yet."""
        self._world: World | None = world
        self._mailbox = mailbox
        self._after_step = after_step
        self._report = report
        self._sim_state = sim_state or SimState()
        self._requests = self._sim_state.requests
        self.on_idle: Callable[[], None] = lambda: None
        self.pacer = Pacer(world.dt, factor)
        self._meter = RateMeter()
        self._last_idle = 0.0
        self._was_idle = False  # since the last report
        self._elapsed = 0.0  # simulated, also across resets
        self._busy = 0.0
        self._steps = 0

    def set_world(self, world: World | None) -> None:
        """Step another world, or none."""
        self._world = world
        if world is not None:
            self.pacer = self.pacer.for_world(world.dt, world.ticks)

    def restart_pacing(self) -> None:
        """Let the next tick of the world be due one step from now."""
        if self._world is not None:
            self.pacer.restart(self._world.ticks)

    def run(self, stopped: Callable[[], bool]) -> None:
        """Step until `stopped` returns True, which is asked at least every 50 ms.

        Raises:
            StepError: The state has become invalid.
        """
        sim_state, requests = self._sim_state, self._requests
        self.restart_pacing()
        self._meter.update(self._elapsed)
        while not (stopped() or sim_state.quit_due):
            requests.process()
            if self._world is not None and sim_state.playing:
                self._step_or_sleep(self._world)
            elif self._world is not None and sim_state.stepping:
                self.step()
                sim_state.count_step()
                self.restart_pacing()
            else:
                self._idle()
            if self._meter.age >= REPORT_PERIOD:
                self._report(self._statistics())

    def _step_or_sleep(self, world: World) -> None:
        """Make the next step if it is due; else sleep until it is, or a request arrives."""
        wait = self.pacer.time_until(world.ticks + 1)
        if wait > 0.0 and (self._requests.wait(min(wait, MAX_SLEEP)) or wait > MAX_SLEEP):
            return
        self.step()

    def _idle(self) -> None:
        self._was_idle = True
        now = time.monotonic()
        if now - self._last_idle >= MAX_SLEEP:
            self._last_idle = now
            self.on_idle()
        self._requests.wait(MAX_SLEEP)
        self.restart_pacing()

    def step(self) -> None:
        """Do the actions in the mailbox, then one step.

        Raises:
            StepError: The state has become invalid.
        """
        world = self._world
        if world is None:
            return
        begin = time.perf_counter()
        for action in self._mailbox.take():
            action(world)
        world.step()
        self._after_step()
        self._elapsed += world.dt
        self._steps += 1
        self._busy += time.perf_counter() - begin

    def _statistics(self) -> RunStatistics:
        world, pacer = self._world, self.pacer
        statistics = RunStatistics(
            factor=self._meter.update(self._elapsed),
            wanted=pacer.factor,
            step_time=self._busy / max(self._steps, 1),
            lost_time=pacer.lost_time,
            sim_time=world.time if world is not None else 0.0,
            vehicles=len(world.vehicles) if world is not None else 0,
            dropped_deadlines=pacer.dropped_deadlines,
            state="resumed"
            if self._was_idle and self._sim_state.playing
            else self._sim_state.name,
        )
        self._was_idle = False
        self._busy = 0.0
        self._steps = 0
        return statistics
