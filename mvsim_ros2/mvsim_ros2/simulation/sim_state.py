# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""State of the simulation: stopped, playing, paused, quitting; and steps while paused."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from mvsim_core.world.request_queue import RequestQueue
from mvsim_ros2.simulation.result_codes import (
    ALREADY_IN_STATE,
    FAILED,
    INCORRECT_STATE,
    INCORRECT_TRANSITION,
    RequestError,
)

STOPPED, PLAYING, PAUSED, QUITTING, NO_WORLD, LOADING = range(6)
NAMES = ("stopped", "playing", "paused", "quitting", "no world", "loading a world")
#: Most steps of one request that cannot be cancelled: it runs at full speed.
MAX_STEPS = 10_000_000
#: Wall time [s] between a request to quit and the end of the loop, for its response to be sent.
QUIT_DELAY = 0.2


@dataclass(slots=True)
class StepRequest:
    """A number of steps requested while the simulation is paused.

    Attributes:
        remaining: Steps to be made.
        done: Called once at the end, with the reason if not all steps were made.
        progress: Called after each step with the numbers of completed and remaining steps.
        cancelled: Asked before each step; None: it cannot be cancelled.
        completed: Steps made.
    """

    remaining: int
    done: Callable[[RequestError | None], None]
    progress: Callable[[int, int], None] | None = None
    cancelled: Callable[[], bool] | None = None
    completed: int = 0


class SimState:
    """The state of the simulation; written by the stepping thread, read by any.

    Attributes:
        state: Numbered as in simulation_interfaces/msg/SimulationState.
        requests: Service requests for the stepping thread.
    """

    def __init__(self, state: int = PLAYING) -> None:
        """Start in a state."""
        self.state = state
        self.requests = RequestQueue()
        self._step_request: StepRequest | None = None
        self._quit_time = float("inf")

    @property
    def playing(self) -> bool:
        """Whether steps are made at the wanted real-time factor."""
        return self.state == PLAYING

    @property
    def quit_due(self) -> bool:
        """Whether the loop must end."""
        return time.monotonic() >= self._quit_time

    @property
    def name(self) -> str:
        """The state in words."""
        return NAMES[self.state]

    # -------------------------------------------------------------- transitions
    def check_transition(self, target: int) -> None:
        """Check that clients may request a state now.

        Raises:
            RequestError: They may not; with the interface's code.
        """
        if target == self.state and target <= QUITTING:
            raise RequestError(ALREADY_IN_STATE, f"the simulation is already {self.name}")
        if target > QUITTING:
            raise RequestError(
                INCORRECT_TRANSITION,
                "only stopped (0), playing (1), paused (2) and quitting (3) can be set",
            )
        if self.state == QUITTING or (self.state >= NO_WORLD and target != QUITTING):
            raise RequestError(INCORRECT_STATE, f"the simulation is {self.name}")

    def set(self, state: int) -> None:
        """Change the state; a step request in progress is aborted."""
        self.abort_steps(f"the simulation is {NAMES[state]} now")
        self.state = state
        if state == QUITTING:
            self._quit_time = time.monotonic() + QUIT_DELAY

    # -------------------------------------------------------------------- steps
    @property
    def stepping(self) -> bool:
        """Whether a step is to be made although the simulation is paused."""
        request = self._step_request
        if request is not None and request.cancelled is not None and request.cancelled():
            self._finish(RequestError(FAILED, f"cancelled after {request.completed} steps"))
        return self._step_request is not None

    def start_steps(self, request: StepRequest) -> None:
        """Start a step request.

        Raises:
            RequestError: The simulation is not paused, another step request is in progress, or
                the number of steps is out of range.
        """
        if self.state not in (PAUSED, STOPPED):
            raise RequestError(FAILED, f"steps need a paused simulation, it is {self.name}")
        if self._step_request is not None:
            remaining = self._step_request.remaining
            raise RequestError(FAILED, f"another request has {remaining} steps to be made")
        if request.remaining < 1:
            raise RequestError(FAILED, "steps must be >= 1, got 0")
        if request.cancelled is None and request.remaining > MAX_STEPS:
            raise RequestError(
                FAILED,
                f"steps must be at most {MAX_STEPS:,} in one request, got {request.remaining:,};"
                " play the simulation, or use the action",
            )
        self.state = PAUSED
        self._step_request = request

    def count_step(self) -> None:
        """Count a step that was made for the request in progress."""
        request = self._step_request
        if request is None:
            return
        request.remaining -= 1
        request.completed += 1
        if request.progress is not None:
            request.progress(request.completed, request.remaining)
        if request.remaining == 0:
            self._finish(None)

    def abort_steps(self, reason: str) -> None:
        """Abort the step request in progress, if there is one."""
        if self._step_request is not None:
            completed = self._step_request.completed
            self._finish(RequestError(FAILED, f"aborted after {completed} steps: {reason}"))

    def _finish(self, reason: RequestError | None) -> None:
        request, self._step_request = self._step_request, None
        if request is not None:
            request.done(reason)
