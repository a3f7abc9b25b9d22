# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A vehicle as URDF, with the names of the links that TF has and of the joints in joint_states."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from mvsim_core import Pose, Vehicle
from mvsim_core.specs.visual import VisualSpec
from mvsim_ros2.frames import Frames, sensor_frames
from mvsim_ros2.joints import WheelJoint, wheel_joints

#: Formats of models that RViz reads.
MODELS = frozenset({".dae", ".stl", ".obj", ".ply", ".gltf", ".glb", ".fbx", ".3ds"})
#: Sizes [m] of what stands for a sensor: radius and height of lidars, edge of the others.
LIDAR_SIZE, SENSOR_SIZE = (0.04, 0.06), 0.04
LIDARS = ("laser", "lidar3d")
_SENSOR_COLOR = (0.1, 0.1, 0.1, 1.0)
_LYING = Pose(roll=0.5 * math.pi)  # from a cylinder's axis, z, to a wheel's, y
Rgba = tuple[float, float, float, float]


def robot_description(vehicle: Vehicle, frames: Frames, *, footprint: bool) -> str:
    """Return the URDF of a vehicle.

    Args:
        vehicle: What is described.
        frames: Its frames, which become links.
        footprint: Whether base_footprint is fixed to base_link, and so the root.
    """
    robot = ET.Element("robot", name=vehicle.name)
    if footprint and frames.footprint != frames.base:
        _link(robot, frames.footprint)
        _joint(robot, "footprint_joint", "fixed", (frames.footprint, frames.base), Pose())
    _chassis(robot, vehicle, frames.base)
    for joint in wheel_joints(vehicle.spec.dynamics):
        _wheel(robot, joint, frames)
    for name, sensor in vehicle.sensors.items():
        for suffix, pose in sensor_frames(sensor).items():
            child = frames.sensor(name) + suffix
            link = _link(robot, child)
            if not suffix:
                _show_sensor(link, sensor.kind)
            _joint(robot, f"{child}_joint", "fixed", (frames.base, child), pose)
    ET.indent(robot)
    text: str = ET.tostring(robot, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0"?>\n{text}\n'


def _link(robot: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(robot, "link", name=name)


def _joint(
    robot: ET.Element, name: str, kind: str, ends: tuple[str, str], pose: Pose
) -> ET.Element:
    """Add a joint from a parent to a child, the child at a pose of the parent's frame."""
    joint = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=ends[0])
    ET.SubElement(joint, "child", link=ends[1])
    _origin(joint, pose)
    return joint


def _origin(parent: ET.Element, pose: Pose) -> None:
    ET.SubElement(parent, "origin", xyz=_numbers(pose[:3]), rpy=_numbers(pose[3:]))


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(f"{value:.9g}" for value in values)


# --------------------------------------------------------------------------- chassis
def _chassis(robot: ET.Element, vehicle: Vehicle, name: str) -> None:
    link = _link(robot, name)
    spec = vehicle.spec
    models = [visual for visual in spec.visuals if _readable(visual)]
    low, high = vehicle.chassis_polygon.min(axis=0), vehicle.chassis_polygon.max(axis=0)
    chassis = spec.dynamics.chassis
    zmin, zmax = vehicle.z_range if chassis.shape_from_visual else (chassis.zmin, chassis.zmax)
    x, y = 0.5 * (low + high)
    size = (*(high - low), zmax - zmin)
    middle = Pose(float(x), float(y), 0.5 * (zmin + zmax))
    for visual in models:
        shape = _shape(link, "visual", visual.pose)
        uri = Path(_path(visual)).resolve().as_uri()
        ET.SubElement(shape, "mesh", filename=uri, scale=_numbers((visual.model_scale,) * 3))
    if not models:
        ET.SubElement(_shape(link, "visual", middle), "box", size=_numbers(size))
        _paint(link[-1], "chassis", chassis.color)
    ET.SubElement(_shape(link, "collision", middle), "box", size=_numbers(size))


def _path(visual: VisualSpec) -> str:
    return visual.model_uri.removeprefix("file://")


def _readable(visual: VisualSpec) -> bool:
    """Whether a visual is a local file that RViz can show."""
    if not visual.enabled or "://" in _path(visual):
        return False
    path = Path(_path(visual))
    return path.suffix.lower() in MODELS and path.is_file()


def _shape(link: ET.Element, kind: str, pose: Pose) -> ET.Element:
    """Add a visual or a collision to a link; return its empty geometry."""
    element = ET.SubElement(link, kind)
    _origin(element, pose)
    return ET.SubElement(element, "geometry")


def _paint(visual: ET.Element, name: str, color: Rgba) -> None:
    material = ET.SubElement(visual, "material", name=name)
    ET.SubElement(material, "color", rgba=_numbers(tuple(color)))


# ------------------------------------------------------------------- wheels, sensors
def _wheel(robot: ET.Element, joint: WheelJoint, frames: Frames) -> None:
    spec = joint.spec
    place = Pose(spec.x, spec.y, spec.radius, yaw=spec.yaw)
    parent, name = frames.base, frames.named(joint.link)
    if joint.steered:
        between = frames.named(joint.steering_link)
        _link(robot, between)
        steering = _joint(robot, joint.steering, "continuous", (parent, between), place)
        ET.SubElement(steering, "axis", xyz="0 0 1")
        parent, place = between, Pose()
    link = _link(robot, name)
    for geometry in _disc(link):
        ET.SubElement(
            geometry,
            "cylinder",
            radius=_numbers((spec.radius,)),
            length=_numbers((spec.width,)),
        )
    _paint(link[0], joint.token, spec.color)
    spin = _joint(robot, joint.spin, "continuous", (parent, name), place)
    ET.SubElement(spin, "axis", xyz="0 1 0")


def _disc(link: ET.Element) -> Iterator[ET.Element]:
    yield _shape(link, "visual", _LYING)
    yield _shape(link, "collision", _LYING)


def _show_sensor(link: ET.Element, kind: str) -> None:
    """Add a small shape that stands for a sensor."""
    geometry = _shape(link, "visual", Pose())
    if kind in LIDARS:
        radius, height = (_numbers((size,)) for size in LIDAR_SIZE)
        ET.SubElement(geometry, "cylinder", radius=radius, length=height)
    else:
        ET.SubElement(geometry, "box", size=_numbers((SENSOR_SIZE,) * 3))
    _paint(link[-1], "sensor", _SENSOR_COLOR)
