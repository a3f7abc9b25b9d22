# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim map`: the Nav2 map of a world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mvsim_core.cli.command import wrong
from mvsim_core.cli.options import Var, World, variables

SMALLEST = 0.001  # m


def make_map(
    world: World,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="Map file (.yaml); a .pgm goes beside it.",
            show_default=False,
        ),
    ],
    z: Annotated[
        float | None,
        typer.Option(help="Height [m]; default: that of the first planar lidar, else 0.2."),
    ] = None,
    resolution: Annotated[
        float | None,
        typer.Option(
            help="Cell size [m]; default: that of the world's map, else 0.05.", min=SMALLEST
        ),
    ] = None,
    var: Var = None,
) -> None:
    """Write the map of a world at one height, for Nav2's map server."""
    from mvsim_core.assembly.floor_plan import floor_plan
    from mvsim_core.elements.grid_writing import save_nav2
    from mvsim_core.xmlfile import read_world

    if output.suffix.lower() not in (".yaml", ".yml"):
        raise wrong("--output", f"the map's file must end in .yaml, got {str(output)!r}")
    spec, _ = read_world(world, variables=variables(var))
    plan = floor_plan(spec, z=z, resolution=resolution)
    picture = save_nav2(plan.grid, output)
    free = (plan.grid.cells == 0).mean()
    print(
        f"{output}, {picture.name}: {plan.grid.width} x {plan.grid.height} cells of"
        f" {plan.grid.resolution:g} m at z = {plan.z:g} m, {free:.0%} free"
    )
