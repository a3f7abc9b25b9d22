# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mvsim_core.world.world import World as RunningWorld

ALL = "all"  # as the name of a vehicle: every one of them

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

Twist = Annotated[
    tuple[str, float, float] | None,
    typer.Option(metavar="NAME VX WZ", help="Command a vehicle, or all of them [m/s, rad/s]."),
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


def command(running: RunningWorld, twist: tuple[str, float, float] | None) -> None:
    """Command what `--twist` says, or end with a usage error."""
    from mvsim_core.errors import UnknownName

    if twist is None:
        return
    name, vx, wz = twist
    names = [name]
    if name == ALL and name not in running.vehicles:
        names = list(running.vehicles)
    for each in names:
        try:
            vehicle = running.vehicles[each]
        except UnknownName as error:
            raise typer.BadParameter(str(error)) from None
        vehicle.set_twist(vx=vx, vy=0.0, wz=wz)
