# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What finds the hits of rays: the interface of both ray casters, and the choice of one."""

from __future__ import annotations

import warnings
from typing import NamedTuple, Protocol

from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.tables import Hits, Rays
from mvsim_core.state.arrays import FloatArray, IntArray, Rows


class Tables(NamedTuple):
    """The arrays that rays are cast in; they are replaced when they grow.

    Attributes:
        instances: INSTANCE.
        triangles: TRIANGLE.
        rounds: ROUND.
        surfaces: SURFACE rows, and their texels.
    """

    instances: Rows
    triangles: Rows
    rounds: Rows
    surfaces: tuple[Rows, Rows]


class Caster(Protocol):
    """Finds what rays meet among instances of models."""

    def attach(self, row: int, model: Model, mask: int, visual: bool = False) -> None:
        """Take in an instance; `place` must follow before the next `cast`.

        Args:
            row: Its row of INSTANCE.
            model: Its model.
            mask: Its `mask`.
            visual: Whether it is the visual of a sensor on a body, which that does not see.
        """

    def detach(self, row: int, model: Model) -> None:
        """Take out an instance."""

    def place(self, instances: Rows, moved: IntArray) -> None:
        """Take over the poses of some rows of INSTANCE."""

    def cast(self, rays: Rays, tables: Tables, origin: FloatArray, hits: Hits) -> None:
        """Write what rays meet.

        Args:
            rays: The rays; `own_row` is set.
            tables: Instances, triangles, balls and cylinders.
            origin: Subtracted from the origins of the rays, as it was from the instances [m].
            hits: Where to.
        """


def make_caster(backend: str = "") -> Caster:
    """Return the caster of a kind ("embree" or "bvh"), or the best there is ("")."""
    from mvsim_core.scene3d.bvh import BvhCaster

    if backend == "bvh":
        return BvhCaster()
    try:
        from mvsim_core.scene3d.embree import EmbreeCaster
    except Exception as error:  # no wheel, or one that does not fit this machine
        if backend:
            raise
        warnings.warn(
            f"3D sensors are several times slower without Embree ({error}): pip install embreex",
            stacklevel=2,
        )
        return BvhCaster()
    return EmbreeCaster()
