# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Options that several verbs share."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mvsim_core.cli.command import words_of, wrong

if TYPE_CHECKING:
    from mvsim_core.world.world import World as RunningWorld

ALL = "all"  # as the name of a vehicle: every one of them
NAMED = 8  # vehicles in one line
MOST_PORTS = 65535

World = Annotated[Path, typer.Argument(help="World file.", show_default=False)]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same run.", min=0)]
Var = Annotated[
    list[str] | None,
    typer.Option(
        "--var",
        metavar="NAME=VALUE",
        help="Set a variable of the world file; may be repeated.",
        show_default=False,
    ),
]

Time = Annotated[
    float | None, typer.Option(help="Simulated seconds; default: until Ctrl-C.", min=0.0)
]
RealtimeFactor = Annotated[
    str, typer.Option(metavar="F|max", help="Simulated seconds per second, or max.")
]
ViewerPort = Annotated[
    int,
    typer.Option(
        help="TCP port of the viewer; where it is taken the next free one. 0: any.",
        min=0,
        max=MOST_PORTS,
    ),
]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")]
#: Port of the viewer if none is given.
VIEWER_PORT = 8080


class TwistOption(NamedTuple):
    """One `--twist`: name of a vehicle or `ALL`, speed [m/s] and turn rate [rad/s]."""

    name: str
    vx: float
    wz: float


def _twists(options: list[Any] | None) -> list[Any]:
    """Return the `--twist` options, or end with a usage error."""
    found = []
    for option in options or ():
        words = words_of(option)
        try:
            name, vx, wz = words[0], *map(float, words[1:])
        except ValueError:
            name, vx, wz = "", math.nan, math.nan
        if not (name and math.isfinite(vx) and math.isfinite(wz)):
            got = " ".join(words)
            raise typer.BadParameter(
                "expected a name and two finite numbers [m/s, rad/s], such as r1 0.5 0.2,"
                f" got {got!r}"
            )
        found.append(TwistOption(name, vx, wz))
    twice = [
        name for name in {one.name for one in found} if sum(o.name == name for o in found) > 1
    ]
    if twice:
        raise typer.BadParameter(f"{twice[0]!r} is commanded twice")
    return found


Twist = Annotated[
    list[str] | None,
    typer.Option(
        "--twist",
        metavar="NAME VX WZ",
        help="Command a vehicle [m/s, rad/s], or with the name 'all' each one that takes a twist"
        " and has no command of its own; may be repeated.",
        callback=_twists,
        show_default=False,
    ),
]


def loaded(
    world: Path, var: list[str] | None, seed: int, twists: list[Any] | None = None
) -> RunningWorld:
    """Load a world as `--var` and `--seed` say, print its warnings, command what `--twist` says.

    Kernels that are not needed at once are not loaded.

    Raises:
        WorldFileError: The file has errors.
    """
    from mvsim_core import load_world
    from mvsim_core.cli.report import print_problems

    running = load_world(world, variables=variables(var), seed=seed, preload=False)
    print_problems(running.warnings)
    command(running, twists)
    return running


def real_time_factor(text: str) -> float | None:
    """Return what `--realtime-factor` says, None for as fast as possible."""
    if text == "max":
        return None
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0.0 < factor < 1e6:
        raise wrong(
            "--realtime-factor", f"the real-time factor must be a number > 0 or max, got {text!r}"
        )
    return factor


def variables(assignments: list[str] | None) -> dict[str, str]:
    """Return the `--var` options as a mapping, or end with a usage error."""
    from mvsim_core.xmlfile import UsedVariables

    found = UsedVariables()
    for assignment in assignments or ():
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            raise wrong("--var", f"expected NAME=VALUE, got {assignment!r}")
        found[name.strip()] = value
    return found


def command(running: RunningWorld, twists: list[Any] | None) -> None:
    """Command what `--twist` says, or end with a usage error."""
    from mvsim_core.errors import UnknownName

    commands: dict[str, TwistOption] = {one.name: one for one in twists or ()}
    everyone = commands.pop(ALL, None) if ALL not in running.vehicles else None
    if everyone is not None:
        others = [name for name in running.vehicles if name not in commands]
        deaf = [name for name in others if "twist" not in running.vehicles[name].accepts]
        if deaf:
            names = f"{', '.join(deaf[:NAMED])}{', ...' if len(deaf) > NAMED else ''}"
            print(f"--twist {ALL}: not for {names}, which take no twist", file=sys.stderr)
        commands.update(dict.fromkeys(set(others) - set(deaf), everyone))
    for name, (_, vx, wz) in commands.items():
        try:
            vehicle = running.vehicles[name]
        except UnknownName as error:
            raise wrong("--twist", str(error)) from None
        vehicle.set_twist(vx=vx, vy=0.0, wz=wz)
