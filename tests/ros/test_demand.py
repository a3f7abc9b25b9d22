# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Sensors compute for subscribers only."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from builtin_interfaces.msg import Time
from sensor_msgs.msg import Imu, LaserScan
from simulation_interfaces.srv import GetEntityInfo

from mvsim_core import World, load_world
from mvsim_ros2.conversions.diagnostics import RunStatistics, diagnostics_message
from mvsim_ros2.outputs import world as outputs_of_world
from mvsim_ros2.outputs.sensors import SENSOR_OUTPUTS, sensor_needed
from mvsim_ros2.outputs.world import WorldOutputs
from mvsim_ros2.parameters.settings import Settings
from mvsim_ros2.services.handlers import Handlers
from mvsim_ros2.simulation.simulation import Simulation
from mvsim_ros2.simulation.stamp_clock import StampClock
from tests.ros.node_process import Observer, eventually
from tests.ros.worlds import all_sensors

pytestmark = pytest.mark.ros


@pytest.fixture
def observer(domain: int) -> Iterator[Observer]:
    observer = Observer(domain)
    yield observer
    observer.close()


def run(world: World, outputs: WorldOutputs, seconds: float) -> set[str]:
    """Return the names of the sensors that have new readings within some time."""
    read: set[str] = set()
    for _ in range(round(seconds / world.dt)):
        world.step()
        outputs.publish()
        read |= {sensor.full_name for sensor in world.new_readings}
    return read


def test_only_what_has_subscribers_is_computed(
    observer: Observer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs_of_world, "DEMAND_PERIOD", 0.0)
    world = load_world(all_sensors(tmp_path))
    outputs = WorldOutputs(observer.node, world, Settings(), StampClock(world.dt))
    try:
        assert run(world, outputs, 0.5) == set()
        imu = observer.node.create_subscription(Imu, "r1/inertial", lambda _: None, 10)
        observer.node.create_subscription(LaserScan, "mast", lambda _: None, 10)

        def heard() -> bool:
            outputs.update_demand()
            return run(world, outputs, world.dt * 60) == {"r1/inertial", "mast"}

        eventually(heard, "readings of the IMU and of the lidar on the mast")
        observer.node.destroy_subscription(imu)
        eventually(lambda: run(world, outputs, 0.3) == {"mast"}, "no readings of the IMU")
    finally:
        outputs.close()
        world.close()


def test_names_that_topics_cannot_have_are_listed(observer: Observer, tmp_path: Path) -> None:
    world = load_world(all_sensors(tmp_path))
    vehicle = next(iter(world.spec.vehicles))
    world.add_vehicle(vehicle, name="robot-1", pose=(5.0, 5.0, 0.0))
    world.add_vehicle(vehicle, name="robot_1", pose=(5.0, 7.0, 0.0))
    outputs = WorldOutputs(observer.node, world, Settings(), StampClock(world.dt))
    try:
        renamed = outputs.renamed({})
    finally:
        outputs.close()
    assert renamed["robot-1"] == "robot_1_2"
    assert renamed["robot_1/depth cam"] == "depth_cam"
    assert not {"robot_1", "r1", "r1/eye", "mast"} & renamed.keys()
    simulation = Simulation(world)
    simulation.renamed = renamed
    request, response = GetEntityInfo.Request(entity="robot-1"), GetEntityInfo.Response()
    Handlers(simulation, Settings()).get_entity_info(request, response)
    words = response.info.description.split("; ")
    assert {"robot-1 in topics: robot_1_2", "depth cam in topics: depth_cam"} < {*words}
    statistics = RunStatistics(1.0, 1.0, 1e-3, 0.0, 1.0, 2)
    (status,) = diagnostics_message(statistics, "mvsim", Time(), {}, renamed).status
    values = {pair.key: pair.value for pair in status.values}
    assert values["topic name of robot-1"] == "robot_1_2"
    world.close()


def test_every_output_says_whether_it_is_needed() -> None:
    for kind, output in SENSOR_OUTPUTS.items():
        assert isinstance(output.needed, property), kind


def test_outputs_of_others_may_not_know() -> None:
    class Plain:
        needs_tf = False

    assert sensor_needed(Plain())  # type: ignore[arg-type]
    assert not sensor_needed(None)
