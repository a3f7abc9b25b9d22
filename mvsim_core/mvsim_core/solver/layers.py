# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Heights as bit masks, so that a planar solver lets bodies pass over and under each other.

The distinct lower and upper ends of all z-ranges cut height into layers; a shape has the bits of
the layers that it fills, and two shapes collide when they share one.
"""

from __future__ import annotations

import bisect
import math
from itertools import pairwise

#: Number of layers; one bit each.
LAYERS = 63
#: Ranges that overlap by less do not collide [m]: a robot may stand on a plate.
TOLERANCE = 1e-3


class Layers:
    """The layers of a world.

    Args:
        ranges: (zmin, zmax) of everything that may collide [m].
    """

    def __init__(self, ranges: list[tuple[float, float]]) -> None:
        """Cut height at the ends of `ranges`, at most at 62 places."""
        ends = sorted({round(z, 3) for pair in ranges for z in pair if math.isfinite(z)})
        while len(ends) > LAYERS - 1:
            # too many heights: merge the two closest, which at worst lets near misses collide
            gaps = [b - a for a, b in pairwise(ends)]
            del ends[gaps.index(min(gaps)) + 1]
        self._ends = ends

    def bits(self, zmin: float, zmax: float) -> int:
        """Return the mask of a shape between two heights [m]."""
        low = bisect.bisect_right(self._ends, zmin + TOLERANCE)
        high = bisect.bisect_left(self._ends, zmax - TOLERANCE)
        return sum(1 << i for i in range(low, max(low, high) + 1))
