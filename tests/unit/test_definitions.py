# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Shipped definitions load without warnings, work, and stand in for those of the original."""

import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from mvsim_core import World, load_world
from mvsim_core.errors import WorldFileError
from mvsim_core.specs import WorldSpec
from mvsim_core.xmlfile import paths, read_world

DEFINITIONS = Path(__file__).resolve().parents[2] / "worlds" / "definitions"
SENSORS = sorted(path.name for path in DEFINITIONS.glob("*.sensor.xml"))
VEHICLES = sorted(path.name for path in DEFINITIONS.glob("*.vehicle.xml"))
CLASSES = {"ackermann": "car_ackermann", "jackal-ellipse": "jackal"}
#: Robots of the original that are special; worlds with these need its package.
SPECIAL = {"agricobiot2.vehicle.xml", "pickup.vehicle.xml", "scania_truck.vehicle.xml"}
GROUND = "<element class='horizontal_plane'/>"
PLACE = "<georeference><latitude>36.9</latitude><longitude>-2.3</longitude></georeference>"
POSE = "<init_pose>0 0 0</init_pose>"
MAST = f"<vehicle name='r1'>{POSE}<dynamics class='differential'/>{{}}</vehicle>"


def world(body: str) -> str:
    return (
        f"<mvsim_world><simul_timestep>0.005</simul_timestep>{PLACE}{GROUND}{body}</mvsim_world>"
    )


def spec_of(name: str, arguments: str = "") -> Any:
    """Spec of the sensor of a definition."""
    body = MAST.format(f'<include file="{DEFINITIONS / name}" {arguments}/>')
    spec, warnings = read_world(text=world(body))
    assert warnings == ()
    (sensor,) = spec.vehicles[0].sensors
    return sensor


def vehicle_text(name: str, arguments: str = "", file: str = "") -> str:
    stem = name.removesuffix(".vehicle.xml")
    return (
        f'<include file="{file or DEFINITIONS / name}" {arguments}/>'
        f'<vehicle name="r1" class="{CLASSES.get(stem, stem)}">{POSE}</vehicle>'
    )


@pytest.mark.parametrize("name", SENSORS)
def test_sensors_read_without_warnings(name: str) -> None:
    sensor = spec_of(name, 'sensor_name="mine" sensor_x="0.1" sensor_y="-0.2" sensor_pitch="5"')
    assert sensor.name == "mine"
    assert (sensor.pose.x, sensor.pose.y) == (0.1, -0.2)
    assert sensor.pose.pitch == pytest.approx(math.radians(5))
    assert spec_of(name).name in {"lidar1", "laser1", "camera1", "imu1", "gps1"}


def test_figures_of_data_sheets() -> None:
    vlp = spec_of("velodyne-vlp16.sensor.xml", 'sensor_rpm="1200"')
    assert (vlp.vert_nrays, vlp.horz_nrays, vlp.period) == (16, 904, pytest.approx(0.05))
    for name, fov, reach in (("os0", 90.0, 35.0), ("os1", 45.0, 90.0)):
        ouster = spec_of(f"ouster-{name}.sensor.xml", 'sensor_horz_nrays="2048" vert_nrays="64"')
        assert (ouster.vert_nrays, ouster.horz_nrays, ouster.max_range) == (64, 2048, reach)
        assert math.degrees(ouster.vert_fov) == pytest.approx(fov)
    for name, low, high in (
        ("helios-32-FOV-26", -16, 10),
        ("helios-32-FOV-31", -16, 15),
        ("helios-32-FOV-70", -55, 15),
        ("hesai-xt32", -16, 15),
    ):
        rings = spec_of(f"{name}.sensor.xml").vertical_ray_angles
        assert len(rings) == 32
        assert [math.degrees(rings[k]) for k in (0, -1)] == pytest.approx([low, high])
    livox = spec_of("livox-mid360.sensor.xml")
    assert livox.vert_nrays * livox.horz_nrays / livox.period == pytest.approx(200_000)
    hokuyo = spec_of("hokuyo-utm30lx.sensor.xml")
    assert math.degrees(hokuyo.fov) / (hokuyo.nrays - 1) == pytest.approx(0.25)
    rplidar = spec_of("rplidar-a2.sensor.xml", 'sensor_hz="5" raytrace_3d="true"')
    assert (rplidar.nrays, rplidar.period, rplidar.raytrace_3d) == (1600, 0.2, True)
    depth = spec_of("realsense-d435.sensor.xml")
    assert math.degrees(2 * math.atan(424 / depth.depth_fx)) == pytest.approx(87.0, abs=0.1)
    assert math.degrees(2 * math.atan(320 / depth.rgb_fx)) == pytest.approx(69.0, abs=0.1)


def run(text: str, speed: float, turn: float, seconds: float) -> World:
    made = load_world(text=world(text))
    made.remove_sensors()
    made.vehicles["r1"].set_twist(speed, 0.0, turn)
    made.run(seconds)
    return made


@pytest.mark.parametrize(
    ("name", "arguments", "speed", "turn"),
    [
        ("turtlebot3_burger", "", 0.22, 0.5),
        ("jackal", 'controller="twist_pid"', 1.0, 0.6),
        ("jackal", "", 1.0, 0.6),
        ("jackal-ellipse", 'controller="twist_pid"', 1.0, 0.0),
        ("small_robot", "", 0.8, 0.5),
        ("ackermann", "", 4.0, 0.5),
    ],
)
def test_robots_follow_their_commands(
    name: str, arguments: str, speed: float, turn: float
) -> None:
    file = f"{name}.vehicle.xml"
    made = run(vehicle_text(file, arguments), speed, turn, 4.0)
    twist = made.vehicles["r1"].twist
    assert made.warnings == ()
    assert math.hypot(twist.vx, twist.vy) == pytest.approx(speed, rel=0.1)
    assert twist.wz == pytest.approx(turn, rel=0.25, abs=0.02)
    made.vehicles["r1"].set_twist(0.0, 0.0, 0.0)
    made.run(3.0)
    assert math.hypot(*made.vehicles["r1"].twist[:2]) < 1e-3


def test_sensors_of_robots_have_the_names_of_the_original() -> None:
    for name, names in (
        ("turtlebot3_burger", ["laser1", "camera1", "imu1"]),
        ("jackal", ["scanner1", "lidar1", "cam1"]),
        ("jackal-ellipse", ["scanner1", "lidar1", "cam1"]),
    ):
        spec = _read(vehicle_text(f"{name}.vehicle.xml"))[0]
        assert [sensor.name for sensor in spec.vehicles[0].sensors] == names
        spec = _read(vehicle_text(f"{name}.vehicle.xml", 'default_sensors="false"'))[0]
        assert spec.vehicles[0].sensors == ()
    assert _read(vehicle_text("jackal-ellipse.vehicle.xml"))[0].vehicles[0].friction.kind == (
        "ellipse"
    )


def _read(text: str) -> tuple[WorldSpec, Any]:
    return read_world(text=world(text))


PLACES = (
    "$(ros2 pkg prefix mvsim)/share/mvsim/definitions",
    "$(ros2 pkg prefix --share mvsim)/definitions",
    "package://mvsim/definitions",
    "../definitions",
    "/opt/ros/none/share/mvsim/definitions",
)


@pytest.mark.parametrize("place", PLACES)
def test_worlds_of_others_load_without_the_package_of_the_original(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    body = vehicle_text("jackal.vehicle.xml", file=f"{place}/jackal.vehicle.xml")
    (tmp_path / "worlds").mkdir()
    file = tmp_path / "worlds" / "their.world.xml"
    file.write_text(world(body))
    spec, warnings = read_world(file)
    assert len(spec.vehicles[0].sensors) == 3
    (warning,) = warnings
    assert "the file jackal.vehicle.xml of this suite is used instead" in str(warning)
    file.write_text(world(body.replace("jackal.vehicle", "no_such.vehicle")))
    with pytest.raises(WorldFileError) as caught:
        read_world(file)
    assert "no_such.vehicle.xml': no such file" in str(caught.value)


def test_the_package_of_the_original_is_used_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "share" / "mvsim" / "definitions"
    theirs.mkdir(parents=True)
    (theirs.parent / "package.xml").write_text("<package><name>mvsim</name></package>")
    (theirs / "imu.sensor.xml").write_text('<sensor class="imu" name="theirs"/>')
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    for place in PLACES[:3]:
        spec, warnings = _read(MAST.format(f'<include file="{place}/imu.sensor.xml"/>'))
        assert warnings == ()
        assert spec.vehicles[0].sensors[0].name == "theirs"


def test_an_installation_of_the_core_alone_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pip installs it: without the source tree and without mvsim_ros2."""
    share = tmp_path / "share" / "mvsim_core"
    shutil.copytree(DEFINITIONS, share / "worlds" / "definitions")
    (share / "package.xml").touch()
    monkeypatch.setattr(paths, "_prefixes", lambda: iter([str(tmp_path)]))
    monkeypatch.setattr(paths, "_SOURCE_TREE", str(tmp_path / "none"))
    spec, warnings = _read(MAST.format(f'<include file="{PLACES[0]}/imu.sensor.xml"/>'))
    assert len(warnings) == 1
    assert len(spec.vehicles[0].sensors) == 1


def test_other_files_have_no_stand_in() -> None:
    for place in ("../models/jackal.vehicle.xml", "$(ros2 pkg prefix mvsim)/jackal.vehicle.xml"):
        with pytest.raises(WorldFileError, match="no such file"):
            _read(f'<include file="{place}"/>')
    with pytest.raises(WorldFileError, match="'other' is not found"):
        _read('<include file="$(ros2 pkg prefix other)/definitions/jackal.vehicle.xml"/>')


def test_every_definition_of_the_original_has_one(mvsim_worlds: Path) -> None:
    theirs = {path.name for path in (mvsim_worlds / "definitions").glob("*.xml")}
    assert theirs - SPECIAL <= {*SENSORS, *VEHICLES}
