# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Views that hold all that is to be seen: of a whole world, from above, behind a vehicle."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.rendering.picture import View, optical_axes
from mvsim_core.scene3d import Part, Scene3d
from mvsim_core.state.arrays import FloatArray, Rows, State

#: From where a whole world is looked at [rad]: azimuth, elevation, vertical field of view.
AZIMUTH, ELEVATION, FOV = math.radians(-60.0), math.radians(38.0), math.radians(40.0)
#: Field of view from above, small so that walls do not hide what is behind them [rad].
TOP_FOV = math.radians(12.0)
#: Share of a picture that stays free around the world.
MARGIN = 0.04
#: Size of a world with nothing in it [m].
EMPTY = 5.0
#: Level ground so much higher than other ground is a storey, and matters [m].
STOREY = 0.5
#: Where a vehicle is looked at from, behind it and above, in diameters of a ball around it: the
#: first place that nothing hides it from. And how far ahead of it one looks.
BEHIND_ABOVE, AHEAD = ((3.2, 1.6), (2.4, 2.6), (1.2, 3.4)), 1.5


def whole_view(scene: Scene3d, state: State, size: tuple[int, int], *, top: bool = False) -> View:
    """Return the nearest view of all there is in a world, ground planes left out if they can be.

    Args:
        scene: What is to be seen.
        state: Where it is.
        size: Width and height of the picture [pixel].
        top: From straight above, y to the top.
    """
    points = _corners(scene, state)
    fov = TOP_FOV if top else FOV
    elevation = 0.5 * math.pi if top else ELEVATION
    level = 0.0 if top else math.cos(elevation)
    back = np.array(
        [level * math.cos(AZIMUTH), level * math.sin(AZIMUTH), math.sin(elevation)],
    )
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    axes = optical_axes(View(_point(middle + back), _point(middle), fov, 0.1))
    tall = math.tan(0.5 * fov) * (1.0 - MARGIN)
    wide = tall * size[0] / size[1]
    x, y, z = ((points - middle) @ axes).T
    # Planes of the picture's sides through all points: the eye is where they meet.
    right, left = (x - wide * z).max(), (-x - wide * z).max()
    down, up = (y - tall * z).max(), (-y - tall * z).max()
    distance = max((right + left) / (2.0 * wide), (down + up) / (2.0 * tall), 1.0)
    eye = middle + axes @ np.array([0.5 * (right - left), 0.5 * (down - up), -distance])
    near = max(0.1, 0.2 * float(z.min() + distance))
    return View(_point(eye), _point(eye + distance * axes[:, 2]), fov, near)


def follow_view(scene: Scene3d, state: State, body: int) -> View:
    """Return a view from behind and above a body (row of BODY), which looks ahead."""
    row = state.bodies[body]
    turn = rotation(Pose(yaw=float(row["yaw"])))
    place = np.array([row["x"], row["y"], row["z"]])
    parts = [p for _, p in scene.layout(state.bodies, state.wheels, place).parts()]
    own = [_box(p, state.bodies) - place for p in parts if p.body == body]
    box = np.vstack(own or [np.array([(-0.5, -0.5, 0.0), (0.5, 0.5, 0.5)])])
    size, height = 2.0 * float(np.linalg.norm(box, axis=1).max()), float(box[:, 2].max())
    at = place + turn @ np.array([AHEAD * size, 0.0, 0.2 * size])
    roof = place + np.array([0.0, 0.0, height + 0.05 * size])
    ways = [turn @ np.array([-behind * size, 0.0, above * size]) for behind, above in BEHIND_ABOVE]
    hits = scene.cast_freely([roof] * len(ways), ways, state.bodies, 1.0, state.wheels)
    free = hits.distance[:, 0]
    chosen = int(np.argmax(free > 1.0)) if (free > 1.0).any() else int(np.argmax(free))
    eye = roof + min(0.9 * float(free[chosen]), 1.0) * ways[chosen]
    return View(_point(eye), _point(at), math.radians(50.0), 0.05)


def _corners(scene: Scene3d, state: State) -> FloatArray:
    """Return corners (n, 3) of boxes around all that matters, world frame [m]."""
    parts = [part for _, part in scene.layout(state.bodies, state.wheels).parts()]
    chosen = list(_boxes(parts, state.bodies, flat=False))
    chosen = chosen or list(_boxes(parts, state.bodies, flat=True))
    if not chosen:
        return EMPTY * np.array([(x, y, 0.0) for x in (-1, 1) for y in (-1, 1)])
    return np.vstack(chosen)


def _boxes(parts: list[Part], bodies: Rows, *, flat: bool) -> Iterator[FloatArray]:
    """Yield the boxes around parts; the lowest level ground counts only if `flat`."""
    pairs = [(part.label, _box(part, bodies)) for part in parts if len(part.model.vertices)]
    levels = [box[0, 2] for label, box in pairs if label == "ground" and np.ptp(box[:, 2]) == 0.0]
    lowest = min(levels, default=0.0) + STOREY
    for label, box in pairs:
        if flat or label != "ground" or np.ptp(box[:, 2]) > 0.0 or box[0, 2] > lowest:
            yield box


def _box(part: Part, bodies: Rows) -> FloatArray:
    """Return the (8, 3) corners of the box around a part, world frame; wheels are not turned."""
    low, high = part.model.vertices.min(axis=0), part.model.vertices.max(axis=0)
    box = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1])
                    for z in (low[2], high[2])])  # fmt: skip
    if part.body < 0:
        return box
    row = bodies[part.body]
    pose = Pose(*(float(row[name]) for name in ("x", "y", "z", "roll", "pitch", "yaw")))
    moved: FloatArray = box @ rotation(pose).T + np.array(pose[:3])
    return moved


def _point(place: FloatArray) -> tuple[float, float, float]:
    x, y, z = place.tolist()
    return x, y, z
