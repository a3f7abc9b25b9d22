# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim plot`: the standard curves of logs as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def plot(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG...", help="Log files, or folders of them.", show_default=False
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Where the pictures go."),
    ] = None,
) -> None:
    """Draw pose, velocity, torque, slip and friction of logged vehicles; one PNG a vehicle."""
    from mvsim_core.recording.curves import draw_logs

    for picture in draw_logs(logs, output):
        print(picture)
