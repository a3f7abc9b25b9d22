# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wall time of each phase of the step, summed by name."""

from __future__ import annotations

from time import perf_counter


class Profile:
    """A stop watch with one sum a phase.

    Args:
        phases: Names in the order in which the phases run.
    """

    __slots__ = ("_last", "_sums", "phases")

    def __init__(self, phases: tuple[str, ...]) -> None:
        """Start with all sums zero."""
        self.phases = phases
        self._sums = [0.0] * len(phases)
        self._last = 0.0

    def start(self) -> None:
        """Begin the first phase."""
        self._last = perf_counter()

    def mark(self, phase: int) -> None:
        """End phase number `phase` and begin the next one."""
        now = perf_counter()
        self._sums[phase] += now - self._last
        self._last = now

    def sums(self) -> dict[str, float]:
        """Return the seconds spent in each phase so far."""
        return dict(zip(self.phases, self._sums, strict=True))

    def clear(self) -> None:
        """Set all sums to zero."""
        self._sums = [0.0] * len(self.phases)
