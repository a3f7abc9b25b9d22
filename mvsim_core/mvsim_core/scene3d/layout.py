# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One copy of a world as instances of models, kept up to date part by part.

What never moves is one model (one for each region of a wide world); each body and wheel with a
shape is an instance of a model that it shares with its equals. A part that comes or goes touches
its own instance only. The fixed model is rebuilt when a part of it is added, removed or moved.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from mvsim_core.scene3d.caster import Caster, Tables, make_caster
from mvsim_core.scene3d.model import Model, join
from mvsim_core.scene3d.pool import ModelPool
from mvsim_core.scene3d.tables import (
    INSTANCE,
    SEE_ALL,
    SEE_FIXED_ONLY,
    Hits,
    Rays,
    body_code,
    place_kernel,
)
from mvsim_core.state.arrays import STATIC, FloatArray, IntArray, Rows
from mvsim_core.state.tables import Table

#: Fixed things farther from the origin than this [m] are cast about their own middle, since
#: casters work in single precision.
FAR = 1000.0
#: Side of the cubes into which wide worlds are divided, each with its own fixed model [m].
#: In single precision a coordinate of half of it is known to 0.1 mm.
REGION = 4096.0


class Part(NamedTuple):
    """One thing that is seen.

    Attributes:
        model: Its triangles, in the frame of its body or wheel.
        name: What it belongs to.
        label: Its kind: "ground", "wall", "map", "block", "actor" or "vehicle".
        body: Row of BODY; -1: it is fixed in the world.
        wheel: Row of WHEEL whose spin and steering it follows; -1: none.
        sensor: Full name of the sensor whose visual it is, which does not see it; "": none.
    """

    model: Model
    name: str = ""
    label: str = ""
    body: int = -1
    wheel: int = -1
    sensor: str = ""


class FixedModel:
    """Fixed parts of one region as one model.

    Attributes:
        model: All of them, about `middle`.
        middle: Where it is in the world [m].
        parts: (m,) id of the part of each triangle.
    """

    def __init__(self, sources: list[Model], poses: Rows, ids: IntArray) -> None:
        """Join models at their poses (INSTANCE rows); `ids` are those of the parts."""
        self._sources = sources  # kept, so that their ids in the cache's key stay theirs
        joined = join([m.moved(p["r"], p["t"]) for m, p in zip(sources, poses, strict=True)])
        self.middle = np.zeros(3)
        if len(joined.vertices):
            middle = 0.5 * (joined.vertices.min(axis=0) + joined.vertices.max(axis=0))
            if np.abs(middle).max() > FAR:
                self.middle = np.round(middle)
                joined = joined.moved(np.eye(3), -self.middle)
        self.model = joined
        counts = [len(m.triangles) for m in sources]
        self.parts = np.repeat(ids, counts)


FixedCache = WeakValueDictionary[Hashable, FixedModel]


class Layout:
    """The parts of one copy of a world, and where they are now.

    Args:
        pool: Triangles, shared with other copies.
        cache: Fixed models, shared with other copies.
        backend: As of `Scene3d`.

    Attributes:
        origin: Subtracted from all positions [m]; it follows the sensors through a wide world.
        users: Rows of `instances` by model, for renderers.
        version: Changes when `users` does.
    """

    def __init__(self, pool: ModelPool, cache: FixedCache, backend: str = "") -> None:
        """Start without parts."""
        self.origin = np.zeros(3)
        self.users: dict[Model, dict[int, None]] = {}
        self.version = 0
        self._pool = pool
        self._cache = cache
        self._backend = backend
        self._caster: Caster | None = None
        self._instances = Table(INSTANCE, {"body": -1, "wheel": -1})
        self._new: dict[Hashable, Sequence[Part]] = {}
        self._groups: dict[Hashable, tuple[Sequence[Part], dict[int, Part]]] = {}
        self._fixed: dict[Hashable, Sequence[Part]] = {}
        self._baked: Rows = np.zeros(0, INSTANCE)
        self._models: list[tuple[FixedModel, int]] = []
        self._visuals: dict[str, int] = {}
        self._carried: set[int] = set()  # rows of visuals of sensors on bodies
        self._standing: dict[int, None] = {}
        self._stale = False
        self._moved = np.zeros(0, np.int64)

    @property
    def instances(self) -> Rows:
        """INSTANCE rows, some of them free; as `update` left them."""
        rows: Rows = self._instances.rows
        return rows

    # ------------------------------------------------------------ what comes and goes
    def add(self, key: Hashable, parts: Sequence[Part]) -> None:
        """Take in the parts of one entity; `update` sorts them into fixed and moving ones."""
        self._new[key] = parts

    def remove(self, key: Hashable) -> None:
        """Take out all parts of an entity."""
        if self._new.pop(key, None) is not None:
            return
        for row, part in self._groups.pop(key)[1].items():
            self._detach(row, part.model)
            self._visuals.pop(part.sensor, None)
            self._standing.pop(row, None)
        if self._fixed.pop(key, None) is not None:
            self._stale = True

    def update(self, bodies: Rows, wheels: Rows, eye: FloatArray) -> None:
        """Put all instances where their bodies and wheels are.

        Args:
            bodies: BODY, all rows.
            wheels: WHEEL, all rows.
            eye: Where the sensor is, world frame [m].
        """
        for key, parts in self._new.items():
            self._sort_in(key, parts, bodies)
        self._new.clear()
        if len(self._baked) and not self._stale:
            moved = np.zeros(len(self._baked), np.int64)
            self._stale = place_kernel(self._baked, bodies, wheels, np.zeros(3), moved) > 0
        if self._stale:
            self._bake(bodies, wheels)
        self._follow(eye)
        rows = self._instances.rows
        if len(self._moved) < len(rows):
            self._moved = np.zeros(2 * len(rows), np.int64)
        count = place_kernel(rows, bodies, wheels, self.origin, self._moved)
        if self._caster is not None:
            self._caster.place(rows, self._moved[:count])

    def cast(self, rays: Rays, hits: Hits) -> None:
        """Write what rays meet, after an `update`."""
        rows, pool = self._instances.rows, self._pool
        if self._caster is None:
            self._caster = make_caster(self._backend)
            for model, users in self.users.items():
                for row in users:
                    visual = row in self._carried
                    self._caster.attach(row, model, int(rows[row]["mask"]), visual)
            self._caster.place(rows, np.flatnonzero(rows["mask"]))
        tables = Tables(rows, pool.triangles, pool.rounds, pool.surfaces)
        rays = rays._replace(own_row=self.visual_of(rays.own))
        self._caster.cast(rays, tables, self.origin, hits)

    # ------------------------------------------------------------ what hits belong to
    def visual_of(self, sensor: str) -> int:
        """Return the row of the instance that is the visual of a sensor; -1: it has none."""
        return self._visuals.get(sensor, -1)

    def parts(self) -> Iterator[tuple[int, Part]]:
        """Iterate over what `Hits.part` says and the part that it stands for, in order of coming.

        Fixed parts are counted through and have ids below -1; what moves has its row.
        """
        number = 0
        for fixed, rows in self._groups.values():
            for part in fixed:
                yield fixed_id(number), part
                number += 1
            yield from rows.items()

    # ------------------------------------------------------------ how it is done
    def _sort_in(self, key: Hashable, parts: Sequence[Part], bodies: Rows) -> None:
        # Visuals of sensors are always instances of their own: their sensor must not see them.
        still = [not p.sensor and (p.body < 0 or bodies["kind"][p.body] == STATIC) for p in parts]
        fixed = tuple(p for p, stands in zip(parts, still, strict=True) if stands)
        if fixed:
            self._fixed[key] = fixed
            self._stale = True
        rows = {}
        for part, stands in zip(parts, still, strict=True):
            if stands:
                continue
            mask = body_code(part.body) if part.body >= 0 else SEE_ALL
            visual = bool(part.sensor) and part.body >= 0
            row = self._attach(part.model, mask, (part.body, part.wheel), visual=visual)
            rows[row] = part
            if part.sensor:
                self._visuals[part.sensor] = row
            if part.body < 0:
                self._standing[row] = None
                self._place_fixed()
        self._groups[key] = (fixed, rows)

    def _attach(
        self,
        model: Model,
        mask: int,
        frame: tuple[int, int] = (-1, -1),
        parts: IntArray | None = None,
        visual: bool = False,
    ) -> int:
        item = np.zeros(1, INSTANCE)
        item["body"], item["wheel"] = frame
        item["mask"], item["r"], item["known"] = mask, np.eye(3), np.nan
        item["first"] = self._pool.acquire(model, parts)
        row = self._instances.add(item)
        self.users.setdefault(model, {})[row] = None
        self.version += 1
        if visual:
            self._carried.add(row)
        if self._caster is not None:
            self._caster.attach(row, model, mask, visual)
        return row

    def _detach(self, row: int, model: Model) -> None:
        if self._caster is not None:
            self._caster.detach(row, model)
        self._carried.discard(row)
        users = self.users[model]
        del users[row]
        if not users:
            del self.users[model]
        self.version += 1
        self._pool.release(model)
        self._instances.remove(row)

    def _bake(self, bodies: Rows, wheels: Rows) -> None:
        """Rebuild the fixed models that have changed."""
        parts = [p for group in self._fixed.values() for p in group]
        poses = np.zeros(len(parts), INSTANCE)
        poses["r"], poses["known"] = np.eye(3), np.nan
        for item, part in zip(poses, parts, strict=True):
            item["body"], item["wheel"] = part.body, part.wheel
        place_kernel(poses, bodies, wheels, np.zeros(3), np.zeros(len(poses), np.int64))
        # parts of bodies apart from maps, which are all that some sensors see
        regions: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for k, part in enumerate(parts):
            mask = SEE_ALL if part.body < 0 else SEE_ALL & ~SEE_FIXED_ONLY
            regions.setdefault((mask, _region(part.model, poses[k])), []).append(k)
        old, self._models = self._models, []
        for (mask, _), members in regions.items():
            chosen = np.array(members)
            fixed = self._fixed_model([parts[k].model for k in members], poses[chosen], chosen)
            if len(fixed.model.triangles):
                row = self._attach(fixed.model, mask, parts=fixed.parts)
                self._instances.rows[row]["t"] = fixed.middle - self.origin
                self._models.append((fixed, row))
        for fixed, row in old:  # after the new ones, so that what is the same stays
            self._detach(row, fixed.model)
        self._baked = poses[poses["body"] >= 0]
        self._stale = False
        self._place_fixed()

    def _fixed_model(self, models: list[Model], poses: Rows, members: IntArray) -> FixedModel:
        ids = -2 - members  # as `fixed_id`
        key = (*map(id, models), poses["r"].tobytes(), poses["t"].tobytes(), ids.tobytes())
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = FixedModel(models, poses, ids)
        return found

    def _follow(self, eye: FloatArray) -> None:
        """Choose the origin for a place; it depends on nothing that was before."""
        for fixed, _ in self._models:
            if np.abs(eye - fixed.middle).max() <= REGION:
                origin = fixed.middle
                break
        else:
            origin = REGION * np.round(eye / REGION)
        if (origin != self.origin).any():
            self.origin = origin.copy()
            self._instances.rows["known"] = np.nan
            self._place_fixed()

    def _place_fixed(self) -> None:
        rows = self._instances.rows
        for fixed, row in self._models:
            rows[row]["t"] = fixed.middle - self.origin
        for row in self._standing:
            rows[row]["t"] = -self.origin
        if self._caster is not None:
            placed = [*(row for _, row in self._models), *self._standing]
            self._caster.place(rows, np.array(placed, np.int64))


def fixed_id(number: int) -> int:
    """Return what `Hits.part` says for the fixed part of a number."""
    return -2 - number


def _region(model: Model, pose: Rows) -> tuple[int, ...]:
    if not len(model.vertices):
        return (0, 0, 0)
    middle = 0.5 * (model.vertices.min(axis=0) + model.vertices.max(axis=0))
    place = pose["r"] @ middle + pose["t"]
    return tuple(np.round(place / REGION).astype(int).tolist())
