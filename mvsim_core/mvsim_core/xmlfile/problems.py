# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Collects what is wrong in a set of files, each thing once, for one report at the end."""

from __future__ import annotations

from dataclasses import replace

from mvsim_core.errors import Problem, Severity, WorldFileError
from mvsim_core.xmlfile.scope import Origin

MAX_PROBLEMS = 1000


class Problems:
    """The problems of one world, in the order in which they were found."""

    def __init__(self) -> None:
        """Begin without problems."""
        self._found: dict[tuple[str, int, str, str], Problem] = {}
        self._left_out = 0
        self._notes: dict[str, tuple[Problem, set[tuple[str, int]]]] = {}

    @property
    def full(self) -> bool:
        """Whether further warnings are only counted."""
        return len(self._found) >= MAX_PROBLEMS

    def report(
        self,
        origin: Origin,
        line: int,
        element: str,
        message: str,
        severity: Severity = "error",
    ) -> None:
        """Add a problem unless the same one is known, as for a class used twice."""
        key = (origin.file, line, element, message)
        if key in self._found:
            return
        if self.full and severity == "warning":
            self._left_out += 1
            return
        problem = Problem(
            file=origin.file,
            line=line,
            element=element,
            message=message,
            severity=severity,
            included_from=origin.included_from(),
        )
        if severity == "note":
            _, places = self._notes.setdefault(message, (problem, set()))
            places.add((origin.file, line))
            return
        self._found[key] = problem
        if len(self._found) >= 2 * MAX_PROBLEMS:
            self.stop()

    def stop(self) -> None:
        """Raise WorldFileError with all that is found so far."""
        raise WorldFileError(self.all())

    def all(self) -> tuple[Problem, ...]:
        """Return errors and warnings, file by file in order of their first one, then by line."""
        files = list(dict.fromkeys(problem.file for problem in self._found.values()))
        found = sorted(
            self._found.values(), key=lambda problem: (files.index(problem.file), problem.line)
        )
        if self._left_out:
            found.append(
                Problem(
                    file="",
                    line=0,
                    element="",
                    message=f"{self._left_out} further warnings are left out",
                    severity="warning",
                )
            )
        return tuple(found)

    def warnings(self) -> tuple[Problem, ...]:
        """Return the warnings, or raise WorldFileError if there are errors."""
        problems = self.all()
        if any(problem.severity == "error" for problem in problems):
            self.stop()
        return problems

    def notes(self) -> tuple[Problem, ...]:
        """Return the notes, each once at its first place, in the order in which they came."""
        return tuple(
            first
            if len(places) == 1
            else replace(first, message=f"{first.message} (and {len(places) - 1} more)")
            for first, places in self._notes.values()
        )
