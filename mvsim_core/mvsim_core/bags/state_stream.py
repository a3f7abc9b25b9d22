# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a replay needs besides the topics of the node: all entities, and their exact numbers.

`/mvsim/entities` (std_msgs/String, JSON) says which entities there are and which numbers follow,
`/mvsim/state` (std_msgs/Float64MultiArray) has the numbers: the tick, then all fields of one kind
of row for all entities, field by field. `/mvsim/tf` has the poses of blocks and actors that move
as transforms, for RViz and Foxglove.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from mvsim_core.bags import messages
from mvsim_core.bags.topics import Topic
from mvsim_core.bags.vehicle_stream import Sink
from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import STATIC, FloatArray, IntArray
from mvsim_core.world.world import World
from mvsim_core.xmlfile import dump_world

ENTITIES = Topic(
    "/mvsim/entities",
    "std_msgs/msg/String",
    1,
    "JSON: entities and the numbers of /mvsim/state; when they change.",
    latched=True,
    per_vehicle=False,
)
STATE = Topic(
    "/mvsim/state",
    "std_msgs/msg/Float64MultiArray",
    10,
    "Poses, velocities and wheels of all entities; publish_rate.",
    per_vehicle=False,
)
ENTITY_TF = Topic(
    "/mvsim/tf",
    "tf2_msgs/msg/TFMessage",
    10,
    "Poses of blocks and actors that move; publish_rate.",
    frame="map → name",
    per_vehicle=False,
)
#: Poses of things that never move by themselves are said once.
POSE_FIELDS = ("x", "y", "z", "roll", "pitch", "yaw")
BODY_FIELDS = (
    *POSE_FIELDS,
    *("vx", "vy", "wz", "roll_rate", "pitch_rate", "impulse_x", "impulse_y", "touching"),
)
WHEEL_FIELDS = ("phi", "omega", "yaw", "torque", "fx", "fy", "load")
VEHICLE_FIELDS = (
    *("odo_x", "odo_y", "odo_yaw", "odo_vx", "odo_vy", "odo_wz", "steer", "vx", "vy", "wz"),
)


class StateStream:
    """The state of all entities.

    Args:
        world: The world.
        sink: Takes the messages.
        frame: Frame of the world.
        sensor_topics: Returns the topics of each sensor.
    """

    def __init__(
        self,
        world: World,
        sink: Sink,
        frame: str,
        sensor_topics: Callable[[], dict[str, dict[str, str]]],
    ) -> None:
        """Prepare the topics."""
        self._world = world
        self._sink = sink
        self._frame = frame
        self._sensor_topics = sensor_topics
        self._entities = sink.channel(ENTITIES, ENTITIES.name)
        self._state = sink.channel(STATE, STATE.name)
        self._tf = -1
        self._of_file = {id(model.spec) for model in world.model.entities}
        self.renew()

    def renew(self) -> None:
        """Look at the entities again."""
        data = self._world.data
        kinds = data.bodies["kind"]
        entities = list(data.entities.values())
        moving = [entity for entity in entities if kinds[entity.row] != STATIC]
        self._fixed = [entity for entity in entities if kinds[entity.row] == STATIC]
        vehicles = [entity for entity in moving if entity.kind == "vehicle"]
        self._moving = moving
        self._bodies = _rows(entity.row for entity in moving)
        self._fixed_rows = _rows(entity.row for entity in self._fixed)
        self._vehicles = _rows(entity.vehicle_row for entity in vehicles)
        self._wheels = _rows(
            row
            for entity in vehicles
            for row in range(entity.wheel0, entity.wheel0 + entity.n_wheels)
        )
        self._others = [entity for entity in moving if entity.kind != "vehicle"]
        if self._others and self._tf < 0:
            self._tf = self._sink.channel(ENTITY_TF, ENTITY_TF.name)
        self._places: FloatArray | None = None

    def publish(self, ns: int) -> None:
        """Write the present state."""
        data = self._world.data
        places = _columns(data.bodies, self._fixed_rows, POSE_FIELDS)
        if self._places is None or not np.array_equal(places, self._places):
            self._places = places
            if self._entities >= 0:
                self._sink.write(self._entities, messages.text(self._description()), ns)
        if self._state >= 0:
            parts = (
                np.array([float(data.ticks)]),
                _columns(data.bodies, self._bodies, BODY_FIELDS),
                _columns(data.vehicles, self._vehicles, VEHICLE_FIELDS),
                _columns(data.wheels, self._wheels, WHEEL_FIELDS),
            )
            self._sink.write(self._state, messages.numbers(np.concatenate(parts)), ns)
        if self._tf >= 0 and self._others:
            bodies = data.bodies
            content = [
                (self._frame, e.name, Pose(*(float(bodies[k][e.row]) for k in POSE_FIELDS)))
                for e in self._others
            ]
            self._sink.write(self._tf, messages.transforms(content, ns), ns)

    def _description(self) -> str:
        assert self._places is not None
        places = self._places.reshape(len(POSE_FIELDS), -1).T.tolist()
        content: dict[str, Any] = {
            "fields": {"body": BODY_FIELDS, "vehicle": VEHICLE_FIELDS, "wheel": WHEEL_FIELDS},
            "moving": [[e.name, e.kind, e.n_wheels] for e in self._moving],
            "fixed": {e.name: place for e, place in zip(self._fixed, places, strict=True)},
            "sensors": self._sensor_topics(),
            "added": {
                entity.name: dump_world(WorldSpec(vehicles=(entity.spec,)))
                for entity in self._moving
                if isinstance(entity.spec, VehicleSpec) and id(entity.spec) not in self._of_file
            },
        }
        return json.dumps(content)


def _rows(rows: Any) -> IntArray:
    return np.array(list(rows), np.int64)


def _columns(array: Any, rows: IntArray, fields: tuple[str, ...]) -> FloatArray:
    """Return the fields of some rows one after the other."""
    if not len(rows):
        return np.zeros(0)
    return np.concatenate([array[field][rows].astype(np.float64) for field in fields])
