# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a whole world, from where people would look at it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mvsim_core.errors import ArgumentError, require_number
from mvsim_core.geometry.poses import moved
from mvsim_core.rendering.eye import Eye, Quality
from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.scene3d import Scene3d
from mvsim_core.specs.params import NOWHERE
from mvsim_core.state.arrays import FloatArray, Rows, State
from mvsim_core.state.entities import Entity

if TYPE_CHECKING:
    from mvsim_core.world.model import Model

Picture = npt.NDArray[np.uint8]
Point = tuple[float, float, float]

#: Most pixels along a side.
LARGEST = 16384
#: Largest coordinate of a view [m]: beyond it nothing is left of a picture's digits.
FARTHEST = 1e9
#: Size of a world with nothing in it [m].
EMPTY = 5.0
#: Pictures for people.
CAREFUL = Quality(samples=4, shadow_pixels=4096)
#: How much larger than seen from above a world may be shown: it is seen from the side.
FILL = 1.1


@dataclass(frozen=True, slots=True)
class View:
    """From where to look, where to, and how.

    Attributes:
        eye: Place of the camera, world frame [m].
        at: What is in the middle of the picture [m].
        fov: Vertical field of view [rad].
        near: Nothing nearer is seen [m].
    """

    eye: Point
    at: Point
    fov: float
    near: float


def view_of(model: Model, entities: Iterable[Entity], bodies: Rows) -> View:
    """Return the view that a world file's <gui> asks for; without one, of all that is there."""
    gui, entities = model.spec.gui, list(entities)
    target = gui.cam_point_to
    for entity in entities:
        if entity.name == gui.follow_vehicle:
            row = bodies[entity.row]
            target = (float(row["x"]), float(row["y"]), float(row["z"]))
    distance = gui.cam_distance
    if gui.where == NOWHERE:
        low, high = _bounds(model, entities, bodies)
        middle = 0.5 * (low + high)
        target = (float(middle[0]), float(middle[1]), 0.0)
        reach = 0.5 * float(np.hypot(*(high - low)))
        distance = reach / math.tan(0.5 * gui.fov) / FILL
    level = distance * math.cos(gui.cam_elevation)
    eye = (
        target[0] + level * math.cos(gui.cam_azimuth),
        target[1] + level * math.sin(gui.cam_azimuth),
        target[2] + distance * math.sin(gui.cam_elevation),
    )
    return View(eye, target, gui.fov, gui.clip_plane_min)


def render(scene: Scene3d, state: State, view: View, size: tuple[int, int]) -> Picture:
    """Return (height, width, 3) red, green, blue of a world as it is now.

    Args:
        scene: What is to be seen.
        state: Where it is.
        view: From where.
        size: Width and height [pixel].

    Raises:
        GlMissingError: There is no OpenGL.
        ArgumentError: The size is 0, or the view is not finite or looks nowhere.
    """
    check_size(size)
    _check_view(view)
    from mvsim_core.rendering.renderer import Renderer

    if not scene.renderer:
        scene.renderer = Renderer(scene.lights)
    width, height = size
    focal = 0.5 * height / math.tan(0.5 * view.fov)
    camera = Pinhole(width, height, focal, focal, 0.5 * (width - 1), 0.5 * (height - 1))
    pose = np.append(optical_axes(view).ravel(), view.eye)
    layout = scene.layout(state.bodies, state.wheels, view.eye)
    eye = Eye(camera, pose, (view.near, math.inf))
    picture: Picture = scene.renderer.render(eye, layout, CAREFUL)
    return picture


def optical_axes(view: View) -> FloatArray:
    """Return (3, 3): right, down and ahead as columns, in the world; the horizon is level."""
    ahead = np.subtract(view.at, view.eye)
    length = float(np.linalg.norm(ahead))
    if length == 0.0:
        raise ArgumentError("view: eye and at must differ: the eye is where it looks at")
    ahead = ahead / length
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    if float(np.linalg.norm(right)) < 1e-9:  # straight up or down: x is to the right
        right = np.array([1.0, 0.0, 0.0])
    right = right / np.linalg.norm(right)
    return np.column_stack([right, np.cross(ahead, right), ahead])


def check_size(size: tuple[int, int]) -> None:
    """Check the size of a picture [pixel].

    Raises:
        ArgumentError: A side is no whole number from 1 to LARGEST.
    """
    for name, side in zip(("width", "height"), size, strict=True):
        require_number(f"picture: {name}", side, "pixel", least=1, most=LARGEST, whole=True)


def _check_view(view: View) -> None:
    for name, point in (("eye", view.eye), ("at", view.at)):
        for axis, value in zip("xyz", point, strict=True):
            require_number(f"view: {name} {axis}", value, "m", least=-FARTHEST, most=FARTHEST)
    # as much as one can see: beyond it the tangent of the half is not finite
    require_number("view: fov", view.fov, "rad", least=1e-3, most=math.pi - 1e-3)
    require_number("view: near", view.near, "m", least=1e-6)


def _bounds(
    model: Model, entities: Iterable[Entity], bodies: Rows
) -> tuple[FloatArray, FloatArray]:
    """Return the corners of the rectangle that holds everything [m]."""
    outlines = list(_outlines(model, entities, bodies))
    points = np.vstack(outlines or [np.array([[-EMPTY, -EMPTY], [EMPTY, EMPTY]])])
    return points.min(axis=0), points.max(axis=0)


def _outlines(model: Model, entities: Iterable[Entity], bodies: Rows) -> Iterator[FloatArray]:
    for entity in entities:
        row = bodies[entity.row]
        pose = (float(row["x"]), float(row["y"]), float(row["yaw"]))
        yield from (moved(solid.points, pose) for solid in entity.model.solids)
    for fixture in model.fixtures:
        yield from (solid.points for solid in fixture.solids)
        if fixture.boxes is not None:
            yield fixture.boxes.corners.reshape(-1, 2)
