# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim render`: draw a picture of a world."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from mvsim_core.cli.options import Seed, Var, World, variables

LARGEST = 16384  # pixels along a side

Triple = tuple[float, float, float]


def render(  # noqa: PLR0913 (one argument for each option)
    world: World,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Picture file (.png).", show_default=False)
    ],
    eye: Annotated[
        Triple | None,
        typer.Option(metavar="X Y Z", help="Camera position [m]; default: from <gui>."),
    ] = None,
    at: Annotated[
        Triple | None,
        typer.Option(metavar="X Y Z", help="Point to look at [m]; default: from <gui>."),
    ] = None,
    fov: Annotated[
        float | None, typer.Option(help="Vertical field of view [deg].", min=1.0, max=179.0)
    ] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Picture size [pixels].")] = "1280x720",
    time: Annotated[float, typer.Option(help="Seconds to simulate first.", min=0.0)] = 0.0,
    seed: Seed = 0,
    var: Var = None,
) -> None:
    """Draw a picture of a world, from the view of its <gui> or a view of the whole world."""
    from PIL import Image

    from mvsim_core import load_world
    from mvsim_core.cli.report import print_problems
    from mvsim_core.errors import MvsimError

    pixels = _pixels(size)
    if output.suffix.lower() != ".png":
        raise typer.BadParameter(f"the picture's file must end in .png, got {str(output)!r}")
    running = load_world(world, variables=variables(var), seed=seed)
    print_problems(running.warnings)
    running.run(time)
    view = running.view()
    view = replace(
        view,
        eye=eye or view.eye,
        at=at or view.at,
        fov=view.fov if fov is None else math.radians(fov),
    )
    if view.eye == view.at:
        raise typer.BadParameter("--eye and --at must differ")
    try:
        Image.fromarray(running.picture(view, pixels)).save(output)
    except OSError as error:
        raise MvsimError(f"{output}: cannot be written ({error.strerror})") from None
    x, y, z = view.eye
    print(f"{output}: {pixels[0]} x {pixels[1]}, seen from ({x:.1f} {y:.1f} {z:.1f}) m")


def _pixels(size: str) -> tuple[int, int]:
    width, _, height = size.lower().partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise typer.BadParameter(f"expected WxH such as 1280x720 [pixels], got {size!r}")
    pixels = int(width), int(height)
    if not all(0 < side <= LARGEST for side in pixels):
        raise typer.BadParameter(f"pixels must be from 1 to {LARGEST} a side, got {size!r}")
    return pixels
