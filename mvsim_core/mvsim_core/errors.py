# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The exceptions that the suite raises on purpose, and the `Problem` they are made of.

Everything that a user can cause is a `MvsimError`; any other exception is a bug.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

#: A hint names something harmless that is accepted without effect.
Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An error, a warning or a hint about one place of a world file.

    `file` is the path as it was opened ("" when unknown), `line` counts from 1 (0 when
    unknown), `element` is the tag name without brackets ("" when there is none) and
    `included_from` lists the places, innermost first, through which the file was included.
    `quotes`: the message may quote the content of another file, such as a map or a model.
    """

    file: str
    line: int
    element: str
    message: str
    severity: Severity = "error"
    included_from: tuple[str, ...] = ()
    quotes: bool = False

    @classmethod
    def at(
        cls,
        where: tuple[str, int],
        element: str,
        message: str,
        severity: Severity = "error",
        *,
        quotes: bool = False,
    ) -> Problem:
        """Return the problem of an element that stands at a file and line."""
        file, line = where
        return cls(
            file=file,
            line=line,
            element=element,
            message=message,
            severity=severity,
            quotes=quotes,
        )

    def __str__(self) -> str:
        """Return `world.xml:12: <wheel>: mass must be > 0 [kg], got '-1'`."""
        parts = []
        if self.file:
            name = Path(self.file).name or self.file
            parts.append(f"{name}:{self.line}" if self.line else name)
        elif self.line:
            parts.append(f"line {self.line}")
        if self.element:
            parts.append(f"<{self.element}>")
        parts.append(self.message)
        text = ": ".join(parts)
        for place in self.included_from:
            text += f"\n    included from {place}"
        return text


class MvsimError(Exception):
    """Base of all errors that are caused by input, not by a bug."""


class WorldFileError(MvsimError):
    """A world file cannot be used; `problems` holds all that was found, warnings included."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Hold the problems; the text of the exception is one line or more for each error."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.errors))

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that are errors."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    def __reduce__(self) -> tuple[type[WorldFileError], tuple[tuple[Problem, ...]]]:
        """Pickle by the problems, so that it crosses process borders intact."""
        return type(self), (self.problems,)


class BuildError(MvsimError):
    """A valid description cannot be turned into a running world; `problems` says why."""

    def __init__(self, *problems: Problem | str) -> None:
        """Hold the problems; a plain text becomes a problem without file and line."""
        self.problems = tuple(
            Problem(file="", line=0, element="", message=problem, quotes=True)
            if isinstance(problem, str)
            else problem
            for problem in problems
        )
        super().__init__("\n".join(map(str, self.problems)))

    def __reduce__(self) -> tuple[type[BuildError], tuple[Problem, ...]]:
        """Pickle by the problems."""
        return type(self), self.problems


class UnknownName(MvsimError, KeyError):  # noqa: N818 (reads better where it is raised)
    """No such name exists; the message lists similar ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str] = (), reason: str = "") -> None:
        """Take the kind of thing, the unknown name and the names that exist.

        A `reason` states why the name is no longer valid, such as "was removed at 2 s".
        """
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        self.reason = reason
        super().__init__(kind, name, self.known, reason)

    def __str__(self) -> str:
        """Return `unknown vehicle 'r2'. Did you mean 'r1'? Known: r1`."""
        if self.reason:
            return f"{self.kind} {self.name!r} {self.reason}"
        text = f"unknown {self.kind} {self.name!r}"
        return text + suggestion(self.name, self.known, listed=True)


class CommandError(MvsimError):
    """A command cannot be followed: its kind does not fit the controller, or it is not finite."""


class ArgumentError(MvsimError, ValueError):
    """An argument of a call is no number, not finite, or out of its range."""


class LogError(MvsimError):
    """A log cannot be written or read."""


class CommsError(MvsimError):
    """The message bus: no answer, or one that refuses or cannot be read."""


class StepError(MvsimError):
    """A step produced a number that is not finite; names vehicle, tick, field and value."""

    def __init__(self, message: str, entity: str = "") -> None:
        """Hold the name of the entity whose number it is, "" if it belongs to none."""
        super().__init__(message)
        self.entity = entity

    def __reduce__(self) -> tuple[type[StepError], tuple[str, str]]:
        """Pickle with the name."""
        return type(self), (str(self), self.entity)


def require_number(
    name: str,
    value: Any,
    unit: str = "",
    *,
    least: float = -math.inf,
    most: float = math.inf,
    whole: bool = False,
) -> None:
    """Check that an argument is a finite number in least <= value <= most.

    Args:
        name: What the message calls it.
        value: The argument.
        unit: Its unit, for the message.
        least: Its lower bound.
        most: Its upper bound.
        whole: Whether it must be a whole number.

    Raises:
        ArgumentError: It is not; the message names it, what is expected and what was got.
    """
    try:
        fits = math.isfinite(value) and least <= value <= most
        fits = fits and (not whole or value == int(value))
    except (TypeError, ValueError, OverflowError):
        fits = False
    if fits:
        return
    kind = "whole number" if whole else "finite number"
    bounds = [f"{sign} {bound:g}" for sign, bound in ((">=", least), ("<=", most))
              if math.isfinite(bound)]  # fmt: skip
    expected = " ".join([f"a {kind}", " and ".join(bounds), f"[{unit}]" if unit else ""])
    raise ArgumentError(f"{name} must be {' '.join(expected.split())}, got {value!r}")


#: Longer names get no suggestion: comparing costs time by the square of the length.
LONGEST_NAME = 60
#: With more known names than this no suggestion is made: comparing takes some 10 us a name.
MOST_NAMES = 2000


def suggestion(name: str, known: Iterable[str], *, listed: bool = False) -> str:
    """Return `. Did you mean 'diameter'?` for the nearest known name, or "".

    With `listed`, all known names (at most twenty) follow.
    """
    names = list(dict.fromkeys(known))
    if len(names) <= MOST_NAMES:
        names.sort()
    text = ""
    near = nearest(name, names)
    if near is not None:
        text = f". Did you mean {near!r}?"
    if listed and names:
        more = f", ... ({len(names)} in all)" if len(names) > 20 else ""
        text += f"{'' if text else '.'} Known: {', '.join(names[:20])}{more}"
    return text


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, ignoring case and separators, or None."""
    names = tuple(known)
    if len(name) > LONGEST_NAME or len(names) > MOST_NAMES:
        return None
    return _nearest(name, names)


@lru_cache(maxsize=1024)  # loops ask for the same name again, and comparing is slow
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    by_key = {_key(candidate): candidate for candidate in known}
    found = difflib.get_close_matches(_key(name), list(by_key), n=1, cutoff=0.65)
    return by_key[found[0]] if found else None


def _key(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
