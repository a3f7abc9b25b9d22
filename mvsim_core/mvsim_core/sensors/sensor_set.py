# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""All sensors of a world, and which of them measure in which tick.

Time is counted in ticks here, never in seconds. When a sensor is due is in its `SensorData`; the
arrays of a set mirror that and can be made anew from it at any time (`SensorSet.resync`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from mvsim_core.sensors.base import Sensor, SensorBatch, StateView
from mvsim_core.state.arrays import IntArray

#: A tick that never comes.
NEVER = int(np.iinfo(np.int64).max)
#: Sensors without a vehicle come after all others: their place in the order begins here.
_STANDALONE = 2**62
#: Slots of a set before it grows for the first time.
_FIRST_CAPACITY = 16


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
        self._sensors: list[Sensor[Any] | None] = []
        self._slots: dict[Sensor[Any], int] = {}
        self._free: list[int] = []
        self._added = 0
        self._batches: dict[Hashable, SensorBatch] = {}
        self._batch_of: list[SensorBatch] = []
        self._place: list[int] = []
        self._delayed = 0
        # per batch: the active sensors that sweep, by place
        self._sweeping: dict[SensorBatch, dict[int, Sensor[Any]]] = {}
        self._due = np.full(_FIRST_CAPACITY, NEVER)
        self._arrival = np.full(_FIRST_CAPACITY, NEVER)
        self._period = np.zeros(_FIRST_CAPACITY, np.int64)
        self._order = np.zeros(_FIRST_CAPACITY, np.int64)
        # 1: somebody asks for its readings
        self._active = np.zeros(_FIRST_CAPACITY, np.int64)

    def __len__(self) -> int:
        """Return the number of sensors."""
        return len(self._slots)

    @property
    def sensors(self) -> list[Sensor[Any]]:
        """All sensors in the order of their readings: those of vehicles as added, then others."""
        return sorted(self._slots, key=lambda sensor: int(self._order[self._slots[sensor]]))

    # ------------------------------------------------------------ changing
    def add(self, sensors: Iterable[Sensor[Any]], tick: int) -> None:
        """Add sensors whose rows are bound; one that was scheduled before keeps its phase.

        Args:
            sensors: In the order of their readings; they come after those that are here.
            tick: The tick now.
        """
        for sensor in sensors:
            slot = self._new_slot()
            self._sensors[slot] = sensor
            self._slots[sensor] = slot
            self._period[slot] = sensor.period_ticks
            self._order[slot] = self._added + (0 if sensor.parent is not None else _STANDALONE)
            self._added += 1
            self._active[slot] = 1
            key = sensor.batch_key()
            batch = self._batches.get(key)
            if batch is None:
                batch = self._batches[key] = SensorBatch() if key is None else sensor.new_batch()
            self._batch_of[slot] = batch
            self._place[slot] = batch.add(sensor)
            self._delayed += sensor.delay_ticks > 0
            self._set_sweeping(slot, sensor.sweeps)
            self._schedule(slot, tick)

    def remove(self, sensors: Iterable[Sensor[Any]]) -> None:
        """Remove sensors.

        Raises:
            KeyError: One of them is not in the set.
        """
        for sensor in sensors:
            slot = self._slots.pop(sensor)
            self._set_sweeping(slot, False)
            self._batch_of[slot].remove(self._place[slot])
            self._delayed -= sensor.delay_ticks > 0
            self._sensors[slot] = None
            self._due[slot] = self._arrival[slot] = NEVER
            self._free.append(slot)

    def set_active(self, sensor: Sensor[Any], active: bool, tick: int) -> None:
        """Say whether anybody asks for a sensor's readings; no other reading changes by that.

        An inactive sensor computes nothing. One that sweeps reads again after a whole period.
        """
        slot = self._slots[sensor]
        if active == bool(self._active[slot]):
            return
        self._active[slot] = active
        self._set_sweeping(slot, active and sensor.sweeps)
        if active and sensor.sweeps:
            self.next_tick = min(self.next_tick, tick + 1)

    def set_seed(self, seed: int) -> None:
        """Give all sensors the seed of the world."""
        for sensor in self._slots:
            sensor.data.seed = seed

    def resync(self, tick: int) -> None:
        """Take over the sensors' data after these were restored, reset or bound anew.

        Sensors that were never scheduled, and all whose due time makes no sense at ``tick``,
        begin a period.
        """
        self.next_tick = NEVER
        for slot in self._slots.values():
            self._schedule(slot, tick)

    def warm(self, state: StateView) -> None:
        """Compile and lay out all that the first readings need; nothing is measured."""
        for batch in self._batches.values():
            batch.warm(state)

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
        used = len(self._sensors)
        arrived: list[int] = []
        work = self._take(tick)
        for batch, slots in work.items():
            places_due = [self._place[slot] for slot in slots]
            readings = batch.measure(places_due, state, tick, time)
            for slot, reading in zip(slots, readings, strict=True):
                sensor = self._sensors[slot]
                assert sensor is not None
                if sensor.accept(reading, tick):
                    arrived.append(slot)
                elif sensor.delay_ticks:
                    self._note_arrival(slot, sensor)
        if self._delayed:
            for slot in np.flatnonzero(self._arrival[:used] <= tick).tolist():
                sensor = self._sensors[slot]
                assert sensor is not None
                if sensor.deliver(tick):
                    arrived.append(slot)
                self._note_arrival(slot, sensor)
        self._find_next(tick)
        if len(arrived) > 1:
            arrived = np.array(arrived)[np.argsort(self._order[arrived])].tolist()
        return [self._sensors[slot] for slot in arrived]  # type: ignore[misc]

    def _take(self, tick: int) -> dict[SensorBatch, list[int]]:
        """Return the slots of the active sensors that are due, by batch, and schedule all anew."""
        due = np.flatnonzero(self._due[: len(self._sensors)] <= tick)
        self._due[due] = tick + self._period[due]
        work: dict[SensorBatch, list[int]] = {}
        for slot, active in zip(due.tolist(), self._active[due].tolist(), strict=True):
            sensor = self._sensors[slot]
            assert sensor is not None
            sensor.data.due_tick = tick + sensor.period_ticks
            if active and sensor.is_whole(tick):
                work.setdefault(self._batch_of[slot], []).append(slot)
        return work

    # ------------------------------------------------------------ internal
    def _new_slot(self) -> int:
        if self._free:
            return self._free.pop()
        slot = len(self._sensors)
        self._sensors.append(None)
        self._batch_of.append(_NO_BATCH)
        self._place.append(-1)
        if slot == len(self._due):
            for name in ("_due", "_arrival", "_period", "_order", "_active"):
                old: IntArray = getattr(self, name)
                grown = np.full(2 * len(old), NEVER)
                grown[: len(old)] = old
                setattr(self, name, grown)
        return slot

    def _schedule(self, slot: int, tick: int) -> None:
        sensor = self._sensors[slot]
        assert sensor is not None
        due = sensor.data.due_tick
        if due is None or not tick < due <= tick + sensor.period_ticks:
            sensor.start(tick)
        self._due[slot] = sensor.data.due_tick
        self._note_arrival(slot, sensor)
        soonest = min(int(self._due[slot]), int(self._arrival[slot]))
        self.next_tick = min(self.next_tick, tick + 1 if self._sweeping else soonest)

    def _note_arrival(self, slot: int, sensor: Sensor[Any]) -> None:
        arrival = sensor.arrival_tick
        self._arrival[slot] = NEVER if arrival is None else arrival

    def _set_sweeping(self, slot: int, sweeping: bool) -> None:
        batch, sensor = self._batch_of[slot], self._sensors[slot]
        if sweeping and sensor is not None:
            self._sweeping.setdefault(batch, {})[self._place[slot]] = sensor
        elif batch in self._sweeping:
            self._sweeping[batch].pop(self._place[slot], None)
            if not self._sweeping[batch]:
                del self._sweeping[batch]

    def _find_next(self, tick: int) -> None:
        if self._sweeping:
            self.next_tick = tick + 1
            return
        used = len(self._sensors)
        self.next_tick = int(self._due[:used].min(initial=NEVER))
        if self._delayed:
            self.next_tick = min(self.next_tick, int(self._arrival[:used].min(initial=NEVER)))


_NO_BATCH = SensorBatch()
