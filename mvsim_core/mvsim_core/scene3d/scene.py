# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The world as 3D sensors see it. Nothing is built before the first ray is cast."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from mvsim_core.scene3d.layout import FixedCache, Layout, Part
from mvsim_core.scene3d.pool import ModelPool
from mvsim_core.scene3d.tables import SEE_ALL, Hits, Rays, body_code
from mvsim_core.state.arrays import WHEEL, Rows

#: Copy of a world: of what is seen in all of them.
EVERY_COPY = -1
#: WHEEL rows of a world without wheels.
NO_WHEELS = np.zeros(0, WHEEL)


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


class _Entity:
    """An entity, with the arguments of `Scene3d.add`."""

    __slots__ = ("_argument", "_parts", "_source", "copy", "key", "number")

    def __init__(
        self,
        key: Hashable,
        source: Callable[[Any], Iterable[Part]],
        argument: Any,
        copy: int,
        number: int,
    ) -> None:
        self.key = key
        self.copy = copy
        self.number = number
        self._source = source
        self._argument = argument
        self._parts: tuple[Part, ...] | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its parts, made when they are needed first."""
        if self._parts is None:
            self._parts = tuple(self._source(self._argument))
        return self._parts


class Scene3d:
    """What can be seen in a world, and where it is.

    Each copy of a replicated world has a `Layout` of its own, with models shared between them, so
    that no ray of one copy meets anything of another.

    Args:
        lights: Sun and sky.
        backend: "embree", "bvh", or "": the best there is.
        renderers: Where cameras keep their renderer, to be shared by scenes that follow each
            other; see `renderer`.

    Attributes:
        version: Changes when an entity comes or goes.
    """

    def __init__(
        self,
        *,
        lights: Lights = DAYLIGHT,
        backend: str = "",
        renderers: dict[str, Any] | None = None,
    ) -> None:
        """Start without parts."""
        self.lights = lights
        self._renderers = {} if renderers is None else renderers
        self._backend = backend
        self._pool = ModelPool()
        self._cache: FixedCache = WeakValueDictionary()
        self._layouts: dict[int, Layout] = {}
        self._entities: dict[Hashable, _Entity] = {}
        self._by_copy: dict[int, dict[Hashable, _Entity]] = {}
        self._added = 0
        self.version = 0

    @property
    def renderer(self) -> Any:
        """What renders for all cameras; None until one of them asks, False without OpenGL."""
        return self._renderers.get("renderer")

    @renderer.setter
    def renderer(self, renderer: Any) -> None:
        self._renderers["renderer"] = renderer

    def close(self) -> None:
        """Free what the renderer holds in OpenGL; the next picture makes another one."""
        renderer = self._renderers.pop("renderer", None)
        if renderer:
            renderer.close()

    # ------------------------------------------------------------ what comes and goes
    def add(
        self, key: Hashable, source: Callable[[], Iterable[Part]], copy: int = EVERY_COPY
    ) -> None:
        """Take in an entity. The time this takes does not depend on how many others there are.

        Args:
            key: Stands for the entity until it is removed.
            source: Called for its parts when a sensor needs them.
            copy: In which copy of the world it is; `EVERY_COPY`: in all.

        Raises:
            ValueError: There is an entity with this key.
        """
        self.add_all([key], lambda _: source(), [None], [copy])

    def add_all(
        self,
        keys: Sequence[Hashable],
        source: Callable[[Any], Iterable[Part]],
        arguments: Iterable[Any],
        copies: Iterable[int],
    ) -> None:
        """Take in entities as `add` does.

        Args:
            keys: Of each entity.
            source: Called with the argument of an entity for its parts.
            arguments: One for each entity.
            copies: Of each entity.

        Raises:
            ValueError: There is an entity with one of the keys; none is added then.
        """
        if len(set(keys)) < len(keys) or not self._entities.keys().isdisjoint(keys):
            again = next((key for key in keys if key in self._entities), keys)
            raise ValueError(f"the scene already holds {again!r}")
        numbers = range(self._added, self._added + len(keys))
        added = list(map(_Entity, keys, repeat(source), arguments, copies, numbers))
        self._entities.update(zip(keys, added, strict=True))
        self._added += len(keys)
        self.version += len(keys)
        for entity in added:
            self._by_copy.setdefault(entity.copy, {})[entity.key] = entity
            for layout in self._layouts_of(entity.copy) if self._layouts else ():
                layout.add(entity.key, entity.parts)

    def remove(self, key: Hashable) -> None:
        """Take out an entity, as fast as `add`; models without other users are dropped.

        Raises:
            KeyError: There is none with this key.
        """
        copy = self._entities.pop(key).copy
        del self._by_copy[copy][key]
        self.version += 1
        for layout in self._layouts_of(copy):
            layout.remove(key)

    def clear(self) -> None:
        """Take out all entities."""
        for key in list(self._entities):
            self.remove(key)
        self._layouts.clear()

    def parts(self, copy: int = 0) -> dict[Hashable, tuple[Part, ...]]:
        """Return the parts of all entities of a copy by their keys, in the order of coming."""
        return {e.key: e.parts for e in self._present(copy)}

    @property
    def built(self) -> bool:
        """Whether a sensor has needed the scene yet."""
        return bool(self._layouts)

    @property
    def model_count(self) -> int:
        """Number of models in use: shared ones count once."""
        return len(self._pool)

    def _present(self, copy: int) -> list[_Entity]:
        present = [e for c in {EVERY_COPY, copy} for e in self._by_copy.get(c, {}).values()]
        return sorted(present, key=lambda e: e.number)

    def _layouts_of(self, copy: int) -> list[Layout]:
        if copy == EVERY_COPY:
            return list(self._layouts.values())
        return [self._layouts[copy]] if copy in self._layouts else []

    # ------------------------------------------------------------ what is seen
    def layout(
        self, bodies: Rows, wheels: Rows = NO_WHEELS, eye: npt.ArrayLike = (0, 0, 0), copy: int = 0
    ) -> Layout:
        """Return a copy of the scene as it is now.

        Args:
            bodies: BODY, all rows.
            wheels: WHEEL, all rows.
            eye: From where it is looked at, world frame [m]: positions are exact near it.
            copy: Which copy.
        """
        layout = self._layouts.get(copy)
        if layout is None:
            layout = self._layouts[copy] = Layout(self._pool, self._cache, self._backend)
            for entity in self._present(copy):
                layout.add(entity.key, entity.parts)
        layout.update(bodies, wheels, np.asarray(eye, np.float64))
        return layout

    def cast(
        self, rays: Rays, bodies: Rows, hits: Hits, wheels: Rows = NO_WHEELS, copy: int = 0
    ) -> Layout:
        """Write what rays meet into `hits`; return the copy in which they were cast."""
        layout = self.layout(bodies, wheels, rays.poses[0, 9:], copy)
        layout.cast(rays, hits)
        return layout

    def cast_freely(
        self,
        origins: npt.ArrayLike,
        directions: npt.ArrayLike,
        bodies: Rows,
        reach: float,
        wheels: Rows = NO_WHEELS,
    ) -> Hits:
        """Return what single rays meet, (n, 1); origins [m] and directions (n, 3), world frame."""
        ways = np.array(directions, dtype=np.float64).reshape(-1, 1, 3)
        poses = np.tile(np.append(np.eye(3).ravel(), np.zeros(3)), (len(ways), 1))
        poses[:, 9:] = origins
        hits = Hits.empty(len(ways), 1, parts=True)
        rays = Rays(ways, poses, 0, len(ways), 0.0, reach, tile=(16, 1))
        self.cast(rays, bodies, hits, wheels)
        return hits


def hides(body: int) -> int:
    """Return the mask of rays that do not see a body (and see all else)."""
    return SEE_ALL & ~body_code(body) if body >= 0 else SEE_ALL


def copy_of(bodies: Rows, body: int) -> int:
    """Return in which copy of a replicated world a body is; 0 for the world's own frame (-1)."""
    names = bodies.dtype.names or ()
    return int(bodies["copy"][body]) if body >= 0 and "copy" in names else 0
