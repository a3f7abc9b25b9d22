# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the simulation plays, pauses, steps or ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from mvsim_ros2.control.answers import (
    ALREADY_IN_STATE,
    FAILED,
    INCORRECT_STATE,
    INCORRECT_TRANSITION,
    Refused,
)
from mvsim_ros2.control.requests import Requests

STOPPED, PLAYING, PAUSED, QUITTING, NO_WORLD, LOADING = range(6)
NAMES = ("stopped", "playing", "paused", "quitting", "no world", "loading a world")
#: Wall time [s] between the wish to quit and the end, so that it can be answered.
FAREWELL = 0.2


@dataclass(slots=True)
class Steps:
    """A number of steps that somebody wants while the simulation is paused.

    Attributes:
        left: Steps to be done.
        done: Called once at the end, with the reason if not all were done.
        progress: Called after each step with the numbers of steps done and left.
        cancelled: Asked before each step.
    """

    left: int
    done: Callable[[Refused | None], None]
    progress: Callable[[int, int], None] | None = None
    cancelled: Callable[[], bool] | None = None
    count: int = 0


class Phases:
    """The state of the simulation; written by the stepping thread, read by any.

    Attributes:
        state: As the interface counts them.
        requests: What callbacks want of the stepping thread.
    """

    def __init__(self, state: int = PLAYING) -> None:
        """Begin in a state."""
        self.state = state
        self.requests = Requests()
        self._steps: Steps | None = None
        self._end = float("inf")

    @property
    def playing(self) -> bool:
        """Whether steps are made at the wanted pace."""
        return self.state == PLAYING

    @property
    def ended(self) -> bool:
        """Whether it is time to quit."""
        return time.monotonic() >= self._end

    @property
    def name(self) -> str:
        """The state in words."""
        return NAMES[self.state]

    # ------------------------------------------------------------------ changes
    def check(self, target: int) -> None:
        """Refuse a change of the state that is not possible.

        Raises:
            Refused: With the interface's code.
        """
        if target == self.state and target <= QUITTING:
            raise Refused(ALREADY_IN_STATE, f"the simulation is already {self.name}")
        if target > QUITTING:
            raise Refused(
                INCORRECT_TRANSITION,
                "only stopped (0), playing (1), paused (2) and quitting (3) can be set",
            )
        if self.state == QUITTING or (self.state >= NO_WORLD and target != QUITTING):
            raise Refused(INCORRECT_STATE, f"the simulation is {self.name}")

    def enter(self, state: int) -> None:
        """Change the state; steps that are under way end."""
        self.abort(f"the simulation is {NAMES[state]} now")
        self.state = state
        if state == QUITTING:
            self._end = time.monotonic() + FAREWELL

    # -------------------------------------------------------------------- steps
    @property
    def stepping(self) -> bool:
        """Whether a step shall be made although the simulation is paused."""
        steps = self._steps
        if steps is not None and steps.cancelled is not None and steps.cancelled():
            self._finish(Refused(FAILED, f"cancelled after {steps.count} steps"))
        return self._steps is not None

    def begin(self, steps: Steps) -> None:
        """Make some steps.

        Raises:
            Refused: The simulation is not paused, or already making steps.
        """
        if self.state not in (PAUSED, STOPPED):
            raise Refused(FAILED, f"steps need a paused simulation, it is {self.name}")
        if self._steps is not None:
            raise Refused(FAILED, f"{self._steps.left} steps of another request are to be made")
        if steps.left < 1:
            raise Refused(FAILED, "steps must be >= 1, got 0")
        self.state = PAUSED
        self._steps = steps

    def stepped(self) -> None:
        """Count a step that was made."""
        steps = self._steps
        if steps is None:
            return
        steps.left -= 1
        steps.count += 1
        if steps.progress is not None:
            steps.progress(steps.count, steps.left)
        if steps.left == 0:
            self._finish(None)

    def abort(self, reason: str) -> None:
        """End the steps that are under way, if there are any."""
        if self._steps is not None:
            self._finish(Refused(FAILED, f"ended after {self._steps.count} steps: {reason}"))

    def _finish(self, reason: Refused | None) -> None:
        steps, self._steps = self._steps, None
        if steps is not None:
            steps.done(reason)
