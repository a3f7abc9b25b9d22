# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The messages of a world after each step, in the order in which the node publishes them.

/clock comes first in each tick, then TF, odometry, the readings of sensors; before them the
commands that were given since the last step. What a replay needs besides is in `state_stream`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from mvsim_core.bags import messages, topics
from mvsim_core.bags.command_stream import CommandStream
from mvsim_core.bags.frames import sensor_frames, standalone_frames
from mvsim_core.bags.motion_table import Motion, MotionTable
from mvsim_core.bags.sensor_streams import NEED_TF, SensorInfo
from mvsim_core.bags.settings import RateSettings
from mvsim_core.bags.state_stream import StateStream
from mvsim_core.bags.topic_names import VehicleTopicNames, unique_tokens
from mvsim_core.bags.topics import RESERVED_TOPICS
from mvsim_core.bags.vehicle_stream import SensorStream, Sink, Transform, VehicleStream
from mvsim_core.specs.element import ElevationMapSpec
from mvsim_core.state.arrays import BoolArray
from mvsim_core.state.clock import Cadence
from mvsim_core.world.vehicle import Vehicle
from mvsim_core.world.world import World


class WorldStream:
    """The messages of a world.

    Args:
        world: The world.
        settings: Names and rates.
        sink: Takes the messages.
        ns: From a tick of the world to a time [ns].
        derived: Whether topics are wanted whose content is in others too.
        namespaces: Returns the requested namespaces by vehicle; "" or absent: the name.
    """

    def __init__(
        self,
        world: World,
        settings: RateSettings,
        sink: Sink,
        ns: Callable[[int], int],
        *,
        derived: bool = False,
        namespaces: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        """Prepare the topics; nothing is written before the first step."""
        self._world = world
        self._settings = settings
        self._sink = sink
        self._ns = ns
        self._derived = derived
        self._namespaces = namespaces
        self._clock = sink.channel(topics.CLOCK, topics.CLOCK.name)
        self._contacts = sink.channel(topics.CONTACTS, topics.CONTACTS.name)
        self._map_channels = list(self._maps())
        self._has_terrain = any(isinstance(e, ElevationMapSpec) for e in world.spec.elements)
        self._topic_names = VehicleTopicNames(settings, world.vehicles)
        self._vehicles: dict[str, VehicleStream] = {}
        self._handles: dict[str, Vehicle] = {}
        self._new: set[str] = set()
        self._started = False
        self._touching: list[str] = []  # names of vehicles, with rows and past contacts
        self._touched: BoolArray = np.zeros(0, bool)
        self._known: tuple[Any, ...] = ()
        self._follow_vehicles()
        taken = {settings.common_frame}.union(
            *(self._vehicles[n].frames.all(v.sensors) for n, v in self._handles.items())
        )
        self._frames = standalone_frames(world.standalone_sensors, taken)
        self._standalone = self._standalone_streams()
        self._commands = CommandStream(world, sink, self._names_of)
        self._state = StateStream(world, sink, settings.common_frame, self.sensor_topics)
        dt = world.dt
        self._motion_cadence = Cadence(1.0 / settings.publish_rate, dt)
        self._clock_ticks = max(1, int(1.0 / (settings.clock_rate * dt) + 1e-6))

    def sensors(self) -> Iterator[Any]:
        """Yield the sensors whose readings are written."""
        for name, vehicle in self._handles.items():
            stream = self._vehicles[name]
            yield from (sensor for sensor in vehicle.sensors.values() if stream.wants(sensor))
        for name, sensor in self._world.standalone_sensors.items():
            if self._standalone[name].wanted:
                yield sensor

    def sensor_topics(self) -> dict[str, dict[str, str]]:
        """Return the topics of each sensor that are written, by their names in `topics`."""
        found = {}
        for name, vehicle in self._handles.items():
            for sensor in vehicle.sensors.values():
                found[sensor.full_name] = self._vehicles[name].topics_of(sensor)
        for name, stream in self._standalone.items():
            found[name] = stream.topics
        return found

    def _names_of(self, vehicle: str) -> Any:
        return self._topic_names.of(vehicle, self._namespaces().get(vehicle, ""))

    def _maps(self) -> Iterator[int]:
        settings = self._settings
        for topic in (topics.MAP, topics.MAP_METADATA):
            names = [topic.name] if settings.publishes_map else []
            names += [topic.mvsim_name] if settings.mvsim_topic_names else []
            if names and self._world.grids:
                yield self._sink.channel(topic, names[0])

    def follow_vehicles(self) -> bool:
        """Adapt to entities that were added, removed or restored; return whether any was."""
        data = self._world.data
        known = id(data), data.added, len(data.entities)
        if known == self._known:
            return False
        self._follow_vehicles()
        self._commands.follow_vehicles()
        self._state.renew()
        return True

    def _follow_vehicles(self) -> None:
        data = self._world.data
        self._known = id(data), data.added, len(data.entities)
        vehicles = self._world.vehicles
        self._topic_names.drop_oldest(vehicles)
        for name, handle in list(self._handles.items()):
            if vehicles.get(name) != handle:
                del self._handles[name], self._vehicles[name]
        for name, vehicle in vehicles.items():
            if name not in self._vehicles:
                self._handles[name] = vehicle
                self._vehicles[name] = VehicleStream(
                    vehicle,
                    self._settings,
                    self._names_of(name),
                    self._sink,
                    has_terrain=self._has_terrain,
                    derived=self._derived,
                )
                self._new.add(name)
        before = dict(zip(self._touching, self._touched.tolist(), strict=True))
        self._touching = list(self._vehicles)
        self._touched = np.array([before.get(name, False) for name in self._touching], bool)
        entities = [data.entities[name] for name in self._touching]
        self._rows = np.array([entity.row for entity in entities], np.int64)
        self._motions = MotionTable(entities)
        self._places = {name: k for k, name in enumerate(self._touching)}

    def _standalone_streams(self) -> dict[str, SensorStream]:
        sensors = self._world.standalone_sensors
        mounted = (unique_tokens(vehicle.sensors) for vehicle in self._world.vehicles.values())
        reserved = RESERVED_TOPICS.union(*(tokens.values() for tokens in mounted))
        no_hit = self._settings.scan_no_hit
        return {
            name: SensorStream(
                SensorInfo(token, self._frames[name], sensors[name].spec, no_hit=no_hit),
                sensors[name].kind,
                self._sink,
                derived=self._derived,
            )
            for name, token in unique_tokens(sensors, reserved).items()
        }

    # ---------------------------------------------------------------- each step
    def after_step(self) -> None:
        """Write what is due after a step."""
        world = self._world
        ticks, readings = world.ticks, world.new_readings
        self._commands.publish(self._ns(ticks - 1))
        self._touched |= world.data.bodies["touching"][self._rows] != 0
        motion = not self._started or bool(self._new) or self._motion_cadence.is_due(ticks)
        if not (motion or readings or ticks % self._clock_ticks == 0):
            return
        ns = self._ns(ticks)
        if self._clock >= 0:
            self._sink.write(self._clock, messages.clock(ns), ns)
        if not self._started:
            self._publish_maps(ns)
        if self._new:
            self._publish_static(ns)
        motions = self._motions.read(world.data) if motion or self._need_tf(readings) else []
        self._publish_tf(ns, motions, None if motion else readings)
        if motion:
            touched = self._touched.tolist()
            for vehicle, moving, hit in zip(
                self._vehicles.values(), motions, touched, strict=True
            ):
                vehicle.publish_motion(moving, ns, hit)
            self._touched[:] = False
            if self._contacts >= 0:
                frame = self._settings.common_frame
                content = messages.contacts(world.contacts, frame, ns)
                self._sink.write(self._contacts, content, ns)
            self._state.publish(ns)
        for sensor in readings:
            self._publish_reading(sensor, ns)

    def _publish_static(self, ns: int) -> None:
        common = self._settings.common_frame
        found: list[Transform] = [
            (common, self._frames[name] + suffix, pose)
            for name, sensor in self._world.standalone_sensors.items()
            for suffix, pose in sensor_frames(sensor).items()
        ]
        for name in self._vehicles:  # in the order of the world file
            if name in self._new:
                self._vehicles[name].publish_static(ns, found)
        self._new.clear()

    def _publish_maps(self, ns: int) -> None:
        self._started = True
        if self._map_channels:
            grid = self._world.grids[0]
            frame = self._settings.common_frame
            content = messages.occupancy_grid(grid, frame, ns), messages.map_metadata(grid, ns)
            for channel, data in zip(self._map_channels, content, strict=True):
                if channel >= 0:
                    self._sink.write(channel, data, ns)

    def _need_tf(self, readings: list[Any]) -> bool:
        return any(sensor.kind in NEED_TF and sensor.parent is not None for sensor in readings)

    def _publish_tf(self, ns: int, motions: list[Motion], readings: list[Any] | None) -> None:
        """Write TF of all vehicles (None), or of those whose new readings need it."""
        if readings is None:
            for vehicle, moving in zip(self._vehicles.values(), motions, strict=True):
                vehicle.publish_tf(moving, ns)
            return
        done: set[str] = set()
        for sensor in readings:
            name = sensor.parent
            if name is None or name in done or sensor.kind not in NEED_TF:
                continue
            done.add(name)
            self._vehicles[name].publish_tf(motions[self._places[name]], ns)

    def _publish_reading(self, sensor: Any, now: int) -> None:
        ns = now
        if sensor.last.tick != self._world.ticks:  # a delayed one: stamped when it was measured
            if sensor.last.tick < 1:
                return  # a zero stamp means none in ROS
            ns = self._ns(sensor.last.tick)
        if sensor.parent is not None:
            self._vehicles[sensor.parent].publish_reading(sensor, ns, now)
        elif sensor.name in self._standalone:
            self._standalone[sensor.name].publish(sensor.last, ns, now)
