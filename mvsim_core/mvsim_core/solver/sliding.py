# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Coulomb friction of a point that slides in the plane."""

from __future__ import annotations

import math

from mvsim_core.solver.compiled import inner

#: Most Newton steps; three or four are usual.
MOST_STEPS = 30


@inner
def sliding_impulse(
    k11: float, k12: float, k22: float, u: float, v: float, limit: float
) -> tuple[float, float]:
    """Return the impulse [N s] that stops a point, or one of size `limit` against its slip.

    A point of a body that can turn gains velocity K p from an impulse p, in another direction than
    that of p. Of all |p| <= limit the one that leaves the least kinetic energy stops the point or
    is opposite to the velocity that it leaves: u + K p = -l p with l >= 0. l is found by Newton's
    method on 1 / |p(l)|, which converges from l = 0 without overshooting (J. Moré, D. Sorensen,
    Computing a trust region step, SIAM J. Sci. Stat. Comput. 4 (1983)).

    Args:
        k11: Matrix K [1/kg], as are the next two.
        k12: Its element off the diagonal.
        k22: Its last element.
        u: Velocity without the impulse [m/s].
        v: Its other component [m/s].
        limit: Largest size of the impulse [N s].
    """
    if not limit > 0.0:
        return 0.0, 0.0
    x = y = size = 0.0
    along = 0.0
    for _ in range(MOST_STEPS):
        a, c = k11 + along, k22 + along
        det = a * c - k12 * k12
        x = -(c * u - k12 * v) / det
        y = -(a * v - k12 * u) / det
        size = math.hypot(x, y)
        if size <= limit * (1.0 + 1e-15):
            break
        slope = (c * x * x - 2.0 * k12 * x * y + a * y * y) / det
        along += (size / limit - 1.0) * size * size / slope
    if size > limit:
        x *= limit / size
        y *= limit / size
    return x, y
