# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What all sensors have in common: rate, place, random stream, drop-outs, delay, snapshots.

A kind of sensor adds one method, ``measure``. When it is called, how often, and when its reading
appears is none of its business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from mvsim_core.geometry.poses import Pose
from mvsim_core.registry import Registry
from mvsim_core.sensors.noise import sensor_rng
from mvsim_core.state.arrays import WHEEL, Rows
from mvsim_core.state.clock import SimClock

if TYPE_CHECKING:
    from mvsim_core.sensors.earth import Earth
    from mvsim_core.sensors.plane_scene import PlaneScene
    from mvsim_core.sensors.scene3d import Scene3d

R = TypeVar("R")


def _silent(message: str) -> None:
    """Keep a warning to oneself."""


@dataclass(frozen=True, slots=True)
class SensorContext:
    """The world around a new sensor.

    Attributes:
        scene: What planar lidars see.
        dt: Length of a tick [s].
        seed: Seed of the world.
        parent: Name of the vehicle that carries it; None: it is fixed in the world.
        body: Row of that vehicle's body; -1: it is fixed in the world.
        gravity: Acceleration of gravity [m/s²].
        earth: Where on earth the world lies; None: nowhere.
        regions: Specs of the world's property regions, in file order.
        scene3d: What 3D sensors see; None: nothing.
        warn: Called with a sentence about something that the sensor has to do without.
    """

    scene: PlaneScene
    dt: float
    seed: int = 0
    parent: str | None = None
    body: int = -1
    gravity: float = 9.81
    earth: Earth | None = None
    regions: tuple[Any, ...] = ()
    scene3d: Scene3d | None = None
    warn: Callable[[str], None] = _silent


class Sensor(ABC, Generic[R]):
    """A sensor at its place, and its newest reading.

    Attributes:
        spec: What the world file says about it.
        name: Its name, unique on its vehicle.
        parent: Name of the vehicle that carries it, or None.
        mount: Its frame in the vehicle's frame, or in the world's if it has no vehicle.
        body: Row of BODY of the vehicle, or -1.
        wheels: Rows of WHEEL of the vehicle, a view of the world's array; empty without one.
        period: Time between two readings as the file gives it [s].
        period_ticks: The same in ticks, rounded up.
        due_tick: When it measures next; None before it is scheduled.
        last: The newest reading that has arrived, or None.
    """

    #: The class name in world files.
    kind: ClassVar[str]
    #: Whether `sweep` is to be called in each tick, not only `measure` when a reading is due.
    sweeps: bool = False

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a sensor into a world.

        Args:
            spec: A sensor spec with name, pose and period.
            context: The world.
            delay: Time from measuring until the reading can be had [s].
            dropout: Probability that a reading is lost, 0 … 1.
        """
        self.spec = spec
        self.name: str = spec.name
        self.mount: Pose = spec.pose
        self.period: float = spec.period
        self.period_ticks = SimClock(context.dt).whole_ticks(spec.period)
        self.delay_ticks = 0 if delay <= 0 else SimClock(context.dt).whole_ticks(delay)
        self.dropout = dropout
        self.parent = context.parent
        self.body = context.body
        self.wheels: Rows = np.zeros(0, WHEEL)
        self.due_tick: int | None = None
        self.last: R | None = None
        self._pending: deque[tuple[int, R]] = deque()
        self.reset(context.seed)

    @property
    def full_name(self) -> str:
        """The name that is unique in the world: ``vehicle/sensor``."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    @abstractmethod
    def measure(self, bodies: Rows, tick: int, time: float) -> R | None:
        """Return a reading of the world as it is now, or None if there is none to be had.

        Args:
            bodies: BODY, all rows.
            tick: The tick now.
            time: The same in s.
        """

    def warm(self, bodies: Rows) -> None:
        """Prepare all that the first reading needs; nothing is measured."""

    def sweep(self, bodies: Rows, tick: int) -> None:
        """Do the part of a reading that belongs to this tick (only if `sweeps`)."""

    def sample(self, bodies: Rows, tick: int, time: float) -> bool:
        """Measure; return whether ``last`` is a new reading now (not lost, not delayed)."""
        return self.accept(self.measure(bodies, tick, time), tick)

    def accept(self, reading: R | None, tick: int) -> bool:
        """Send a reading on its way; return whether it has arrived at once."""
        if reading is None:
            return False
        if self.dropout > 0.0 and self._rng.random() < self.dropout:
            return False
        if self.delay_ticks:
            self._pending.append((tick + self.delay_ticks, reading))
            return False
        self.last = reading
        return True

    def deliver(self, tick: int) -> bool:
        """Let delayed readings arrive; return whether one did."""
        arrived = False
        while self._pending and self._pending[0][0] <= tick:
            self.last = self._pending.popleft()[1]
            arrived = True
        return arrived

    @property
    def arrival_tick(self) -> int | None:
        """When the next delayed reading arrives, or None."""
        return self._pending[0][0] if self._pending else None

    def doubts(self) -> Iterator[str]:
        """Yield what is doubtful about this sensor, each as a sentence without a full stop."""
        yield from ()

    def reset(self, seed: int) -> None:
        """Forget all readings and begin the random stream anew."""
        self._rng = sensor_rng(seed, self.full_name)
        self._pending.clear()
        self.last = None
        self.due_tick = None

    def state(self) -> dict[str, Any]:
        """Return all that ``restore`` needs to go on exactly from here."""
        return {
            "rng": self._rng.bit_generator.state,
            "due_tick": self.due_tick,
            "last": self.last,
            "pending": tuple(self._pending),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Return to what ``state`` gave."""
        self._rng.bit_generator.state = state["rng"]
        self.due_tick = state["due_tick"]
        self.last = state["last"]
        self._pending = deque(state["pending"])

    # ------------------------------------------------------------ many at once
    def bank_key(self) -> Hashable:
        """Return a key that sensors share which can measure together; None: it is alone."""
        return None

    @classmethod
    def bank(cls, sensors: Sequence[Any]) -> Bank:
        """Return what lets sensors of one key measure together."""
        return Bank(sensors)


class Bank:
    """Sensors that measure at the same ticks; this one asks one after the other."""

    def __init__(self, sensors: Sequence[Any]) -> None:
        """Hold the sensors."""
        self.sensors: list[Any] = list(sensors)

    def measure(self, due: list[int], bodies: Rows, tick: int, time: float) -> list[Any]:
        """Return the readings of the sensors at the places ``due`` of the list."""
        return [self.sensors[i].measure(bodies, tick, time) for i in due]


SENSORS: Registry[Sensor[Any]] = Registry("sensor", "mvsim.sensors")
