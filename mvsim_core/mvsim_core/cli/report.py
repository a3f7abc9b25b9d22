# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Output of problems on a terminal or as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mvsim_core.errors import Problem

_STYLES = {"error": "bold red", "warning": "yellow", "hint": "cyan"}


def print_problems(problems: Iterable[Problem]) -> None:
    """Print each problem to the standard error stream, coloured where that is a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    for problem in problems:
        text = Text(f"{problem.severity}: ", style=_STYLES[problem.severity])
        text.append(str(problem), style="default")
        console.print(text, soft_wrap=True)


def as_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as plain values."""
    return {
        "file": problem.file,
        "line": problem.line,
        "element": problem.element,
        "severity": problem.severity,
        "message": problem.message,
        "included_from": list(problem.included_from),
    }


def counted(number: int, noun: str) -> str:
    """Return `1 error`, `2 errors`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
