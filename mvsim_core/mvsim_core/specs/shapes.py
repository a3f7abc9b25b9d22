# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rules on polygons that a file draws point by point."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mvsim_core.geometry.polygons import Edge, crossing_edges
from mvsim_core.specs.converters import Point2
from mvsim_core.specs.params import MOST_CORNERS


@lru_cache(maxsize=1024)
def shape_faults(shape: tuple[Point2, ...] | None) -> tuple[str, ...]:
    """Return what is wrong with a closed polygon [m]: its edges must not cross, nor touch."""
    if shape is None or not 3 <= len(set(shape)) <= MOST_CORNERS:  # another rule reports that
        return ()
    with np.errstate(over="ignore", invalid="ignore"):  # numpy need not warn of absurd sizes
        crossing = crossing_edges(np.array(shape))
    if crossing is None:
        return ()
    one, other = map(_shown, crossing)
    return (f"the edges of the shape must not cross or touch, as {one} and {other} do [m]",)


def _shown(edge: Edge) -> str:
    (ax, ay), (bx, by) = edge
    return f"({ax:g} {ay:g})-({bx:g} {by:g})"
