# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The loop that steps a world, in the thread that calls it."""

from __future__ import annotations

import time
from collections.abc import Callable

from mvsim_core import World
from mvsim_ros2.control.phases import Phases
from mvsim_ros2.conversions.diagnostics import Pace
from mvsim_ros2.mailbox import Mailbox
from mvsim_ros2.pacing import Pacer, RateMeter

#: Longest sleep [s]; stopping takes no longer.
NAP = 0.05
#: Wall time between two reports of the pace [s].
REPORT_PERIOD = 1.0


class Runner:
    """Steps a world at the wanted pace until it is told to stop.

    Args:
        world: What is stepped.
        mailbox: Actions to be done before the next step.
        after_step: Called after each step.
        report: Called about once a second with the pace.
        factor: Wanted simulated seconds per second; 0: as fast as possible.
        phases: Whether to step, and requests to be served between steps; None: always step.
    """

    def __init__(
        self,
        world: World,
        mailbox: Mailbox,
        after_step: Callable[[], None],
        report: Callable[[Pace], None],
        *,
        factor: float,
        phases: Phases | None = None,
    ) -> None:
        """Prepare; nothing runs yet."""
        self._world: World | None = world
        self._mailbox = mailbox
        self._after_step = after_step
        self._report = report
        self._phases = phases or Phases()
        self._requests = self._phases.requests
        self.idle: Callable[[], None] = lambda: None
        self.pacer = Pacer(world.dt, factor)
        self._meter = RateMeter()
        self._idled = 0.0
        self._rested = False  # since the last report
        self._elapsed = 0.0  # simulated, also across resets
        self._busy = 0.0
        self._steps = 0

    def take(self, world: World | None) -> None:
        """Step another world, or none."""
        self._world = world
        if world is not None:
            self.pacer = self.pacer.like(world.dt, world.ticks)

    def restart(self) -> None:
        """Keep the pace from now on, from the present tick of the world."""
        if self._world is not None:
            self.pacer.restart(self._world.ticks)

    def run(self, stopped: Callable[[], bool]) -> None:
        """Step until `stopped` returns True, which is asked at least every 50 ms.

        Raises:
            StepError: The state has become invalid.
        """
        phases, requests = self._phases, self._requests
        self.restart()
        self._meter.update(self._elapsed)
        while not (stopped() or phases.ended):
            requests.serve()
            if self._world is not None and phases.playing:
                self._keep_pace(self._world)
            elif self._world is not None and phases.stepping:
                self.step()
                phases.stepped()
                self.restart()
            else:
                self._rest()
            if self._meter.age >= REPORT_PERIOD:
                self._report(self._pace())

    def _keep_pace(self, world: World) -> None:
        """Make the next step if it is due; or sleep, at most until somebody wants something."""
        wait = self.pacer.wait_for(world.ticks + 1)
        if wait > 0.0 and (self._requests.wait(min(wait, NAP)) or wait > NAP):
            return
        self.step()

    def _rest(self) -> None:
        self._rested = True
        now = time.monotonic()
        if now - self._idled >= NAP:
            self._idled = now
            self.idle()
        self._requests.wait(NAP)
        self.restart()

    def step(self) -> None:
        """Do what is in the mailbox, and one step.

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

    def _pace(self) -> Pace:
        world, pacer = self._world, self.pacer
        pace = Pace(
            factor=self._meter.update(self._elapsed),
            wanted=pacer.factor,
            step_time=self._busy / max(self._steps, 1),
            given_up=pacer.given_up,
            sim_time=world.time if world is not None else 0.0,
            vehicles=len(world.vehicles) if world is not None else 0,
            missed=pacer.late,
            state="resumed" if self._rested and self._phases.playing else self._phases.name,
        )
        self._rested = False
        self._busy = 0.0
        self._steps = 0
        return pace
