# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""All sensors of a world, and which of them measure in which tick.

Time is counted in ticks here, never in seconds. When a sensor is due is in its `SensorData`; the
agendas of a set mirror that and can be rebuilt from it at any time (`SensorSet.resync`).
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import noise
from mvsim_core.sensors.base import Sensor, SensorBatch, StateView

#: A tick that never comes.
NEVER = int(np.iinfo(np.int64).max)
#: Sensors without a vehicle come after all others: their place in the order begins here.
_STANDALONE = 2**62


class Agenda:
    """Which slots have something to do at which tick; all is done in constant time a slot."""

    __slots__ = ("_slots", "_ticks")

    def __init__(self) -> None:
        """Make an empty agenda."""
        self._slots: dict[int, dict[int, None]] = {}
        self._ticks: list[int] = []  # heap; may hold ticks of which nothing is left

    def put(self, tick: int, slot: int) -> None:
        """Enter a slot."""
        slots = self._slots.get(tick)
        if slots is None:
            self._slots[tick] = {slot: None}
            heapq.heappush(self._ticks, tick)
        else:
            slots[slot] = None

    def drop(self, tick: int, slot: int) -> None:
        """Take a slot out again, if it is there."""
        slots = self._slots.get(tick)
        if slots is not None:
            slots.pop(slot, None)
            if not slots:
                del self._slots[tick]

    def take(self, tick: int) -> list[int]:
        """Return and forget all slots up to a tick."""
        slots: list[int] = []
        while self._ticks and self._ticks[0] <= tick:
            slots += self._slots.pop(heapq.heappop(self._ticks), ())
        return slots

    def next_tick(self) -> int:
        """Return the first tick with something to do."""
        while self._ticks and self._ticks[0] not in self._slots:
            heapq.heappop(self._ticks)
        return self._ticks[0] if self._ticks else NEVER


class _Slot:
    """A sensor of the set, and where it stands in batch and agendas."""

    __slots__ = ("active", "arrival", "batch", "due", "number", "order", "place", "sensor")

    def __init__(self, sensor: Sensor[Any], number: int, order: int) -> None:
        self.sensor = sensor
        self.number = number
        self.order = order
        self.batch: SensorBatch
        self.place = -1
        self.due = NEVER
        self.arrival = NEVER  # of the next delayed reading
        self.active = True


class SensorSet:
    """The sensors of a world.

    A sensor measures first one period after it was added, then once a period. Adding and removing
    costs the same whatever else is in the set.

    Attributes:
        next_tick: The next tick in which something is to be done; before it, do not call.
    """

    def __init__(self) -> None:
        """Make an empty set."""
        self.next_tick = NEVER
        self._slots: dict[Sensor[Any], _Slot] = {}
        self._numbers: dict[int, _Slot] = {}
        self._added = 0
        self._batches: dict[Hashable, SensorBatch] = {}
        self._cold: dict[Sensor[Any], _Slot] = {}  # added since `warm` was called
        self._warmed: set[Hashable] = set()
        # per batch: the active sensors that sweep, by place
        self._sweeping: dict[SensorBatch, dict[int, Sensor[Any]]] = {}
        self._due, self._arrivals = Agenda(), Agenda()

    def __len__(self) -> int:
        """Return the number of sensors."""
        return len(self._slots)

    @property
    def sensors(self) -> list[Sensor[Any]]:
        """All sensors in the order of their readings: those of vehicles as added, then others."""
        return [slot.sensor for slot in sorted(self._slots.values(), key=lambda slot: slot.order)]

    # ------------------------------------------------------------ changing
    def add(self, sensors: Iterable[Sensor[Any]], tick: int) -> None:
        """Add sensors whose rows are bound; one that was scheduled before keeps its phase.

        Args:
            sensors: In the order of their readings; they come after those that are here.
            tick: The tick now.
        """
        for sensor in sensors:
            self._added += 1
            order = self._added + (0 if sensor.parent is not None else _STANDALONE)
            slot = _Slot(sensor, self._added, order)
            self._slots[sensor] = self._numbers[slot.number] = self._cold[sensor] = slot
            key = sensor.batch_key()
            batch = self._batches.get(key)
            if batch is None:
                batch = SensorBatch() if key is None else sensor.new_batch()
                self._batches[key] = batch
            slot.batch, slot.place = batch, batch.add(sensor)
            self._set_sweeping(slot, sensor.sweeps)
            self._schedule(slot, tick)
        self._find_next(tick)

    def remove(self, sensors: Iterable[Sensor[Any]], tick: int) -> None:
        """Remove sensors.

        Args:
            sensors: Which.
            tick: The tick now.

        Raises:
            KeyError: One of them is not in the set.
        """
        for sensor in sensors:
            slot = self._slots.pop(sensor)
            del self._numbers[slot.number]
            self._cold.pop(sensor, None)
            self._set_sweeping(slot, False)
            slot.batch.remove(slot.place)
            self._due.drop(slot.due, slot.number)
            self._arrivals.drop(slot.arrival, slot.number)
        self._find_next(tick)

    def set_active(self, sensor: Sensor[Any], active: bool, tick: int) -> None:
        """Say whether anybody asks for a sensor's readings; no other reading changes by that.

        An inactive sensor computes nothing. One that sweeps reads again after a whole period.

        Raises:
            KeyError: The sensor is not in the set.
        """
        slot = self._slots[sensor]
        if slot.active == active:
            return
        slot.active = active
        self._set_sweeping(slot, active and sensor.sweeps)
        self._find_next(tick)

    def set_seed(self, seed: int) -> None:
        """Give all sensors the seed of the world."""
        for sensor in self._slots:
            sensor.data.seed = seed

    def resync(self, tick: int) -> None:
        """Take over the sensors' data after these were restored, reset or bound again.

        Sensors that were never scheduled, and all whose due time makes no sense at ``tick``,
        begin a period.
        """
        self._due, self._arrivals = Agenda(), Agenda()
        for slot in self._slots.values():
            self._schedule(slot, tick)
        self._find_next(tick)

    def warm(self, state: StateView) -> None:
        """Compile and lay out all that the first readings of new sensors need.

        Nothing is measured. Of sensors that differ in name and pose alone one is enough.
        """
        cold, self._cold = self._cold, {}
        for sensor, slot in cold.items():
            key = sensor.batch_key() or _likeness(sensor)
            if key not in self._warmed:
                self._warmed.add(key)
                noise.warm()
                slot.batch.warm(state, slot.place)

    # ------------------------------------------------------------ each tick
    def sample(self, state: StateView, tick: int, time: float) -> list[Sensor[Any]]:
        """Let all due sensors measure; return those that have a new reading.

        Args:
            state: The rows of the world.
            tick: The tick now.
            time: The same in s.
        """
        for batch, sweeping in self._sweeping.items():
            for sweeper in sweeping.values():
                sweeper.note_sweep(tick)
            batch.sweep(list(sweeping), state, tick)
        arrived: list[_Slot] = []
        for batch, slots in self._take(tick).items():
            readings = batch.measure([slot.place for slot in slots], state, tick, time)
            for slot, reading in zip(slots, readings, strict=True):
                if slot.sensor.accept(reading, tick):
                    arrived.append(slot)
                elif slot.arrival == NEVER:
                    self._note_arrival(slot)
        for number in self._arrivals.take(tick):
            slot = self._numbers[number]
            if slot.sensor.deliver(tick):
                arrived.append(slot)
            self._note_arrival(slot)
        self._find_next(tick)
        if len(arrived) > 1:
            arrived.sort(key=_order)
        return [slot.sensor for slot in arrived]

    def _take(self, tick: int) -> dict[SensorBatch, list[_Slot]]:
        """Return the active sensors that are due, by batch, and schedule all."""
        work: dict[SensorBatch, list[_Slot]] = {}
        numbers, put = self._numbers, self._due.put
        for number in self._due.take(tick):
            slot = numbers[number]
            sensor = slot.sensor
            slot.due = sensor.schedule_after(tick)
            put(slot.due, number)
            if slot.active and (not sensor.sweeps or sensor.is_whole(tick)):
                work.setdefault(slot.batch, []).append(slot)
        return work

    # ------------------------------------------------------------ internal
    def _schedule(self, slot: _Slot, tick: int) -> None:
        sensor = slot.sensor
        due = sensor.data.due_tick
        if due is None or not sensor.begin_of(due) <= tick < due:
            sensor.start(tick)
        slot.due = sensor.data.due_tick
        self._due.put(slot.due, slot.number)
        self._note_arrival(slot)

    def _note_arrival(self, slot: _Slot) -> None:
        arrival = slot.sensor.arrival_tick
        slot.arrival = NEVER if arrival is None else arrival
        if arrival is not None:
            self._arrivals.put(arrival, slot.number)

    def _set_sweeping(self, slot: _Slot, sweeping: bool) -> None:
        if sweeping:
            self._sweeping.setdefault(slot.batch, {})[slot.place] = slot.sensor
        elif slot.batch in self._sweeping:
            self._sweeping[slot.batch].pop(slot.place, None)
            if not self._sweeping[slot.batch]:
                del self._sweeping[slot.batch]

    def _find_next(self, tick: int) -> None:
        if self._sweeping:
            self.next_tick = tick + 1
        else:
            self.next_tick = min(self._due.next_tick(), self._arrivals.next_tick())


def _likeness(sensor: Sensor[Any]) -> Hashable:
    """Return what sensors share that differ in name, pose and vehicle alone."""
    spec = replace(sensor.spec, name="", pose=Pose())
    return type(sensor), repr(spec)


def _order(slot: _Slot) -> int:
    return slot.order
