# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim render`: draw pictures and videos of a world."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mvsim_core import progress
from mvsim_core.cli.command import wrong
from mvsim_core.cli.options import Seed, Twist, Var
from mvsim_core.cli.sources import Source, source_of
from mvsim_core.errors import MvsimError, UnknownName

if TYPE_CHECKING:
    from mvsim_core.rendering.picture import View
    from mvsim_core.world.world import World as RunningWorld

NEAR = 0.05  # m: nothing nearer is seen from a place that is given

Triple = tuple[float, float, float]


def render(  # noqa: PLR0913 (one argument for each option)
    world: Annotated[
        Path, typer.Argument(help="World file, or a recording (.mcap).", show_default=False)
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Picture file (.png).")
    ] = None,
    video: Annotated[
        Path | None,
        typer.Option(metavar="FILE.mp4", help="Video of the simulated time; needs PyAV."),
    ] = None,
    top: Annotated[bool, typer.Option("--top", help="Look from straight above.")] = False,
    gui: Annotated[bool, typer.Option("--gui", help="Look from where <gui> says.")] = False,
    follow: Annotated[
        str | None, typer.Option(metavar="VEHICLE", help="Look from behind a vehicle.")
    ] = None,
    eye: Annotated[
        Triple | None, typer.Option(metavar="X Y Z", help="Camera position [m].")
    ] = None,
    at: Annotated[
        Triple | None, typer.Option(metavar="X Y Z", help="Point to look at [m].")
    ] = None,
    fov: Annotated[
        float | None, typer.Option(help="Vertical field of view [deg].", min=1.0, max=179.0)
    ] = None,
    size: Annotated[str, typer.Option(metavar="WxH", help="Picture size [pixels].")] = "1280x720",
    time: Annotated[
        float,
        typer.Option(
            help="Seconds to simulate first, or length of the video; of a recording, all of it.",
            min=0.0,
        ),
    ] = 0.0,
    fps: Annotated[int, typer.Option(help="Pictures a second of a video.", min=1, max=240)] = 25,
    twist: Twist = None,
    seed: Seed = 0,
    var: Var = None,
) -> None:
    """Draw a picture or a video of a world or of a recording (.mcap).

    All of it is seen, unless an option says from where.
    """
    pixels = _pixels(size)
    if output is None and video is None:
        raise typer.BadParameter("expected -o FILE.png or --video FILE.mp4")
    if output is not None and output.suffix.lower() != ".png":
        raise wrong("--output", f"the picture's file must end in .png, got {str(output)!r}")
    if video is not None and video.suffix.lower() != ".mp4":
        raise wrong("--video", f"the video's file must end in .mp4, got {str(video)!r}")
    if top + gui + (follow is not None) > 1:
        raise typer.BadParameter("--top, --gui and --follow exclude each other")
    source = source_of(world, var, seed, twist)
    running = source.world
    chosen = {"eye": eye, "at": at, "fov": None if fov is None else math.radians(fov)}
    changes: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if eye is not None:
        changes["near"] = NEAR
    choose = _chooser(running, top, gui, follow, pixels)

    def look() -> View:
        view = replace(choose(), **changes)
        if view.eye == view.at:
            raise typer.BadParameter("--eye and --at must differ")
        return view

    if video is not None:
        from mvsim_core.cli.video import write_video

        count = write_video(source, look, pixels, video, time or source.duration, fps)
        print(f"{video}: {count} pictures of {pixels[0]} x {pixels[1]}, {fps} a second")
    else:
        _reach(source, time)
    if output is not None:
        _write(running, look(), pixels, output)


def _reach(source: Source, seconds: float) -> None:
    """Go to a time since the start, with a bar while that is simulated."""
    progress.restart()
    for percent in range(1, 101) if not source.duration else (100,):
        source.reach(seconds * percent / 100)
        progress.count("simulating, percent", percent, 100)
    progress.end_count()


def _write(running: RunningWorld, view: View, pixels: tuple[int, int], output: Path) -> None:
    from PIL import Image

    try:
        Image.fromarray(running.picture(view, pixels)).save(output)
    except OSError as error:
        raise MvsimError(f"{output}: cannot be written ({error.strerror})") from None
    x, y, z = view.eye
    print(f"{output}: {pixels[0]} x {pixels[1]}, seen from ({x:.1f} {y:.1f} {z:.1f}) m")


def _chooser(
    running: RunningWorld, top: bool, gui: bool, follow: str | None, pixels: tuple[int, int]
) -> Callable[[], View]:
    """Return what gives the view of the next picture; only that of a vehicle moves."""
    if follow is not None:
        try:
            running.vehicles[follow]
        except UnknownName as error:
            raise wrong("--follow", str(error)) from None
        return lambda: running.view_of(follow)
    if gui:
        return running.gui_view
    whole = running.whole_view(pixels, top=top)
    return lambda: whole


def _pixels(size: str) -> tuple[int, int]:
    width, _, height = size.lower().partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise wrong("--size", f"expected WxH such as 1280x720 [pixels], got {size!r}")
    from mvsim_core.rendering.picture import LARGEST

    pixels = int(width), int(height)
    if not all(0 < side <= LARGEST for side in pixels):
        raise wrong("--size", f"pixels must be from 1 to {LARGEST} a side, got {size!r}")
    return pixels
