# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The time bar of a recording: slider, play, speed, in place of a simulation's controls."""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from typing import TYPE_CHECKING

from mvsim_core.viewer.simulation import WAIT

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer


class TimeBar:
    """Plays something back that another part puts into the world.

    Args:
        duration: Length of the recording [s].
        on_seek: Puts the world into its state at a time [s] from the start of the recording. It is
            called in the thread that runs the viewer, for each picture while it plays and when
            the slider is moved.
        start: Where to begin [s].
        playing: Whether it starts playing.
        speed: Seconds of the recording per second.

    Attributes:
        time: Where it is [s].
        duration: As above.
        playing: Whether it plays now.
        speed: As above.
    """

    def __init__(
        self,
        duration: float,
        on_seek: Callable[[float], None],
        *,
        start: float = 0.0,
        playing: bool = True,
        speed: float = 1.0,
    ) -> None:
        """Hold the settings."""
        self.duration = max(duration, 0.0)
        self.time = min(max(start, 0.0), self.duration)
        self.playing = playing
        self.speed = speed
        self._on_seek = on_seek
        self._before: float | None = None

    def seek(self, time: float) -> None:
        """Go to a time [s]."""
        self.time = min(max(time, 0.0), self.duration)
        self._on_seek(self.time)

    def play(self, playing: bool) -> None:
        """Play or pause; from the end it starts again."""
        if playing and self.time >= self.duration:
            self.seek(0.0)
        self.playing = playing
        self._before = None

    def advance(self) -> None:
        """Go on by the wall time since the last call, while it plays."""
        now = wall.perf_counter()
        before, self._before = self._before, now
        if not self.playing or before is None:
            return
        self.seek(self.time + self.speed * (now - before))
        if self.time >= self.duration:
            self.playing = False

    def run(self, viewer: Viewer) -> None:
        """Play until the viewer is closed."""
        self.seek(self.time)
        viewer.update()
        while not viewer.closed:
            viewer.wait(WAIT)
            self.advance()
