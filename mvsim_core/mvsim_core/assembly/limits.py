# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Amounts that a world may have of what costs time and memory, counted before it is built."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mvsim_core.errors import BuildError, Problem
from mvsim_core.specs.sensor import (
    CameraSpec,
    LaserSpec,
    Lidar3dSpec,
    RangeSpec,
    RgbdCameraSpec,
    SensorSpec,
    StereoCameraSpec,
)
from mvsim_core.specs.simulable import MOST_BODIES, MOST_ELEMENTS, MOST_VEHICLES
from mvsim_core.specs.world import WorldSpec

#: Rays and pixels of all sensors together; each takes some hundred bytes.
MOST_RAYS = 20_000_000
#: Wheels of all vehicles.
MOST_WHEELS = 100_000
#: Wheels of one vehicle.
MOST_WHEELS_OF_ONE = 200


def rays_of(spec: SensorSpec) -> int:
    """Return how many rays or pixels a reading of a sensor has."""
    if isinstance(spec, LaserSpec):
        return spec.nrays
    if isinstance(spec, Lidar3dSpec):
        return spec.vert_nrays * spec.horz_nrays
    if isinstance(spec, CameraSpec):
        return spec.ncols * spec.nrows
    if isinstance(spec, StereoCameraSpec):
        return 2 * spec.ncols * spec.nrows
    if isinstance(spec, RangeSpec):  # solid angle of the cone over that of a ray
        return round(2.0 * math.pi * (1.0 - math.cos(0.5 * spec.fov)) / spec.ray_spacing**2)
    if isinstance(spec, RgbdCameraSpec):
        return spec.depth_ncols * spec.depth_nrows + spec.rgb_ncols * spec.rgb_nrows
    return 0


def check_amounts(spec: WorldSpec) -> None:
    """Refuse a world that would take gigabytes or minutes to build.

    Raises:
        BuildError: It has too much of something; the message names what, how many, and the limit.
    """
    problems = list(_excess(spec))
    if problems:
        raise BuildError(*problems)


def _excess(spec: WorldSpec) -> Iterator[Problem]:
    rays = wheels = 0
    for vehicle in spec.vehicles:
        number = len(getattr(vehicle.dynamics, "wheels", ()))
        if number > MOST_WHEELS_OF_ONE:
            text = (
                f"{vehicle.name!r} has {number} wheels, at most {MOST_WHEELS_OF_ONE} are allowed"
            )
            yield Problem.at(vehicle.where, "dynamics", text)
        wheels += number
        rays += sum(map(rays_of, vehicle.sensors))
    rays += sum(map(rays_of, spec.sensors))
    bodies = len(spec.vehicles) + len(spec.blocks) + len(spec.actors)
    for what, number, most in (
        ("rays and pixels of sensors", rays, MOST_RAYS),
        ("wheels", wheels, MOST_WHEELS),
        ("vehicles", len(spec.vehicles), MOST_VEHICLES),
        ("vehicles, blocks and actors", bodies, MOST_BODIES),
        ("elements", len(spec.elements), MOST_ELEMENTS),
    ):
        if number > most:
            text = f"the world has {number} {what}, at most {most} are allowed"
            yield Problem.at(spec.where, "mvsim_world", text)
