# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""All that a world publishes, in the right order.

In each tick /clock comes first, then TF, then odometry, then the readings of sensors: whoever gets
a message finds its time and its place already there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.clock import ROSClock
from rclpy.node import Node
from rclpy.time import Time as RosTime
from std_msgs.msg import Header

from mvsim_core import Vehicle, World
from mvsim_core.specs.element import ElevationMapSpec
from mvsim_ros2.command_inputs import Listener
from mvsim_ros2.control.timeline import Timeline
from mvsim_ros2.conversions.diagnostics import Pace, pace_message
from mvsim_ros2.conversions.maps import map_message, map_metadata
from mvsim_ros2.conversions.motion import transform_message
from mvsim_ros2.conversions.stamps import clock_message, stamp_of
from mvsim_ros2.conversions.wheels import contacts_message
from mvsim_ros2.frames import free_frames, sensor_frames, unique_tokens
from mvsim_ros2.output import Output
from mvsim_ros2.parameters import Settings
from mvsim_ros2.roster import Roster
from mvsim_ros2.sensor_outputs import SENSOR_OUTPUTS, Place, SensorOutput
from mvsim_ros2.topics import CLOCK, CONTACTS, DIAGNOSTICS, MAP, MAP_METADATA, VEHICLE_TOPICS
from mvsim_ros2.vehicle_outputs import VehicleOutputs

#: Greatest rate of chassis markers [Hz of simulated time].
MARKER_RATE = 10.0


class WorldOutputs:
    """The publishers of a world; all methods belong to the stepping thread.

    Args:
        node: The main node.
        world: What is published.
        settings: Parameters of the node.
        timeline: From ticks to the time that is told.
    """

    def __init__(self, node: Node, world: World, settings: Settings, timeline: Timeline) -> None:
        """Create the publishers; nothing is sent before the first step."""
        self._timeline = timeline
        self._node = node
        self._world = world
        self._settings = settings
        self._clock = None if settings.use_wall_time else Output(node, CLOCK, CLOCK.name)
        self._diagnostics = Output(node, DIAGNOSTICS, DIAGNOSTICS.name)
        self._contacts = Output(node, CONTACTS, CONTACTS.name)
        self._maps = self._map_outputs()
        self._uneven = any(isinstance(e, ElevationMapSpec) for e in world.spec.elements)
        self._roster = Roster(settings, world.vehicles)
        self._vehicles: dict[str, VehicleOutputs] = {}
        self._handles: dict[str, Vehicle] = {}
        self._strangers: set[str] = set()  # what does not change was not yet told of them
        self.follow({})
        self._fixed_frames = free_frames(
            world.standalone_sensors,
            {settings.common_frame}.union(
                *(self._vehicles[n].frames.all(v.sensors) for n, v in self._handles.items())
            ),
        )
        self._fixed = self._fixed_outputs()
        self._started = False
        self.set_rates(settings)
        self._report_silent_sensors()

    def follow(self, namespaces: Mapping[str, str]) -> None:
        """Give new vehicles their topics, and take those of vehicles that are gone away.

        Args:
            namespaces: Those that vehicles want; "" or nothing: their name.
        """
        vehicles = self._world.vehicles
        for name, handle in list(self._handles.items()):
            if vehicles.get(name) is not handle:
                self._handles.pop(name)
                self._vehicles.pop(name).close()
        for name, vehicle in vehicles.items():
            if name in self._vehicles:
                continue
            names = self._roster.names(name, namespaces.get(name, ""))
            self._handles[name] = vehicle
            self._vehicles[name] = VehicleOutputs(
                self._node, vehicle, self._settings, names, uneven=self._uneven
            )
            self._strangers.add(name)

    def listeners(self, namespaces: Mapping[str, str]) -> dict[str, Listener]:
        """Return who takes commands now, and where."""
        return {
            name: Listener(
                self._roster.names(name, namespaces.get(name, "")), "ackermann" in vehicle.accepts
            )
            for name, vehicle in self._handles.items()
        }

    def _fixed_outputs(self) -> dict[str, SensorOutput]:
        sensors = self._world.standalone_sensors
        old_names, no_hit = self._settings.mvsim_topic_names, self._settings.scan_no_hit
        carried = (unique_tokens(vehicle.sensors) for vehicle in self._world.vehicles.values())
        taken = VEHICLE_TOPICS.union(*(tokens.values() for tokens in carried))
        return {
            name: SENSOR_OUTPUTS.get(sensors[name].kind)(
                self._node,
                Place(
                    token,
                    self._fixed_frames[name],
                    no_hit=no_hit,
                    mvsim_names=old_names,
                    taken=taken,
                ),
            )
            for name, token in unique_tokens(sensors, taken).items()
            if sensors[name].kind in SENSOR_OUTPUTS
        }

    def _map_outputs(self) -> list[Output]:
        """Return the outputs of the map and its metadata, or none."""
        settings = self._settings
        outputs = []
        for topic in (MAP, MAP_METADATA):
            names = [topic.name] if settings.sends_map else []
            names += [topic.mvsim_name] if settings.mvsim_topic_names else []
            if names and self._world.grids:
                outputs.append(Output(self._node, topic, names[0], names[1:]))
        return outputs

    def _report_silent_sensors(self) -> None:
        sensors = [s for v in self._world.vehicles.values() for s in v.sensors.values()]
        kinds = {s.kind for s in (*sensors, *self._world.standalone_sensors.values())}
        for kind in sorted(kinds):
            if kind not in SENSOR_OUTPUTS:
                self._node.get_logger().warning(f"sensors of class {kind!r} are not published yet")

    def set_rates(self, settings: Settings) -> None:
        """Take over the rates of the settings."""
        dt = self._world.dt
        self._motion_ticks = max(1, round(1.0 / (settings.publish_rate * dt)))
        self._clock_ticks = max(1, int(1.0 / (settings.clock_rate * dt) + 1e-6))
        self._marker_ticks = max(1, round(1.0 / (MARKER_RATE * dt)))

    # ---------------------------------------------------------------- each step
    def publish(self) -> None:
        """Send what is due after a step."""
        world = self._world
        ticks, fresh = world.ticks, world.fresh
        vehicles = self._vehicles.values()
        for vehicle in vehicles:
            vehicle.watch()
        motion = ticks % self._motion_ticks == 0 or not self._started or bool(self._strangers)
        logged = [vehicle for vehicle in vehicles if vehicle.logged]
        if not (motion or fresh or logged or ticks % self._clock_ticks == 0):
            return
        self._timeline.keep_up(ticks)
        stamp = self._tell_time(self._timeline.ns(ticks))
        if not self._started:
            self._publish_maps(stamp)
        if self._strangers:
            self._publish_static(stamp)
        self._publish_tf(stamp, motion)
        if motion:
            for vehicle in vehicles:
                vehicle.publish_motion(stamp)
            if self._contacts.wanted:
                header = Header(stamp=stamp, frame_id=self._settings.common_frame)
                self._contacts.publish(contacts_message(world.contacts, header))
        for sensor in fresh:
            self._publish_reading(sensor, stamp)
        for vehicle in logged:
            vehicle.publish_log()
        if ticks % self._marker_ticks == 0:
            for vehicle in vehicles:
                vehicle.publish_markers(stamp)
                vehicle.greet(stamp)

    def _tell_time(self, nanoseconds: int) -> Time:
        stamp = stamp_of(nanoseconds)
        if self._clock is not None and self._clock.wanted:
            self._clock.publish(clock_message(stamp))
        clock = self._node.get_clock()
        if isinstance(clock, ROSClock) and clock.ros_time_is_active:
            clock.set_ros_time_override(
                RosTime(nanoseconds=nanoseconds, clock_type=clock.clock_type)
            )
        return stamp

    def _publish_static(self, stamp: Time) -> None:
        fixed = self._world.standalone_sensors
        common = self._settings.common_frame
        places = [
            transform_message(common, self._fixed_frames[name] + suffix, pose, stamp)
            for name, sensor in fixed.items()
            for suffix, pose in sensor_frames(sensor).items()
        ]
        for name in self._strangers & self._vehicles.keys():
            self._vehicles[name].publish_static(stamp, places)
        self._strangers.clear()

    def _publish_maps(self, stamp: Time) -> None:
        self._started = True
        world = self._world
        if self._maps:
            whole, metadata = self._maps
            whole.publish(map_message(world.grids[0], self._settings.common_frame, stamp))
            metadata.publish(map_metadata(world.grids[0], stamp))
        if len(world.grids) > 1:
            self._node.get_logger().warning(
                f"the world has {len(world.grids)} occupancy grids; only the first is published"
            )

    def _publish_tf(self, stamp: Time, everything: bool) -> None:
        if everything:
            for vehicle in self._vehicles.values():
                vehicle.publish_tf(stamp)
            return
        placed: set[str] = set()
        for sensor in self._world.fresh:
            name = sensor.parent
            if name is None or name in placed or not self._vehicles[name].needs_tf(sensor):
                continue
            placed.add(name)
            self._vehicles[name].publish_tf(stamp)

    def _publish_reading(self, sensor: Any, stamp: Time) -> None:
        world = self._world
        if sensor.last.tick != world.ticks:  # it was measured earlier and arrives late
            if sensor.last.tick < 1:
                return  # a sweep from before the first /clock: time zero means no time in ROS
            stamp = stamp_of(self._timeline.ns(sensor.last.tick))
        if sensor.parent is not None:
            self._vehicles[sensor.parent].publish_reading(sensor, stamp)
        elif sensor.name in self._fixed:
            self._fixed[sensor.name].publish(sensor.last, stamp)

    def publish_pace(self, pace: Pace) -> None:
        """Send diagnostics."""
        stamp = stamp_of(self._timeline.ns(self._world.ticks))
        self._diagnostics.publish(pace_message(pace, self._node.get_name(), stamp))

    def repeat_clock(self) -> None:
        """Tell the time again while it stands still, for those who came later."""
        if self._started:
            self._tell_time(self._timeline.ns(self._world.ticks))

    def close(self) -> None:
        """Destroy the publishers."""
        outputs: list[Any] = [self._diagnostics, self._contacts, *self._maps]
        if self._clock is not None:
            outputs.append(self._clock)
        for output in (*outputs, *self._vehicles.values(), *self._fixed.values()):
            output.close()
