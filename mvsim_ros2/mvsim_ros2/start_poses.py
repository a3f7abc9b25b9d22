# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where vehicles begin, by the parameter `start_poses`: `r1 x=1.0 yaw=1.57; r2 y=-2.0`.

What is not given, or left empty (`z=`), is as in the world file. Without a name the world's only
vehicle is meant.
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
    """It is not clear which vehicle shall begin at a pose."""


def poses_in(text: str) -> dict[str, dict[str, float]]:
    """Return the given components [m, rad] by the name of the vehicle, "" for the only one.

    Raises:
        ValueError: The text is something else.
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


def world_with(path: str, text: str, *, seed: int) -> World:
    """Return the world of a file, with vehicles where `text` puts them.

    Raises:
        MvsimError: The file has errors, or there is no such vehicle.
    """
    return load_world(path, seed=seed, change=partial(placed, poses=poses_in(text)))


def placed(spec: WorldSpec, poses: Mapping[str, Mapping[str, float]]) -> WorldSpec:
    """Return a world in which vehicles begin elsewhere.

    Args:
        spec: The world.
        poses: See `poses_in`.

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
