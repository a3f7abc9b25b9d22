# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes what a recording says into a loaded world."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_core.bags.readings import DECODERS
from mvsim_core.bags.state_stream import ENTITIES, POSE_FIELDS, STATE
from mvsim_core.errors import LogError
from mvsim_core.state.arrays import FloatArray, IntArray
from mvsim_core.world.world import World
from mvsim_core.xmlfile import read_world

if TYPE_CHECKING:
    from mvsim_core.bags.recording import Message, Recording


class Replay:
    """One world that follows one recording.

    Args:
        recording: The recording.
        world: The world; its state now is the one in which entities of the file are found.

    Raises:
        LogError: The recording has no states.
    """

    def __init__(self, recording: Recording, world: World) -> None:
        """Keep the initial state of the world."""
        for topic in (ENTITIES, STATE):
            if topic.name not in recording.topics:
                raise LogError(f"{recording.path} has no topic {topic.name}: nothing to replay")
        self._recording = recording
        self.world = world
        self._initial = world.state()
        self._known = ""  # text of the entities that the world has now
        self._content: dict[str, Any] = {}
        self._topics: dict[str, dict[str, str]] = {}  # of each sensor, as far as recorded
        self._shown: dict[str, int] = {}  # times of the readings by sensor [ns]

    def seek(self, time: float) -> None:
        """Put the world into the state of a time [s]."""
        entities = self._newest(ENTITIES.name, time)
        state = self._newest(STATE.name, time)
        if entities.content.data != self._known:
            self._set_entities(entities.content.data)
        self._set_state(state.content.data)
        self._set_readings(time, state)

    def _newest(self, topic: str, time: float) -> Message:
        found = self._recording.at(topic, time) or self._recording.first(topic)
        if found is None:
            raise LogError(f"{self._recording.path} has no message on {topic}")
        return found

    # ------------------------------------------------------------ entities
    def _set_entities(self, text: str) -> None:
        """Let the world have the entities of a description."""
        world, content = self.world, json.loads(text)
        names = [name for name, _, _ in content["moving"]] + list(content["fixed"])
        added = content["added"]
        if set(names) - set(world.data.entities) - set(added):
            world.restore(self._initial)  # entities that were removed are back
        for name in set(world.data.entities) - set(names):
            world.remove(name)
        for name in names:
            if name not in world.data.entities:
                if name not in added:
                    raise LogError(f"the world has no {name!r}: it is not that of the recording")
                spec, _ = read_world(text=added[name])
                world.add_vehicle(spec.vehicles[0], name=name)
        self._known, self._content, self._shown = text, content, {}
        known = self._recording.topics
        self._topics = {
            sensor: {key: name for key, name in topics.items() if name in known}
            for sensor, topics in content["sensors"].items()
        }
        self._find_rows()
        bodies = world.data.bodies
        for name, place in content["fixed"].items():
            for field, value in zip(POSE_FIELDS, place, strict=True):
                bodies[field][world.data.entities[name].row] = value

    def _find_rows(self) -> None:
        entities = self.world.data.entities
        moving = [(entities[name], kind, n) for name, kind, n in self._content["moving"]]
        for entity, kind, wheels in moving:
            if entity.kind != kind or entity.n_wheels != wheels:
                raise LogError(f"{entity.name!r} is another one than in the recording")
        vehicles = [entity for entity, kind, _ in moving if kind == "vehicle"]
        self._bodies = _rows(entity.row for entity, _, _ in moving)
        self._vehicles = _rows(entity.vehicle_row for entity in vehicles)
        self._wheels = _rows(
            row
            for entity in vehicles
            for row in range(entity.wheel0, entity.wheel0 + entity.n_wheels)
        )

    # ------------------------------------------------------------ numbers
    def _set_state(self, numbers: FloatArray) -> None:
        data, fields = self.world.data, self._content["fields"]
        rows = (self._bodies, self._vehicles, self._wheels)
        expected = 1 + sum(
            len(fields[kind]) * len(of)
            for kind, of in zip(("body", "vehicle", "wheel"), rows, strict=True)
        )
        if len(numbers) != expected:
            raise LogError(f"{STATE.name} has {len(numbers)} numbers, expected {expected}")
        data.clock[0] = int(numbers[0])
        position = 1
        for table, kind, of in zip(
            (data.bodies, data.vehicles, data.wheels),
            ("body", "vehicle", "wheel"),
            rows,
            strict=True,
        ):
            for field in fields[kind]:
                table[field][of] = numbers[position : position + len(of)]
                position += len(of)

    # ------------------------------------------------------------ readings
    def _set_readings(self, time: float, state: Message) -> None:
        world, recording = self.world, self._recording
        world.new_readings = []
        for sensor in world.all_sensors():
            names = self._topics.get(sensor.full_name)
            if not names or sensor.kind not in DECODERS:
                continue
            found = {key: recording.raw_at(name, time) for key, name in names.items()}
            raw = {key: message for key, message in found.items() if message is not None}
            newest = max((message.ns for message in raw.values()), default=-1)
            if self._shown.get(sensor.full_name) == newest:
                continue
            self._shown[sensor.full_name] = newest
            messages = {key: recording.decode(message) for key, message in raw.items()}
            sensor.data.last = self._reading(sensor, messages, state) if messages else None
            world.new_readings.append(sensor)

    def _reading(self, sensor: Any, messages: dict[str, Message], state: Message) -> Any:
        contents = {key: message.content for key, message in messages.items()}
        newest = max(messages.values(), key=lambda message: message.time)
        dt, now = self.world.dt, self.world.ticks
        stamps = [c.header.stamp for c in contents.values() if hasattr(c, "header")]
        at = newest.time + self._recording.start
        if stamps:
            at = max(stamp.sec + 1e-9 * stamp.nanosec for stamp in stamps)
        tick = now + round((at - self._recording.start - state.time) / dt)
        try:
            return DECODERS[sensor.kind](sensor, contents, tick, tick * dt)
        except KeyError:
            return None  # topics of the sensor were left out


def _rows(rows: Any) -> IntArray:
    return np.array(list(rows), np.int64)
