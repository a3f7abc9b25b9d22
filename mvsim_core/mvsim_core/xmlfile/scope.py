# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where a text comes from, and what its variables mean there.

Values of a world file are evaluated late, for each vehicle anew, so that noise in a class
differs from robot to robot. A `Scope` therefore remembers which variables were set at its
place: variables are one global table that grows as the file is read, and a scope keeps the
table's version, which costs nothing.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Origin:
    """A file and the place it is included from; `file` is "" for a world given as text."""

    file: str
    directory: str
    parent: Origin | None = None
    line: int = 0

    def chain(self) -> Iterator[Origin]:
        """Iterate over this file and its includers, innermost first."""
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


class Variables:
    """The global table of variables, with its history."""

    def __init__(self, initial: Mapping[str, str]) -> None:
        """Begin with the caller's variables, which `<variable>` does not change."""
        self.fixed = frozenset(initial)
        self.broken: set[str] = set()  # whose values could not be evaluated
        self.version = 0
        self._history: dict[str, tuple[list[int], list[str]]] = {}
        self._by_lower: dict[str, str] = {}
        for name, text in initial.items():
            self.define(name, text)

    def define(self, name: str, text: str) -> None:
        """Set a variable from now on."""
        self.version += 1
        self.broken.discard(name)
        versions, texts = self._history.setdefault(name, ([], []))
        versions.append(self.version)
        texts.append(text)
        self._by_lower[name.lower()] = name

    def get(self, name: str, version: int) -> str | None:
        """Return the text that a variable had at a version, or None."""
        if name not in self._history:
            return None
        versions, texts = self._history[name]
        index = bisect_right(versions, version)
        return texts[index - 1] if index else None

    def spelled(self, name: str) -> str:
        """Return `name` as it was defined if only its case differs."""
        return name if name in self._history else self._by_lower.get(name.lower(), name)

    def names(self) -> list[str]:
        """Return all names."""
        return list(self._history)


@dataclass(frozen=True, slots=True)
class Scope:
    """The meaning of names at one place of a file.

    `arguments` are the attributes of the include that brought the file in, each with the scope
    of its own text; None in the main file. With `prefers_latest`, the variables of the moment
    of evaluation go before those of the place: that is how a class written in the main file
    sees the loop variable of the vehicle that uses it.
    """

    origin: Origin
    version: int
    arguments: Mapping[str, tuple[str, Scope]] | None = None
    prefers_latest: bool = False

    def at(self, version: int) -> Scope:
        """Return this scope with another version of the variables."""
        if version == self.version:
            return self
        return Scope(self.origin, version, self.arguments, self.prefers_latest)

    def for_class(self) -> Scope:
        """Return the scope for the content of a class defined here."""
        return self if self.arguments is not None else replace(self, prefers_latest=True)
