# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The work that the reading of one document may take.

Work is counted and not timed, so that a file is accepted on every machine or on none. The unit is
about 0.1 µs on a processor of 2024, and the limit keeps the reading below some 5 s.
"""

from __future__ import annotations

LIMIT = 30_000_000
#: Costs of a turn of a loop, of a value in a list, of a substitution, and of a formula; of each
#: character of a formula that is evaluated, and of one that is parsed.
TURN, ITEM, SUBSTITUTION, FORMULA = 50, 80, 40, 40
CHARACTER, PARSED_CHARACTER = 1, 60


class BudgetError(Exception):
    """The document takes too long to read."""


class Budget:
    """Counts the work for one document."""

    def __init__(self) -> None:
        """Start with nothing spent."""
        self._spent = 0

    def has(self, work: int) -> bool:
        """Return whether so much work may be spent."""
        return self._spent + work <= LIMIT

    def spend(self, work: int) -> None:
        """Count work, or raise BudgetError where it is more than the limit."""
        self._spent += work
        if self._spent > LIMIT:
            raise BudgetError(
                "the loops, lists and formulas of the file together take too long to read"
            )
