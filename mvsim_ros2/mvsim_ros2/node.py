# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The ROS 2 node: it connects a world with its publishers, subscriptions, services, parameters.

The stepping thread, which calls `run`, steps the world and publishes. Callbacks run in the
executor thread; they leave commands in the mailbox and requests in the request queue.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter

from mvsim_core import World
from mvsim_core.heap import settle_heap
from mvsim_ros2.conversions.diagnostics import RunStatistics
from mvsim_ros2.inputs.commands import CommandSubscriptions, CommandTopics
from mvsim_ros2.outputs.world import WorldOutputs
from mvsim_ros2.parameters.qos_overrides import check_overrides
from mvsim_ros2.parameters.settings import (
    PARAMETERS,
    QOS_PREFIX,
    Settings,
    SettingsError,
    declare,
    unknown_parameters,
    with_changes,
)
from mvsim_ros2.runtime.executor import ExecutorThread, Waits
from mvsim_ros2.runtime.log_forwarding import answering, forward_python_logs
from mvsim_ros2.runtime.recording import NodeRecording
from mvsim_ros2.runtime.runner import Mailbox, Runner
from mvsim_ros2.services.server import SimulationServices
from mvsim_ros2.simulation.name_lengths import check_names
from mvsim_ros2.simulation.sim_state import QUITTING
from mvsim_ros2.simulation.simulation import Simulation

if TYPE_CHECKING:
    from mvsim_core.bags import BagRecorder
    from mvsim_core.comms.bus import WorldBus
    from mvsim_ros2.runtime.viewing import NodeViewer
from mvsim_ros2.simulation.trust import Trust, public_problem
from mvsim_ros2.simulation.worlds import PACKAGE_WORLDS

#: Wall time [s] between two checks of the types that publishers of commands offer.
PUBLISHER_CHECK_PERIOD = 0.5
#: Most changed names in one line of the log.
MOST_LOGGED = 20


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
        self._steady_clock = Clock(clock_type=ClockType.STEADY_TIME)
        check_overrides(self._parameter_overrides)
        for warning in unknown_parameters(self._parameter_overrides):
            self.get_logger().warning(warning)
        if not self.settings.world_file:
            raise SettingsError(
                "parameter 'world_file' is empty: name a world file, such as"
                " -p world_file:=my.world.xml"
            )

    def create_service(self, *args: Any, **fields: Any) -> Any:
        """Create a service, also for rclpy's own; see `Node.create_service` and `answering`."""
        kind, name, callback, *others = args
        callback = answering(callback, self.get_logger())
        return super().create_service(kind, name, callback, *others, **fields)

    # ----------------------------------------------------------------- a world
    def attach(self, world: World) -> None:
        """Create everything in ROS for a world, start the callbacks, and make the first step.

        Raises:
            BuildError: The world has names that topics cannot have.
        """
        settings = self.settings
        check_names(world.spec.vehicles, world.spec.sensors)
        forward_python_logs(self.get_logger())
        simulation = Simulation(
            world,
            source=settings.world_file,
            seed=settings.seed,
            paused=settings.start_paused,
            wall_time=settings.use_wall_time,
            trust=Trust(
                [*settings.resource_folders, PACKAGE_WORLDS], remote=settings.allow_remote_files
            ),
        )
        self._simulation = simulation
        self._closers.append(simulation.close)
        self._outputs: WorldOutputs | None = None
        self._bus: WorldBus | None = None
        self._viewer: NodeViewer | None = None
        self._runner = Runner(
            world,
            self._mailbox,
            self._publish,
            self._report,
            factor=settings.realtime_factor,
            sim_state=simulation.sim_state,
        )
        self._runner.on_idle = self._idle
        self._recording = self._new_recording()
        self._commands = CommandSubscriptions(self, self._mailbox, settings)
        self._closers.append(self._commands.close)
        self._on_world_changed()
        simulation.on_world_changed = self._on_world_changed
        simulation.on_vehicles_changed = self._on_vehicles_changed
        simulation.on_fault = self._on_fault
        simulation.topic_namespaces = self._namespaces
        self._commands.update(self._command_topics)
        self._drop_clock_subscription()
        self._taken_out = False
        self.create_timer(PUBLISHER_CHECK_PERIOD, self._check_graph, clock=self._steady_clock)
        waits = Waits()
        self._simulation_services = SimulationServices(
            self, simulation, self._update_vehicles, settings, waits
        )
        self._simulation_services.update_vehicles(self._namespaces())
        self._closers.append(self._simulation_services.close)
        self.add_on_set_parameters_callback(self._check_parameters)
        self.add_post_set_parameters_callback(self._set_parameters)
        self._closers.append(ExecutorThread(self, waits).close)
        self._start_message_bus(world)
        self._start_viewer()
        # The first step publishes most of all: it is part of the start, which signals interrupt.
        self._runner.step()
        settle_heap()

    def _start_message_bus(self, world: World) -> None:
        """Publish the world on MVSim's message bus too, if the parameter says so."""
        if not self.settings.message_bus:
            return
        from mvsim_core.comms.bus import WorldBus

        simulation = self._simulation
        bus = self._bus = WorldBus(
            world,
            simulation.sim_state.requests.submit,
            partial(simulation.sim_state.set, QUITTING),
            port=self.settings.message_bus,
            on_demand=True,
        )
        self._closers.append(bus.close)
        for problem in bus.node.problems:
            self.get_logger().warning(problem)
        self.get_logger().info(f"message bus: server at 127.0.0.1:{bus.port}")

    def _new_recording(self) -> NodeRecording | None:
        """Return what records the worlds of this node, if the parameter says so."""
        path = self.settings.record
        if not path:
            return None
        recording = NodeRecording(path, self._start_recording, self.get_logger().error)
        self._closers.append(recording.close)
        return recording

    def _start_recording(self, path: Path, world: World) -> BagRecorder:
        """Record a world as it is published here.

        Raises:
            LogError: The file cannot be created.
        """
        from mvsim_core.bags import record

        simulation, settings = self._simulation, self.settings
        recorder = record(
            world,
            path,
            settings=settings,
            exclude=("/clock",) if settings.use_wall_time else (),
            wake_sensors=True,
            resolve=self.resolve_topic_name,
            namespaces=lambda: simulation.namespaces,
            ns=simulation.stamp_clock.ns,
        )
        self.get_logger().info(f"recording to {path}")
        return recorder

    def _start_viewer(self) -> None:
        """Show the world in browsers, if the parameter says so."""
        settings = self.settings
        if not settings.viewer:
            return
        from mvsim_ros2.runtime.viewing import NodeControls, NodeViewer

        self._viewer = NodeViewer(
            self._simulation,
            NodeControls(self._simulation, self._runner, self._set_factor),
            port=settings.viewer_port,
            address=settings.viewer_address,
            browser=not settings.headless,
        )
        self._closers.append(self._viewer.close)
        self.get_logger().info(f"viewer: {self._viewer.url}")

    def _set_factor(self, factor: float) -> None:
        self.set_parameters([Parameter("realtime_factor", value=factor)])

    def _on_world_changed(self) -> None:
        """Publish another world, or none; in the stepping thread."""
        if self._outputs is not None:
            self._outputs.close()
            self._outputs = None
        simulation, settings = self._simulation, self.settings
        self._command_topics: dict[str, CommandTopics] = {}
        if self._bus is not None:
            self._bus.set_world(simulation.world if simulation.has_world else None)
        if self._recording is not None and not simulation.has_world:
            self._recording.follow(None)
        if self._viewer is not None:
            self._viewer.world_changed()
        if not simulation.has_world:
            self._runner.set_world(None)
            self.get_logger().info("no world")
            return
        world = simulation.world
        shown = public_problem if simulation.world_from_client else str
        for text in dict.fromkeys(map(shown, world.warnings)):
            self.get_logger().warning(text)
        self._outputs = WorldOutputs(self, world, settings, simulation.stamp_clock)
        self._note_names(self._outputs)
        if self._recording is not None:
            self._recording.follow(world)
        self._runner.set_world(world)
        self._apply(settings, world)
        self._command_topics = self._find_command_topics(self._outputs)
        self.get_logger().info(
            f"{simulation.source or 'world'}: {', '.join(world.vehicles) or 'no vehicles'};"
            f" step {world.dt * 1e3:g} ms, real-time factor {self._factor_text()}"
        )

    def _on_vehicles_changed(self) -> None:
        """Update the outputs of vehicles; in the stepping thread."""
        if self._outputs is not None:
            self._outputs.update_vehicles(self._simulation.namespaces)
            self._note_names(self._outputs)
            self._command_topics = self._find_command_topics(self._outputs)
        if self._simulation.world.ticks == 0:  # after a reset
            self._runner.restart_pacing()

    def _note_names(self, outputs: WorldOutputs) -> None:
        """Log and keep the names that topics have in place of those in the world file."""
        simulation = self._simulation
        renamed = outputs.renamed(simulation.namespaces)
        new = [f"{k!r}: {v}" for k, v in renamed.items() if simulation.renamed.get(k) != v]
        simulation.renamed = renamed
        if new:
            more = f", and {len(new) - MOST_LOGGED} more" if len(new) > MOST_LOGGED else ""
            self.get_logger().info(
                f"names in topics, which have letters, digits and single underscores:"
                f" {', '.join(new[:MOST_LOGGED])}{more}"
            )

    def _on_fault(self, name: str, text: str) -> None:
        self.get_logger().error(f"{name!r} is taken out of the world: {text}")
        self._taken_out = True

    def _check_graph(self) -> None:
        """Follow vehicles that were taken out, and types of commands; in the executor thread."""
        if self._taken_out:
            self._taken_out = False
            self._update_vehicles()
        self._commands.check_publishers()

    def _find_command_topics(self, outputs: WorldOutputs) -> dict[str, CommandTopics]:
        vehicles = self._simulation.world.vehicles
        return {
            name: CommandTopics(names, vehicles[name].accepts)
            for name, names in outputs.topic_names(self._simulation.namespaces).items()
        }

    def _update_vehicles(self) -> None:
        """Offer commands and services of the present vehicles; in the executor thread."""
        self._commands.update(self._command_topics)
        self._simulation_services.update_vehicles(self._namespaces())

    def _namespaces(self) -> dict[str, str]:
        return {name: topics.names.namespace for name, topics in self._command_topics.items()}

    def _publish(self) -> None:
        if self._outputs is not None:
            self._outputs.publish()
        if self._bus is not None:
            self._bus.after_step()
        if self._viewer is not None:
            self._viewer.after_step()

    def _idle(self) -> None:
        if self._outputs is not None:
            self._outputs.repeat_clock()
        if self._viewer is not None:
            self._viewer.idle()

    def _drop_clock_subscription(self) -> None:
        """Destroy the subscription of /clock: with use_sim_time the outputs set the clock."""
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
            with_changes(self.settings, self._values(parameters))
        except SettingsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _set_parameters(self, parameters: list[Parameter[Any]]) -> None:
        values = self._values(parameters)
        if values:
            self.settings = with_changes(self.settings, values)
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
    def _report(self, statistics: RunStatistics) -> None:
        if self._outputs is None:
            return
        simulation = self._simulation
        self._outputs.publish_diagnostics(statistics, simulation.faults, simulation.renamed)
        if statistics.slow:
            self.get_logger().warning(f"too slow: {statistics}", throttle_duration_sec=10.0)
        self._expired &= self._simulation.world.vehicles.keys()
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
