# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim plot`: draw the standard curves of logs."""

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
        typer.Option("-o", "--output", metavar="DIR", help="Folder of the pictures."),
    ] = None,
) -> None:
    """Draw pose, velocity, torque, slip and friction of logged vehicles; one PNG a vehicle."""
    from mvsim_core.recording.curves import draw_logs

    for picture in draw_logs(logs, output):
        print(picture)
