# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Replaces `${X|default}`, `$env{X}`, `$f{formula}` and `$(command)` in the texts of a file.

One engine for all places: variables, include arguments, environment and defaults work in every
value, attribute or child, of every file. A name means, in this order: an argument of the include
that brought the file in; NAME and PARENT_NAME of the thing being made; a variable;
MVSIM_CURRENT_FILE_DIRECTORY; an environment variable; its default.

Nothing is executed: `$(ros2 pkg prefix X)` is answered from the ament index, any other command
is refused unless the caller allows it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from random import Random

from mvsim_core.errors import suggestion
from mvsim_core.specs.converters import number, show
from mvsim_core.xmlfile.expressions import ExpressionError, Formulas
from mvsim_core.xmlfile.paths import Packages
from mvsim_core.xmlfile.scope import Scope, Variables

MAX_TEXT = 1_000_000
MAX_STEPS_PER_VALUE = 10_000
MAX_STEPS = 2_000_000
MAX_DEPTH = 25
SHELL_TIMEOUT = 10.0  # s

NO_NAMES: Mapping[str, str] = {}

_BEGIN = re.compile(r"\$(?:\{|env\{|f\{|\()")
_BRACES = re.compile(r"[{}]")
_PARENTHESES = re.compile(r"[()]")
_PREFIX_COMMAND = re.compile(r"^\s*ros2\s+pkg\s+prefix\s+(--share\s+)?([A-Za-z0-9_-]+)\s*$")
_RANDOM = re.compile("rand|unifrnd", re.IGNORECASE)
_DIRECTORY = "MVSIM_CURRENT_FILE_DIRECTORY"


class SubstitutionError(Exception):
    """A text cannot be evaluated; the message says why."""


class ReportedError(SubstitutionError):
    """A text cannot be evaluated because of a variable whose own fault is reported already."""


class Substitution:
    """The engine, with the variables and the random numbers of one world."""

    def __init__(
        self, variables: Variables, random: Random, packages: Packages, allow_shell: bool
    ) -> None:
        """Use the given tables; with `allow_shell`, run the commands in `$(...)`."""
        self.variables = variables
        self._formulas = Formulas(random)
        self.packages = packages
        self.allow_shell = allow_shell
        # Counts what may turn out differently for the next vehicle: names, noise, loop variables.
        self.changing = 0
        self._steps = 0
        self._limit = 0

    def text(self, raw: str, scope: Scope, names: Mapping[str, str] = NO_NAMES) -> str:
        """Return `raw` with all replacements made, or raise SubstitutionError."""
        if "$" not in raw:
            return raw
        self._limit = min(self._steps + MAX_STEPS_PER_VALUE, MAX_STEPS)
        return self._expand(raw, scope, names, 0)

    def _expand(self, raw: str, scope: Scope, names: Mapping[str, str], depth: int) -> str:
        if "$" not in raw:
            return raw
        if depth > MAX_DEPTH:
            raise SubstitutionError("variables that refer to each other without end")
        parts = []
        length = position = 0
        while found := _BEGIN.search(raw, position):
            body, end = _body(raw, found)
            parts += [raw[position : found.start()], self._one(found, body, scope, names, depth)]
            position = end
            length += len(parts[-1])
            if length > MAX_TEXT:
                raise SubstitutionError(f"a value longer than {MAX_TEXT} characters")
        parts.append(raw[position:])
        return "".join(parts)

    def _one(
        self,
        found: re.Match[str],
        body: str,
        scope: Scope,
        names: Mapping[str, str],
        depth: int,
    ) -> str:
        self._steps += 1
        if self._steps > self._limit:
            raise SubstitutionError("too many replacements")
        if found.group() == "$f{":
            return show(self._formula(self._expand(body, scope, names, depth + 1), scope, names))
        if found.group() == "$(":
            return self._command(self._expand(body, scope, names, depth + 1))
        name, default = _split(body)
        name = self._expand(name, scope, names, depth + 1).strip()
        if found.group() == "$env{":
            text: str | None = os.environ.get(name)
            inner = scope
        else:
            text, inner = self._find(name, scope, names)
        if text is None and default:
            text, inner = default, scope
        if text is None:
            self._refuse_broken(name)
            raise SubstitutionError(self._unknown(found.group(), name))
        return self._expand(text, inner, names, depth + 1)

    def _find(self, name: str, scope: Scope, names: Mapping[str, str]) -> tuple[str | None, Scope]:
        text, inner = self._variable(name, scope, names)
        if text is not None:
            return text, inner
        if name == _DIRECTORY:
            return scope.origin.directory, scope
        return os.environ.get(name), scope

    def _variable(
        self, name: str, scope: Scope, names: Mapping[str, str]
    ) -> tuple[str | None, Scope]:
        if scope.arguments is not None and name in scope.arguments:
            return scope.arguments[name]
        if name in names:
            self.changing += 1
            return names[name], scope
        if not scope.prefers_latest:
            return self.variables.get(name, scope.version), scope
        self.changing += 1
        return self.variables.get(name, self.variables.version), scope

    def _refuse_broken(self, name: str) -> None:
        if name in self.variables.broken:
            raise ReportedError(f"variable {name!r} has no value")

    def _unknown(self, begin: str, name: str) -> str:
        if begin == "$env{":
            return f"environment variable {name!r} is not set"
        return f"undefined variable {name!r}{suggestion(name, self.variables.names())}"

    def _formula(self, body: str, scope: Scope, names: Mapping[str, str]) -> float:
        if _RANDOM.search(body):
            self.changing += 1

        def lookup(name: str) -> float | None:
            # A class sees in formulas also what is set only after it, as in the original.
            for spelled in dict.fromkeys((name, self.variables.spelled(name))):
                text, inner = self._variable(spelled, scope, names)
                if text is None:
                    text = self.variables.get(spelled, self.variables.version)
                    self.changing += text is not None
                if text is not None:
                    return _numeric(name, self._expand(text, inner, names, 1))
                self._refuse_broken(spelled)
            return None

        try:
            return self._formulas.evaluate(body, lookup)
        except ExpressionError as error:
            raise SubstitutionError(f"in formula {_short(body)!r}: {error}") from None

    def _command(self, command: str) -> str:
        query = _PREFIX_COMMAND.match(command)
        if query:
            return self._package(query.group(2), share=query.group(1) is not None)
        if not self.allow_shell:
            raise SubstitutionError(
                f"shell command {_short(command)!r} is not run; only"
                " $(ros2 pkg prefix PACKAGE) is understood unless shell commands are allowed"
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
            raise SubstitutionError(f"shell command {_short(command)!r} failed: {error}") from None
        return done.stdout.replace("\r", "").replace("\n", "").strip()

    def _package(self, name: str, *, share: bool) -> str:
        prefix = self.packages.prefix(name)
        if prefix is None:
            raise SubstitutionError(
                f"ROS package {name!r} is not found; source its setup file or put its prefix"
                " into AMENT_PREFIX_PATH"
            )
        return os.path.join(prefix, "share", name) if share else prefix


def _body(raw: str, found: re.Match[str]) -> tuple[str, int]:
    """Return what stands between a beginning and its balanced end, and where that ends."""
    brackets = _PARENTHESES if found.group() == "$(" else _BRACES
    depth = 1
    for bracket in brackets.finditer(raw, found.end()):
        depth += 1 if bracket.group() in "({" else -1
        if depth == 0:
            return raw[found.end() : bracket.start()], bracket.end()
    raise SubstitutionError(f"{found.group()!r} without its end in {_short(raw)!r}")


def _split(body: str) -> tuple[str, str]:
    """Return name and default of `name|default`, where the name may itself hold braces."""
    depth = 0
    for index, character in enumerate(body):
        if character == "|" and depth == 0:
            return body[:index], body[index + 1 :]
        depth += (character == "{") - (character == "}")
    return body, ""


def _numeric(name: str, text: str) -> float:
    word = text.strip().lower()
    if word in ("true", "false"):
        return float(word == "true")
    try:
        return number(text)
    except ValueError:
        raise ExpressionError(f"variable {name!r} is {_short(text)!r}, not a number") from None


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."
