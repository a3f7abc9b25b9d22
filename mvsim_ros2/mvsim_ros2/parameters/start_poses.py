# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Initial poses of vehicles by the parameter `start_poses`: `r1 x=1.0 yaw=1.57; r2 y=-2.0`.

Components that are not given, or left empty (`z=`), are those of the world file. A pose without a
name is that of the only vehicle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from mvsim_core import Pose, UnknownName, World, load_world
from mvsim_core.errors import MvsimError
from mvsim_core.specs.world import WorldSpec


class StartPoseError(MvsimError):
    """A pose without a name, in a world that has not exactly one vehicle."""


def parse_start_poses(text: str) -> dict[str, dict[str, float]]:
    """Return the components of each pose [m, rad] by vehicle name, "" for the only vehicle.

    Raises:
        ValueError: The text has another form.
    """
    poses: dict[str, dict[str, float]] = {}
    for part in text.split(";"):
        words = part.split()
        name = " ".join(word for word in words if "=" not in word)
        given = dict(_component(word) for word in words if "=" in word)
        components = {key: value for key, value in given.items() if value is not None}
        if components:
            poses[name] = components
    return poses


def _component(word: str) -> tuple[str, float | None]:
    name, _, value = word.partition("=")
    if name not in Pose._fields:
        raise ValueError
    number = float(value) if value else None
    if number is not None and not math.isfinite(number):
        raise ValueError
    return name, number


def load_world_with_start_poses(path: str, text: str, *, seed: int) -> World:
    """Load a world file with the initial poses of the parameter `start_poses`.

    Raises:
        MvsimError: The file has errors, or there is no such vehicle.
    """
    return load_world(
        path, seed=seed, change=partial(set_start_poses, poses=parse_start_poses(text))
    )


def set_start_poses(spec: WorldSpec, poses: Mapping[str, Mapping[str, float]]) -> WorldSpec:
    """Return a world spec with other initial poses.

    Args:
        spec: The world.
        poses: See `parse_start_poses`.

    Raises:
        StartPoseError: No name is given, and the world has not exactly one vehicle.
        UnknownName: There is no such vehicle.
    """
    vehicles = {vehicle.name: vehicle for vehicle in spec.vehicles}
    for name, components in poses.items():
        if not name and len(vehicles) != 1:
            known = ", ".join(vehicles) or "none"
            raise StartPoseError(f"start_poses: name the vehicle that is meant, one of: {known}")
        key = name or next(iter(vehicles))
        if key not in vehicles:
            raise UnknownName("vehicle", key, vehicles)
        pose = vehicles[key].init_pose._replace(**components)
        vehicles[key] = replace(vehicles[key], init_pose=pose)
    return replace(spec, vehicles=tuple(vehicles.values()))
