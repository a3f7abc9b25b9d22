# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A world on the bus: what it publishes, and its services."""

import math
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mvsim_core import World, load_world
from mvsim_core.comms import Client, messages
from mvsim_core.comms.bus import WorldBus
from mvsim_core.comms.conversions import OBSERVATIONS, relative_pose
from mvsim_core.comms.mrpt import class_name, image, pose3d
from mvsim_core.comms.publishing import Publication
from mvsim_core.errors import CommsError
from mvsim_core.geometry.poses import Pose
from mvsim_core.rendering.pinhole import compose
from mvsim_core.specs.sensor import PUBLISHED
from mvsim_core.world.request_queue import RequestQueue

WORLD = """<mvsim_world><simul_timestep>0.01</simul_timestep>
<georeference><latitude>36.8</latitude><longitude>-2.4</longitude></georeference>
<element class="vertical_plane"><x0>4</x0><y0>-3</y0><x1>4</x1><y1>3</y1></element>
<vehicle:class name="cart">
  <dynamics class="differential"><controller class="{controller}"/></dynamics>
  <publish>
    <publish_pose_topic>/${{NAME}}/pose</publish_pose_topic>
    <publish_pose_period>0.02</publish_pose_period>
    <publish_relative_pose_topic>/${{NAME}}/others</publish_relative_pose_topic>
    <publish_relative_pose_objects>b1, nothing</publish_relative_pose_objects>
    <publish_odometry_topic>/${{NAME}}/odom</publish_odometry_topic>
  </publish>
  <sensor class="laser" name="laser"><range_std_noise>0</range_std_noise>
    <sensor_period>0.02</sensor_period> <nrays>31</nrays> <fov_degrees>{fov}</fov_degrees>
    <publish><publish_topic>/${{PARENT_NAME}}/${{NAME}}</publish_topic></publish></sensor>
  <sensor class="imu" name="imu"><sensor_period>0.02</sensor_period>
    <publish><publish_topic>/${{PARENT_NAME}}/${{NAME}}</publish_topic></publish></sensor>
  <sensor class="gnss" name="gnss"><sensor_period>0.02</sensor_period>
    <publish><publish_topic>/${{PARENT_NAME}}/${{NAME}}</publish_topic></publish></sensor>
</vehicle:class>
<vehicle name="r1" class="cart"><init_pose>1 0 10</init_pose></vehicle>
<block name="b1"><init_pose>2 2 0</init_pose><mass>5</mass></block>
</mvsim_world>"""


class Bus:
    """A world, the bus that publishes it, and a client."""

    def __init__(self, **options: str) -> None:
        text = WORLD.format(**{"controller": "twist_ideal", "fov": "180"} | options)
        self.world: World = load_world(text=text)
        self.requests = RequestQueue()
        self.stopped = False
        self.bus = WorldBus(self.world, self.requests.submit, self._stop, port=0, on_demand=True)
        self.client = Client("test", port=self.bus.port, timeout=10.0).connect()

    def _stop(self) -> None:
        self.stopped = True

    def step(self) -> None:
        self.requests.process()
        self.world.step()
        self.bus.after_step()

    def step_until(self, condition: Callable[[], object]) -> None:
        """Step, at most 2000 times, a little slower than readings take to arrive."""
        for _ in range(2000):
            if condition():
                return
            self.step()
            self.requests.wait(0.005)
        raise AssertionError("it did not become true")

    def listen(self, *topics: str) -> dict[str, list[Any]]:
        got: dict[str, list[Any]] = {topic: [] for topic in topics}
        for topic in topics:
            self.client.subscribe(topic, got[topic].append)
        self.step_until(lambda: all(got.values()))
        return got

    def call(self, service: str, **fields: Any) -> Any:
        """Call a service from another thread while the world steps."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(self.client.call, service, **fields)
            self.step_until(future.done)
            return future.result()

    def close(self) -> None:
        self.client.close()
        self.bus.close()


@pytest.fixture
def new_bus() -> Iterator[Callable[..., Bus]]:
    made: list[Bus] = []

    def make(**options: str) -> Bus:
        made.append(Bus(**options))
        return made[-1]

    yield make
    for bus in made:
        bus.close()


def test_topics_carry_the_readings(new_bus: Callable[..., Bus]) -> None:
    bus = new_bus()
    kinds = {"laser": "2DRangeScan", "imu": "IMU", "gnss": "GPS", "odom": "Odometry"}
    topics = [f"/r1/{name}" for name in (*kinds, "laser_scan", "pose", "others")]
    assert sorted(topic.name for topic in bus.client.topics()) == sorted(topics)
    assert bus.bus.node.problems == []
    got = bus.listen(*topics)
    for name, kind in kinds.items():
        message = got[f"/r1/{name}"][-1]
        assert message.sourceObjectId == "r1"
        assert class_name(message.mrptSerializedObservation) == f"mrpt::obs::CObservation{kind}"
    pose = got["/r1/pose"][-1]
    assert (pose.objectId, pose.pose.x, pose.pose.yaw) == ("r1", 1.0, math.radians(10.0))
    assert {m.objectId for m in got["/r1/others"]} == {"b1"}
    other, robot = bus.world.blocks["b1"].pose, bus.world.vehicles["r1"].pose
    seen = got["/r1/others"][-1].pose
    back = compose(robot, Pose(seen.x, seen.y, seen.z, seen.roll, seen.pitch, seen.yaw))
    assert back == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("fov", ["180", "360"])
def test_a_scan_is_the_sensor_s(new_bus: Callable[..., Bus], fov: str) -> None:
    bus = new_bus(fov=fov)
    scan = bus.listen("/r1/laser_scan")["/r1/laser_scan"][-1]
    reading = bus.world.vehicles["r1"].sensors["laser"].last
    hit = np.isfinite(reading.ranges)
    assert list(scan.validRanges) == hit.tolist()
    assert 0 < hit.sum() < 31
    np.testing.assert_array_equal(np.array(scan.scanRanges, "f4")[hit], reading.ranges[hit])
    assert set(np.array(scan.scanRanges)[~hit]) == {reading.range_max}
    # by the message's own rule, ray i has this angle on the vehicle
    step = scan.aperture / (len(scan.scanRanges) - 1)
    first = scan.sensorPose.yaw - 0.5 * scan.aperture
    turned = math.remainder(first - reading.angle_min, math.tau)
    assert turned == pytest.approx(0.0, abs=1e-6)
    assert step == pytest.approx(reading.angle_increment, rel=1e-6)


def test_only_sensors_with_readers_compute(new_bus: Callable[..., Bus]) -> None:
    bus = new_bus()
    for _ in range(20):
        bus.step()
    sensors = bus.world.vehicles["r1"].sensors
    assert [name for name, sensor in sensors.items() if sensor.last is not None] == []
    bus.listen("/r1/imu")
    assert [name for name, sensor in sensors.items() if sensor.last is not None] == ["imu"]
    same = load_world(text=WORLD.format(controller="twist_ideal", fov="180"))
    while same.ticks < bus.world.ticks:
        same.step()
    other = same.vehicles["r1"].sensors["imu"].last
    np.testing.assert_array_equal(
        sensors["imu"].last.linear_acceleration, other.linear_acceleration
    )


def test_a_sensor_computes_for_any_asker() -> None:
    world = load_world(text=WORLD.format(controller="twist_ideal", fov="180"))
    sensor = world.vehicles["r1"].sensors["imu"]
    for asker, wants, computes in (
        *(("ros", True, True), ("bus", False, True), ("ros", False, False)),
        *(("bus", True, True), ("ros", False, True), ("bus", False, False)),
    ):
        world.set_sensor_active(sensor, wants, asker)
        before = sensor.last
        world.run(0.04)
        assert (sensor.last is not before) == computes, (asker, wants)


def test_services(new_bus: Callable[..., Bus]) -> None:
    bus = new_bus()
    answer = bus.call("get_pose", objectId="r1")
    assert (answer.success, answer.objectIsInCollision, answer.pose.x) == (True, False, 1.0)
    twist = messages.twist(0.5, wz=0.2)
    assert bus.call("set_controller_twist", objectId="r1", twistSetPoint=twist).success
    bus.step()
    twist = bus.call("get_pose", objectId="r1").twist
    assert (twist.vx, twist.wz) == pytest.approx((0.5, 0.2))
    assert bus.call("set_pose", objectId="b1", pose=messages.pose(-5.0, 1.0, 0.5)).success
    block = bus.world.blocks["b1"]
    assert (block.pose.x, block.pose.yaw) == (-5.0, 0.5)
    ahead = messages.pose(1.0)
    answer = bus.call("set_pose", objectId="b1", pose=ahead, relativeIncrement=True)
    assert answer.objectGlobalPose.x == pytest.approx(-5.0 + math.cos(0.5))
    bus.call("set_pose", objectId="r1", pose=messages.pose(3.8))
    for _ in range(3):
        bus.step()
    assert bus.call("get_pose", objectId="r1").objectIsInCollision
    assert bus.call("shutdown").accepted
    assert bus.stopped


def test_torques(new_bus: Callable[..., Bus]) -> None:
    bus = new_bus(controller="raw")
    assert bus.call("set_wheel_torques", objectId="r1", torques=[0.5, 0.5]).success
    for _ in range(50):
        bus.step()
    assert bus.world.vehicles["r1"].twist.vx > 0.05
    twist = messages.twist(0.5)
    answer = bus.call("set_controller_twist", objectId="r1", twistSetPoint=twist)
    assert not answer.success
    assert "takes no twist command" in answer.errorMessage


@pytest.mark.parametrize(
    ("service", "fields", "error"),
    [
        ("get_pose", {"objectId": "r2"}, "unknown entity 'r2'"),
        ("set_pose", {"objectId": "r1", "pose": messages.pose(math.nan)}, "must be within"),
        ("set_pose", {"objectId": "r1", "pose": messages.pose(1e300)}, "must be within"),
        (
            "set_controller_twist",
            {"objectId": "r1", "twistSetPoint": messages.twist(math.inf)},
            "values must be within 1000",
        ),
        (
            "set_controller_twist",
            {"objectId": "b1", "twistSetPoint": messages.twist(1.0)},
            "unknown vehicle 'b1'",
        ),
        ("set_wheel_torques", {"objectId": "r1", "torques": [1.0]}, "takes no torque command"),
    ],
)
def test_bad_requests(
    new_bus: Callable[..., Bus], service: str, fields: dict[str, Any], error: str
) -> None:
    bus = new_bus()
    before = bus.world.vehicles["r1"].pose
    answer = bus.call(service, **fields)
    assert not answer.success
    assert error in answer.errorMessage
    assert bus.world.vehicles["r1"].pose == before


def test_vehicles_that_come_and_go(new_bus: Callable[..., Bus]) -> None:
    bus = new_bus()
    start = bus.world.state()
    bus.world.add_vehicle('<vehicle class="cart"/>', name="r2", pose=(0.0, -2.0, 0.0))
    bus.step()
    bus.step_until(lambda: len(bus.client.topics("/r2/")) == 7)
    assert bus.listen("/r2/pose")["/r2/pose"][-1].pose.y == -2.0
    bus.world.restore(start)
    for _ in range(5):
        bus.step()
    bus.world.reset()
    assert bus.listen("/r1/imu", "/r1/pose")
    bus.world.remove("r1")
    for _ in range(5):
        bus.step()
    bus.bus.set_world(None)
    bus.bus.after_step()
    assert "no world" in bus.call("get_pose", objectId="r1").errorMessage


def test_a_topic_has_one_type(new_bus: Callable[..., Bus]) -> None:
    bus = new_bus()
    text = '<vehicle class="cart"><publish><publish_pose_topic>/r1/imu</publish_pose_topic>'
    bus.world.add_vehicle(text + "</publish></vehicle>", name="r2", pose=(0.0, -2.0, 0.0))
    bus.step()
    assert bus.bus.node.problems == [
        "topic '/r1/imu' has type GenericObservation, it cannot be TimeStampedPose too"
    ]


def test_the_server_of_another_machine_needs_an_address() -> None:
    world = load_world(
        text="<mvsim_world><server_address>192.0.2.1</server_address></mvsim_world>"
    )
    with pytest.raises(CommsError, match=r"server_address is 192\.0\.2\.1: name the address"):
        WorldBus(world, lambda work: True, lambda: None, port=0)


SONAR_AND_PAIR = """<mvsim_world><vehicle name="r1"><dynamics class="differential"/>
  <sensor class="range" name="sonar"><pose_3d>0.2 0 0.1 0 0 0</pose_3d></sensor>
  <sensor class="stereo_camera" name="pair"><ncols>8</ncols><nrows>6</nrows><fx>6</fx><fy>6</fy>
    <baseline>0.1</baseline></sensor></vehicle></mvsim_world>"""


def test_range_and_stereo_in_the_format_of_mrpt() -> None:
    world = load_world(text=SONAR_AND_PAIR)
    world.run(0.2)
    sonar, pair = (world.vehicles["r1"].sensors[name] for name in ("sonar", "pair"))
    data = OBSERVATIONS["range"](sonar, sonar.last, 5.0)
    assert class_name(data) == "mrpt::obs::CObservationRange"
    head = 1 + len("mrpt::obs::CObservationRange")
    version, low, high, cone, count, number = struct.unpack_from("<BfffIH", data, head)
    assert (version, count, number) == (3, 1, 0)
    limits = sonar.last.range_min, sonar.last.range_max, sonar.last.field_of_view
    assert (low, high, cone) == pytest.approx(limits)
    pose = pose3d(sonar.mount)
    assert data[head + 19 :].startswith(pose)
    assert struct.unpack_from("<f", data, head + 19 + len(pose)) == pytest.approx(
        (sonar.last.range,)
    )
    data = OBSERVATIONS["stereo_camera"](pair, pair.last, 5.0)
    assert class_name(data) == "mrpt::obs::CObservationStereoImages"
    left, right = image(pair.last.left), image(pair.last.right)
    assert left + b"\0\1" + right in data
    end = data.rindex(b"mrpt::poses::CPose3DQuat") + len("mrpt::poses::CPose3DQuat")
    assert struct.unpack_from("<B7d", data, end) == pytest.approx((0, 0.1, 0, 0, 1, 0, 0, 0))


def test_kinds_of_sensors_with_messages() -> None:
    assert set(PUBLISHED) == set(OBSERVATIONS)


def test_relative_pose() -> None:
    a, b = Pose(1.0, 2.0, 3.0, 0.1, -0.2, 2.0), Pose(-4.0, 0.5, 1.0, -0.3, 0.4, -1.0)
    assert compose(b, relative_pose(a, b)) == pytest.approx(a, abs=1e-12)


def test_an_image_keeps_its_pixels() -> None:
    rgb = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    data = image(rgb)
    assert class_name(data) == "mrpt::img::CImage"
    head = 1 + len("mrpt::img::CImage") + 1
    assert struct.unpack_from("<??ii", data, head) == (False, True, -4, -2)
    assert data[head + 10 : -1] == rgb[:, :, ::-1].tobytes()


def test_messages_are_made_after_the_step(
    new_bus: Callable[..., Bus], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the thread that steps needs Python, the thread of the sockets makes no messages."""
    bus = new_bus()
    got = bus.listen("/r1/laser", "/r1/imu", "/r1/pose", "/r1/odom")
    bus.step_until(lambda: all(got.values()))
    happened: list[str] = []
    publish, thread = Publication.publish, bus.bus.node._client._require_thread()
    wake = thread.wake

    def publish_and_note(self: Publication, *args: Any, **options: Any) -> None:
        happened.append("published")
        publish(self, *args, **options)

    def wake_and_note() -> None:
        happened.append("woken")
        wake()

    monkeypatch.setattr(Publication, "publish", publish_and_note)
    monkeypatch.setattr(thread, "wake", wake_and_note)
    for _ in range(4):
        happened.append("step")
        bus.step()
    steps = " ".join(happened).split("step")[1:]
    assert any("published" in step for step in steps)
    for step in steps:
        assert "woken published" not in step
        assert step.count("woken") <= 1
    before = {topic: len(messages) for topic, messages in got.items()}
    bus.step_until(lambda: all(len(got[topic]) > n for topic, n in before.items()))
