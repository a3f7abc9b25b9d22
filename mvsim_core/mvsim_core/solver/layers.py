# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Heights as bit masks, so that a planar solver lets bodies pass over and under each other.

The distinct lower and upper ends of all z-ranges cut height into layers; a shape has the bits of
the layers that it fills, and two shapes collide when they share one.
"""

from __future__ import annotations

import bisect
import heapq
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
        # too many heights: merge the two closest, which at worst lets near misses collide
        self._ends = _thinned(ends, LAYERS - 1)

    def bits(self, zmin: float, zmax: float) -> int:
        """Return the mask of a shape between two heights [m]."""
        low = bisect.bisect_right(self._ends, zmin + TOLERANCE)
        high = bisect.bisect_left(self._ends, zmax - TOLERANCE)
        return sum(1 << i for i in range(low, max(low, high) + 1))


def _thinned(ends: list[float], most: int) -> list[float]:
    """Return at most so many of the heights; of the two closest the upper one goes first."""
    following = list(range(1, len(ends) + 1))
    gaps = [(b - a, i) for i, (a, b) in enumerate(pairwise(ends))]
    heapq.heapify(gaps)
    gone = [False] * len(ends)
    left = len(ends)
    while left > most:
        gap, low = heapq.heappop(gaps)
        if gone[low] or following[low] == len(ends) or ends[following[low]] - ends[low] != gap:
            continue  # of a pair that is no more
        upper = following[low]
        gone[upper] = True
        left -= 1
        following[low] = following[upper]
        if following[low] < len(ends):
            heapq.heappush(gaps, (ends[following[low]] - ends[low], low))
    return [end for end, none in zip(ends, gone, strict=True) if not none]
