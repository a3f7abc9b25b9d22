# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What pictures are drawn of: a world that is simulated, or a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from mvsim_core.cli.options import loaded

if TYPE_CHECKING:
    from mvsim_core.bags.recording import Recording
    from mvsim_core.world.world import World

RECORDINGS = ".mcap"


class Source(Protocol):
    """A world whose time can be chosen, forwards.

    Attributes:
        world: The world.
        duration: How long it is at most [s]; 0: without end.
    """

    world: World
    duration: float

    def reach(self, seconds: float) -> None:
        """Go to a time since the start [s]."""


class Simulated:
    """A world that is simulated as far as is needed; attributes as of `Source`."""

    duration = 0.0

    def __init__(self, world: World) -> None:
        """Begin at the present time of a world."""
        self.world = world
        self._begin = world.ticks

    def reach(self, seconds: float) -> None:
        """Simulate up to a time since the start [s]."""
        due = self._begin + round(seconds / self.world.dt)
        while self.world.ticks < due:
            self.world.step()


class Recorded:
    """A recording; attributes as of `Source`."""

    def __init__(self, recording: Recording) -> None:
        """Load its world."""
        self.world = recording.load_world()
        self.duration = recording.duration
        self._recording = recording
        self.reach(0.0)

    def reach(self, seconds: float) -> None:
        """Show the state of a time since its start [s]; after its end, the last one."""
        self._recording.seek(self.world, min(seconds, self.duration))


def source_of(file: Path, var: list[str] | None, seed: int, twists: list[Any] | None) -> Source:
    """Open a world file with its options, or a recording, which has none.

    Raises:
        WorldFileError: The world file has errors.
        LogError: The recording cannot be shown.
    """
    if file.suffix.lower() != RECORDINGS:
        return Simulated(loaded(file, var, seed, twists))
    for option, given in (("--var", var), ("--seed", seed), ("--twist", twists)):
        if given:
            raise typer.BadParameter(f"{option} is for a world file, not for a recording")
    from mvsim_core.bags.recording import Recording

    return Recorded(Recording.open(file))
