# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Property regions: boxes of the world in which friction differs."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.specs.element import PropertyRegionSpec
from mvsim_core.state.arrays import Rows, State
from mvsim_core.terrain.following import in_world

MU, C_RR = 0, 1
_PROPERTIES = {"friction_mu": MU, "friction_C_rr": C_RR}

REGION = np.dtype(
    [
        ("property", "i8"),  # MU or C_RR
        ("value", "f8"),
        ("x0", "f8"),  # m, world frame
        ("x1", "f8"),
        ("y0", "f8"),
        ("y1", "f8"),
        ("z0", "f8"),
        ("z1", "f8"),
    ]
)


@njit(cache=True, nogil=True)
def regions_kernel(bodies: Rows, wheels: Rows, regions: Rows) -> None:
    """Write the friction at the contact point of each wheel; the first region counts."""
    for k in range(wheels.shape[0]):
        w = wheels[k]
        if w.body < 0:
            continue
        w.region_mu = math.nan
        w.region_c_rr = math.nan
        x, y, z = in_world(bodies[w.body], w.x, w.y)
        for i in range(regions.shape[0]):
            r = regions[i]
            if x < r.x0 or x > r.x1 or y < r.y0 or y > r.y1 or z < r.z0 or z > r.z1:
                continue
            if r.property == MU and math.isnan(w.region_mu):
                w.region_mu = r.value
            if r.property == C_RR and math.isnan(w.region_c_rr):
                w.region_c_rr = r.value


class Regions:
    """All friction regions of a world, in file order.

    Attributes:
        rows: Their REGION rows.
    """

    def __init__(self, specs: list[PropertyRegionSpec]) -> None:
        """Keep the regions that set friction."""
        rows = [
            (
                _PROPERTIES[s.property_name],
                s.value_double,
                s.x_min,
                s.x_max,
                s.y_min,
                s.y_max,
                s.z_min,
                s.z_max,
            )
            for s in specs
            if s.property_name in _PROPERTIES
        ]
        self.rows = np.array(rows, REGION)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.rows)

    def apply(self, state: State) -> None:
        """Write WHEEL.region_mu and region_c_rr."""
        regions_kernel(state.bodies, state.wheels, self.rows)
