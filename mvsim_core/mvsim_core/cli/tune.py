# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim tune`: propose gains for a vehicle's controller from its step responses."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvsim_core.cli.command import wrong
from mvsim_core.cli.options import Var, World, variables
from mvsim_core.errors import UnknownName

if TYPE_CHECKING:
    from mvsim_core.specs import VehicleSpec
    from mvsim_core.tuning import Proposal, Response

LEAST = 1e-3  # m/s, rad/s and s: smaller steps say nothing


def tune(  # noqa: PLR0913 (one argument for each option)
    world: World,
    vehicle: Annotated[str, typer.Argument(help="Name of the vehicle.", show_default=False)],
    speed: Annotated[float, typer.Option(help="Step of the speed [m/s].", min=LEAST)] = 0.5,
    turn: Annotated[float, typer.Option(help="Step of the turn rate [rad/s].", min=LEAST)] = 0.5,
    rise: Annotated[
        float | None,
        typer.Option(
            help="Wanted rise time of the speed, from 10 to 90 % [s]; default: as fast as the"
            " motors, the grip and the time step allow.",
            min=LEAST,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Picture of the step responses (.png); needs matplotlib."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of formulas in the file.", min=0)] = 0,
    var: Var = None,
) -> None:
    """Propose gains for the controller of a vehicle: step responses before and after.

    The vehicle is tried alone on level ground, with the time step of its world. The method and
    its source are in docs/tuning.md.
    """
    from mvsim_core.assembly.load import world_of
    from mvsim_core.tuning import tune_vehicle
    from mvsim_core.xmlfile import dump_controller, read_world

    if output is not None:
        from mvsim_core.tuning.picture import figure_class

        if output.suffix.lower() != ".png":
            raise wrong("--output", f"the picture's file must end in .png, got {str(output)!r}")
        figure_class()  # an error before the work, where matplotlib is missing
    spec, _ = read_world(world, variables=variables(var), seed=seed)
    known = {one.name: one for one in spec.vehicles}
    if vehicle not in known:
        raise UnknownName("vehicle", vehicle, known)
    chosen: VehicleSpec = known[vehicle]
    dt = spec.timestep or world_of(replace(spec, vehicles=(replace(chosen, sensors=()),))).dt
    proposal = tune_vehicle(spec, chosen, dt, speed=speed, turn=turn, rise=rise)
    _print(proposal, vehicle, {"speed": speed, "turn rate": turn}, dt)
    print(dump_controller(proposal.after))
    if output is not None:
        from mvsim_core.tuning.picture import draw

        draw(proposal, vehicle, output)
        print(f"{output}: step responses before and after")


def _print(proposal: Proposal, vehicle: str, steps: dict[str, float], dt: float) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    names = "step", "gains", "rise [s]", "overshoot", "settling [s]", "peak torque [N m]"
    table = Table(
        box=SIMPLE_HEAD, title=f"{vehicle}, steps of {dt * 1e3:g} ms", title_justify="left"
    )
    for name in names:
        table.add_column(name.replace("[", r"\["), overflow="fold")
    for row in proposal.rows:
        step = f"{row.motion.name} {steps[row.motion.name]:g} {row.motion.unit}"
        table.add_row(step, "before", *_cells(row.before))
        table.add_row("", "after", *_cells(row.after))
    console = Console(highlight=False, width=100)
    console.print(table)
    most = proposal.after.max_torque
    limit = f"{most:g} N m" if most > 0.0 and math.isfinite(most) else "none"
    old, new = proposal.before, proposal
    gains = f"KP {old.kp:g} -> {new.kp:g}, KI {old.ki:g} -> {new.ki:g}"
    print(f"{gains}; max_torque {limit}, as before")
    print(f"rise time of speed {proposal.rise:.3g} s, bounded by {proposal.bounded_by}")


def _cells(response: Response) -> tuple[str, ...]:
    def time(value: float) -> str:
        return f"{value:.3f}" if math.isfinite(value) else "never"

    return (
        time(response.rise),
        f"{response.overshoot:.1%}",
        time(response.settling),
        f"{response.peak_torque:.3g}",
    )
