# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

World = Annotated[Path, typer.Argument(help="World file.", show_default=False)]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same run.")]
Var = Annotated[
    list[str] | None,
    typer.Option(
        "--var",
        metavar="NAME=VALUE",
        help="Set a variable of the world file; may be repeated.",
        show_default=False,
    ),
]


def variables(assignments: list[str] | None) -> dict[str, str]:
    """Return the `--var` options as a mapping, or end with a usage error."""
    found = {}
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"expected NAME=VALUE, got {assignment!r}")
        found[name.strip()] = value
    return found
