# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Collision outlines: from the file, a geometry or the meshes of the visuals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mvsim_core.errors import BuildError, Problem
from mvsim_core.geometry.polygons import outline_of
from mvsim_core.geometry.poses import box
from mvsim_core.meshes.footprint import footprint
from mvsim_core.specs.block import BlockSpec
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.visual import GeometrySpec
from mvsim_core.specs.wheel import WheelSpec
from mvsim_core.state.arrays import FloatArray

Outline = tuple[FloatArray, tuple[float, float]]
#: Corners of the polygon that replaces a round shape without `vertex_count`.
ROUND_CORNERS = 10
UNIT_SQUARE = box(1.0, 1.0, (0.0, 0.0, 0.0))


class Outlines:
    """Finds the collision outline of vehicles and blocks.

    Args:
        warn: Called with place, element and message when a shape has to be replaced.
    """

    def __init__(self, warn: Callable[[Any, str, str], None]) -> None:
        """Start with nothing reported."""
        self._warn = warn
        self._reported: set[str] = set()

    def of_vehicle(self, spec: VehicleSpec) -> Outline:
        """Return the chassis polygon (n, 2) in the vehicle frame and its z-range [m].

        Raises:
            BuildError: Its area is zero.
        """
        return _with_area(spec, self._of_chassis(spec))

    def of_block(self, spec: BlockSpec) -> Outline:
        """Return the polygon (n, 2) in the block's frame and its z-range [m].

        Raises:
            BuildError: Its area is zero.
        """
        return _with_area(spec, self._of_solid(spec))

    def first_report(self, warning: str) -> bool:
        """Return whether a warning is reported for the first time, and record it."""
        is_new = warning not in self._reported
        self._reported.add(warning)
        return is_new

    def _of_chassis(self, spec: VehicleSpec) -> Outline:
        chassis = spec.dynamics.chassis
        z_range = (chassis.zmin, chassis.zmax)
        if chassis.shape is not None:
            return np.array(chassis.shape), z_range
        found = self._of_visuals(spec, None, None, "a box over its wheels")
        return (_over(spec.dynamics.wheels), z_range) if found is None else found

    def _of_solid(self, spec: BlockSpec) -> Outline:
        low, high = spec.zmin, spec.zmax
        z_range = (0.0 if low is None else low, 1.0 if high is None else high)
        if spec.geometry is not None and spec.is_geometry:
            return geometry_outline(spec.geometry, low, high)
        if spec.shape is not None:
            return np.array(spec.shape), z_range
        found = self._of_visuals(spec, low, high, "a box of 1 m")
        return (UNIT_SQUARE, z_range) if found is None else found

    def _of_visuals(
        self,
        owner: VehicleSpec | BlockSpec,
        low: float | None,
        high: float | None,
        substitute: str,
    ) -> Outline | None:
        """Return what the meshes of a vehicle or block cover; None if none can be read.

        Each model that cannot be read is reported once, however many entities use it.
        """
        warnings: list[str] = []
        scale = owner.visual_scale if isinstance(owner, BlockSpec) else None
        found = footprint(owner.visuals, zmin=low, zmax=high, scale=scale, warn=warnings.append)
        if found is None and not warnings:
            warnings.append(f"{owner.name}: its models have no shape of any size")
        end = f": {substitute} is used instead" if found is None else ""
        for warning in warnings:
            if self.first_report(warning):
                self._warn(owner.where, "visual", warning + end)
        return None if found is None else (found.polygon, (found.zmin, found.zmax))


def _over(wheels: Iterable[WheelSpec]) -> FloatArray:
    """Return the rectangle (4, 2) around the vehicle's origin and its wheels [m]."""
    places = [box(w.diameter, w.width, (w.x, w.y, w.yaw)) for w in wheels]
    points = np.vstack([np.zeros((1, 2)), *places])
    (x, y), (far_x, far_y) = points.min(axis=0), points.max(axis=0)
    return np.array([(x, y), (far_x, y), (far_x, far_y), (x, far_y)])


def _with_area(spec: VehicleSpec | BlockSpec, outline: Outline) -> Outline:
    """Return the outline; BuildError if it encloses no area, as mass needs one."""
    if len(outline_of(outline[0])) < 3:
        text = f"the collision shape of {spec.name!r} has no area"
        raise BuildError(Problem.at(spec.where, "", text))
    return outline


def geometry_outline(spec: GeometrySpec, low: float | None, high: float | None) -> Outline:
    """Return the outline of a geometry; heights that are None are those of the geometry."""
    if spec.type in ("cylinder", "sphere"):
        n = max(3, spec.vertex_count or ROUND_CORNERS)
        angle = 2.0 * math.pi * np.arange(n) / n
        points = spec.radius * np.column_stack((np.cos(angle), np.sin(angle)))
        bottom, top = (0.0, spec.length)
        if spec.type == "sphere":
            bottom, top = -spec.radius, spec.radius
    else:
        points = box(spec.lx, spec.ly, (0.0, 0.0, 0.0))
        if spec.type in ("box", "ramp"):
            points[:, 0] += 0.5 * spec.lx
        if spec.type == "box":
            points[:, 1] += 0.5 * spec.ly
        bottom, top = 0.0, spec.lz
    return points, (bottom if low is None else low, top if high is None else high)
