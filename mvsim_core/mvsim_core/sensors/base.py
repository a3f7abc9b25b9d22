# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What all sensors have in common: rate, mount, noise, drop-outs, delay.

A kind of sensor adds one method, ``measure``. When it is called, how often, and when its reading
arrives is decided by `SensorSet`.

A `Sensor` is configuration and does not change; what changes is in its `SensorData`, which the
world copies, compares and restores as a whole. A sensor therefore refuses to have attributes
assigned once it is made.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Protocol, TypeVar

import numpy as np

from mvsim_core.geometry.poses import Pose
from mvsim_core.registry import Registry
from mvsim_core.sensors.noise import (
    DROPOUT,
    READING,
    KeyedGenerator,
    WordArray,
    name_word,
    normals,
    seed_word,
    uniform_kernel,
)
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.state.clock import SLACK, Cadence, whole_ticks

if TYPE_CHECKING:
    from mvsim_core.scene3d import Scene3d
    from mvsim_core.sensors.earth import Earth
    from mvsim_core.sensors.plane_scene import PlaneScene
    from mvsim_core.solver.contact_data import ContactData

R = TypeVar("R")
#: Periods of more ticks than this, which are uneven by less than 5 %, give no warning.
FINE = 10.0
_PLAIN = (int, float, bool, str)  # types of which a copy is the value itself


def _silent(message: str) -> None:
    """Drop a warning."""


class StateView(Protocol):
    """What sensors see of the state of a world. The arrays are valid during the call only."""

    @property
    def bodies(self) -> Rows:
        """BODY, all rows."""

    @property
    def wheels(self) -> Rows:
        """WHEEL, all rows."""

    @property
    def vehicles(self) -> Rows:
        """VEHICLE, all rows."""

    @property
    def contacts(self) -> ContactData:
        """Shapes and contacts of the solver."""


@dataclass(frozen=True, slots=True)
class SensorContext:
    """The world around a new sensor.

    Attributes:
        scene: What planar lidars see.
        dt: Length of a tick [s].
        parent: Name of the vehicle that carries it; None: it is fixed in the world.
        gravity: Acceleration of gravity [m/s²].
        earth: Where on earth the world lies; None: nowhere.
        regions: Specs of the world's property regions, in file order.
        scene3d: What 3D sensors see; None: nothing.
        implied_floor: Whether the world has no ground, so that vehicles drive on the level z = 0.
        warn: Called with a sentence about something that the sensor has to do without.
    """

    scene: PlaneScene
    dt: float
    parent: str | None = None
    gravity: float = 9.81
    earth: Earth | None = None
    regions: tuple[Any, ...] = ()
    scene3d: Scene3d | None = None
    implied_floor: bool = False
    warn: Callable[[str], None] = _silent


@dataclass
class SensorData:
    """Everything about a sensor that changes while the world runs; a kind may add fields.

    Attributes:
        seed: Seed of the world (of the copy) that the sensor belongs to.
        start_tick: When its first period began.
        due_tick: When it measures next; None before it is scheduled.
        last: The newest reading that has arrived, or None.
        pending: Readings on their way and the ticks at which they arrive, in this order.
        swept_tick: Last tick that was swept (sensors that sweep only); -1: none.
        swept_since: Tick since which none was left out until then.
    """

    seed: int = 0
    start_tick: int = 0
    due_tick: int | None = None
    last: Any = None
    pending: list[tuple[int, Any]] = field(default_factory=list)
    swept_tick: int = -1
    swept_since: int = -1

    def __deepcopy__(self, memo: dict[int, Any]) -> SensorData:
        """Return a copy of all attributes; worlds have thousands of these to copy."""
        copied = object.__new__(type(self))
        memo[id(self)] = copied
        for name, value in self.__dict__.items():
            plain = value is None or type(value) in _PLAIN
            copied.__dict__[name] = value if plain else deepcopy(value, memo)
        return copied


class Sensor(ABC, Generic[R]):
    """A sensor at its place. All but `data` and the rows are fixed once it is made.

    Arrays that carry nothing from one call to the next (scratch) may stay on the sensor.

    Attributes:
        spec: What the world file says about it.
        name: Its name, unique on its vehicle.
        parent: Name of the vehicle that carries it, or None.
        full_name: Its name that is unique in the world: ``vehicle/sensor``.
        mount: Its frame in the vehicle's frame, or in the world's if it has no vehicle.
        period: Time between two readings as the file gives it [s]; 0: a step.
        dt: Length of a tick [s].
        cadence: The ticks of its readings, counted from `SensorData.start_tick`.
        delay_ticks: Ticks from measuring until the reading arrives.
        dropout: Probability that a reading is lost, 0 … 1.
        data: What changes.
        body: Row of BODY of the vehicle, or -1.
        wheel0: First row of WHEEL of the vehicle, or -1.
        n_wheels: Number of its wheels.
        copy: Number of the world's copy that it belongs to.
    """

    #: The class name in world files.
    kind: ClassVar[str]
    #: Class of its data.
    Data: ClassVar[type[SensorData]] = SensorData
    #: Whether `sweep` is to be called in each tick, not only `measure` when a reading is due.
    sweeps: bool = False
    data: Any
    body: int
    wheel0: int
    n_wheels: int
    copy: int

    def __init_subclass__(cls, **options: Any) -> None:
        """Close instances after the outermost ``__init__``, also those of third parties."""
        super().__init_subclass__(**options)
        cls.__init__ = _closing(cls, cls.__init__)  # type: ignore[method-assign]

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
        self.parent = context.parent
        self.full_name = f"{self.parent}/{self.name}" if self.parent else self.name
        self.mount: Pose = spec.pose
        self.period: float = spec.period
        self.dt = context.dt
        self.cadence = Cadence(spec.period, context.dt)
        self.delay_ticks = 0 if delay <= 0 else whole_ticks(delay, context.dt)
        self.dropout = dropout
        self.name_word = name_word(self.full_name)
        self.body, self.wheel0, self.n_wheels, self.copy = -1, -1, 0, 0

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute while the sensor is being made.

        Raises:
            AttributeError: The sensor is made already.
        """
        if "data" in self.__dict__:
            self._refuse(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        """Refuse as in ``__setattr__``."""
        self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__}.{name} cannot be assigned: a sensor is configuration, and"
            " what changes while the world runs belongs into self.data (a SensorData)"
        )

    # ------------------------------------------------------------ what changes
    def new_data(self, seed: int = 0) -> SensorData:
        """Return the data of this sensor as it is before the first tick."""
        return self.Data(seed=seed)

    def bind(self, data: SensorData) -> None:
        """Use ``data`` from now on."""
        object.__setattr__(self, "data", data)

    def bind_rows(
        self, body: int = -1, wheel0: int = -1, n_wheels: int = 0, copy: int = 0
    ) -> None:
        """Say which rows of the state its vehicle has; before it is added to a `SensorSet`."""
        for name, value in zip(
            ("body", "wheel0", "n_wheels", "copy"), (body, wheel0, n_wheels, copy), strict=True
        ):
            object.__setattr__(self, name, int(value))

    @property
    def last(self) -> R | None:
        """The newest reading that has arrived, or None."""
        last: R | None = self.data.last
        return last

    @property
    def due_tick(self) -> int | None:
        """When it measures next; None before it is scheduled."""
        due: int | None = self.data.due_tick
        return due

    def start(self, tick: int) -> None:
        """Begin the first period at ``tick``."""
        self.data.start_tick = tick
        self.data.due_tick = tick + self.cadence.tick(1)

    def number(self, tick: int) -> int:
        """Return the number of the reading at ``tick``, counted from 1."""
        return self.cadence.number(tick - self.data.start_tick)

    def tick_of(self, number: int) -> int:
        """Return the tick of reading ``number``; that of number 0 is where the first begins."""
        return int(self.data.start_tick) + self.cadence.tick(number)

    def schedule_after(self, tick: int) -> int:
        """Set and return the tick of the reading that follows the one at ``tick``."""
        data = self.data
        due: int = data.start_tick + self.cadence.after(tick - data.start_tick)
        data.due_tick = due
        return due

    def begin_of(self, tick: int) -> int:
        """Return the tick at which the period began that ends with the reading at ``tick``."""
        return self.tick_of(self.number(tick) - 1)

    # ------------------------------------------------------------ measuring
    @abstractmethod
    def measure(self, state: StateView, tick: int, time: float) -> R | None:
        """Return a reading of the world as it is now, or None if there is none to be had.

        Args:
            state: The world's rows; `body`, `wheel0` and `n_wheels` say which are this vehicle's.
            tick: The tick now.
            time: The same in s.
        """

    def warm(self, state: StateView) -> None:
        """Prepare all that the first reading needs; nothing is measured."""

    def sweep(self, state: StateView, tick: int) -> None:
        """Do the part of a reading that belongs to this tick (only if `sweeps`)."""

    def note_sweep(self, tick: int) -> None:
        """Record that a tick is being swept."""
        data = self.data
        if data.swept_tick != tick - 1:
            data.swept_since = tick - 1
        data.swept_tick = tick

    def is_whole(self, tick: int) -> bool:
        """Return whether all of the period that ends at ``tick`` was swept, if it sweeps.

        A sweep that began within the period is not the one that a listener gets who listened
        before, so it becomes no reading.
        """
        data = self.data
        return not self.sweeps or (
            data.swept_tick == tick and data.swept_since <= self.begin_of(tick)
        )

    def sample(self, state: StateView, tick: int, time: float) -> bool:
        """Measure; return whether ``last`` is a new reading now (not lost, not delayed)."""
        return self.accept(self.measure(state, tick, time), tick)

    def accept(self, reading: R | None, tick: int) -> bool:
        """Send a reading on its way; return whether it has arrived at once."""
        if reading is None or (self.dropout > 0.0 and self._is_lost(tick)):
            return False
        if self.delay_ticks:
            self.data.pending.append((tick + self.delay_ticks, reading))
            return False
        self.data.last = reading
        return True

    def deliver(self, tick: int) -> bool:
        """Let delayed readings arrive; return whether one did."""
        arrived = False
        pending = self.data.pending
        while pending and pending[0][0] <= tick:
            self.data.last = pending.pop(0)[1]
            arrived = True
        return arrived

    @property
    def arrival_tick(self) -> int | None:
        """When the next delayed reading arrives, or None."""
        return self.data.pending[0][0] if self.data.pending else None

    def warnings(self) -> Iterator[str]:
        """Yield what is doubtful about this sensor, each as a sentence without a full stop.

        A kind that adds its own yields these too.
        """
        if 0.0 < self.period < (1.0 - SLACK) * self.dt:
            yield (
                f"{self.name!r} asks for {1.0 / self.period:g} Hz and reads each step of"
                f" {self.dt:g} s, with {1.0 / self.dt:g} Hz; it takes a simul_timestep of"
                f" {self.period:g} s or less"
            )
        if not self.cadence.even and self.cadence.ticks < FINE:
            few = math.floor(self.cadence.ticks)
            yield (
                f"{self.name!r} reads every {few} or {few + 1} steps of {self.dt:g} s, with"
                f" {1.0 / self.period:g} Hz on average; a simul_timestep that divides its period"
                f" of {self.period:g} s gives even intervals"
            )

    # ------------------------------------------------------------ noise
    def random(self, tick: int, purpose: int = READING) -> np.random.Generator:
        """Return random numbers for the reading of a tick: a function of seed, name and tick.

        The generator is good until the next call.
        """
        return self._generator.at(self.data.seed, tick, purpose)

    def normals(self, tick: int, count: int) -> FloatArray:
        """Return (count,) standard normal numbers for the reading of a tick."""
        return normals(self.data.seed, self.name_word, tick, count)

    @cached_property
    def _generator(self) -> KeyedGenerator:
        return KeyedGenerator(self.name_word)

    def _is_lost(self, tick: int) -> bool:
        words = np.array((seed_word(self.data.seed), self.name_word), dtype=np.uint64)
        return bool(uniform_kernel(words[0], words[1], tick, DROPOUT) < self.dropout)

    # ------------------------------------------------------------ many at once
    def batch_key(self) -> Hashable:
        """Return a key that sensors share which can measure together; None: it is alone."""
        return None

    @classmethod
    def new_batch(cls) -> SensorBatch:
        """Return an empty batch for sensors of one key."""
        return SensorBatch()


def _closing(cls: type[Sensor[Any]], init: Callable[..., None]) -> Callable[..., None]:
    """Return an ``__init__`` that gives the made sensor its data, which closes it."""

    @wraps(init)
    def closing_init(self: Sensor[Any], *args: Any, **keywords: Any) -> None:
        init(self, *args, **keywords)
        if type(self) is cls:  # and not within the __init__ of a class derived from it
            self.bind(self.new_data())

    return closing_init


class BatchedSensor(Sensor[R]):
    """A sensor of a kind that is measured in batches; asked alone, it is a batch of one."""

    @classmethod
    @abstractmethod
    def new_batch(cls) -> SensorBatch:
        """Return an empty batch for sensors of one key."""

    @cached_property
    def _alone(self) -> SensorBatch:
        batch = self.new_batch()
        batch.add(self)
        return batch

    def bind_rows(
        self, body: int = -1, wheel0: int = -1, n_wheels: int = 0, copy: int = 0
    ) -> None:
        """Say which rows of the state its vehicle has, as in `Sensor`."""
        super().bind_rows(body, wheel0, n_wheels, copy)
        self.__dict__.pop("_alone", None)

    def measure(self, state: StateView, tick: int, time: float) -> R | None:
        """Return a reading of the world as it is now."""
        reading: R | None = self._alone.measure([0], state, tick, time)[0]
        return reading


class SensorBatch:
    """Sensors that are measured by one call; this one asks one after the other.

    A sensor keeps its place until it is removed; free places are used again.
    """

    def __init__(self) -> None:
        """Make an empty batch."""
        self.sensors: list[Any] = []
        self._free: list[int] = []

    def __len__(self) -> int:
        """Return the number of sensors."""
        return len(self.sensors) - len(self._free)

    def add(self, sensor: Any) -> int:
        """Take a sensor in and return its place."""
        if self._free:
            place = self._free.pop()
            self.sensors[place] = sensor
        else:
            place = len(self.sensors)
            self.sensors.append(sensor)
        return place

    def remove(self, place: int) -> None:
        """Take the sensor at a place out."""
        self.sensors[place] = None
        self._free.append(place)

    def warm(self, state: StateView, place: int) -> None:
        """Prepare all that the first reading of the sensor at a place needs.

        Nothing is measured. Of sensors with the same `batch_key` it is called for one.
        """
        self.sensors[place].warm(state)

    def sweep(self, places: list[int], state: StateView, tick: int) -> None:
        """Do the part of readings that belongs to this tick."""
        for place in places:
            self.sensors[place].sweep(state, tick)

    def measure(self, places: list[int], state: StateView, tick: int, time: float) -> list[Any]:
        """Return the readings of the sensors at ``places``."""
        return [self.sensors[place].measure(state, tick, time) for place in places]

    def seeds(self, places: list[int]) -> WordArray:
        """Return (n,) uint64, the seeds of the sensors at ``places``."""
        return np.array(
            [seed_word(self.sensors[place].data.seed) for place in places], dtype=np.uint64
        )


SENSORS: Registry[Sensor[Any]] = Registry("sensor", "mvsim.sensors")
