# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A recording puts a world into the states of the run: poses, wheels, readings, entities."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_core import Pose, Twist, World, load_world
from mvsim_core.bags import Recording, record
from mvsim_core.bags.state_stream import BODY_FIELDS, VEHICLE_FIELDS, WHEEL_FIELDS
from mvsim_core.errors import LogError
from tests.conftest import ROOT
from tests.ros import worlds

#: What a scan in a message does not say: the row of a point that is not in an image.
NOT_RECORDED = {"CloudReading": {"places"}, "EncoderReading": {"steering"}}
SINGLE = {"RangeReading": {"range", "variance", "field_of_view", "range_min", "range_max"}}


def numbers(world: World) -> dict[str, Any]:
    """Return what a replay restores, by entity."""
    data, found = world.data, {}
    for name, entity in data.entities.items():
        body = [float(data.bodies[field][entity.row]) for field in BODY_FIELDS]
        if entity.kind == "vehicle":
            body += [float(data.vehicles[f][entity.vehicle_row]) for f in VEHICLE_FIELDS]
            wheels = data.wheels[entity.wheel0 : entity.wheel0 + entity.n_wheels]
            body += [float(value) for field in WHEEL_FIELDS for value in wheels[field]]
        found[name] = body
    return found


def readings(world: World) -> dict[str, Any]:
    """Return the newest readings by sensor."""
    return {sensor.full_name: sensor.last for sensor in world.all_sensors()}


def assert_same_reading(its: Any, mine: Any) -> None:
    """Check that a reading was restored."""
    assert type(its) is type(mine)
    if mine is None:
        return
    kind = type(mine).__name__
    for field in fields(mine):
        if field.name in NOT_RECORDED.get(kind, ()):
            continue
        a, b = getattr(its, field.name), getattr(mine, field.name)
        if isinstance(b, np.ndarray) and b.dtype.names:
            for name in b.dtype.names:
                np.testing.assert_array_equal(a[name], b[name], err_msg=f"{kind}.{field.name}")
        elif isinstance(b, np.ndarray):
            np.testing.assert_array_equal(a, b, err_msg=f"{kind}.{field.name}")
        elif isinstance(b, float) or (isinstance(b, tuple) and field.name != "things"):
            tolerance = {"rtol": 1e-6, "atol": 1e-6}
            if not isinstance(b, tuple) or all(isinstance(value, float) for value in b):
                np.testing.assert_allclose(a, b, **tolerance, err_msg=f"{kind}.{field.name}")
        else:
            assert a == b or kind == "StereoReading", f"{kind}.{field.name}"


@pytest.mark.parametrize("make", [worlds.all_sensors, worlds.crowded, worlds.three_robots])
def test_states_and_readings_of_a_run_are_restored(make: Any, tmp_path: Path) -> None:
    live, path = load_world(make(tmp_path)), tmp_path / "run.mcap"
    states: dict[float, tuple[dict[str, Any], dict[str, Any]]] = {}
    with record(live, path):
        for k, vehicle in enumerate(live.vehicles.values()):
            vehicle.set_twist(0.7, 0.0, 0.4 - 0.3 * k)
        for _ in range(40):
            live.run(0.02)  # the period of states
            states[live.time] = numbers(live), readings(live)
    with Recording.open(path) as recording:
        world = recording.load_world()
        assert world.ticks == 0
        for time in [*states, *reversed(states)]:
            recording.seek(world, time - recording.start)
            assert world.time == pytest.approx(time)
            for name, values in states[time][0].items():
                assert numbers(world)[name] == values, name  # to the last bit
            for name, reading in states[time][1].items():
                if reading is not None and reading.tick < 1:
                    continue  # a sweep from before the first message
                assert_same_reading(readings(world)[name], reading)


def test_a_vehicle_looks_as_in_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    live = load_world(ROOT / "worlds" / "field.world.xml")
    with record(live, path):
        vehicle = next(iter(live.vehicles.values()))
        vehicle.set_twist(0.8, 0.0, 0.3)
        live.run(2.0)
    with Recording.open(path) as recording:
        world = recording.load_world()
        recording.seek(world, recording.duration)
        other = world.vehicles[vehicle.name]
        np.testing.assert_allclose(other.pose, vehicle.pose, atol=1e-9)
        np.testing.assert_allclose(other.twist, vehicle.twist, atol=1e-9)
        np.testing.assert_allclose(other.odometry.pose, vehicle.odometry.pose, atol=1e-9)
        assert [w.phi for w in other.wheels] == [w.phi for w in vehicle.wheels]


def test_only_new_readings_are_reported(tmp_path: Path) -> None:
    path, live = tmp_path / "run.mcap", load_world(worlds.one_robot(tmp_path))
    with record(live, path):
        live.run(1.0)
    with Recording.open(path) as recording:
        world = recording.load_world()
        recording.seek(world, 0.5)
        assert len(world.new_readings) == 1
        recording.seek(world, 0.54)
        assert not world.new_readings
        recording.seek(world, 0.62)
        assert len(world.new_readings) == 1


def test_entities_come_and_go(tmp_path: Path) -> None:
    path, live = tmp_path / "run.mcap", load_world(worlds.crowded(tmp_path))
    with record(live, path):
        live.run(0.5)
        live.add_vehicle('<vehicle class="courier"/>', name="late", pose=(1.0, -2.0, 0.5))
        live.run(0.5)
        live.remove("crate")
        live.remove("r1")
        live.run(0.5)
    with Recording.open(path) as recording:
        world = recording.load_world()
        for time, names in (
            (1.4, {"car", "late"}),
            (0.2, {"r1", "car", "crate"}),
            (0.9, {"r1", "car", "crate", "late"}),
            (0.1, {"r1", "car", "crate"}),
        ):
            recording.seek(world, time)
            assert set(world.data.entities) == names
            for vehicle in world.vehicles.values():
                assert vehicle.wheels
        recording.seek(world, 0.9)
        assert world.vehicles["late"].pose == pytest.approx((1.0, -2.0, 0.0, 0.0, 0.0, 0.5))
        assert "/late/odom" in recording.topics


def test_blocks_that_are_moved_by_hand_are_recorded(tmp_path: Path) -> None:
    path, live = tmp_path / "run.mcap", load_world(worlds.all_sensors(tmp_path))
    with record(live, path):
        live.run(0.2)
        live.blocks["wall"].teleport(5.0, 1.0, 0.3)
        live.run(0.2)
    with Recording.open(path) as recording:
        world = recording.load_world()
        recording.seek(world, 0.3)
        assert world.blocks["wall"].pose == live.blocks["wall"].pose
        recording.seek(world, 0.1)
        assert world.blocks["wall"].pose == Pose(3.0)


def test_time_goes_on_when_the_world_is_reset(tmp_path: Path) -> None:
    path, live = tmp_path / "run.mcap", load_world(worlds.one_robot(tmp_path))
    with record(live, path):
        live.vehicles["r1"].set_twist(1.0)
        live.run(1.0)
        live.reset()
        live.run(0.5)
    with Recording.open(path) as recording:
        times = [m.time for m in recording.messages()]
        assert times == sorted(times)
        assert recording.duration == pytest.approx(1.5, abs=0.01)
        world = recording.load_world()
        recording.seek(world, 0.99)
        assert world.vehicles["r1"].pose.y > 1.5
        recording.seek(world, 1.2)
        assert world.vehicles["r1"].pose.y == pytest.approx(1.0, abs=1e-3)


def test_commands_are_recorded_as_they_were_taken(tmp_path: Path) -> None:
    path, live = tmp_path / "run.mcap", load_world(worlds.two_robots(tmp_path, [(9, 90.0)]))
    with record(live, path):
        live.run(0.1)
        live.vehicles["zoe"].set_twist(0.1)
        live.vehicles["zoe"].set_twist(0.4, 0.0, -0.2)  # the last one counts
        live.vehicles["anna"].set_ackermann(0.5, 0.25)
        live.run(0.1)
        live.vehicles["zoe"].set_twist(0.4, 0.0, -0.2)
        live.run(0.1)
        live.vehicles["zoe"].stop()
        live.run(0.1)
    with Recording.open(path) as recording:
        twists = list(recording.messages(["/zoe/cmd_vel"]))
        given = [Twist(m.content.linear.x, 0.0, m.content.angular.z) for m in twists]
        assert given == [Twist(0.4, 0.0, -0.2), Twist(0.4, 0.0, -0.2), Twist()]
        times = [m.time + recording.start for m in twists]
        assert times == pytest.approx([0.1, 0.2, 0.3])
        (drive,) = recording.messages(["/anna/ackermann_cmd"])
        assert drive.content.drive.speed == pytest.approx(0.5)
        assert drive.content.drive.steering_angle == pytest.approx(0.25)


def test_torques_are_recorded(tmp_path: Path) -> None:
    file, path = worlds.one_robot(tmp_path), tmp_path / "run.mcap"
    text = re.sub(r"<controller .*</controller>", '<controller class="raw"/>', file.read_text())
    file.write_text(text)
    live = load_world(file)
    with record(live, path):
        live.vehicles["r1"].set_wheel_torques([0.5, 0.25])
        live.run(0.1)
        live.vehicles["r1"].stop()
        live.run(0.1)
    with Recording.open(path) as recording:
        (given,) = recording.messages(["/torque_cmd"])
        assert given.content.data.tolist() == [0.5, 0.25]
        assert "/cmd_vel" not in recording.topics


def test_a_replay_writes_no_files(tmp_path: Path) -> None:
    file = worlds.one_robot(tmp_path)
    tag = f"<save_ground_truth_trajectory>{tmp_path}/t.txt</save_ground_truth_trajectory>"
    file.write_text(file.read_text().replace("<simul_timestep>", f"{tag}<simul_timestep>"))
    live, path = load_world(file), tmp_path / "run.mcap"
    with record(live, path):
        live.run(0.2)
    live.close()
    for saved in tmp_path.glob("t*.txt"):
        saved.unlink()
    with Recording.open(path) as recording:
        world = recording.load_world()
        recording.seek(world, 0.1)
        world.run(0.2)
        world.close()
    assert not list(tmp_path.glob("t*.txt"))


def test_missing_files_of_the_world_are_named(tmp_path: Path) -> None:
    path, live = tmp_path / "run.mcap", load_world(worlds.one_robot(tmp_path))
    with record(live, path):
        live.run(0.1)
    (tmp_path / "map.png").unlink()
    with Recording.open(path) as recording:
        assert recording.topics["/map"].count == 1
        with pytest.raises(
            LogError, match=r"maps and 3D models are not in recordings[\s\S]*map\."
        ):
            recording.load_world()


def test_another_world_is_refused(tmp_path: Path) -> None:
    path, live = tmp_path / "run.mcap", load_world(worlds.crowded(tmp_path))
    with record(live, path):
        live.run(0.1)
    other = load_world(worlds.one_robot(tmp_path))
    with Recording.open(path) as recording, pytest.raises(LogError, match="not that of the rec"):
        recording.seek(other, 0.0)


def test_pictures_are_those_of_the_run(tmp_path: Path) -> None:
    path, live = tmp_path / "run.mcap", load_world(worlds.crowded(tmp_path))
    with record(live, path):
        for vehicle in live.vehicles.values():
            vehicle.set_twist(0.8, 0.0, 0.5)
        live.run(1.0)
    view = live.whole_view((320, 240))
    picture = live.picture(view, (320, 240))
    with Recording.open(path) as recording:
        world = recording.load_world()
        assert (world.picture(view, (320, 240)) != picture).any()
        recording.seek(world, recording.duration)
        np.testing.assert_array_equal(world.picture(view, (320, 240)), picture)
