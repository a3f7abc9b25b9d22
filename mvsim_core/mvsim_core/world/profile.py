# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wall time of each phase of the step, summed by name."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter


class Profile:
    """A stop watch with one sum a phase.

    Args:
        phases: Names in the order in which the phases run.
    """

    __slots__ = ("_last", "_lumps", "_sums", "phases")

    def __init__(self, phases: tuple[str, ...]) -> None:
        """Start with all sums zero."""
        self.phases = phases
        self._sums = [0.0] * len(phases)
        self._lumps: dict[tuple[int, int], float] = {}  # of phases that ran in one call
        self._last = 0.0

    def start(self) -> None:
        """Begin the first phase."""
        self._last = perf_counter()

    def mark(self, phase: int) -> None:
        """End phase number `phase` and begin the next one."""
        now = perf_counter()
        self._sums[phase] += now - self._last
        self._last = now

    def part(self) -> Profile:
        """Return a stop watch, which runs, for a part of the work that a thread does."""
        part = Profile(self.phases)
        part.start()
        return part

    def join(self, parts: Sequence[Profile]) -> None:
        """Divide the time since the last mark among the phases, as the parts have spent theirs."""
        now = perf_counter()
        spent = [sum(sums) for sums in zip(*(part._sums for part in parts), strict=True)]
        share = (now - self._last) / (sum(spent) or 1.0)
        self._sums = [own + share * other for own, other in zip(self._sums, spent, strict=True)]
        self._last = now

    @property
    def running(self) -> bool:
        """Whether any time was measured."""
        return any(self._sums)

    def divide(self, first: int, end: int) -> None:
        """Divide the time since the last mark among some phases, in the ratio of what marks gave.

        `running` must be true.
        """
        now, phases = perf_counter(), (first, end)
        self._lumps[phases] = self._lumps.get(phases, 0.0) + now - self._last
        self._last = now

    def sums(self) -> dict[str, float]:
        """Return the seconds spent in each phase so far."""
        sums = list(self._sums)
        for (first, end), time in self._lumps.items():
            share = time / (sum(self._sums[first:end]) or 1.0)
            for k in range(first, end):
                sums[k] += share * self._sums[k]
        return dict(zip(self.phases, sums, strict=True))

    def clear(self) -> None:
        """Set all sums to zero."""
        self._sums = [0.0] * len(self.phases)
        self._lumps.clear()
