# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models of blocks and solids of walls and planes, compiled from their specs."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np

from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.errors import BuildError, Problem
from mvsim_core.geometry.polygons import outline_of
from mvsim_core.geometry.poses import area_of
from mvsim_core.specs.block import BlockSpec, WallsSpec
from mvsim_core.specs.element import HorizontalPlaneSpec, OccupancyGridSpec, VerticalPlaneSpec
from mvsim_core.state.arrays import DYNAMIC, KINEMATIC, STATIC, FloatArray
from mvsim_core.state.entities import Boxes, EntityModel, Inertia, Material, Solid, body_row
from mvsim_core.terrain.nearby import Nearby

Gap = tuple[float, float]

#: Planes and walls have the contact solver's own friction (the original's values).
WALL = Material(friction=0.2, restitution=0.01)
#: Planes thinner than this collide as if they had it [m].
THINNEST = 0.02
#: Boxes that a plane may be cut into by its doors and windows, and gaps above each other in it.
MOST_PARTS = 50_000
MOST_GAPS = 100
IMMOVABLE = Inertia(0.0, 0.0, 0.0, 0.0)


def build_block(
    spec: BlockSpec,
    outline: FloatArray,
    z_range: tuple[float, float],
    *,
    stand_in: bool = False,
) -> EntityModel:
    """Return the model of one block.

    Args:
        spec: Its spec from the world file.
        outline: Polygon (n, 2) in the block's frame [m].
        z_range: Lower and upper end above the pose [m].
        stand_in: Whether the outline replaces models that cannot be read.
    """
    corners = outline
    outline = outline_of(outline)
    area = area_of(outline)
    inertia = Inertia(spec.mass, area.x, area.y, spec.mass * area.second_moment / area.area)
    kind = STATIC if spec.static else DYNAMIC
    if spec.animation is not None:
        kind = KINEMATIC
    if kind != DYNAMIC:
        inertia = IMMOVABLE
    body = body_row(
        spec.init_pose, spec.init_vel if kind == DYNAMIC else (0.0, 0.0, 0.0), inertia, kind
    )
    body["damp_lin"], body["damp_ang"] = spec.linear_damping, spec.angular_damping
    body["ground_mu"] = spec.ground_friction
    body["ground_r"] = float(np.hypot(outline[:, 0], outline[:, 1]).max())
    material = Material(spec.lateral_friction, spec.restitution)
    return EntityModel(
        kind="block",
        name=spec.name,
        spec=spec,
        body=body,
        inertia=inertia,
        solids=() if spec.intangible else (Solid(outline, material, z_range),),
        outline=corners,
        top=z_range[1],
        on_ground=not spec.skip_elevation_adjust,
        stand_in=stand_in,
    )


def build_lift(name: str, spec: HorizontalPlaneSpec) -> EntityModel:
    """Return the model of a horizontal plane that moves; it collides with nothing."""
    level = spec.init_pose._replace(roll=0.0, pitch=0.0)
    body = body_row(level, (0.0, 0.0, 0.0), IMMOVABLE, KINEMATIC)
    return EntityModel(kind="plane", name=name, spec=spec, body=body, inertia=IMMOVABLE)


def plane_solids(spec: VerticalPlaneSpec) -> list[Solid]:
    """Return the boxes of a vertical plane: between doors full height, above and below openings.

    An opening leaves a gap between its z_min and z_max, so that a low body passes a door.

    Raises:
        BuildError: There are too many boxes.
    """
    length = math.hypot(spec.x1 - spec.x0, spec.y1 - spec.y0)
    low, high = spec.z, spec.z + spec.height
    changes: dict[float, list[tuple[int, Gap]]] = {0.0: [], 1.0: []}  # by place along the plane
    for opening in spec.openings:
        if opening.width <= 0.0:
            continue
        half = 0.5 * opening.width / length
        gap = (opening.z_min, opening.z_max)
        for change, place in ((1, opening.position - half), (-1, opening.position + half)):
            changes.setdefault(min(max(place, 0.0), 1.0), []).append((change, gap))
    open_here: Counter[Gap] = Counter()
    solids: list[Solid] = []
    for start, end in pairwise(sorted(changes)):
        for change, gap in changes[start]:
            open_here[gap] += change
        open_here += Counter()  # removes openings that ended here
        bottom = low
        for gap_low, gap_high in sorted(open_here):
            if gap_low > bottom:
                solids.append(_plane_box(spec, start, end, (bottom, min(gap_low, high))))
            bottom = max(bottom, gap_high)
        if bottom < high:
            solids.append(_plane_box(spec, start, end, (bottom, high)))
        if len(solids) > MOST_PARTS or len(open_here) > MOST_GAPS:
            text = (
                f"more than {MOST_GAPS} doors and windows of different heights at one place, or"
                f" more than {MOST_PARTS} pieces of wall between them; do they overlap by mistake?"
            )
            raise BuildError(Problem.at(spec.where, "element", text))
    return solids


def _plane_box(
    spec: VerticalPlaneSpec, start: float, end: float, z_range: tuple[float, float]
) -> Solid:
    p0, p1 = np.array([spec.x0, spec.y0]), np.array([spec.x1, spec.y1])
    along = (p1 - p0) / np.linalg.norm(p1 - p0)
    side = 0.5 * max(spec.thickness, THINNEST) * np.array([-along[1], along[0]])
    a, b = p0 + start * (p1 - p0), p0 + end * (p1 - p0)
    return Solid(np.array([a - side, b - side, b + side, a + side]), WALL, z_range)


def grid_boxes(spec: OccupancyGridSpec, grid: GridMap) -> Boxes:
    """Return boxes that cover the outline of a map's occupied cells, at all heights.

    Raises:
        BuildError: There are too many.
    """
    try:
        x0, y0, x1, y1 = grid.rectangles().T
    except BuildError as error:
        raise BuildError(Problem.at(spec.where, "element", str(error), quotes=True)) from None
    corners = np.stack((x0, y0, x1, y0, x1, y1, x0, y1), axis=1).reshape(-1, 2)
    material = Material(spec.lateral_friction, spec.restitution)
    return Boxes(grid.to_world(corners).reshape(-1, 4, 2), material, (-math.inf, math.inf))


def wall_solids(spec: WallsSpec, lines: FloatArray) -> list[Solid]:
    """Return one box a wall; where an end meets one already used, the corner is closed.

    An end within 1.01 thicknesses of the end of an earlier wall is drawn out by half a thickness.
    """
    reach = 1.01 * spec.thickness
    ends = Nearby()
    solids = []
    for a, b in lines:
        length = float(np.linalg.norm(b - a))
        if length == 0.0:
            continue
        along = (b - a) / length
        near = [any(ends.at(*end)) for end in (a.tolist(), b.tolist())]
        for x, y in (a.tolist(), b.tolist()):
            ends.add(1, x, y, reach)
        a = a - along * (0.5 * spec.thickness * near[0])
        b = b + along * (0.5 * spec.thickness * near[1])
        side = 0.5 * spec.thickness * np.array([-along[1], along[0]])
        corners = np.array([a - side, b - side, b + side, a + side])
        solids.append(Solid(corners, WALL, (0.0, spec.height)))
    return solids
