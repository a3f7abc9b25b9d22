# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The commands that vehicles were given, as they took them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mvsim_core.bags import messages, topics
from mvsim_core.bags.topic_names import TopicNames
from mvsim_core.bags.vehicle_stream import Sink
from mvsim_core.geometry.poses import Twist
from mvsim_core.state.arrays import ACKERMANN, NO_COMMAND, TORQUE, TWIST, BoolArray
from mvsim_core.state.entities import Entity
from mvsim_core.world.world import World


class CommandStream:
    """The commands of all vehicles.

    They are read from the rows of the vehicles, so that it does not matter who gave them: of
    several in one step the last one, which counts. `Vehicle.stop` is written as a zero velocity
    if the last command was a velocity.

    Args:
        world: The world.
        sink: Takes the messages.
        names_of: Topic names of a vehicle.
    """

    def __init__(self, world: World, sink: Sink, names_of: Callable[[str], TopicNames]) -> None:
        """Start with the present commands."""
        self._world = world
        self._sink = sink
        self._names_of = names_of
        self._owners: dict[int, Entity] = {}  # by row of VEHICLE
        self._moves: BoolArray = np.zeros(0, bool)  # rows whose last message was a velocity
        self.follow_vehicles()

    def follow_vehicles(self) -> None:
        """Adapt to vehicles that were added or removed."""
        data = self._world.data
        before, moved = self._owners, self._moves
        entities = (entity for entity in data.entities.values() if entity.kind == "vehicle")
        self._owners = {entity.vehicle_row: entity for entity in entities}
        self._moves = np.zeros(len(data.vehicles), bool)
        for row, entity in self._owners.items():
            self._moves[row] = before.get(row) is entity and moved[row]

    def publish(self, ns: int) -> None:
        """Write the commands of the step that was made, given at a time [ns]."""
        rows, moves = self._world.data.vehicles, self._moves
        kinds = rows["cmd_kind"]
        given = (rows["cmd_tick"] == self._world.ticks - 1) & (kinds != NO_COMMAND)
        stopped = moves & (kinds == NO_COMMAND)
        for row in np.flatnonzero(given | stopped).tolist():
            if row in self._owners:
                self._publish(self._owners[row], int(kinds[row]), ns)
                moves[row] = kinds[row] == TWIST

    def _publish(self, entity: Entity, kind: int, ns: int) -> None:
        row, name = self._world.data.vehicles[entity.vehicle_row], entity.name
        if kind == NO_COMMAND:
            self._write(name, topics.CMD_VEL, messages.twist(Twist()), ns)
        elif kind == TWIST:
            twist = Twist(float(row["cmd_vx"]), float(row["cmd_vy"]), float(row["cmd_wz"]))
            self._write(name, topics.CMD_VEL, messages.twist(twist), ns)
        elif kind == ACKERMANN:
            data = messages.ackermann_drive(float(row["cmd_speed"]), float(row["cmd_steer"]), ns)
            self._write(name, topics.ACKERMANN_CMD, data, ns)
        elif kind == TORQUE:
            wheels = self._world.data.wheels["cmd_torque"]
            torques = wheels[entity.wheel0 : entity.wheel0 + entity.n_wheels]
            if self._world.vehicles[name].kind == "ackermann_drivetrain":
                torques = np.array([row["cmd_engine"]])
            if row["wheelbase"] > 0.0:
                torques = np.append(torques, row["cmd_steer"])
            self._write(name, topics.TORQUE_CMD, messages.numbers(torques), ns)

    def _write(self, name: str, topic: topics.Topic, data: bytes, ns: int) -> None:
        channel = self._sink.channel(topic, self._names_of(name).topic(topic.name))
        if channel >= 0:
            self._sink.write(channel, data, ns)
