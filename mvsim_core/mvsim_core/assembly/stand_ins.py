# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks whose models are missing: the box that stands in must not be in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import shapely

from mvsim_core.geometry.poses import moved
from mvsim_core.state.entities import EntityModel, Solid

#: Areas [m²] and heights [m] in common that do not count.
SMALL_AREA, SMALL_HEIGHT = 1e-6, 1e-3


def without_stand_ins_around(
    blocks: Iterable[EntityModel],
    vehicles: Iterable[EntityModel],
    warn: Callable[[Any, str, str], None],
) -> list[EntityModel]:
    """Return the blocks; stand-ins in which a vehicle starts are intangible.

    Nothing is known of the shape of what a stand-in stands for, but that its vehicle was not
    inside it.

    Args:
        blocks: Models of blocks.
        vehicles: Models of the vehicles of the world.
        warn: Called with place, element and message for each block that is made intangible.
    """
    result = []
    places = None
    for block in blocks:
        if block.stand_in and block.solids:
            if places is None:
                places = [(v, [_placed(v, solid) for solid in v.solids]) for v in vehicles]
            inside = next((v.name for v, parts in places if _meet(block, parts)), None)
            if inside is not None:
                text = (
                    f"the box that stands in for the missing models of {block.name!r} does not"
                    f" collide, because {inside!r} starts in it"
                )
                warn(block.spec.where, "visual", text)
                spec = replace(block.spec, intangible=True)
                block = replace(block, solids=(), spec=spec)
        result.append(block)
    return result


Placed = tuple[shapely.Polygon, tuple[float, float]]


def _placed(model: EntityModel, solid: Solid) -> Placed:
    """Return a solid in the world and its range of heights [m]; the ground counts as level."""
    body = model.body[0]
    polygon = shapely.Polygon(moved(solid.points, (body["x"], body["y"], body["yaw"])))
    low, high = solid.z_range
    return polygon, (low + float(body["z"]), high + float(body["z"]))


def _meet(block: EntityModel, parts: list[Placed]) -> bool:
    """Return whether a block and a vehicle's parts overlap."""
    for solid in block.solids:
        mine, (low, high) = _placed(block, solid)
        for polygon, (bottom, top) in parts:
            if min(high, top) - max(low, bottom) < SMALL_HEIGHT or not mine.intersects(polygon):
                continue
            if mine.intersection(polygon).area > SMALL_AREA:
                return True
    return False
