# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The generated URDF: sound, and the same as TF and joint_states."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mvsim_msgs")

from mvsim_core import Pose, Vehicle, load_world
from mvsim_core.bags.frames import Frames, frames_of, sensor_frames
from mvsim_core.bags.joints import wheel_joints
from mvsim_core.bags.robot_description import robot_description
from mvsim_core.geometry.poses import rotation
from mvsim_ros2.conversions.stamps import stamp_of
from mvsim_ros2.outputs.wheels import WheelOutputs
from mvsim_ros2.parameters.settings import Settings
from tests.conftest import ROOT
from tests.ros.rules import as_matrix
from tests.ros.worlds import all_sensors

TRIANGLE = """solid t
facet normal 0 0 1
outer loop
vertex -0.2 -0.1 0.1
vertex 0.2 -0.1 0.4
vertex 0.0 0.2 0.3
endloop
endfacet
endsolid t
"""


class Robot:
    """A URDF as robot_state_publisher understands it."""

    def __init__(self, text: str) -> None:
        self.tree = ET.fromstring(text)
        assert self.tree.tag == "robot"
        self.links = [link.attrib["name"] for link in self.tree.findall("link")]
        self.joints = {joint.attrib["name"]: joint for joint in self.tree.findall("joint")}
        self.above = {j.find("child").attrib["link"]: j for j in self.joints.values()}

    @property
    def root(self) -> str:
        (root,) = set(self.links) - set(self.above)
        return root

    def parent(self, link: str) -> str:
        return str(self.above[link].find("parent").attrib["link"])

    def place(self, link: str, angles: dict[str, float]) -> np.ndarray:
        """Return the 4×4 matrix of a link in its parent."""
        joint = self.above[link]
        origin = joint.find("origin").attrib
        xyz, rpy = ([float(v) for v in origin[k].split()] for k in ("xyz", "rpy"))
        matrix = homogeneous(Pose(*xyz, *rpy))
        if joint.attrib["type"] == "fixed":
            return matrix
        x, y, z = (float(v) for v in joint.find("axis").attrib["xyz"].split())
        angle = angles[joint.attrib["name"]]
        assert (x, y, z) in ((0, 1, 0), (0, 0, 1))
        return matrix @ homogeneous(Pose(pitch=angle * y, yaw=angle * z))


def homogeneous(pose: Pose) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation(pose), pose[:3]
    return matrix


class Catcher:
    """An output that keeps what it is given."""

    needed = True
    message: Any = None

    def publish(self, message: Any) -> None:
        self.message = message


def frames(name: str, **settings: Any) -> Frames:
    return frames_of(Settings(world_file="x", **settings), name)


def check(vehicle: Vehicle, names: Frames) -> Robot:
    """Check that a description is a tree whose links are all in TF, at the same places."""
    robot = Robot(robot_description(vehicle, names, footprint=True))
    assert len(set(robot.links)) == len(robot.links)
    assert len(robot.joints) == len(robot.links) - 1 == len(robot.above)
    assert robot.root == names.footprint
    joints, forces = Catcher(), Catcher()
    wheels: Any = WheelOutputs(vehicle, names, joints, forces)  # type: ignore[arg-type]
    wheels.publish(stamp_of(10**9))
    wheels.fill_transforms(stamp_of(10**9))
    state = joints.message
    assert len(state.name) == len(state.position) == len(state.velocity) == len(state.effort)
    movable = {n for n, j in robot.joints.items() if j.attrib["type"] != "fixed"}
    assert movable == set(state.name)
    angles = dict(zip(state.name, state.position, strict=True))
    in_tf = {names.base: (names.footprint, np.eye(4))} if names.base != names.footprint else {}
    for link in wheels.transforms:
        in_tf[link.child_frame_id] = (link.header.frame_id, as_matrix(link.transform))
    for name, sensor in vehicle.sensors.items():
        for suffix, pose in sensor_frames(sensor).items():
            in_tf[names.sensor(name) + suffix] = (names.base, homogeneous(pose))
    assert set(in_tf) == set(robot.above)
    for link, (parent, matrix) in in_tf.items():
        assert robot.parent(link) == parent
        np.testing.assert_allclose(robot.place(link, angles), matrix, atol=1e-6)
    assert [w.name for w in forces.message.wheels] == state.name[: len(forces.message.wheels)]
    return robot


@pytest.mark.parametrize("prefix", ["", "<name>/"])
def test_links_are_where_tf_says_they_are(tmp_path: Path, prefix: str) -> None:
    world = load_world(all_sensors(tmp_path))
    for vehicle in world.vehicles.values():
        vehicle.set_twist(0.8, 0.0, 0.5)
    world.run(0.7)
    for name, vehicle in world.vehicles.items():
        assert abs(vehicle.wheels[0].phi) > 1.0
        robot = check(vehicle, frames(name, frame_prefix=prefix))
        assert robot.root == prefix.replace("<name>", name) + "base_footprint"


@pytest.mark.parametrize(
    "world", sorted((ROOT / "worlds").glob("*.world.xml")), ids=lambda p: p.name
)
def test_all_vehicles_of_the_demos_have_one(world: Path) -> None:
    for name, vehicle in load_world(world).vehicles.items():
        robot = check(vehicle, frames(name))
        for joint in wheel_joints(vehicle.spec.dynamics):
            assert joint.link in robot.links


def test_the_urdf_parser_of_ros_takes_it(tmp_path: Path) -> None:
    parser = pytest.importorskip("urdf_parser_py.urdf", reason="urdf-parser-py is not installed")
    for name, vehicle in load_world(all_sensors(tmp_path)).vehicles.items():
        names = frames(name, frame_prefix="<name>/")
        text = robot_description(vehicle, names, footprint=True)
        model = parser.URDF.from_xml_string(text.encode())
        assert model.get_root() == names.footprint
        assert model.get_chain(
            names.footprint, f"{name}/{'rl' if name == 'car' else 'l'}_wheel_link"
        )


def test_steered_wheels_have_two_joints(tmp_path: Path) -> None:
    world = load_world(all_sensors(tmp_path))
    world.vehicles["car"].set_ackermann(1.0, 0.3)
    world.run(0.2)
    robot = check(world.vehicles["car"], frames("car"))
    assert robot.parent("fl_wheel_link") == "fl_wheel_steering_link"
    assert robot.parent("rl_wheel_link") == "base_link"
    joints = Catcher()
    wheels = WheelOutputs(world.vehicles["car"], frames("car"), joints, Catcher())  # type: ignore[arg-type]
    wheels.publish(stamp_of(10**9))
    angles = dict(zip(joints.message.name, joints.message.position, strict=True))
    assert angles["fl_wheel_steering_joint"] > angles["fr_wheel_steering_joint"] > 0.25
    assert "rl_wheel_steering_joint" not in angles


def test_on_uneven_ground_base_link_is_the_root(tmp_path: Path) -> None:
    # base_footprint → base_link moves on terrain, which a fixed joint contradicts.
    vehicle = next(iter(load_world(all_sensors(tmp_path)).vehicles.values()))
    robot = Robot(robot_description(vehicle, frames("x"), footprint=False))
    assert robot.root == "base_link"
    assert "base_footprint" not in robot.links


def test_equal_names_of_wheels_are_numbered() -> None:
    wheels = [SimpleNamespace(name=n) for n in ("wheel", "wheel", "tail")]
    joints = wheel_joints(SimpleNamespace(wheels=wheels))  # type: ignore[arg-type]
    assert [j.axle for j in joints] == ["wheel1_joint", "wheel2_joint", "tail_joint"]


def test_a_local_model_is_shown_instead_of_a_box(tmp_path: Path) -> None:
    path = all_sensors(tmp_path)
    plain = Robot(description(path))
    assert plain.tree.find("link[@name='base_link']/visual/geometry/box") is not None
    (tmp_path / "my body.stl").write_text(TRIANGLE)
    uri, far = tmp_path / "my body.stl", "https://example.org/body.stl"
    for model, expected in ((uri, uri.as_uri()), (far, None), (tmp_path / "none.stl", None)):
        visual = f"<visual><model_uri>{model}</model_uri><model_scale>2</model_scale></visual>"
        text = path.read_text().replace("</dynamics>", f"</dynamics>{visual}", 1)
        (tmp_path / "shown.world.xml").write_text(text)
        shown = Robot(description(tmp_path / "shown.world.xml"))
        mesh = shown.tree.find("link[@name='base_link']/visual/geometry/mesh")
        assert (None if mesh is None else mesh.attrib["filename"]) == expected
        if mesh is not None:
            assert mesh.attrib["scale"] == "2 2 2"
        assert shown.tree.find("link[@name='base_link']/collision/geometry/box") is not None


def description(path: Path) -> str:
    name, vehicle = next(iter(load_world(path).vehicles.items()))
    return robot_description(vehicle, frames(name), footprint=True)
