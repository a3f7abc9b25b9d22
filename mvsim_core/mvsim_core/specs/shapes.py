# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rules for polygons that a file gives point by point."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mvsim_core.geometry.polygons import Edge, crossing_edges
from mvsim_core.specs.converters import Point2
from mvsim_core.specs.params import MOST_CORNERS


@lru_cache(maxsize=1024)
def shape_errors(shape: tuple[Point2, ...] | None) -> tuple[str, ...]:
    """Return the errors of a closed polygon [m]: its edges must neither cross nor touch."""
    if shape is None or not 3 <= len(set(shape)) <= MOST_CORNERS:  # another rule reports that
        return ()
    with np.errstate(over="ignore", invalid="ignore"):  # no warning about huge coordinates
        crossing = crossing_edges(np.array(shape))
    if crossing is None:
        return ()
    one, other = map(_shown, crossing)
    return (f"the edges of the shape must not cross or touch, as {one} and {other} do [m]",)


def _shown(edge: Edge) -> str:
    (ax, ay), (bx, by) = edge
    return f"({ax:g} {ay:g})-({bx:g} {by:g})"
