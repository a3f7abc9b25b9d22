# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Collision outlines: from the file, from a geometry, or from the meshes of the visuals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mvsim_core.geometry.poses import box
from mvsim_core.meshes.footprint import footprint
from mvsim_core.specs.block import BlockSpec
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.visual import GeometrySpec
from mvsim_core.state.arrays import FloatArray

Outline = tuple[FloatArray, tuple[float, float]]
#: Corners of the polygon that stands for a round shape without `vertex_count`.
ROUND_CORNERS = 10
UNIT_SQUARE = box(1.0, 1.0, (0.0, 0.0, 0.0))


class Outlines:
    """Finds the collision outline of vehicles and blocks.

    Args:
        warn: Called with where, element and message when a shape has to be replaced.
    """

    def __init__(self, warn: Callable[[Any, str, str], None]) -> None:
        """Start with nothing warned of."""
        self._warn = warn
        self._named: set[str] = set()

    def of_vehicle(self, spec: VehicleSpec) -> Outline:
        """Return the chassis polygon (n, 2) in the vehicle frame and its z-range [m]."""
        chassis = spec.dynamics.chassis
        z_range = (chassis.zmin, chassis.zmax)
        if chassis.shape is not None:
            return np.array(chassis.shape), z_range
        default = type(spec.dynamics)().chassis
        found = self._of_visuals(spec, None, None, "the default chassis")
        return (np.array(default.shape), z_range) if found is None else found

    def of_block(self, spec: BlockSpec) -> Outline:
        """Return the polygon (n, 2) in the block's frame and its z-range [m]."""
        low, high = spec.zmin, spec.zmax
        z_range = (0.0 if low is None else low, 1.0 if high is None else high)
        if spec.geometry is not None and spec.is_geometry:
            return geometry_outline(spec.geometry, low, high)
        if spec.shape is not None:
            return np.array(spec.shape), z_range
        found = self._of_visuals(spec, low, high, "a box of 1 m")
        return (UNIT_SQUARE, z_range) if found is None else found

    def is_news(self, fault: str) -> bool:
        """Return whether nobody was told of a fault yet; from now on somebody was."""
        news = fault not in self._named
        self._named.add(fault)
        return news

    def _of_visuals(
        self,
        owner: VehicleSpec | BlockSpec,
        low: float | None,
        high: float | None,
        substitute: str,
    ) -> Outline | None:
        """Return what the meshes of a vehicle or block cover; None if none can be read.

        Each model that cannot be read is named once, however many things have it.
        """
        faults: list[str] = []
        scale = owner.visual_scale if isinstance(owner, BlockSpec) else None
        found = footprint(owner.visuals, zmin=low, zmax=high, scale=scale, warn=faults.append)
        if found is None and not faults:
            faults.append(f"{owner.name}: its models have no shape of any size")
        end = f": {substitute} stands for it" if found is None else ""
        for fault in faults:
            if self.is_news(fault):
                self._warn(owner.where, "visual", fault + end)
        return None if found is None else (found.polygon, (found.zmin, found.zmax))


def geometry_outline(spec: GeometrySpec, low: float | None, high: float | None) -> Outline:
    """Return the outline of a simple solid; heights that are not given are those of the solid."""
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
