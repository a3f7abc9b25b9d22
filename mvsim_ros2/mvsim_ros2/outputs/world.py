# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of a world, in the order that consumers need.

In each tick /clock is published first, then TF, then odometry, then the readings of sensors: a
consumer that gets a message has its time and its transform already.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.clock import ROSClock
from rclpy.node import Node
from rclpy.time import Time as RosTime
from std_msgs.msg import Header

from mvsim_core import Vehicle, World
from mvsim_core.bags.frames import sensor_frames, standalone_frames
from mvsim_core.bags.topic_names import TopicNames, VehicleTopicNames, changed, unique_tokens
from mvsim_core.bags.topics import (
    CLOCK,
    CONTACTS,
    DIAGNOSTICS,
    MAP,
    MAP_METADATA,
    RESERVED_TOPICS,
)
from mvsim_core.specs.element import ElevationMapSpec
from mvsim_core.state.clock import Cadence
from mvsim_ros2.conversions.contacts import contacts_message
from mvsim_ros2.conversions.diagnostics import NO_FAULTS, RunStatistics, diagnostics_message
from mvsim_ros2.conversions.maps import map_message, map_metadata
from mvsim_ros2.conversions.motion import transform_message
from mvsim_ros2.conversions.stamps import clock_message, stamp_of
from mvsim_ros2.outputs.publisher import TopicPublisher
from mvsim_ros2.outputs.sensors import (
    SENSOR_OUTPUTS,
    SensorOutput,
    SensorTopics,
    sensor_needed,
)
from mvsim_ros2.outputs.vehicle import VehicleOutputs
from mvsim_ros2.parameters.settings import Settings
from mvsim_ros2.simulation.stamp_clock import StampClock

#: Wall time between two looks at who subscribes to sensors [s].
DEMAND_PERIOD = 0.05
#: Highest rate of chassis markers [Hz of simulated time].
MARKER_RATE = 10.0


class WorldOutputs:
    """The publishers of a world; all methods belong to the stepping thread.

    Args:
        node: Main node.
        world: The world.
        settings: Parameters of the node.
        stamp_clock: From ticks of the world to stamps.
    """

    def __init__(
        self, node: Node, world: World, settings: Settings, stamp_clock: StampClock
    ) -> None:
        """Create the publishers; nothing is published before the first step."""
        self._stamp_clock = stamp_clock
        self._node = node
        self._world = world
        self._settings = settings
        wall_time = settings.use_wall_time
        self._clock = None if wall_time else TopicPublisher(node, CLOCK, CLOCK.name)
        self._diagnostics = TopicPublisher(node, DIAGNOSTICS, DIAGNOSTICS.name)
        self._contacts = TopicPublisher(node, CONTACTS, CONTACTS.name)
        self._maps = self._map_publishers()
        self._has_terrain = any(isinstance(e, ElevationMapSpec) for e in world.spec.elements)
        self._topic_names = VehicleTopicNames(settings, world.vehicles)
        self._vehicles: dict[str, VehicleOutputs] = {}
        self._handles: dict[str, Vehicle] = {}
        self._new_vehicles: set[str] = set()  # whose latched topics are not yet published
        self.update_vehicles({})
        self._standalone_frames = standalone_frames(
            world.standalone_sensors,
            {settings.common_frame}.union(
                *(self._vehicles[n].frames.all(v.sensors) for n, v in self._handles.items())
            ),
        )
        self._standalone = self._standalone_outputs()
        self._started = False
        self._next_demand = 0.0
        self.set_rates(settings)
        self.update_demand()
        self._warn_of_unsupported_sensors()

    def update_vehicles(self, namespaces: Mapping[str, str]) -> None:
        """Create the outputs of new vehicles and destroy those of removed ones.

        Args:
            namespaces: Requested namespaces by vehicle; "" or absent: the name.
        """
        vehicles = self._world.vehicles
        self._topic_names.drop_oldest(vehicles)
        for name, handle in list(self._handles.items()):
            if vehicles.get(name) != handle:  # removed, or another vehicle of the same name
                self._handles.pop(name)
                self._vehicles.pop(name).close()
        for name, vehicle in vehicles.items():
            if name in self._vehicles:
                continue
            names = self._topic_names.of(name, namespaces.get(name, ""))
            self._handles[name] = vehicle
            self._vehicles[name] = VehicleOutputs(
                self._node, vehicle, self._settings, names, has_terrain=self._has_terrain
            )
            self._new_vehicles.add(name)
        self._next_demand = 0.0

    def topic_names(self, namespaces: Mapping[str, str]) -> dict[str, TopicNames]:
        """Return the topic names of the present vehicles, see `update_vehicles`."""
        return {
            name: self._topic_names.of(name, namespaces.get(name, "")) for name in self._handles
        }

    def renamed(self, namespaces: Mapping[str, str]) -> dict[str, str]:
        """Return what topics call vehicles and sensors, where it is not their name.

        Args:
            namespaces: See `update_vehicles`; a namespace that was requested is no change.
        """
        tokens = {
            name: names.namespace.strip("/") or name
            for name, names in self.topic_names(namespaces).items()
            if not namespaces.get(name)
        }
        found = changed(tokens) | changed(self._standalone_tokens)
        for vehicle in self._vehicles.values():
            found |= vehicle.renamed
        return found

    def _standalone_outputs(self) -> dict[str, SensorOutput]:
        sensors = self._world.standalone_sensors
        mvsim_names, no_hit = self._settings.mvsim_topic_names, self._settings.scan_no_hit
        mounted = (unique_tokens(vehicle.sensors) for vehicle in self._world.vehicles.values())
        reserved = RESERVED_TOPICS.union(*(tokens.values() for tokens in mounted))
        self._standalone_tokens = unique_tokens(sensors, reserved)
        return {
            name: SENSOR_OUTPUTS.get(sensors[name].kind)(
                self._node,
                SensorTopics(
                    token,
                    self._standalone_frames[name],
                    no_hit=no_hit,
                    mvsim_names=mvsim_names,
                    spec=sensors[name].spec,
                    reserved=reserved,
                ),
            )
            for name, token in self._standalone_tokens.items()
            if sensors[name].kind in SENSOR_OUTPUTS
        }

    def _map_publishers(self) -> list[TopicPublisher]:
        """Return the publishers of the map and its metadata, or none."""
        settings = self._settings
        publishers = []
        for topic in (MAP, MAP_METADATA):
            names = [topic.name] if settings.publishes_map else []
            names += [topic.mvsim_name] if settings.mvsim_topic_names else []
            if names and self._world.grids:
                publishers.append(TopicPublisher(self._node, topic, names[0], names[1:]))
        return publishers

    def _warn_of_unsupported_sensors(self) -> None:
        sensors = [s for v in self._world.vehicles.values() for s in v.sensors.values()]
        kinds = {s.kind for s in (*sensors, *self._world.standalone_sensors.values())}
        for kind in sorted(kinds):
            if kind not in SENSOR_OUTPUTS:
                self._node.get_logger().warning(f"sensors of class {kind!r} are not published yet")

    def set_rates(self, settings: Settings) -> None:
        """Set the publishing rates."""
        dt = self._world.dt
        self._motion_cadence = Cadence(1.0 / settings.publish_rate, dt)
        # evenly, and at least as often as asked: timers of other nodes wait for the next message
        self._clock_ticks = max(1, int(1.0 / (settings.clock_rate * dt) + 1e-6))
        self._marker_cadence = Cadence(1.0 / MARKER_RATE, dt)

    # ---------------------------------------------------------------- each step
    def publish(self) -> None:
        """Publish what is due after a step."""
        if time.monotonic() >= self._next_demand:
            self.update_demand()
        world = self._world
        ticks, new_readings = world.ticks, world.new_readings
        vehicles = self._vehicles.values()
        for vehicle in vehicles:
            vehicle.record_collision()
        first = not self._started or bool(self._new_vehicles)
        motion = first or self._motion_cadence.is_due(ticks)
        logged = [vehicle for vehicle in vehicles if vehicle.log_subscribed]
        if not (motion or new_readings or logged or ticks % self._clock_ticks == 0):
            return
        self._stamp_clock.synchronize(ticks)
        stamp = self._publish_clock(self._stamp_clock.ns(ticks))
        if not self._started:
            self._publish_maps(stamp)
        if self._new_vehicles:
            self._publish_static(stamp)
        self._publish_tf(stamp, None if motion else new_readings)
        if motion:
            for vehicle in vehicles:
                vehicle.publish_motion(stamp)
            if self._contacts.needed:
                header = Header(stamp=stamp, frame_id=self._settings.common_frame)
                self._contacts.publish(contacts_message(world.contacts, header))
        for sensor in new_readings:
            self._publish_reading(sensor, stamp)
        for vehicle in logged:
            vehicle.publish_log()
        if self._marker_cadence.is_due(ticks):
            for vehicle in vehicles:
                vehicle.publish_markers(stamp)
                vehicle.publish_to_new_subscribers(stamp)

    def update_demand(self) -> None:
        """Let those sensors compute that have subscribers; the others cost nothing."""
        self._next_demand = time.monotonic() + DEMAND_PERIOD
        world = self._world
        for vehicle in self._vehicles.values():
            vehicle.update_demand(world)
        for name, sensor in world.standalone_sensors.items():
            world.set_sensor_active(sensor, sensor_needed(self._standalone.get(name)))

    def _publish_clock(self, nanoseconds: int) -> Time:
        """Publish /clock, set the clock of the node, and return the stamp."""
        stamp = stamp_of(nanoseconds)
        if self._clock is not None and self._clock.needed:
            self._clock.publish(clock_message(stamp))
        clock = self._node.get_clock()
        if isinstance(clock, ROSClock) and clock.ros_time_is_active:
            clock.set_ros_time_override(
                RosTime(nanoseconds=nanoseconds, clock_type=clock.clock_type)
            )
        return stamp

    def _publish_static(self, stamp: Time) -> None:
        standalone = self._world.standalone_sensors
        common = self._settings.common_frame
        transforms = [
            transform_message(common, self._standalone_frames[name] + suffix, pose, stamp)
            for name, sensor in standalone.items()
            for suffix, pose in sensor_frames(sensor).items()
        ]
        for name, vehicle in self._vehicles.items():
            if name in self._new_vehicles:
                vehicle.publish_static(stamp, transforms)
        self._new_vehicles.clear()

    def _publish_maps(self, stamp: Time) -> None:
        self._started = True
        world = self._world
        if self._maps:
            grid, metadata = self._maps
            grid.publish(map_message(world.grids[0], self._settings.common_frame, stamp))
            metadata.publish(map_metadata(world.grids[0], stamp))
        if len(world.grids) > 1:
            self._node.get_logger().warning(
                f"the world has {len(world.grids)} occupancy grids; only the first is published"
            )

    def _publish_tf(self, stamp: Time, readings: list[Any] | None) -> None:
        """Publish TF of all vehicles (None), or of those whose new readings need it."""
        if readings is None:
            for vehicle in self._vehicles.values():
                vehicle.publish_tf(stamp)
            return
        done: set[str] = set()
        for sensor in readings:
            name = sensor.parent
            if name is None or name in done or not self._vehicles[name].needs_tf(sensor):
                continue
            done.add(name)
            self._vehicles[name].publish_tf(stamp)

    def _publish_reading(self, sensor: Any, stamp: Time) -> None:
        world = self._world
        if sensor.last.tick != world.ticks:  # a delayed reading: stamped when it was measured
            if sensor.last.tick < 1:
                return  # a sweep from before the first /clock: a zero stamp means none in ROS
            stamp = stamp_of(self._stamp_clock.ns(sensor.last.tick))
        if sensor.parent is not None:
            self._vehicles[sensor.parent].publish_reading(sensor, stamp)
        elif sensor.name in self._standalone:
            self._standalone[sensor.name].publish(sensor.last, stamp)

    def publish_diagnostics(
        self,
        statistics: RunStatistics,
        faults: Mapping[str, str] = NO_FAULTS,
        renamed: Mapping[str, str] = NO_FAULTS,
    ) -> None:
        """Publish the run statistics, why entities were taken out, and changed names."""
        stamp = stamp_of(self._stamp_clock.ns(self._world.ticks))
        message = diagnostics_message(statistics, self._node.get_name(), stamp, faults, renamed)
        self._diagnostics.publish(message)

    def repeat_clock(self) -> None:
        """Publish /clock again while simulated time stands still, and see who listens.

        Also before the first step of a world that was loaded, which is stopped: its clock goes on
        from that of the world before.
        """
        self.update_demand()
        self._publish_clock(self._stamp_clock.ns(self._world.ticks))

    def close(self) -> None:
        """Destroy the publishers."""
        outputs: list[Any] = [self._diagnostics, self._contacts, *self._maps]
        if self._clock is not None:
            outputs.append(self._clock)
        for output in (*outputs, *self._vehicles.values(), *self._standalone.values()):
            output.close()
