# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The triangles of all models in use, each model once however many use it."""

from __future__ import annotations

import numpy as np

from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.rounds import ROUND
from mvsim_core.scene3d.surfaces import SURFACE, TEXEL, surfaces_of
from mvsim_core.scene3d.tables import TRIANGLE
from mvsim_core.state.arrays import IntArray, Rows
from mvsim_core.state.tables import Table


class ModelPool:
    """Triangle tables that ray casters read. A model without users is dropped."""

    def __init__(self) -> None:
        """Start without models."""
        self._triangles = Table(TRIANGLE)
        self._rounds = Table(ROUND)
        self._surfaces = Table(SURFACE)
        self._texels = Table(TEXEL)
        self._used: dict[Model, _Rows] = {}

    @property
    def triangles(self) -> Rows:
        """TRIANGLE rows of all models; read again after each `acquire`."""
        rows: Rows = self._triangles.rows
        return rows

    @property
    def rounds(self) -> Rows:
        """ROUND rows of all models; read again after each `acquire`."""
        rows: Rows = self._rounds.rows
        return rows

    @property
    def surfaces(self) -> tuple[Rows, Rows]:
        """SURFACE rows and texels of all models; read again after each `acquire`."""
        return self._surfaces.rows, self._texels.rows

    def __len__(self) -> int:
        """Return the number of models in use."""
        return len(self._used)

    def acquire(self, model: Model, parts: IntArray | None = None) -> int:
        """Count one more user of a model and return its first row of `triangles`.

        Args:
            model: The model.
            parts: (m,) `part` of each triangle, for the first user; None: -1 for all.
        """
        rows = self._used.get(model)
        if rows is None:
            rows = self._used[model] = self._take_in(model, parts)
        rows.users += 1
        return rows.first

    def release(self, model: Model) -> None:
        """Count one user less; the last one's leaving frees the rows."""
        rows = self._used[model]
        rows.users -= 1
        if rows.users == 0:
            self._triangles.remove(rows.first, block_size(len(model.triangles)))
            self._rounds.remove(rows.first_round, len(model.rounds))
            self._surfaces.remove(*rows.surfaces)
            self._texels.remove(*rows.texels)
            del self._used[model]

    def _take_in(self, model: Model, parts: IntArray | None) -> _Rows:
        count = len(model.triangles)
        first_round = self._rounds.add(model.rounds)
        block = np.zeros(block_size(count), TRIANGLE)
        rows = block[:count]
        rows["plane"] = model.planes
        rows["round"] = np.where(model.round_of >= 0, model.round_of + first_round, -1)
        rows["brightness"] = np.array([m.reflectivity for m in model.materials])[model.material]
        rows["opacity"] = np.array([m.color[3] for m in model.materials])[model.material]
        rows["part"] = -1 if parts is None else parts
        which, surfaces, texels = surfaces_of(model)
        room = np.zeros(block_size(len(texels)), TEXEL)
        room[: len(texels)] = texels
        surfaces["first"] += (first_texel := self._texels.add(room))
        first_surface = self._surfaces.add(surfaces)
        rows["surface"] = np.where(which >= 0, which + first_surface, -1)
        return _Rows(
            self._triangles.add(block),
            first_round,
            (first_surface, len(surfaces)),
            (first_texel, len(room)),
        )


class _Rows:
    """Where the rows of a model are (surfaces and texels: and how many), and how many use it."""

    __slots__ = ("first", "first_round", "surfaces", "texels", "users")

    def __init__(
        self, first: int, first_round: int, surfaces: tuple[int, int], texels: tuple[int, int]
    ) -> None:
        self.first = first
        self.first_round = first_round
        self.surfaces = surfaces
        self.texels = texels
        self.users = 0


def block_size(count: int) -> int:
    """Return the power of two that holds so many rows.

    Freed blocks are reused by blocks of the same size only. With few sizes, a fixed model that
    changes again and again does not leave a trail of holes that nothing fits into.
    """
    return 1 << (count - 1).bit_length() if count > 0 else 0
