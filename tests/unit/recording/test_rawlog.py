# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""MRPT data sets, read back field by field as MRPT's own `serializeFrom` methods do."""

import gc
import gzip
import io
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_core import World, load_world
from mvsim_core.errors import LogError
from mvsim_core.geometry.poses import Pose, rotation
from tests.physics.worlds import cart, world

EPOCH = 116_444_736_000_000_000


class Archive:
    """Reads MRPT's notation; every class checks that nothing of it is left over."""

    def __init__(self, data: bytes) -> None:
        self.stream = io.BytesIO(data)
        self.length = len(data)

    def all(self) -> list[tuple[str, dict[str, Any]]]:
        found = []
        while self.stream.tell() < self.length:
            found.append(self.object())
        return found

    def object(self) -> tuple[str, dict[str, Any]]:
        (length,) = self.take("B")
        name = self.stream.read(length & 0x7F).decode()
        assert length & 0x80
        assert name.startswith("mrpt::")
        (version,) = self.take("B")
        fields = CLASSES[name.rsplit("::", 1)[1], version](self)
        assert self.take("B") == (0x88,), name
        return name.rsplit("::", 1)[1], fields

    def take(self, notation: str) -> tuple[Any, ...]:
        notation = "<" + notation
        return struct.unpack(notation, self.stream.read(struct.calcsize(notation)))

    def array(self, kind: str, *shape: int) -> np.ndarray:
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        return np.frombuffer(self.stream.read(size), kind).reshape(shape)

    def text(self) -> str:
        return self.stream.read(self.take("I")[0]).decode()

    def time(self) -> float:
        return (self.take("Q")[0] - EPOCH) / 1e7

    def head(self) -> dict[str, Any]:
        return {"label": self.text(), "time": self.time(), "pose": self.object()[1]}


def pose2d(a: Archive) -> dict[str, Any]:
    return {"pose": a.array("f8", 3)}


def pose3d(a: Archive) -> dict[str, Any]:
    return {"place": a.array("f8", 3), "turn": a.array("f8", 3, 3)}


def camera(a: Archive) -> dict[str, Any]:
    focal, *distortion = a.take("9d")
    assert (focal, distortion) == (0.0, [0.0] * 8)
    return {"intrinsics": a.take("4d"), "rows_cols": a.take("II")}


def image(a: Archive) -> dict[str, Any]:
    outside, colour, width, height = a.take("?Bii")
    assert not outside
    assert colour
    return {"bgr": a.array("u1", -height, -width, 3)}


def point_map(a: Archive) -> dict[str, Any]:
    (count,) = a.take("I")
    columns = [a.array("f4", count) for _ in range(3)]
    assert a.take("?") == (False,)  # shown in 3D scenes
    assert a.take("bf????? ff?")[0] == 0
    assert a.take("bddI")[0] == 0
    return {"xyz": np.column_stack(columns)}


def odometry(a: Archive) -> dict[str, Any]:
    fields = {"pose": a.object()[1]["pose"], "label": a.text(), "time": a.time()}
    assert a.take("??") == (False, True)  # no encoders, but velocities
    return {**fields, "twist": a.array("f8", 3)}


def scan(a: Archive) -> dict[str, Any]:
    aperture, to_left, longest = a.take("f?f")
    assert to_left
    pose, (n,) = a.object()[1], a.take("I")
    ranges, valid, (sigma,) = a.array("f4", n), a.array("u1", n), a.take("f")
    time, _, label = a.time(), a.take("f"), a.text()
    assert a.take("d?") == (0.0, False)
    found = {"ranges": ranges, "valid": valid, "aperture": aperture, "longest": longest}
    return {**found, "label": label, "pose": pose, "time": time, "sigma": sigma}


def imu(a: Archive) -> dict[str, Any]:
    pose = a.object()[1]
    present = a.array("u1", a.take("I")[0])
    time = a.time()
    values = a.array("f8", a.take("I")[0])
    return {"pose": pose, "present": present, "time": time, "values": values, "label": a.text()}


def gps(a: Archive) -> dict[str, Any]:
    time, received, label, pose = a.time(), a.time(), a.text(), a.object()[1]
    assert (received, a.take("?I")) == (time, (True, 1))
    assert a.take("iI") == (10, 68)  # NMEA GGA, packed
    hour, minute, second, latitude, longitude, quality, *heights = a.take("BBdddBdddd")
    a.take("I?f")
    place = {"latitude": latitude, "longitude": longitude, "heights": heights}
    clock = 3600 * hour + 60 * minute + second
    return {**place, "time": time, "label": label, "pose": pose, "quality": quality, "utc": clock}


def photo(a: Archive) -> dict[str, Any]:
    pose, lens, bgr = a.object()[1], a.object()[1], a.object()[1]["bgr"]
    return {"pose": pose, "camera": lens, "bgr": bgr, "time": a.time(), "label": a.text()}


def depth(a: Archive) -> dict[str, Any]:
    (longest,), pose = a.take("f"), a.object()[1]
    points, has_image, unit = a.take("??f")
    assert (points, has_image) == (False, True)
    counts = a.array("u2", *a.take("II"))
    bgr = a.object()[1]["bgr"] if a.take("?")[0] else None
    assert a.take("?") == (False,)
    cameras, relative = (a.object()[1], a.object()[1]), a.object()[1]
    (sigma,), time, label = a.take("f"), a.time(), a.text()
    assert [a.take("?")[0] or a.text() for _ in range(2)] == ["", ""]
    assert a.take("?b?") == (True, 0, False)
    found = {"pose": pose, "unit": unit, "counts": counts, "bgr": bgr, "cameras": cameras}
    return {
        **found,
        "relative": relative,
        "time": time,
        "label": label,
        "sigma": sigma,
        "longest": longest,
    }


def cloud(a: Archive) -> dict[str, Any]:
    head = a.head()
    assert a.take("B") == (0,)
    return {**head, "xyz": a.object()[1]["xyz"]}


CLASSES: dict[tuple[str, int], Callable[[Archive], dict[str, Any]]] = {
    ("CPose2D", 1): pose2d,
    ("CPose3D", 3): pose3d,
    ("TCamera", 4): camera,
    ("CImage", 9): image,
    ("CSimplePointsMap", 8): point_map,
    ("CObservationOdometry", 2): odometry,
    ("CObservation2DRangeScan", 7): scan,
    ("CObservationIMU", 3): imu,
    ("CObservationGPS", 11): gps,
    ("CObservationImage", 4): photo,
    ("CObservation3DRangeScan", 9): depth,
    ("CObservationPointCloud", 0): cloud,
}

SENSORS = """
  <sensor class="laser" name="front"><pose>0.1 0 30</pose><fov_degrees>180</fov_degrees>
    <nrays>91</nrays><max_range>6</max_range><sensor_period>0.1</sensor_period></sensor>
  <sensor class="laser" name="round"><pose_3d>0 0.1 0.2 0 0 180</pose_3d><nrays>90</nrays>
    <fov_degrees>360</fov_degrees><sensor_period>0.1</sensor_period></sensor>
  <sensor class="imu" name="imu"><measure_orientation>true</measure_orientation>
    <sensor_period>0.1</sensor_period></sensor>
  <sensor class="gnss" name="gps"><sensor_period>0.1</sensor_period></sensor>
  <sensor class="camera" name="cam"><pose_3d>0.1 0 0.3 -90 0 -90</pose_3d><ncols>40</ncols>
    <nrows>30</nrows><fx>30</fx><fy>31</fy><cx>19</cx><cy>14</cy>
    <sensor_period>0.1</sensor_period></sensor>
  <sensor class="rgbd_camera" name="rgbd"><pose_3d>0.1 0 0.3 0 0 0</pose_3d>
    <sensor_period>0.1</sensor_period></sensor>
  <sensor class="lidar3d" name="lidar"><pose_3d>0 0 0.5 10 0 0</pose_3d>
    <vert_nrays>4</vert_nrays><horz_nrays>60</horz_nrays><sensor_period>0.1</sensor_period>
    </sensor>"""
SAVE = "<save_to_rawlog>run.rawlog</save_to_rawlog><rawlog_odometry_rate>20</rawlog_odometry_rate>"
SURROUNDINGS = """<block><init_pose>3 0.5 0</init_pose></block>
  <georeference><latitude>36.8</latitude><longitude>-2.4</longitude><height>20</height></georeference>
  <element class="horizontal_plane"/>"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def robot(name: str = "r1", sensors: str = "", pose: str = "0 0 0") -> str:
    text = cart(name, pose=pose, controller='<controller class="twist_ideal"/>')
    return text.replace("</vehicle>", f"{sensors}</vehicle>")


def read(name: str) -> list[tuple[str, dict[str, Any]]]:
    return Archive(gzip.decompress(Path(name).read_bytes())).all()


def driven(text: str, seconds: float) -> tuple[World, dict[str, Any]]:
    """Drive in an arc; return the world and its sensors' last readings."""
    made = load_world(text=text)
    for vehicle in made.vehicles.values():
        vehicle.set_twist(0.5, 0.0, 0.3)
    readings = {}
    for _ in range(round(seconds / made.dt)):
        made.step()
        readings.update({sensor.name: sensor.last for sensor in made.new_readings})
    made.close()
    return made, readings


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("rawlog")
    text = world(SAVE.replace("run.", f"{folder}/run."), robot(sensors=SENSORS), SURROUNDINGS)
    made, readings = driven(text, 0.3)
    last = {fields["label"]: (name, fields) for name, fields in read(f"{folder}/run.r1.rawlog")}
    return made, readings, last


def placed(fields: dict[str, Any], pose: Pose) -> None:
    np.testing.assert_allclose(fields["place"], pose[:3])
    np.testing.assert_allclose(fields["turn"], rotation(pose), atol=1e-12)


def test_odometry_at_its_own_rate(recorded: Any) -> None:
    made, _, last = recorded
    name, fields = last["odom"]
    odometry = made.vehicles["r1"].odometry
    assert name == "CObservationOdometry"
    assert fields["time"] == pytest.approx(0.3)
    pose = odometry.pose
    np.testing.assert_allclose(fields["pose"], (pose.x, pose.y, pose.yaw), atol=1e-12)
    np.testing.assert_allclose(fields["twist"], odometry.twist, atol=1e-12)


@pytest.mark.parametrize("label", ["front", "round"])
def test_rays_of_a_scan_point_where_they_did(recorded: Any, label: str) -> None:
    made, readings, last = recorded
    name, fields = last[label]
    reading = readings[label]
    assert name == "CObservation2DRangeScan"
    assert fields["time"] == pytest.approx(reading.time)
    # MRPT: ray i of n points to aperture·(i/(n - 1) - 1/2) in the frame of the pose.
    n = len(reading.ranges)
    seen = fields["aperture"] * (np.arange(n) / (n - 1) - 0.5)
    rays = np.column_stack([np.cos(seen), np.sin(seen), 0 * seen]) @ fields["pose"]["turn"].T
    mount = next(s for s in made.vehicles["r1"].sensors.values() if s.name == label).mount
    angles = reading.angle_min + reading.angle_increment * np.arange(n)
    true = np.column_stack([np.cos(angles), np.sin(angles), 0 * angles]) @ rotation(mount).T
    np.testing.assert_allclose(rays, true, atol=1e-6)
    hit = np.isfinite(reading.ranges)
    assert 0 < hit.sum() < n
    np.testing.assert_array_equal(fields["valid"], hit)
    np.testing.assert_array_equal(fields["ranges"][hit], reading.ranges[hit])
    np.testing.assert_array_equal(fields["ranges"][~hit], np.float32(reading.range_max))
    assert fields["sigma"] == pytest.approx(0.01)


def test_inertial_values_are_at_their_places(recorded: Any) -> None:
    _, readings, last = recorded
    (name, fields), reading = last["imu"], readings["imu"]
    assert name == "CObservationIMU"
    np.testing.assert_array_equal(fields["values"][:3], reading.linear_acceleration)
    np.testing.assert_array_equal(fields["values"][[5, 4, 3]], reading.angular_velocity)
    np.testing.assert_array_equal(fields["values"][21:25], reading.orientation)
    assert np.flatnonzero(fields["present"]).tolist() == [*range(6), *range(21, 25)]


def test_positions_are_simulated_ones(recorded: Any) -> None:
    _, readings, last = recorded
    (name, fields), reading = last["gps"], readings["gps"]
    assert name == "CObservationGPS"
    assert (fields["latitude"], fields["longitude"]) == (reading.latitude, reading.longitude)
    assert fields["heights"] == [reading.altitude, 0.0, reading.altitude, reading.altitude]
    assert fields["quality"] == 8
    assert fields["utc"] == pytest.approx(reading.time)


def test_pictures_keep_each_pixel(recorded: Any) -> None:
    _, readings, last = recorded
    (name, fields), reading = last["cam"], readings["cam"]
    assert name == "CObservationImage"
    np.testing.assert_array_equal(fields["bgr"][:, :, ::-1], reading.rgb)
    assert fields["camera"] == {"intrinsics": (30, 31, 19, 14), "rows_cols": (30, 40)}
    placed(fields["pose"], Pose(x=0.1, z=0.3, roll=-np.pi / 2, yaw=-np.pi / 2))


def test_depths_and_colours_are_one_observation(recorded: Any) -> None:
    _, readings, last = recorded
    (name, fields), reading = last["rgbd"], readings["rgbd"]
    assert name == "CObservation3DRangeScan"
    np.testing.assert_array_equal(fields["counts"], reading.counts())
    np.testing.assert_array_equal(fields["bgr"][:, :, ::-1], reading.rgb)
    assert fields["unit"] == pytest.approx(reading.depth_unit)
    placed(fields["pose"], Pose(x=0.1, z=0.3))
    placed(fields["relative"], Pose(roll=-np.pi / 2, yaw=-np.pi / 2))


def test_clouds_keep_each_point(recorded: Any) -> None:
    _, readings, last = recorded
    (name, fields), reading = last["lidar"], readings["lidar"]
    assert name == "CObservationPointCloud"
    assert len(fields["xyz"]) > 20
    np.testing.assert_array_equal(fields["xyz"], reading.xyz)
    placed(fields["pose"], Pose(z=0.5, yaw=np.radians(10)))


def test_each_vehicle_has_a_file_and_what_stands_in_the_world_another(tmp_path: Path) -> None:
    fixed = '<sensor class="laser" name="gate"><sensor_period>0.1</sensor_period></sensor>'
    made, _ = driven(world(SAVE, robot("r1"), robot("r2", pose="5 5 0"), fixed), 0.5)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["run.r1.rawlog", "run.r2.rawlog", "run.rawlog"]
    assert [name for name, _ in read("run.rawlog")] == ["CObservation2DRangeScan"] * 5
    times = [fields["time"] for _, fields in read("run.r2.rawlog")]
    np.testing.assert_allclose(times, np.arange(1, 11) / 20)
    made.reset()
    made.run(0.1)
    made.close()
    assert len(read("run.r1.rawlog")) == 2  # a reset begins anew


def test_files_are_complete_when_the_world_is_dropped() -> None:
    made = load_world(text=world(SAVE, robot()))
    made.run(1.0)
    del made
    gc.collect()
    assert len(read("run.r1.rawlog")) == 20


def test_what_has_no_place_in_the_files_is_named() -> None:
    encoders = (
        '<sensor class="wheel_encoders" name="e"><sensor_period>0.1</sensor_period></sensor>'
    )
    made = load_world(text=world(SAVE, robot(sensors=encoders)))
    (problem,) = made.warnings
    assert (
        problem.message == "MRPT's data sets have no place for readings of class 'wheel_encoders'"
    )
    made.run(0.2)
    made.close()
    assert {name for name, _ in read("run.r1.rawlog")} == {"CObservationOdometry"}


def test_a_file_that_cannot_be_written_is_named() -> None:
    made = load_world(text=world(SAVE.replace("run.", "no/such/run."), robot()))
    with pytest.raises(LogError) as told:
        made.run(0.1)
    assert str(told.value) == (
        "the rawlog 'no/such/run.r1.rawlog' cannot be written: No such file or directory"
    )
