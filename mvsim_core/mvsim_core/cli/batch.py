# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim batch`: simulate a world with many seeds and values of its variables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from mvsim_core.cli.command import wrong
from mvsim_core.cli.options import Twist, TwistOption, World

if TYPE_CHECKING:
    from mvsim_core.batches import Results
    from mvsim_core.batches.functions import FunctionName

T = TypeVar("T")
FUNCTION = "file.py:function"


#: The options of `batch`.
Output = Annotated[
    Path, typer.Option("-o", "--output", help="File of the table: .parquet, .csv or .json.")
]
Seeds = Annotated[
    str,
    typer.Option(metavar="A:B", help="Random seeds: 0:1000 (without 1000), 0:100:10 or 1,2,5."),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=V1,V2",
        help="Values of a variable of the world file; may be repeated for combinations.",
        show_default=False,
    ),
]
Time = Annotated[float, typer.Option(help="Simulated time of each run [s].", min=0.0)]
Setup = Annotated[
    str | None,
    typer.Option(metavar=FUNCTION, help="Called with the world before the first step."),
]
Drive = Annotated[
    str | None,
    typer.Option(
        metavar=FUNCTION,
        help="Called with the world before each step; it returns True to end the run.",
    ),
]
Measure = Annotated[
    str | None,
    typer.Option(
        metavar=FUNCTION,
        help="Called with the world at the end; it returns a dict of more columns.",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(metavar="PATTERNS", help="Measured columns to keep, such as 'time,*.distance'."),
]
Workers = Annotated[
    int | None, typer.Option(help="Processes; default: one for each core.", min=1, max=1024)
]
Timeout = Annotated[
    float | None,
    typer.Option(
        help="Most wall time of a run, without loading, else it has failed [s].", min=0.001
    ),
]
WithRay = Annotated[
    bool, typer.Option("--ray", help="Let Ray run them: pip install ray (docs/batches.md).")
]


def batch(  # noqa: PLR0913 (one argument for each option)
    world: World,
    output: Output,
    seeds: Seeds = "0",
    values: Values = None,
    time: Time = 10.0,
    twist: Twist = None,
    setup: Setup = None,
    drive: Drive = None,
    measure: Measure = None,
    columns: Columns = None,
    workers: Workers = None,
    timeout: Timeout = None,
    ray: WithRay = False,
) -> None:
    """Simulate a world with many seeds and values of its variables, and write a table.

    The same command continues after an interruption. The table is the same to the byte with any
    number of workers.
    """
    from mvsim_core.batches import run
    from mvsim_core.batches.plan import parse_seeds

    given = _parsed("--seeds", parse_seeds, seeds)
    variables = _variables(values)
    named = {"--setup": setup, "--drive": drive, "--measure": measure}
    names = {option: _function(option, text) for option, text in named.items()}
    patterns = [p.strip() for p in columns.split(",")] if columns is not None else []
    if not all(patterns):
        raise wrong("--columns", f"expected names or patterns, got {columns!r}")
    twists: list[TwistOption] = [*(twist or ())]  # as its callback leaves it
    try:
        results = run(
            world,
            seeds=given,
            variables=variables,
            time=time,
            twists={one.name: (one.vx, 0.0, one.wz) for one in twists},
            setup=names["--setup"],
            drive=names["--drive"],
            measure=names["--measure"],
            workers=workers,
            ray=ray,
            timeout=timeout,
            output=output,
            columns=patterns,
        )
    except KeyboardInterrupt:
        print("interrupted: the same command continues", file=sys.stderr)
        raise typer.Exit(1) from None
    raise typer.Exit(_report(results, output))


def _report(results: Results, output: Path) -> int:
    """Print what came out and return the exit code."""
    from mvsim_core.batches.study import failures_text
    from mvsim_core.cli.report import counted

    print(f"{output}: {counted(len(results.rows), 'run')}")
    failed = failures_text(results)
    if failed:
        print(f"{counted(len(results.failures), 'run')} failed:", file=sys.stderr)
        for line in failed:
            print(f"  {line}", file=sys.stderr)
    return 1 if failed else 0


def _variables(assignments: Sequence[str] | None) -> dict[str, list[str]]:
    from mvsim_core.batches.plan import parse_values

    found: dict[str, list[str]] = {}
    for assignment in assignments or ():
        name, values = _parsed("--set", parse_values, assignment)
        if name in found:
            raise wrong("--set", f"{name!r} is set twice")
        found[name] = values
    return found


def _function(option: str, text: str | None) -> FunctionName | None:
    from mvsim_core.batches.functions import function_name

    return None if text is None else _parsed(option, lambda t: function_name(t, FUNCTION), text)


def _parsed(option: str, parse: Callable[[str], T], text: str) -> T:
    """Return the value of an option, or end with a usage error."""
    from mvsim_core.errors import ArgumentError

    try:
        return parse(text)
    except ArgumentError as error:
        raise wrong(option, str(error)) from None
