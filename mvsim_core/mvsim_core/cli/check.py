# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim check`: report errors, warnings and hints in world files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from mvsim_core.cli.options import Var, variables
from mvsim_core.errors import BuildError, Problem, WorldFileError


@dataclass(frozen=True, slots=True)
class _Result:
    file: Path
    problems: tuple[Problem, ...]

    def count(self, severity: str) -> int:
        return sum(problem.severity == severity for problem in self.problems)


def check(
    worlds: Annotated[list[Path], typer.Argument(help="World files.", show_default=False)],
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Read only; do not open maps and meshes.")
    ] = False,
    var: Var = None,
) -> None:
    """Report errors, warnings and hints in world files, with file and line.

    Errors: the world cannot run.

    Warnings: it runs, but something is ignored or probably unintended.

    Hints: something is accepted and has no effect.
    """
    named = variables(var)
    results = [_Result(world, _problems(world, named, quick=quick)) for world in worlds]
    if json:
        _print_json(results)
    else:
        _print_text(results)
    bad = ("error", "warning") if strict else ("error",)
    if any(result.count(severity) for result in results for severity in bad):
        raise typer.Exit(1)


def _problems(world: Path, named: dict[str, str], *, quick: bool) -> tuple[Problem, ...]:
    from mvsim_core.xmlfile import read_world

    try:
        spec, found = read_world(world, variables=named)
        if quick:
            return found
        from mvsim_core.assembly.load import world_of

        hints = [problem for problem in found if problem.severity == "hint"]
        return (*world_of(spec, warnings=found).warnings, *hints)
    except WorldFileError as error:
        return error.problems
    except BuildError as error:
        errors = (replace(one, file=one.file or str(world)) for one in error.problems)
        return (*found, *errors)


def _print_json(results: list[_Result]) -> None:
    import json

    from mvsim_core.cli.report import as_json

    worlds = [
        {
            "file": str(result.file),
            "errors": result.count("error"),
            "warnings": result.count("warning"),
            "hints": result.count("hint"),
            "problems": [as_json(problem) for problem in result.problems],
        }
        for result in results
    ]
    print(json.dumps({"worlds": worlds}, indent=2))


def _print_text(results: list[_Result]) -> None:
    from mvsim_core.cli.report import counted, print_problems

    for result in results:
        print_problems(result.problems)
        counts = [counted(result.count(kind), kind) for kind in ("error", "warning")]
        if hints := result.count("hint"):
            counts.append(counted(hints, "hint"))
        print(f"{result.file}: {', '.join(counts)}")
