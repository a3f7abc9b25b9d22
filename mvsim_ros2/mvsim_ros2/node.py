# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The ROS 2 node: it joins a world, its publishers, its subscriptions and its parameters.

The thread that calls `run` steps the world and publishes; callbacks run in other threads and leave
what they want in the mailbox.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter

from mvsim_core import World
from mvsim_ros2.command_inputs import CommandInputs, Listener
from mvsim_ros2.commanding import Commanding
from mvsim_ros2.control.services import ControlServices
from mvsim_ros2.control.simulation import Simulation
from mvsim_ros2.conversions.diagnostics import Pace
from mvsim_ros2.core_messages import forward
from mvsim_ros2.mailbox import Mailbox
from mvsim_ros2.parameters import (
    PARAMETERS,
    QOS_PREFIX,
    Settings,
    SettingsError,
    changed,
    declare,
    unknown,
)
from mvsim_ros2.qos_overrides import check_overrides
from mvsim_ros2.runner import Runner
from mvsim_ros2.spinning import Spinner
from mvsim_ros2.world_outputs import WorldOutputs

#: Wall time [s] between two looks at who publishes commands.
WATCH_PERIOD = 0.5


class MvsimNode(Node):
    """The bridge between one world and ROS 2."""

    def __init__(self) -> None:
        """Create the node and read its parameters.

        Raises:
            SettingsError: A parameter has a value that cannot be used.
        """
        super().__init__("mvsim")
        self.settings: Settings = declare(self, self._parameter_overrides)
        self._mailbox = Mailbox()
        self._expired: set[str] = set()
        self._closers: list[Callable[[], None]] = []
        self._wall = Clock(clock_type=ClockType.STEADY_TIME)
        check_overrides(self._parameter_overrides)
        for sentence in unknown(self._parameter_overrides):
            self.get_logger().warning(sentence)
        if not self.settings.world_file:
            raise SettingsError("parameter 'world_file' must name a world file")

    # ----------------------------------------------------------------- a world
    def attach(self, world: World) -> None:
        """Create all that a world needs in ROS, start the callbacks, and make the first step."""
        settings = self.settings
        forward(self.get_logger())
        simulation = Simulation(
            world,
            source=settings.world_file,
            seed=settings.seed,
            paused=settings.start_paused,
            wall_time=settings.use_wall_time,
        )
        self._simulation = simulation
        self._closers.append(simulation.close)
        self._outputs: WorldOutputs | None = None
        self._runner = Runner(
            world,
            self._mailbox,
            self._publish,
            self._report,
            factor=settings.realtime_factor,
            phases=simulation.phases,
        )
        self._runner.idle = self._repeat_clock
        commands = Commanding(
            self._mailbox, self.get_logger(), angle=settings.cmd_angle_instead_rotvel
        )
        self._inputs = CommandInputs(
            self, settings.enable_stamped_cmd_vel, commands.twist, commands.ackermann
        )
        self._closers.append(self._inputs.close)
        self._take_world()
        simulation.on_world = self._take_world
        simulation.on_population = self._take_population
        self._inputs.follow(self._listeners)
        self._own_the_clock()
        self.create_timer(WATCH_PERIOD, self._inputs.watch, clock=self._wall)
        self._closers.append(ControlServices(self, simulation, self._changed, settings).close)
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._take_parameters)
        self._closers.append(Spinner(self).close)
        self._runner.step()  # may compile kernels: part of the start, which signals interrupt

    def _take_world(self) -> None:
        """Publish another world, or none; in the stepping thread."""
        if self._outputs is not None:
            self._outputs.close()
            self._outputs = None
        simulation, settings = self._simulation, self.settings
        self._listeners: dict[str, Listener] = {}
        if not simulation.has_world:
            self._runner.take(None)
            self.get_logger().info("no world")
            return
        world = simulation.world
        for problem in world.warnings:
            self.get_logger().warning(str(problem))
        self._outputs = WorldOutputs(self, world, settings, simulation.timeline)
        self._runner.take(world)
        self._apply(settings, world)
        self._listeners = self._outputs.listeners({})
        self.get_logger().info(
            f"{simulation.source or 'world'}: {', '.join(world.vehicles) or 'no vehicles'};"
            f" step {world.dt * 1e3:g} ms, real-time factor {self._factor_text()}"
        )

    def _take_population(self) -> None:
        """Follow vehicles that have come or gone; in the stepping thread."""
        if self._outputs is not None:
            namespaces = self._simulation.namespaces
            self._outputs.follow(namespaces)
            self._listeners = self._outputs.listeners(namespaces)
        if self._simulation.world.ticks == 0:  # it begins anew
            self._runner.restart()

    def _changed(self) -> None:
        """Listen to the vehicles that there are now; in the thread of the callbacks."""
        self._inputs.follow(self._listeners)

    def _publish(self) -> None:
        if self._outputs is not None:
            self._outputs.publish()

    def _repeat_clock(self) -> None:
        if self._outputs is not None:
            self._outputs.repeat_clock()

    def _own_the_clock(self) -> None:
        """Do not listen to the own /clock: with use_sim_time the clock is set when it is told."""
        for subscription in list(self.subscriptions):
            if subscription.topic_name == "/clock":
                self.destroy_subscription(subscription)

    def run(self, stopped: Callable[[], bool]) -> None:
        """Step the world until `stopped` returns True.

        Raises:
            StepError: The state has become invalid.
        """
        self._runner.run(stopped)

    def close(self) -> None:
        """End the callbacks and destroy the node."""
        for close in reversed(self._closers):
            close()
        self.destroy_node()

    # -------------------------------------------------------------- parameters
    def _check_parameters(self, parameters: list[Parameter[Any]]) -> SetParametersResult:
        try:
            for p in parameters:
                if p.name.startswith(QOS_PREFIX) and self.has_parameter(p.name):
                    raise SettingsError(f"parameter {p.name!r} can only be set at the start")
            changed(self.settings, self._values(parameters))
        except SettingsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _take_parameters(self, parameters: list[Parameter[Any]]) -> None:
        values = self._values(parameters)
        if values:
            self.settings = changed(self.settings, values)
            self._mailbox.post("settings", partial(self._apply, self.settings))

    @staticmethod
    def _values(parameters: list[Parameter[Any]]) -> dict[str, Any]:
        return {p.name: p.value for p in parameters if p.name in PARAMETERS}

    def _apply(self, settings: Settings, world: World) -> None:
        world.command_timeout = settings.command_timeout or None
        if self._outputs is not None:
            self._outputs.set_rates(settings)
        if settings.realtime_factor != self._runner.pacer.factor:
            self._runner.pacer.restart(world.ticks, settings.realtime_factor)

    # --------------------------------------------------------------- reporting
    def _report(self, pace: Pace) -> None:
        if self._outputs is None:
            return
        self._outputs.publish_pace(pace)
        if pace.slow:
            self.get_logger().warning(f"too slow: {pace}", throttle_duration_sec=10.0)
        for name, vehicle in self._simulation.world.vehicles.items():
            if not vehicle.command_expired:
                self._expired.discard(name)
            elif name not in self._expired:
                self._expired.add(name)
                self.get_logger().info(
                    f"{name}: no command for {self.settings.command_timeout:g} s, it stops"
                    " (parameter command_timeout)"
                )

    def _factor_text(self) -> str:
        return f"{self.settings.realtime_factor:g}" if self.settings.realtime_factor else "max"
