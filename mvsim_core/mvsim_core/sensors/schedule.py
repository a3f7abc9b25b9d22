# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which sensors measure in which tick. Time is counted in ticks here, never in seconds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from mvsim_core.sensors.base import Bank, Sensor
from mvsim_core.state.arrays import Rows

#: A tick that never comes.
NEVER = int(np.iinfo(np.int64).max)


class Schedule:
    """The due times of all sensors of a world.

    A sensor measures first one period after it was scheduled, then once a period.

    Attributes:
        next_tick: The next tick in which something is to be done; before it, do not call.
    """

    def __init__(self, sensors: Sequence[Sensor[Any]], dt: float) -> None:
        """Schedule sensors from tick 0; their order is the order of readings of one tick.

        Args:
            sensors: All sensors of the world.
            dt: Length of a tick [s].
        """
        self.dt = dt
        self.sensors = list(sensors)
        self._periods = np.array([s.period_ticks for s in self.sensors], dtype=np.int64)
        self._due = self._periods.copy()
        self._delayed = [i for i, s in enumerate(self.sensors) if s.delay_ticks]
        self._sweeping = [s for s in self.sensors if s.sweeps]
        self._now = 0
        self._banks, self._places = _group(self.sensors)
        self.next_tick = NEVER
        self._find_next()

    def restart(self, tick: int) -> None:
        """Go on from ``tick``: sensors that were scheduled before keep their phase.

        New ones, and all whose due time makes no sense at that tick, begin a period.
        """
        for i, sensor in enumerate(self.sensors):
            latest = tick + sensor.period_ticks
            if sensor.due_tick is None or not tick < sensor.due_tick <= latest:
                sensor.due_tick = latest
            self._due[i] = sensor.due_tick
        self._now = tick
        self._find_next()

    def warm(self, bodies: Rows) -> None:
        """Compile and lay out all that the first readings need; nothing is measured."""
        for bank in self._banks:
            bank.measure([], bodies, 0, 0.0)
        for sensor in self.sensors:
            sensor.warm(bodies)

    def pop_due(self, tick: int) -> list[Sensor[Any]]:
        """Return the sensors that have to measure now, and schedule them anew."""
        return [self.sensors[i] for i in self._take(tick)]

    def sample(self, bodies: Rows, tick: int, time: float) -> list[Sensor[Any]]:
        """Let all due sensors measure; return those that have a new reading.

        Args:
            bodies: BODY, all rows.
            tick: The tick now.
            time: The same in s.
        """
        self._now = tick
        for sensor in self._sweeping:
            sensor.sweep(bodies, tick)
        work: dict[int, list[int]] = {}
        fresh: list[int] = []
        for i in self._take(tick):
            work.setdefault(self._places[i][0], []).append(i)
        for number, members in work.items():
            places = [self._places[i][1] for i in members]
            readings = self._banks[number].measure(places, bodies, tick, time)
            for i, reading in zip(members, readings, strict=True):
                if self.sensors[i].accept(reading, tick):
                    fresh.append(i)
        if self._delayed:
            fresh += [i for i in self._delayed if self.sensors[i].deliver(tick)]
            self._find_next()
        if len(work) > 1 or self._delayed:
            fresh.sort()
        return [self.sensors[i] for i in fresh]

    def _take(self, tick: int) -> list[int]:
        due: list[int] = np.flatnonzero(self._due <= tick).tolist()
        for i in due:
            sensor = self.sensors[i]
            sensor.due_tick = tick + sensor.period_ticks
            self._due[i] = sensor.due_tick
        self._find_next()
        return due

    def _find_next(self) -> None:
        if self._sweeping:
            self.next_tick = self._now + 1
            return
        self.next_tick = int(self._due.min()) if len(self._due) else NEVER
        for i in self._delayed:
            arrival = self.sensors[i].arrival_tick
            if arrival is not None:
                self.next_tick = min(self.next_tick, arrival)


def _group(sensors: list[Sensor[Any]]) -> tuple[list[Bank], list[tuple[int, int]]]:
    """Return banks of sensors that measure together, and each sensor's bank and place in it."""
    members: dict[Hashable, list[Sensor[Any]]] = {}
    for i, sensor in enumerate(sensors):
        key = sensor.bank_key()
        members.setdefault(("alone", i) if key is None else ("bank", key), []).append(sensor)
    banks = [group[0].bank(group) for group in members.values()]
    place = {
        id(sensor): (number, k)
        for number, group in enumerate(members.values())
        for k, sensor in enumerate(group)
    }
    return banks, [place[id(sensor)] for sensor in sensors]
