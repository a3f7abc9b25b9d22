# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The world as 3D sensors see it. Nothing is built before the first ray is cast.

What never moves is one model; each body and wheel with a shape is an instance of a model that it
shares with its equals. Bodies that do not move either are kept with what is fixed, and looked at
anew when one of them was moved after all.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mvsim_core.sensors.scene3d.bvh import BvhCaster
from mvsim_core.sensors.scene3d.model import Material, Model, join, rounds_of
from mvsim_core.sensors.scene3d.tables import (
    INSTANCE,
    SEE_ALL,
    Hits,
    Rays,
    Triangles,
    body_code,
    place_kernel,
)
from mvsim_core.state.arrays import STATIC, WHEEL, FloatArray, IntArray, Rows

#: Fixed things farther from the origin than this [m] are cast about their own middle, since
#: casters work in single precision.
FAR = 1000.0


class Part(NamedTuple):
    """One thing that is seen.

    Attributes:
        model: Its triangles, in the frame of its body or wheel.
        name: What it belongs to.
        label: Its kind: "ground", "wall", "map", "block", "actor" or "vehicle".
        body: Row of BODY; -1: it is fixed in the world.
        wheel: Row of WHEEL whose spin and steering it follows; -1: none.
    """

    model: Model
    name: str = ""
    label: str = ""
    body: int = -1
    wheel: int = -1


class Lights(NamedTuple):
    """What lights a scene, for cameras.

    Attributes:
        azimuth: Where the sun stands [rad], counter-clockwise from x.
        elevation: How high it stands [rad].
        color: Red, green, blue of its light, 0 to 1.
        ambient: Light from everywhere, 0 to 1.
        shadows: Whether things throw shadows.
        sky_box: Pattern of six image files, `%s` stands for their side; "" for a plain sky.
    """

    azimuth: float = math.radians(45.0)
    elevation: float = math.radians(70.0)
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    ambient: float = 0.5
    shadows: bool = True
    sky_box: str = ""


DAYLIGHT = Lights()


class Caster(Protocol):
    """Finds what rays meet."""

    def place(self, moved: IntArray) -> None:
        """Take over the poses of some instances."""

    def cast(self, rays: Rays, triangles: Triangles, origin: FloatArray, hits: Hits) -> None:
        """Write what rays meet."""


class Layout(NamedTuple):
    """The scene as arrays.

    Attributes:
        parts: All things; `Hits.part` counts them.
        materials: All looks; `Hits.material` counts them.
        reflectivity: (n,) of the looks.
        models: Each once; the first is what is fixed, if there is anything.
        users: Model of each instance.
        instances: INSTANCE rows.
        baked: INSTANCE rows of fixed bodies; when one has moved, all is laid out anew.
        origin: Subtracted from all positions [m].
        triangles: Of all models.
    """

    parts: list[Part]
    materials: list[Material]
    reflectivity: npt.NDArray[np.float32]
    models: list[Model]
    users: list[int]
    instances: Rows
    baked: Rows
    origin: FloatArray
    triangles: Triangles


class Scene3d:
    """What can be seen in a world, and where it is.

    Args:
        source: Called for all parts when they are needed.
        lights: Sun and sky.
        backend: "embree", "bvh", or "": the best there is.
        canvas: Where cameras keep their painter, to be shared by scenes that follow each other.
    """

    def __init__(
        self,
        source: Callable[[], Iterable[Part]] = tuple,
        *,
        lights: Lights = DAYLIGHT,
        backend: str = "",
        canvas: dict[str, Any] | None = None,
    ) -> None:
        """Remember where the parts come from."""
        self.lights = lights
        self._canvas = {} if canvas is None else canvas
        self._source = source
        self._backend = backend
        self._layout: Layout | None = None
        self._caster: Caster | None = None
        self._wheels = np.zeros(0, WHEEL)
        self._moved = np.zeros(0, np.int64)
        self._fixed: tuple[Any, list[Model], Model, FloatArray] | None = None

    @property
    def painter(self) -> Any:
        """What paints for all cameras; None until one of them asks, False without OpenGL."""
        return self._canvas.get("painter")

    @painter.setter
    def painter(self, painter: Any) -> None:
        self._canvas["painter"] = painter

    def bind(self, wheels: Rows) -> None:
        """Forget what was built; wheels are found in these rows of WHEEL from now on."""
        self._wheels = wheels
        self._layout = self._caster = None

    def layout(self, bodies: Rows) -> Layout:
        """Return the scene as it is now."""
        layout = self._layout
        if layout is not None and len(layout.baked):
            moved = np.zeros(len(layout.baked), np.int64)
            if place_kernel(layout.baked, bodies, self._wheels, layout.origin, moved):
                layout = None
        if layout is None:
            layout = self._layout = self._lay_out(list(self._source()), bodies)
            self._caster = None
            self._moved = np.zeros(len(layout.instances), np.int64)
            place_kernel(layout.instances, bodies, self._wheels, layout.origin, self._moved)
            return layout
        count = place_kernel(layout.instances, bodies, self._wheels, layout.origin, self._moved)
        if count and self._caster is not None:
            self._caster.place(self._moved[:count])
        return layout

    def _lay_out(self, parts: list[Part], bodies: Rows) -> Layout:
        still = [k for k, p in enumerate(parts) if p.body < 0 or bodies["kind"][p.body] == STATIC]
        baked = np.zeros(len(still), INSTANCE)
        baked["r"], baked["known"] = np.eye(3), np.nan
        for item, k in zip(baked, still, strict=True):
            item["body"], item["wheel"] = parts[k].body, parts[k].wheel
        scratch = np.zeros(len(baked), np.int64)
        place_kernel(baked, bodies, self._wheels, np.zeros(3), scratch)
        models = [parts[k].model for k in still]
        key = ([id(m) for m in models], baked["r"].tobytes(), baked["t"].tobytes())
        if self._fixed is None or self._fixed[0] != key:  # else only what moves came or went
            self._fixed = (key, models, *_joined(models, baked))
        _, _, fixed, origin = self._fixed
        baked["known"] = np.nan
        place_kernel(baked, bodies, self._wheels, origin, scratch)
        return _arranged(parts, still, fixed, origin, baked[baked["body"] >= 0])

    def cast(self, rays: Rays, bodies: Rows, hits: Hits) -> Layout:
        """Write what rays meet into `hits`; return the scene in which they were cast."""
        layout = self.layout(bodies)
        if self._caster is None:
            self._caster = make_caster(layout, self._backend)
        self._caster.cast(rays, layout.triangles, layout.origin, hits)
        return layout

    def cast_freely(
        self, origins: npt.ArrayLike, directions: npt.ArrayLike, bodies: Rows, reach: float
    ) -> Hits:
        """Return what single rays meet, (n, 1); origins [m] and directions (n, 3), world frame."""
        ways = np.array(directions, dtype=np.float64).reshape(-1, 1, 3)
        poses = np.tile(np.append(np.eye(3).ravel(), np.zeros(3)), (len(ways), 1))
        poses[:, 9:] = origins
        hits = Hits.empty(len(ways), 1)
        self.cast(Rays(ways, poses, 0, len(ways), 0.0, reach, tile=(16, 1)), bodies, hits)
        return hits


def hides(body: int) -> int:
    """Return the mask of rays that do not see a body (and see all else)."""
    return SEE_ALL & ~body_code(body) if body >= 0 else SEE_ALL


def make_caster(layout: Layout, backend: str = "") -> Caster:
    """Return the caster of a kind, or the best there is."""
    things = (layout.models, layout.users, layout.instances)
    if backend == "bvh":
        return BvhCaster(*things)
    try:
        from mvsim_core.sensors.scene3d.embree import EmbreeCaster
    except Exception as error:  # no wheel, or one that does not fit this machine
        if backend:
            raise
        warnings.warn(
            f"3D sensors are several times slower without Embree ({error}): pip install embreex",
            stacklevel=2,
        )
        return BvhCaster(*things)
    return EmbreeCaster(*things)


def _joined(models: list[Model], baked: Rows) -> tuple[Model, FloatArray]:
    """Return fixed models as one, and the origin that it is shifted to."""
    fixed = join([m.moved(item["r"], item["t"]) for m, item in zip(models, baked, strict=True)])
    origin = np.zeros(3)
    if len(fixed.vertices):
        middle = 0.5 * (fixed.vertices.min(axis=0) + fixed.vertices.max(axis=0))
        if np.abs(middle).max() > FAR:
            origin = np.round(middle)
            fixed = fixed.moved(np.eye(3), -origin)
    return fixed, origin


def _arranged(
    parts: list[Part], still: list[int], fixed: Model, origin: FloatArray, baked: Rows
) -> Layout:
    """Return the layout of what is fixed and what moves."""
    moving = sorted(set(range(len(parts))) - set(still))
    owner = [np.full(len(parts[k].model.triangles), k, np.int32) for k in still]
    models: list[Model] = [fixed] if len(fixed.triangles) else []
    shared: dict[int, int] = {}
    users = [0] * len(models)
    for k in moving:
        model = parts[k].model
        if id(model) not in shared:
            shared[id(model)] = len(models)
            models.append(model)
        users.append(shared[id(model)])
    instances = np.zeros(len(users), INSTANCE)
    instances["r"], instances["known"] = np.eye(3), np.nan
    if len(users) > len(moving):
        instances[0]["body"] = instances[0]["wheel"] = instances[0]["part"] = -1
        instances[0]["mask"] = SEE_ALL
    for item, k in zip(instances[len(users) - len(moving) :], moving, strict=True):
        item["body"], item["wheel"], item["part"] = parts[k].body, parts[k].wheel, k
        item["mask"] = body_code(parts[k].body)
    first = np.cumsum([0, *(len(m.triangles) for m in models)])
    instances["first"] = first[np.array(users, dtype=np.int64)]
    triangles, materials = _triangles(models, owner)
    brightness = np.array([m.reflectivity for m in materials], np.float32)
    return Layout(
        parts,
        materials,
        brightness,
        models,
        users,
        instances,
        baked,
        origin,
        triangles,
    )


def _triangles(
    models: list[Model], owner: list[npt.NDArray[np.int32]]
) -> tuple[Triangles, list[Material]]:
    """Return the tables of all triangles and all materials."""
    known: dict[Material, int] = {}
    planes, material = [np.zeros((0, 4))], [np.zeros(0, np.int32)]
    for model in models:
        rows = np.array([known.setdefault(m, len(known)) for m in model.materials], np.int32)
        planes.append(model.planes)
        material.append(rows[model.material])
    part = np.full(sum(len(p) for p in planes), -1, np.int32)
    owners = np.concatenate([np.zeros(0, np.int32), *owner])
    part[: len(owners)] = owners
    rounds, round_of = rounds_of(models)
    tables = Triangles(
        np.concatenate(planes), rounds, round_of.astype(np.int32), np.concatenate(material), part
    )
    return tables, list(known)
