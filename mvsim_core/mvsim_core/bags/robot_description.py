# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles to URDF, with links named as the TF frames and joints as in joint_states."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from mvsim_core.bags.frames import Frames, sensor_frames
from mvsim_core.bags.joints import WheelJoint, wheel_joints
from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.visual import VisualSpec
from mvsim_core.world.vehicle import Vehicle

#: Mesh formats that RViz reads.
MESH_SUFFIXES = frozenset({".dae", ".stl", ".obj", ".ply", ".gltf", ".glb", ".fbx", ".3ds"})
#: Sizes [m] of sensor visuals: radius and height of lidar cylinders, edge of other cubes.
LIDAR_SIZE, SENSOR_SIZE = (0.04, 0.06), 0.04
LIDARS = ("laser", "lidar3d")
_SENSOR_COLOR = (0.1, 0.1, 0.1, 1.0)
_CYLINDER_TO_WHEEL = Pose(roll=0.5 * math.pi)  # axis z of a cylinder to axis y of a wheel
Rgba = tuple[float, float, float, float]


def robot_description(vehicle: Vehicle, frames: Frames, *, footprint: bool) -> str:
    """Return the URDF of a vehicle.

    Args:
        vehicle: The vehicle.
        frames: Its frames, which become links.
        footprint: Whether base_footprint is fixed to base_link, and so the root link.
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
                _sensor_visual(link, sensor.kind)
            _joint(robot, f"{child}_joint", "fixed", (frames.base, child), pose)
    ET.indent(robot)
    text: str = ET.tostring(robot, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0"?>\n{text}\n'


def _link(robot: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(robot, "link", name=name)


def _joint(
    robot: ET.Element, name: str, kind: str, ends: tuple[str, str], pose: Pose
) -> ET.Element:
    """Add a joint between links (parent, child) with the pose of the child in the parent."""
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
    meshes = [visual for visual in spec.visuals if _is_readable(visual)]
    low, high = vehicle.chassis_polygon.min(axis=0), vehicle.chassis_polygon.max(axis=0)
    chassis = spec.dynamics.chassis
    zmin, zmax = vehicle.z_range if chassis.shape_from_visual else (chassis.zmin, chassis.zmax)
    x, y = 0.5 * (low + high)
    size = (*(high - low), zmax - zmin)
    center = Pose(float(x), float(y), 0.5 * (zmin + zmax))
    for visual in meshes:
        shape = _shape(link, "visual", visual.pose)
        uri = Path(_path(visual)).resolve().as_uri()
        ET.SubElement(shape, "mesh", filename=uri, scale=_numbers((visual.model_scale,) * 3))
    if not meshes:
        ET.SubElement(_shape(link, "visual", center), "box", size=_numbers(size))
        _material(link[-1], "chassis", chassis.color)
    ET.SubElement(_shape(link, "collision", center), "box", size=_numbers(size))


def _path(visual: VisualSpec) -> str:
    return visual.model_uri.removeprefix("file://")


def _is_readable(visual: VisualSpec) -> bool:
    """Return whether a visual is a local file that RViz can read."""
    if not visual.enabled or "://" in _path(visual):
        return False
    path = Path(_path(visual))
    return path.suffix.lower() in MESH_SUFFIXES and path.is_file()


def _shape(link: ET.Element, kind: str, pose: Pose) -> ET.Element:
    """Add a visual or a collision to a link; return its empty geometry."""
    element = ET.SubElement(link, kind)
    _origin(element, pose)
    return ET.SubElement(element, "geometry")


def _material(visual: ET.Element, name: str, color: Rgba) -> None:
    material = ET.SubElement(visual, "material", name=name)
    ET.SubElement(material, "color", rgba=_numbers(tuple(color)))


# ------------------------------------------------------------------- wheels, sensors
def _wheel(robot: ET.Element, joint: WheelJoint, frames: Frames) -> None:
    spec = joint.spec
    mount = Pose(spec.x, spec.y, spec.radius, yaw=spec.yaw)
    parent, name = frames.base, frames.prefixed(joint.link)
    if joint.steered:
        steering_link = frames.prefixed(joint.steering_link)
        _link(robot, steering_link)
        steering = _joint(robot, joint.steering, "continuous", (parent, steering_link), mount)
        ET.SubElement(steering, "axis", xyz="0 0 1")
        parent, mount = steering_link, Pose()
    link = _link(robot, name)
    for geometry in _wheel_geometries(link):
        ET.SubElement(
            geometry,
            "cylinder",
            radius=_numbers((spec.radius,)),
            length=_numbers((spec.width,)),
        )
    _material(link[0], joint.token, spec.color)
    axle = _joint(robot, joint.axle, "continuous", (parent, name), mount)
    ET.SubElement(axle, "axis", xyz="0 1 0")


def _wheel_geometries(link: ET.Element) -> Iterator[ET.Element]:
    yield _shape(link, "visual", _CYLINDER_TO_WHEEL)
    yield _shape(link, "collision", _CYLINDER_TO_WHEEL)


def _sensor_visual(link: ET.Element, kind: str) -> None:
    """Add a small cylinder or cube that marks a sensor."""
    geometry = _shape(link, "visual", Pose())
    if kind in LIDARS:
        radius, height = (_numbers((size,)) for size in LIDAR_SIZE)
        ET.SubElement(geometry, "cylinder", radius=radius, length=height)
    else:
        ET.SubElement(geometry, "box", size=_numbers((SENSOR_SIZE,) * 3))
    _material(link[-1], "sensor", _SENSOR_COLOR)
