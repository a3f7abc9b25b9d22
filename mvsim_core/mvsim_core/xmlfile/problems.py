# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The errors, warnings and hints of a set of files, each reported once, and their places."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from mvsim_core.errors import Problem, Severity, WorldFileError
from mvsim_core.resources.access import FileAccess

MAX_PROBLEMS = 1000


@dataclass(frozen=True, slots=True)
class Origin:
    """A file and the place it is included from; `file` is "" for a world given as text.

    `access` is what the file may read, None for everything; files that it includes have the same.
    """

    file: str
    directory: str
    parent: Origin | None = None
    line: int = 0
    access: FileAccess | None = None

    def chain(self) -> Iterator[Origin]:
        """Iterate over this file and the files that include it, innermost first."""
        origin: Origin | None = self
        while origin is not None:
            yield origin
            origin = origin.parent

    def included_from(self) -> tuple[str, ...]:
        """Return the places `file:line` of the include tags, innermost first."""
        chain = list(self.chain())
        return tuple(
            f"{os.path.basename(outer.file) or 'text'}:{inner.line}"
            for inner, outer in pairwise(chain)
        )


class Problems:
    """The problems of one world, in the order in which they were found."""

    def __init__(self) -> None:
        """Start without problems."""
        self._found: dict[tuple[str, int, str, str], Problem] = {}
        self.reports = 0  # how often `report` was called
        self._omitted = 0
        self._hints: dict[str, tuple[Problem, set[tuple[str, int]]]] = {}

    @property
    def full(self) -> bool:
        """Whether further warnings are counted but not kept."""
        return len(self._found) >= MAX_PROBLEMS

    @property
    def failed(self) -> bool:
        """Whether there is an error among them."""
        return any(problem.severity == "error" for problem in self._found.values())

    def report(
        self,
        origin: Origin,
        line: int,
        element: str,
        message: str,
        severity: Severity = "error",
    ) -> None:
        """Add a problem unless it is already known: a class may be used many times."""
        self.reports += 1
        key = (origin.file, line, element, message)
        if key in self._found:
            return
        if self.full and severity == "warning":
            self._omitted += 1
            return
        problem = Problem(
            file=origin.file,
            line=line,
            element=element,
            message=message,
            severity=severity,
            included_from=origin.included_from(),
        )
        if severity == "hint":
            _, places = self._hints.setdefault(message, (problem, set()))
            places.add((origin.file, line))
            return
        self._found[key] = problem
        if len(self._found) >= 2 * MAX_PROBLEMS:
            self.abort()

    def abort(self) -> None:
        """Raise WorldFileError with all problems found so far."""
        raise WorldFileError(self.all())

    def all(self) -> tuple[Problem, ...]:
        """Return errors and warnings, file by file in order of their first one, then by line."""
        files = list(dict.fromkeys(problem.file for problem in self._found.values()))
        found = sorted(
            self._found.values(), key=lambda problem: (files.index(problem.file), problem.line)
        )
        if self._omitted:
            found.append(
                Problem(
                    file="",
                    line=0,
                    element="",
                    message=f"{self._omitted} more warnings are not shown",
                    severity="warning",
                )
            )
        return tuple(found)

    def warnings(self) -> tuple[Problem, ...]:
        """Return the warnings, or raise WorldFileError if there are errors."""
        if self.failed:
            self.abort()
        return self.all()

    def hints(self) -> tuple[Problem, ...]:
        """Return the hints, each once at its first place, in the order they were found."""
        return tuple(
            first
            if len(places) == 1
            else replace(first, message=f"{first.message} (and {len(places) - 1} more)")
            for first, places in self._hints.values()
        )
