# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim replay`: show a recording in the viewer, say what is in it, or complete it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvsim_core.cli.options import VIEWER_PORT, Browser, ViewerPort
from mvsim_core.cli.view import serve

if TYPE_CHECKING:
    from mvsim_core.bags.recording import Recording
    from mvsim_core.viewer import Server


def replay(
    file: Annotated[Path, typer.Argument(help="MCAP file.", show_default=False)],
    info: Annotated[
        bool, typer.Option("--info", help="Print topics, rates and duration, and end.")
    ] = False,
    recover: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Complete a recording that was cut off, into OUT."),
    ] = None,
    speed: Annotated[
        float, typer.Option(help="Recorded seconds per second.", min=0.01, max=1000.0)
    ] = 1.0,
    port: ViewerPort = VIEWER_PORT,
    browser: Browser = True,
) -> None:
    """Show a recording in the viewer, with a time bar."""
    from mvsim_core.bags.recording import Recording

    if recover is not None:
        from mvsim_core.bags.recovery import recover as complete

        print(f"{complete(file, recover)} messages in {recover}")
        return
    with Recording.open(file) as recording:
        if info:
            for line in information(recording):
                print(line)
            return
        with serve(file, port=port, browser=browser) as server:
            _show(recording, speed, server)


def information(recording: Recording) -> list[str]:
    """Return what is in a recording, line by line."""
    size = recording.path.stat().st_size
    cut = "" if recording.complete else "; its end is missing (--recover completes it)"
    lines = [
        f"{recording.path}: {size / 1e6:.1f} MB, {recording.duration:.2f} s,"
        f" {recording.message_count} messages{cut}"
    ]
    about = recording.metadata
    if about.get("world_file"):
        lines.append(f"world: {about['world_file']}, seed {about.get('seed', '?')}")
    topics = recording.topics.values()
    width = max((len(topic.name) for topic in topics), default=0)
    kinds = max((len(topic.type) for topic in topics), default=0)
    for topic in topics:
        rate = f"{topic.rate:8.1f} Hz" if topic.count > 1 else ""
        text = f"{topic.name:{width}}  {topic.type:{kinds}}  {topic.count:8d}  {rate}"
        lines.append(text.rstrip())
    return lines


def _show(recording: Recording, speed: float, server: Server) -> None:
    from mvsim_core.viewer import TimeBar, Viewer

    world = recording.load_world()
    recording.seek(world, 0.0)
    bar = TimeBar(recording.duration, lambda time: recording.seek(world, time), speed=speed)
    # an interrupt is the way to end it
    with suppress(KeyboardInterrupt), Viewer(world, controls=bar, server=server) as shown:
        shown.run()
