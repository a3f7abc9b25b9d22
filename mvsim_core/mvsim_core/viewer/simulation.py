# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pause, step, speed and reset of a simulation that the viewer's process runs."""

from __future__ import annotations

import time as wall
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer

#: Wall time between two looks at the browsers' requests while the simulation waits [s].
WAIT = 1.0 / 30.0
#: A simulation that is later than this goes on from where it is, without catching up [s].
LATEST = 0.2


class Simulation:
    """The controls of a simulation. Those of a host with a loop of its own derive from it.

    All methods are called in the thread that steps the world.

    Args:
        factor: Simulated seconds per second; None: as fast as possible.
        paused: Whether it starts paused.

    Attributes:
        rate: Simulated seconds per second lately.
    """

    def __init__(self, factor: float | None = 1.0, *, paused: bool = False) -> None:
        """Hold the settings.

        Raises:
            ValueError: The factor is not positive.
        """
        self._factor = _positive(factor)
        self._paused = paused
        self.rate = 0.0
        self._owed = 0
        self._longest = 0.0  # step of the world [s]
        self._anchor: tuple[float, float, float | None] | None = None
        self._measured = (wall.perf_counter(), 0.0)

    @property
    def factor(self) -> float | None:
        """Simulated seconds per second; None: as fast as possible."""
        return self._factor

    @property
    def paused(self) -> bool:
        """Whether it is paused now."""
        return self._paused

    # ------------------------------------------------------------ what the browsers ask for
    def pause(self, paused: bool) -> None:
        """Pause, or go on."""
        self._paused = paused

    def step(self, viewer: Viewer, steps: int = 1) -> None:
        """Make some steps while it is paused; a running simulation is paused first."""
        if not self.paused:
            self.pause(True)
        self._owed += steps

    def set_factor(self, factor: float | None) -> None:
        """Set the simulated seconds per second; None: as fast as possible.

        Raises:
            ValueError: It is not positive.
        """
        self._factor = _positive(factor)

    def reset(self, viewer: Viewer, seed: int | None = None) -> None:
        """Return to the start, with another seed if one is given."""
        viewer.world.reset(seed)
        self._owed = 0

    def add_vehicle(
        self, viewer: Viewer, text: str, name: str | None, pose: tuple[float, float, float]
    ) -> str:
        """Add a vehicle and return its name; arguments as of `World.add_vehicle`."""
        return viewer.world.add_vehicle(text, name=name, pose=pose).name

    def remove(self, viewer: Viewer, name: str) -> None:
        """Remove a vehicle or a block."""
        viewer.world.remove(name)

    # ------------------------------------------------------------ in the loop
    def hold(self, viewer: Viewer) -> None:
        """Return when the next step is to be made; the browsers are served meanwhile."""
        self._measure(viewer.world.time)
        self._longest = viewer.world.dt
        while not viewer.closed:
            if self.paused:
                self._anchor = None
                if self._owed:
                    self._owed -= 1
                    return
                viewer.wait(WAIT)
                continue
            ahead = self._ahead(viewer.world.time)
            if ahead <= 0.0:
                return
            viewer.wait(min(ahead, WAIT))

    def _ahead(self, time: float) -> float:
        """Return how far the simulation is ahead of the wall clock [s]."""
        if self.factor is None:
            self._anchor = None
            return 0.0
        now = wall.perf_counter()
        if self._anchor is None or self._anchor[2] != self.factor:
            self._anchor = (now, time, self.factor)
            return 0.0
        start, begin, _ = self._anchor
        factor = self.factor
        ahead = (time - begin) / factor - (now - start)
        longest = LATEST + 2.0 * self._longest / factor
        if not -LATEST < ahead < longest:  # too late, or the world was reset or restored
            self._anchor = (now, time, factor)
            return 0.0
        return ahead

    def _measure(self, time: float) -> None:
        """Find the rate over the last half second."""
        now = wall.perf_counter()
        before, begin = self._measured
        if now - before > 0.5 or time < begin:
            if time >= begin:
                self.rate = (time - begin) / (now - before)
            self._measured = (now, time)


def _positive(factor: float | None) -> float | None:
    if factor is not None and not factor > 0.0:
        raise ValueError(f"the speed must be positive, got {factor:g}")
    return factor
