# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""How the weight of a payload is shared out among the wheels that carry it."""

from __future__ import annotations

import numpy as np

from mvsim_core.state.arrays import FloatArray

#: Moment that counts as balanced, relative to that of the whole load at the outermost wheel [1].
BALANCED = 1e-9


def add_load(
    wheels: FloatArray, own: FloatArray, load: float, place: tuple[float, float]
) -> tuple[FloatArray, bool]:
    """Return what each wheel carries of a load on a rigid body, and whether they balance it.

    The load is shared out linearly over the wheels, as equally stiff tyres do. It may take from a
    wheel all that it carries: that wheel lifts, and the others balance load and moment. Wheels on
    one line balance moments along that line alone; across it something else supports the body.
    Where no loads balance the moment, the body would tip over. Then each carries the same part.

    Args:
        wheels: (n, 2) contact points of n >= 1 wheels, in one frame [m].
        own: (n,) what the wheels carry without the load, >= 0 [N or kg].
        load: What is added, > 0 [N or kg].
        place: Where it acts, in the frame of the wheels [m].
    """
    count = len(wheels)
    moment = own @ wheels + load * np.asarray(place)
    total = float(own.sum()) + load
    down = np.ones(count, bool)
    while True:
        rest = total - float(own[down].sum())  # the load, and what lifted wheels do not carry
        n = int(down.sum())
        middle = wheels[down].mean(axis=0)
        arms = wheels[down] - middle
        need = moment - own[down] @ wheels[down] - rest * middle
        carried = np.zeros(count)
        carried[down] = own[down] + rest / n + arms @ np.linalg.pinv(arms.T @ arms) @ need
        lightest = int(carried.argmin())
        if carried[lightest] >= 0.0:
            break
        down[lightest] = False
    arms = wheels - wheels.mean(axis=0)
    missing = arms @ (moment - carried @ wheels)
    size = float((arms * arms).sum(axis=1).max())
    if np.abs(missing).max() > BALANCED * total * size:
        return np.full(count, load / count), False
    return carried - own, True
