# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of step responses before and after; matplotlib is optional and only needed here."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from mvsim_core.errors import MvsimError
from mvsim_core.tuning.proposal import Proposal
from mvsim_core.tuning.response import BAND

#: The picture ends so many settling times after the step.
SHOWN = 2.5


def figure_class() -> Any:
    """Return matplotlib's class of figures.

    Raises:
        MvsimError: matplotlib is missing.
    """
    try:
        return importlib.import_module("matplotlib.figure").Figure
    except ImportError as error:
        raise MvsimError(f"pictures need matplotlib ({error}): pip install matplotlib") from None


def draw(proposal: Proposal, vehicle: str, file: Path) -> None:
    """Draw velocity and torque of each step response into a PNG file.

    Raises:
        MvsimError: matplotlib is missing, or the file cannot be written.
    """
    rows = proposal.rows
    figure = figure_class()(figsize=(5.2 * len(rows), 5.6), layout="constrained")
    figure.suptitle(
        f"{vehicle}: KP {proposal.before.kp:g} to {proposal.kp:g},"
        f" KI {proposal.before.ki:g} to {proposal.ki:g}"
    )
    axes = figure.subplots(2, len(rows), squeeze=False, sharex="col")
    for column, row in enumerate(rows):
        above, below = axes[0][column], axes[1][column]
        target = row.before.target
        for response, label, style in (
            (row.before, "before", "C1--"),
            (row.after, "after", "C0-"),
        ):
            above.plot(response.times, response.values, style, label=label)
            below.plot(response.times, response.torques, style, label=label)
        above.axhspan((1 - BAND) * target, (1 + BAND) * target, color="0.9", zorder=0)
        above.axhline(target, color="0.5", lw=0.8)
        above.set_title(f"Step of the {row.motion.name}", fontsize=10)
        above.set_ylabel(f"{row.motion.name} [{row.motion.unit}]")
        below.set_ylabel("largest torque of a motor [N m]")
        below.set_xlabel("time [s]")
        below.set_xlim(0.0, _shown(row.before.settling, row.after.settling, row.after.times[-1]))
        for axis in (above, below):
            axis.grid(alpha=0.3)
        above.legend(loc="lower right")
    try:
        figure.savefig(file, dpi=90)
    except OSError as error:
        raise MvsimError(f"{file}: cannot be written ({error.strerror})") from None


def _shown(before: float, after: float, whole: float) -> float:
    """Return how much of the responses is shown [s]."""
    slower = max(time if time < whole else whole for time in (before, after))
    return float(min(whole, max(SHOWN * slower, 0.2)))
