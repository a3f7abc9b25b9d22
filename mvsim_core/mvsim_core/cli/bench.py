# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim bench`: time the simulator on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import mvsim_core
from mvsim_core.cli.command import wrong


def bench(
    filters: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILTER]...",
            help="Only cases whose name contains one of these.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="Print the names and run nothing.")
    ] = False,
) -> None:
    """Time steps of many worlds and single sensors; one line a case, in microseconds."""
    from mvsim_core.bench import cases

    _find_checkout()
    chosen = [
        case for case in cases() if not filters or any(word in case.name for word in filters)
    ]
    if not chosen:
        raise wrong("FILTER", f"no case has {' or '.join(filters or ())} in its name")
    results = {}
    for case in chosen:
        if listed:
            print(case.name)
            continue
        results[case.name] = case.run()
        if not json:
            shown = " ".join(f"{name} {value:.1f}" for name, value in results[case.name].items())
            print(f"{case.name}: {shown} [µs]", flush=True)
    if json:
        _print_json(results)


def _find_checkout() -> None:
    """Make `benchmarks` importable if the package is in a checkout."""
    root = Path(mvsim_core.__file__).resolve().parents[2]
    if (root / "benchmarks" / "__init__.py").is_file() and str(root) not in sys.path:
        sys.path.append(str(root))


def _print_json(results: dict[str, dict[str, float]]) -> None:
    from json import dumps

    print(dumps(results, indent=1))
