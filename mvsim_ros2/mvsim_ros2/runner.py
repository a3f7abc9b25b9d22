# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The loop that steps a world, in the thread that calls it."""

from __future__ import annotations

import time
from collections.abc import Callable

from mvsim_core import World
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
    """

    def __init__(
        self,
        world: World,
        mailbox: Mailbox,
        after_step: Callable[[], None],
        report: Callable[[Pace], None],
        *,
        factor: float,
    ) -> None:
        """Prepare; nothing runs yet."""
        self._world = world
        self._mailbox = mailbox
        self._after_step = after_step
        self._report = report
        self.pacer = Pacer(world.dt, factor)
        self._meter = RateMeter()
        self._busy = 0.0
        self._reported_tick = 0

    def run(self, stopped: Callable[[], bool]) -> None:
        """Step until `stopped` returns True, which is asked at least every 50 ms.

        Raises:
            StepError: The state has become invalid.
        """
        world, pacer = self._world, self.pacer
        pacer.restart(world.ticks)
        self._meter.update(world.time)
        while not stopped():
            wait = pacer.wait_for(world.ticks + 1)
            if wait > 0.0:
                time.sleep(min(wait, NAP))
                if wait > NAP:
                    continue
            self.step()
            if self._meter.age >= REPORT_PERIOD:
                self._report(self._pace())

    def step(self) -> None:
        """Do what is in the mailbox, and one step.

        Raises:
            StepError: The state has become invalid.
        """
        begin = time.perf_counter()
        for action in self._mailbox.take():
            action(self._world)
        self._world.step()
        self._after_step()
        self._busy += time.perf_counter() - begin

    def _pace(self) -> Pace:
        world, pacer = self._world, self.pacer
        steps = world.ticks - self._reported_tick
        pace = Pace(
            factor=self._meter.update(world.time),
            wanted=pacer.factor,
            step_time=self._busy / max(steps, 1),
            given_up=pacer.given_up,
            sim_time=world.time,
            vehicles=len(world.vehicles),
        )
        self._busy = 0.0
        self._reported_tick = world.ticks
        return pace
