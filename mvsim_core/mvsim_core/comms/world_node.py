# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A world as a node of the message bus: it publishes what its file names, and offers services.

All methods but those of the services belong to the thread that steps the world. A step only
leaves readings for the thread of the sockets, where messages are made of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from mvsim_core.comms import messages
from mvsim_core.comms.client import Client
from mvsim_core.comms.conversions import (
    OBSERVATIONS,
    lidar_message,
    observation_message,
    odometry_message,
    relative_pose,
    stamped_pose,
)
from mvsim_core.comms.publishing import QUEUE, Publication
from mvsim_core.errors import CommsError
from mvsim_core.state.clock import Cadence
from mvsim_core.world.world import World

#: Name of the node.
WORLD_NODE = "World"
#: Appended to the topic of a 2D lidar for its ObservationLidar2D.
SCAN_SUFFIX = "_scan"
#: Classes of sensors with large readings, of which few may wait for a reader.
LARGE = ("camera", "rgbd_camera", "stereo_camera", "lidar3d")
LARGE_QUEUE = 4


class _Topic:
    """A topic of the world, with its publication as soon as the server knows it."""

    def __init__(self, message_type: Any, queue: int) -> None:
        self.message_type = message_type
        self.queue = queue
        self.publication: Publication | None = None

    @property
    def readers(self) -> int:
        """Number of readers."""
        return 0 if self.publication is None else self.publication.readers

    def publish(self, make: Callable[[], Any]) -> None:
        """Publish what a function returns, once the thread of the sockets is woken."""
        if self.publication is not None:
            self.publication.publish(make, wake=False)


class _SensorTopics:
    """The topics of one sensor."""

    def __init__(self, source: str, generic: _Topic, scan: _Topic | None) -> None:
        self.source = source
        self.generic = generic
        self.scan = scan

    @property
    def wanted(self) -> bool:
        """Whether there are readers."""
        return bool(self.generic.readers or (self.scan is not None and self.scan.readers))

    def publish(self, sensor: Any, stamp: float) -> None:
        """Publish the newest reading of the sensor."""
        reading = sensor.last
        if self.generic.readers:
            make = partial(observation_message, sensor, self.source, reading, stamp)
            self.generic.publish(make)
        if self.scan is not None and self.scan.readers:
            self.scan.publish(partial(lidar_message, sensor, self.source, reading, stamp))


class _EntityTopics:
    """The topics of an entity: pose, poses of others relative to it, odometry."""

    def __init__(self, name: str, spec: Any, dt: float, publications: dict[str, Any]) -> None:
        self.name = name
        self.others: tuple[str, ...] = spec.publish_relative_pose_objects
        self.cadence = Cadence(spec.publish_pose_period, dt)
        self.pose = publications.get(spec.publish_pose_topic)
        self.relative = publications.get(spec.publish_relative_pose_topic)
        self.odometry = publications.get(spec.publish_odometry_topic)

    def publish(self, world: World, stamp: float) -> None:
        """Publish what is there to be published now."""
        entities = world.data.entities
        if self.name not in entities:
            return
        own = _handle(world, self.name)
        if self.pose is not None and self.pose.readers:
            self.pose.publish(partial(stamped_pose, self.name, own.pose, stamp))
        if self.relative is not None and self.relative.readers:
            for other in self.others:
                if other in entities:
                    pose = _handle(world, other).pose
                    self.relative.publish(
                        partial(_relative, other, pose, self.name, own.pose, stamp)
                    )
        if self.odometry is not None and self.odometry.readers:
            self.odometry.publish(partial(odometry_message, self.name, own.odometry, stamp))


def _relative(other: str, pose: Any, own: str, own_pose: Any, stamp: float) -> Any:
    return stamped_pose(other, relative_pose(pose, own_pose), stamp, own)


class WorldNode:
    """Publishes a world on the bus.

    Args:
        client: The node, connected.
        world: The world; None: none yet.
        on_demand: Whether sensors without readers compute nothing.

    Attributes:
        problems: Topics that cannot be published, each as a sentence.
    """

    def __init__(
        self, client: Client, world: World | None = None, *, on_demand: bool = False
    ) -> None:
        """Advertise the topics of the world."""
        self.problems: list[str] = []
        self._client = client
        self._on_demand = on_demand
        self._topics: dict[str, _Topic] = {}  # never withdrawn
        self._start = time.time()
        # The server is asked in this thread, so that no step waits for it.
        self._registrar = ThreadPoolExecutor(1, "mvsim-topics")
        self.set_world(world)
        self._registrar.submit(bool).result()  # after all topics of the world

    def close(self) -> None:
        """End the advertising of topics; the client is closed elsewhere."""
        self._registrar.shutdown(wait=True, cancel_futures=True)

    def set_world(self, world: World | None) -> None:
        """Publish another world, or none; topics stay advertised."""
        self._world = world
        self._sensors: dict[str, _SensorTopics] = {}
        self._entities: list[_EntityTopics] = []
        self._known: tuple[Any, ...] = ()
        self._watched: list[tuple[Any, _SensorTopics | None]] = []
        self._active: list[bool | None] = []  # what the world knows of each
        if world is not None:
            self._start = time.time() - world.time
            self._follow_entities(world)

    # ------------------------------------------------------------ each step
    def after_step(self) -> None:
        """Publish what is due after a step."""
        world = self._world
        if world is None:
            return
        if self._known != _entities_of(world):
            self._follow_entities(world)
        for sensor in world.new_readings:
            topics = self._sensors.get(sensor.full_name)
            if topics is not None and topics.wanted:
                topics.publish(sensor, self._start + sensor.last.time)
        ticks, stamp = world.ticks, self._start + world.time
        for entity in self._entities:
            if entity.cadence.is_due(ticks):
                entity.publish(world, stamp)
        if self._on_demand:
            self._activate(world)
        # Not before: making messages would keep this thread from running Python.
        self._client.send_published()

    def _activate(self, world: World) -> None:
        """Let those sensors compute that have readers."""
        for number, (sensor, topics) in enumerate(self._watched):
            wanted = topics is not None and topics.wanted
            if self._active[number] != wanted:
                self._active[number] = wanted
                world.set_sensor_active(sensor, wanted, "message bus")

    # ------------------------------------------------------------ topics
    def _follow_entities(self, world: World) -> None:
        """Advertise the topics of the present entities and sensors."""
        self._known = _entities_of(world)
        sensors = list(world.all_sensors())
        self._sensors = {}
        for sensor in sensors:
            publish = sensor.spec.publish
            topic = publish.publish_topic if publish.enabled else ""
            if topic and sensor.kind in OBSERVATIONS:
                self._add_sensor(sensor, topic)
        self._watched = [(sensor, self._sensors.get(sensor.full_name)) for sensor in sensors]
        self._active = [None] * len(sensors)  # sensors that come back are active
        self._entities = [
            _EntityTopics(name, spec, world.dt, self._entity_topics(spec))
            for name, spec in _publishing(world)
        ]

    def _add_sensor(self, sensor: Any, topic: str) -> None:
        queue = LARGE_QUEUE if sensor.kind in LARGE else QUEUE
        generic = self._advertise(topic, messages.GenericObservation, queue)
        scan = None
        if sensor.kind == "laser":
            scan = self._advertise(topic + SCAN_SUFFIX, messages.ObservationLidar2D)
        if generic is not None:
            source = sensor.parent or sensor.name
            self._sensors[sensor.full_name] = _SensorTopics(source, generic, scan)

    def _entity_topics(self, spec: Any) -> dict[str, Any]:
        types = {
            spec.publish_pose_topic: messages.TimeStampedPose,
            spec.publish_relative_pose_topic: messages.TimeStampedPose,
            spec.publish_odometry_topic: messages.GenericObservation,
        }
        return {topic: self._advertise(topic, cls) for topic, cls in types.items() if topic}

    def _advertise(self, name: str, message_type: Any, queue: int = QUEUE) -> _Topic | None:
        """Return a topic, which several entities may share; None: it has another type."""
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = _Topic(message_type, queue)
            self._registrar.submit(self._register, name, topic)
        elif topic.message_type is not message_type:
            known, other = (cls.DESCRIPTOR.name for cls in (topic.message_type, message_type))
            self.problems.append(f"topic {name!r} has type {known}, it cannot be {other} too")
            return None
        return topic

    def _register(self, name: str, topic: _Topic) -> None:
        try:
            topic.publication = self._client.advertise(name, topic.message_type, topic.queue)
        except CommsError as error:
            self.problems.append(str(error))


def _entities_of(world: World) -> tuple[Any, ...]:
    """Return what changes when entities are added, removed or restored."""
    data = world.data
    return id(data), data.added, len(data.entities)


def _publishing(world: World) -> Iterator[tuple[str, Any]]:
    """Yield name and PublishSpec of the entities that publish."""
    for name, entity in world.data.entities.items():
        spec = entity.spec.publish
        topics = spec.publish_pose_topic, spec.publish_relative_pose_topic
        if spec.enabled and any((*topics, spec.publish_odometry_topic)):
            yield name, spec


def _handle(world: World, name: str) -> Any:
    """Return the handle of an entity that exists."""
    kind = world.data.entities[name].kind
    kinds = {"vehicle": world.vehicles, "block": world.blocks, "actor": world.actors}
    return kinds[kind][name]
