# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim record`: simulate a world into a file with ROS 2 messages."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mvsim_core.cli.options import (
    RealtimeFactor,
    Seed,
    Time,
    Twist,
    Var,
    World,
    loaded,
    real_time_factor,
)

if TYPE_CHECKING:
    from mvsim_core.bags.recorder import BagRecorder

Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="REGEX",
        help="Leave out topics whose whole name matches; may be repeated.",
        show_default=False,
    ),
]
Derived = Annotated[
    bool,
    typer.Option("--derived", help="Write clouds of depth cameras and depths in mm too."),
]
Compression = Annotated[str, typer.Option(metavar="lz4|zstd|none", help="Compression.")]


def record(  # noqa: PLR0913 (one argument for each option)
    world: World,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="MCAP file; it is replaced.")
    ],
    time: Time = None,
    realtime_factor: RealtimeFactor = "max",
    twist: Twist = None,
    exclude: Exclude = None,
    derived: Derived = False,
    compression: Compression = "lz4",
    seed: Seed = 0,
    var: Var = None,
) -> None:
    """Simulate a world into an MCAP file with ROS 2 messages, which needs no ROS."""
    from mvsim_core.bags import record as start_recording
    from mvsim_core.cli.run import simulate

    factor = real_time_factor(realtime_factor)
    running = loaded(world, var, seed, twist)
    with ExitStack() as stack:
        recorder = start_recording(
            running, output, compression=compression, exclude=exclude or (), derived=derived
        )
        stack.callback(recorder.close)
        simulate(running, time, factor)
    if running.log_error is not None:
        raise running.log_error
    print(recorded(recorder))


def recorded(recorder: BagRecorder) -> str:
    """Return what was recorded, in words."""
    size = recorder.path.stat().st_size / 1e6
    return f"recording: {recorder.messages} messages, {size:.1f} MB in {recorder.path}"
