# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What can be asked of a running world: its time, its arrays, its contacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_core.state.arrays import State
from mvsim_core.state.clock import SimClock
from mvsim_core.world.profile import Profile

if TYPE_CHECKING:
    from mvsim_core.assembly.contents import Contents
    from mvsim_core.elements.occupancy_grid import GridMap
    from mvsim_core.rendering.picture import View
    from mvsim_core.specs.world import WorldSpec
    from mvsim_core.xmlfile import FileState


class WorldView:
    """The part of a world that only reads."""

    spec: WorldSpec
    state_arrays: State
    _clock: SimClock
    _contents: Contents
    _gravity: float
    _profile: Profile

    @property
    def dt(self) -> float:
        """Length of a tick [s]."""
        return self._clock.dt

    @property
    def ticks(self) -> int:
        """Number of steps since the start."""
        return self._clock.ticks

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._clock.time

    @property
    def clock(self) -> SimClock:
        """The world's clock."""
        return self._clock

    @property
    def file_state(self) -> FileState | None:
        """What reading the file and later texts left, for the next text; None without a file."""
        return self._contents.file_state

    @file_state.setter
    def file_state(self, state: FileState) -> None:
        self._contents.file_state = state

    @property
    def gravity(self) -> float:
        """Acceleration of gravity [m/s²]."""
        return self._gravity

    @property
    def bodies(self) -> np.ndarray[Any, np.dtype[np.void]]:
        """The BODY array, one row a body."""
        return self.state_arrays.bodies

    @property
    def contacts(self) -> list[Any]:
        """Pairs in contact now, see `contacts.Contact`."""
        return self._contents.contacts(self.state_arrays)

    @property
    def grids(self) -> list[GridMap]:
        """The occupancy grids of the world."""
        return self._contents.grids

    @property
    def standalone_sensors(self) -> dict[str, Any]:
        """Sensors that are fixed in the world, by name."""
        return {sensor.name: sensor for sensor in self._contents.standalone}

    def view(self) -> View:
        """Return from where <gui> looks at the world; without one, from where all is seen."""
        from mvsim_core.rendering.picture import view_of

        return view_of(self.spec.gui, self._contents, self.bodies)

    def picture(self, view: View | None = None, size: tuple[int, int] = (1280, 720)) -> Any:
        """Return (height, width, 3) uint8 red, green, blue: what is to be seen now.

        Args:
            view: From where; None: `view()`.
            size: Width and height [pixel].

        Raises:
            GlMissingError: There is no OpenGL.
            ValueError: The view looks at its own eye.
        """
        from mvsim_core.rendering.picture import paint

        return paint(self._contents, self.bodies, view or self.view(), size)

    @property
    def profile(self) -> dict[str, float]:
        """Wall seconds spent in each phase of the step so far."""
        return self._profile.sums()

    def clear_profile(self) -> None:
        """Set the sums of the profile to zero."""
        self._profile.clear()
