# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Variables of a world file, and the substitution of `${X|default}`, `$env{X}`, `$f{formula}`.

One engine serves all values, attributes and children of all files. A name is looked up in this
order: arguments of the include that the file was read by; NAME and PARENT_NAME of the entity
being read; variables; MVSIM_CURRENT_FILE_DIRECTORY; environment variables; its default.

No command is run: `$(ros2 pkg prefix X)` is answered from the ament index, any other command is
an error unless the caller allows shell commands.

A text with limited `FileAccess` gets no environment variable and no command. In a document of a
client this holds for each value that it writes, and for values of the user's classes as far as
they contain variables or arguments of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, repeat
from random import Random
from typing import NamedTuple

from mvsim_core.errors import suggestion
from mvsim_core.resources.access import FileAccess
from mvsim_core.specs.converters import number, show
from mvsim_core.xmlfile.budget import CHARACTER, FORMULA, SUBSTITUTION, Budget
from mvsim_core.xmlfile.expressions import MAX_KEPT_LENGTH, ExpressionError, Formulas
from mvsim_core.xmlfile.paths import NOT_INSTALLED, ORIGINAL, Packages
from mvsim_core.xmlfile.problems import Origin

#: Longest result of one value [characters].
MAX_TEXT = 1_000_000
#: Substitutions in one value, and in one text with all files that it includes.
MAX_STEPS_PER_VALUE = 10_000
MAX_STEPS = 2_000_000
MAX_DEPTH = 25
SHELL_TIMEOUT = 10.0  # s

NO_NAMES: Mapping[str, str] = {}
#: Names that mean an entity and its owner, and not a variable.
RESERVED = ("NAME", "PARENT_NAME")

#: Values of each variable with the versions from which they hold, in ascending order.
History = Mapping[str, tuple[tuple[int, ...], tuple[str, ...]]]

_BEGIN = re.compile(r"\$(?:\{|env\{|f\{|\()")
_BRACES = re.compile(r"[{}]")
_PARENTHESES = re.compile(r"[()]")
_MENTIONED = re.compile(r"""\$\{\s*(\w+)\s*[|}]|<variable\b[^>]*?\bname\s*=\s*["']([^"'$]+)["']""")
_PREFIX_COMMAND = re.compile(r"^\s*ros2\s+pkg\s+prefix\s+(--share\s+)?([A-Za-z0-9_-]+)\s*$")
_RANDOM = re.compile("rand|unifrnd", re.IGNORECASE)
_DIRECTORY = "MVSIM_CURRENT_FILE_DIRECTORY"


class SubstitutionError(Exception):
    """A text cannot be evaluated; the message has the reason."""


class ReportedError(SubstitutionError):
    """A text cannot be evaluated because of a variable whose own error is already reported."""


class Variables:
    """The table of variables while a text is read, with its history.

    Values are evaluated late, once for each vehicle, so that random numbers in a class differ
    between vehicles. What a variable is worth at an element therefore has to be known after it
    has changed. Each definition gives the table a new version, and an element stores only the
    version of its place.
    """

    def __init__(self, history: History, version: int, fixed: frozenset[str]) -> None:
        """Continue from an earlier text; `<variable>` does not change the names in `fixed`."""
        self.fixed = fixed
        self.version = self._first_version = version
        self.broken: set[str] = set()  # whose values could not be evaluated
        self._history = {name: (list(at), list(texts)) for name, (at, texts) in history.items()}
        self._by_lower = {name.lower(): name for name in history}
        self._unused = set(fixed)  # names that no file has mentioned so far
        self._mentioned: set[str] = set()

    def look_for_uses(self, text: str) -> None:
        """Look for the names that the caller set in the text of a file."""
        if not self.fixed:
            return
        self._mentioned.update(name for pair in _MENTIONED.findall(text) for name in pair)
        for name in list(self._unused):
            # in `${...}` or `$f{...}`, or set by <variable>; formulas ignore case
            word = re.escape(name)
            inside = rf"\$f?\{{[^<>$]*?(?<![\w.]){word}(?![\w.])"
            if name in self._mentioned or re.search(inside, text, re.IGNORECASE):
                self._unused.discard(name)

    def unused(self) -> list[tuple[str, str]]:
        """Return the names that the caller set and no file uses, each with a suggestion."""
        known = self._mentioned - {""}
        return [(name, suggestion(name, known, listed=True)) for name in sorted(self._unused)]

    def define(self, name: str, text: str) -> None:
        """Set a variable from now on."""
        self.version += 1
        self.broken.discard(name)
        versions, texts = self._history.setdefault(name, ([], []))
        versions.append(self.version)
        texts.append(text)
        self._by_lower[name.lower()] = name

    def skip(self, name: str, text: str, times: int) -> None:
        """Set a variable from now on as the last of as many definitions, the first unseen ones."""
        self.version += times - 1
        self.define(name, text)

    def get(self, name: str, version: int) -> str | None:
        """Return the text that a variable had at a version, or None."""
        if name not in self._history:
            return None
        versions, texts = self._history[name]
        index = bisect_right(versions, version)
        return texts[index - 1] if index else None

    def is_new(self, name: str, version: int) -> bool:
        """Return whether the value that a variable had at a version is from the present text."""
        versions, _ = self._history.get(name, ((), ()))
        index = bisect_right(versions, version)
        return index > 0 and versions[index - 1] > self._first_version

    def spelled(self, name: str) -> str:
        """Return `name` as it was defined if only its case differs."""
        return name if name in self._history else self._by_lower.get(name.lower(), name)

    def names(self) -> list[str]:
        """Return all names."""
        return list(self._history)

    def history(self, used: Iterable[int]) -> History:
        """Return the values at the versions `used` and at the present one, without the others.

        So a loop of many turns leaves nothing behind.
        """
        wanted = sorted({*used, self.version})
        kept = {}
        for name, (versions, texts) in self._history.items():
            begins = [bisect_left(wanted, begin) for begin in (*versions, self.version + 1)]
            rows = [row for row, (low, high) in enumerate(pairwise(begins)) if low < high]
            kept[name] = (tuple(versions[row] for row in rows), tuple(texts[row] for row in rows))
        return kept


@dataclass(frozen=True, slots=True)
class Scope:
    """The meaning of names at one place of a file.

    `arguments` are the attributes of the include that the file was read by, written in the scope
    `outer`; None in the main file. With `prefers_latest`, the values of variables at the moment
    of evaluation precede those at the place: a class written in the main file sees the loop
    variable of the vehicle that uses it.
    """

    origin: Origin
    version: int
    arguments: Mapping[str, str] | None = None
    outer: Scope | None = None
    prefers_latest: bool = False

    def at(self, version: int) -> Scope:
        """Return this scope with another version of the variables."""
        if version == self.version:
            return self
        return Scope(self.origin, version, self.arguments, self.outer, self.prefers_latest)

    def for_class(self) -> Scope:
        """Return the scope for the content of a class defined here."""
        return self if self.arguments is not None else replace(self, prefers_latest=True)

    def versions(self) -> set[int]:
        """Return the versions of this scope and the outer ones."""
        found = set()
        scope: Scope | None = self
        while scope is not None:
            found.add(scope.version)
            scope = scope.outer
        return found


class Column(NamedTuple):
    """The texts of turns of a loop; substitutions and work for each."""

    texts: list[str]
    steps: int
    work: int


class Substitution:
    """Evaluates the texts of one document: a world file or a spawned text, with its includes.

    The limit on substitutions counts from its construction, so it holds for each document.
    """

    def __init__(
        self,
        variables: Variables,
        random: Random,
        packages: Packages,
        allow_shell: bool,
        access: FileAccess | None = None,
    ) -> None:
        """Use the given tables; with `allow_shell`, run the commands in `$(...)`.

        `access` is that of the document, None for one of the user.
        """
        self.variables = variables
        #: What limits the value that was evaluated last: its element or a part of it is foreign.
        self.applied: FileAccess | None = None
        self._access = access
        self.budget = Budget()
        self._formulas = Formulas(random, self.budget)
        self.packages = packages
        self.allow_shell = allow_shell
        # Counts what may differ for the next vehicle: names, random numbers, loop variables.
        self.changing = 0
        self._steps = 0
        self._limit = 0

    def count(self, steps: int, work: int) -> bool:
        """Count substitutions and work that were done at once; return False if it is too much."""
        fits = self._steps + steps <= MAX_STEPS and self.budget.has(work)
        if fits:
            self._steps += steps
            self.budget.spend(work)
        return fits

    def text(self, raw: str, scope: Scope, names: Mapping[str, str] = NO_NAMES) -> str:
        """Return `raw` with all substitutions made, or raise SubstitutionError or BudgetError."""
        self.applied = scope.origin.access
        if "$" not in raw:
            return raw
        self._limit = min(self._steps + MAX_STEPS_PER_VALUE, MAX_STEPS)
        return self._expand(raw, scope, names, 0)

    def column(self, raw: str, scope: Scope, variable: str, turns: range) -> Column | None:
        """Return the texts of `raw` in turns of a loop.

        None: they are to be evaluated turn by turn. One turn was evaluated before.

        Args:
            raw: The text.
            scope: Where it is written.
            variable: Variable of the loop, the only one that the turns change.
            turns: Its values.
        """
        if scope.origin.access is not None or len(raw) > MAX_KEPT_LENGTH:
            return None
        parts: list[Iterable[str]] = []
        pieces = _short_pieces(raw)
        for before, begin, body in pieces:
            parts.append(repeat(before, len(turns)))
            if begin:
                part = None if body is None else self._part(begin, body, scope, variable, turns)
                if part is None:
                    return None
                parts.append(part)
        formulas = [body for _, begin, body in pieces if begin == "$f{" and body]
        work = SUBSTITUTION * (len(pieces) - 1)
        work += sum(FORMULA + CHARACTER * len(body) for body in formulas)
        return Column(list(map("".join, zip(*parts, strict=True))), len(pieces) - 1, work)

    def _part(
        self, begin: str, body: str, scope: Scope, variable: str, turns: range
    ) -> Iterable[str] | None:
        """Return the texts of one substitution in turns of a loop; see `column`."""

        def is_turning(name: str) -> bool:
            return variable in (name, self.variables.spelled(name))

        if variable in (scope.arguments or ()) or variable in RESERVED or "$" in body:
            return None
        if begin == "${":
            return map(str, turns) if body.strip() == variable else None
        if begin != "$f{" or _is_random(body) or any(word in body for word in RESERVED):
            return None
        values = self._formulas.column(body, is_turning, turns)
        return None if values is None else map(show, values)

    def _expand(self, raw: str, scope: Scope, names: Mapping[str, str], depth: int) -> str:
        if "$" not in raw:
            return raw
        if depth > MAX_DEPTH:
            raise SubstitutionError(f"substitutions are nested deeper than {MAX_DEPTH} levels")
        parts = []
        length = 0
        pieces = _short_pieces(raw) if len(raw) <= MAX_KEPT_LENGTH else _pieces(raw)
        for before, begin, body in pieces:
            parts.append(before)
            if not begin:
                break
            if body is None:
                raise SubstitutionError(f"{begin!r} is not closed in {short(raw)!r}")
            parts.append(self._one(begin, body, scope, names, depth))
            length += len(parts[-1])
            if length > MAX_TEXT:
                raise SubstitutionError(f"the value is longer than {MAX_TEXT} characters")
        return "".join(parts)

    def _one(
        self,
        begin: str,
        body: str,
        scope: Scope,
        names: Mapping[str, str],
        depth: int,
    ) -> str:
        self._steps += 1
        if self._steps > self._limit:
            raise SubstitutionError(self._too_many())
        self.budget.spend(SUBSTITUTION)
        if begin == "$f{":
            if "$" in body:
                body = self._expand(body, scope, names, depth + 1)
            return show(self._formula(body, scope, names))
        if begin == "$(":
            return self._command(self._expand(body, scope, names, depth + 1))
        name, default = _split(body)
        if "$" in name:
            name = self._expand(name, scope, names, depth + 1)
        name = name.strip()
        if begin == "$env{":
            text, inner = self._environment(name), scope
        else:
            text, inner = self._find(name, scope, names)
        if text is None and default is not None:
            text, inner = default, scope
        if text is None:
            self._check_broken(name)
            raise SubstitutionError(self._unknown(begin, name))
        return self._expand(text, inner, names, depth + 1) if "$" in text else text

    def _find(self, name: str, scope: Scope, names: Mapping[str, str]) -> tuple[str | None, Scope]:
        text, inner = self._variable(name, scope, names)
        if text is not None:
            return text, inner
        if name == _DIRECTORY:
            return scope.origin.directory, scope
        return self._environment(name), scope

    def _environment(self, name: str) -> str | None:
        return os.environ.get(name) if self.applied is None else None

    def _variable(
        self, name: str, scope: Scope, names: Mapping[str, str]
    ) -> tuple[str | None, Scope]:
        if scope.arguments is not None and scope.outer is not None and name in scope.arguments:
            self.applied = self.applied or scope.outer.origin.access
            return scope.arguments[name], scope.outer
        if name in names:
            self.changing += 1
            return names[name], scope
        version = scope.version
        if scope.prefers_latest:
            self.changing += 1
            version = self.variables.version
        return self._value(name, version), scope

    def _value(self, name: str, version: int) -> str | None:
        if self._access is not None and self.variables.is_new(name, version):
            self.applied = self._access
        return self.variables.get(name, version)

    def _too_many(self) -> str:
        if self._steps > MAX_STEPS:
            return f"more than {MAX_STEPS} substitutions in one file with all that it includes"
        return f"more than {MAX_STEPS_PER_VALUE} substitutions in one value"

    def _check_broken(self, name: str) -> None:
        if name in self.variables.broken:
            raise ReportedError(f"variable {name!r} has no value")

    def _unknown(self, begin: str, name: str) -> str:
        if begin == "$env{" and self.applied is not None:
            return "a text from a message gets no environment variables"
        if begin == "$env{":
            return f"environment variable {name!r} is not set"
        return f"undefined variable {name!r}{suggestion(name, self.variables.names())}"

    def _formula(self, body: str, scope: Scope, names: Mapping[str, str]) -> float:
        if _is_random(body):
            self.changing += 1

        def lookup(name: str) -> float | None:
            # Formulas in a class also see variables that are set after it, as in the original.
            for spelled in (name, self.variables.spelled(name)):
                text, inner = self._variable(spelled, scope, names)
                if text is None:
                    text = self._value(spelled, self.variables.version)
                    self.changing += text is not None
                if text is not None:
                    if "$" in text:
                        text = self._expand(text, inner, names, 1)
                    return _numeric(name, text)
                self._check_broken(spelled)
            return None

        try:
            return self._formulas.evaluate(body, lookup)
        except ExpressionError as error:
            raise SubstitutionError(f"in formula {short(body)!r}: {error}") from None

    def _command(self, command: str) -> str:
        if self.applied is not None:
            raise SubstitutionError("a text from a message runs no commands")
        query = _PREFIX_COMMAND.match(command)
        if query:
            return self._package(query.group(2), share=query.group(1) is not None)
        if not self.allow_shell:
            raise SubstitutionError(
                f"shell command {short(command)!r} is not run; only"
                " $(ros2 pkg prefix PACKAGE) is supported unless shell commands are allowed"
            )
        self.changing += 1
        try:
            done = subprocess.run(
                command,
                shell=True,
                capture_output=True,
                text=True,
                timeout=SHELL_TIMEOUT,
                check=True,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise SubstitutionError(f"shell command {short(command)!r} failed: {error}") from None
        return done.stdout.replace("\r", "").replace("\n", "").strip()

    def _package(self, name: str, *, share: bool) -> str:
        prefix = self.packages.prefix(name)
        if prefix is None and name == ORIGINAL:
            prefix = NOT_INSTALLED  # its definitions have stand-ins
        if prefix is None:
            raise SubstitutionError(
                f"ROS package {name!r} is not found; source its setup file or add its prefix"
                " to AMENT_PREFIX_PATH"
            )
        return os.path.join(prefix, "share", name) if share else prefix


class _Piece(NamedTuple):
    """A substitution in a text, such as `${NAME}`, with the text before it."""

    before: str
    begin: str  # "${", "$env{", "$f{" or "$("; "" at the end of the text
    body: str | None  # between the brackets; None: they are not closed


def _pieces(raw: str) -> tuple[_Piece, ...]:
    """Return the pieces of a text up to its end, or to the first bracket that is not closed."""
    pieces = []
    position = 0
    while found := _BEGIN.search(raw, position):
        body, end = _body(raw, found)
        pieces.append(_Piece(raw[position : found.start()], found.group(), body))
        position = end
    return (*pieces, _Piece(raw[position:], "", None))


#: Loops evaluate the same texts again.
_short_pieces = lru_cache(maxsize=1000)(_pieces)


def _body(raw: str, found: re.Match[str]) -> tuple[str | None, int]:
    """Return the text between an opening bracket and its balanced end, and where that ends."""
    brackets = _PARENTHESES if found.group() == "$(" else _BRACES
    depth = 1
    for bracket in brackets.finditer(raw, found.end()):
        depth += 1 if bracket.group() in "({" else -1
        if depth == 0:
            return raw[found.end() : bracket.start()], bracket.end()
    return None, len(raw)


@lru_cache(maxsize=1000)
def _is_random(formula: str) -> bool:
    """Return whether a formula may draw random numbers."""
    return _RANDOM.search(formula) is not None


@lru_cache(maxsize=1000)
def _split(body: str) -> tuple[str, str | None]:
    """Return name and default of `name|default`; the name may contain braces.

    The default is None without a bar: `${X|}` has the empty text as default, `${X}` has none.
    """
    depth = 0
    for index, character in enumerate(body):
        if character == "|" and depth == 0:
            return body[:index], body[index + 1 :]
        depth += (character == "{") - (character == "}")
    return body, None


def _numeric(name: str, text: str) -> float:
    word = text.strip().lower()
    if word in ("true", "false"):
        return float(word == "true")
    try:
        return number(text)
    except ValueError:
        raise ExpressionError(f"variable {name!r} is {short(text)!r}, not a number") from None


def short(text: str) -> str:
    """Return `text` on one line of at most 60 characters."""
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."
