# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Bumpers (class ``bumper``): which sectors of the chassis touch something.

A sector is pressed if a contact of the chassis was in it in any step since the last reading, so a
short blow is not missed. Contacts are those of the solver, one for each pair of convex shapes: the
point with the largest impulse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, SensorData, StateView
from mvsim_core.sensors.readings import Reading, quick_init
from mvsim_core.state.arrays import FloatArray, Rows

FULL_TURN = 2.0 * math.pi


@quick_init
@dataclass(frozen=True, slots=True)
class BumperReading(Reading):
    """All sectors of a bumper.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        sectors: Their names, in the order of the world file.
        pressed: Whether each was touched since the last reading.
    """

    tick: int
    time: float
    sectors: tuple[str, ...]
    pressed: tuple[bool, ...]


@dataclass
class BumperData(SensorData):
    """What changes of a bumper.

    Attributes:
        pressed: Numbers of the sectors that were touched in the part of the period that was swept.
    """

    pressed: set[int] = field(default_factory=set)


@SENSORS.register("bumper")
class Bumper(Sensor[BumperReading]):
    """The bumper of one vehicle; without a vehicle it touches nothing."""

    kind = "bumper"
    Data: ClassVar[type[SensorData]] = BumperData
    data: BumperData
    sweeps = True

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a bumper on a vehicle; ``spec`` is a BumperSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.sectors: tuple[str, ...] = spec.sectors
        self.width: float = spec.width

    def warnings(self) -> Iterator[str]:
        """Yield that there is nothing to touch with."""
        yield from super().warnings()
        if self.parent is None:
            yield f"{self.name!r} has no vehicle: it touches nothing"

    def sweep(self, state: StateView, tick: int) -> None:
        """Add the sectors that are touched in this step."""
        data = self.data
        if data.due_tick is not None and tick == self.begin_of(data.due_tick) + 1:
            data.pressed.clear()  # also when the reading of the last period was not requested
        if self.body < 0 or state.bodies["touching"][self.body] == 0:
            return
        points = contact_points(state.contacts, self.body)
        if len(points):
            data.pressed.update(self._sectors_of(points, state.bodies[self.body]))

    def measure(self, state: StateView, tick: int, time: float) -> BumperReading:
        """Return the sectors that were touched since the last reading."""
        pressed = tuple(k in self.data.pressed for k in range(len(self.sectors)))
        self.data.pressed.clear()
        return BumperReading(tick, time, self.sectors, pressed)

    def _sectors_of(self, points: FloatArray, body: Any) -> list[int]:
        """Return the numbers of the sectors that points (n, 2) of the world [m] are in."""
        base = Pose(*(float(body[k]) for k in ("x", "y", "z", "roll", "pitch", "yaw")))
        turn = rotation(Pose(yaw=base.yaw))[:2, :2]
        local = (points - (base.x, base.y)) @ turn - (self.mount.x, self.mount.y)
        angle = np.arctan2(local[:, 1], local[:, 0]) - self.mount.yaw
        from_first = (angle - self.spec.first + 0.5 * self.width) % FULL_TURN
        number = np.floor(from_first / self.width).astype(int)
        return [int(k) for k in number if k < len(self.sectors)]


def contact_points(contacts: Any, body: int) -> FloatArray:
    """Return (n, 2) m, world frame, where the shapes of a body touch others.

    Args:
        contacts: ContactData.
        body: Row of BODY.
    """
    rows: Rows = contacts.contacts
    shapes: Rows = contacts.shapes.rows
    own: npt.NDArray[np.bool_] = np.zeros(len(rows), np.bool_)
    valid = rows["touching"] != 0
    for end in ("a", "b"):
        shape = shapes[rows[f"shape_{end}"]]
        valid &= shape["serial"] == rows[f"serial_{end}"]  # else it was removed meanwhile
        own |= shape["owner"] == body
    found: FloatArray = np.column_stack((rows["x"], rows["y"]))[valid & own]
    return found
