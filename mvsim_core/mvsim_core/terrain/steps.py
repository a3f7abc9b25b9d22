# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Steps too high to climb stop a vehicle: where one is ahead of its chassis, a post is put up.

The contact solver is planar and knows no ground. Just outside each corner of a chassis the ground
is looked up; if it is higher above the wheels than they can climb, a small fixed box stands there
until it is not. Heights of bodies above sea level are passed to the solver here too, so that what
drives up a hill still passes under and over the right things.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.geometry.poses import box
from mvsim_core.solver.base import Inertia, Material
from mvsim_core.state.arrays import STATIC, FloatArray, IntArray, Rows, State
from mvsim_core.terrain.following import in_world
from mvsim_core.terrain.surface import Surface, heights_at

#: A step higher than this part of a wheel's diameter cannot be climbed.
CLIMBABLE = 0.55
#: How far outside the chassis a probe stands, and half of the side of a post [m].
AHEAD, HALF = 0.04, 0.02
POST = Material(friction=0.5, restitution=0.1)
#: A post follows a vehicle that slides along a step in strides of this length [m].
FOLLOW = 0.06
#: Where posts wait that are not needed [m].
AWAY = 1e5
#: Change of height after which the solver is told [m].
LAYER_STEP = 0.05

#: A place outside the chassis of a vehicle.
PROBE = np.dtype(
    [
        ("body", "i8"),  # row of BODY
        ("x", "f8"),  # m, vehicle frame
        ("y", "f8"),  # m
        ("top", "f8"),  # m, height of the chassis: what is above it is a bridge
        ("limit", "f8"),  # m, highest step that the wheels climb
        ("post", "i8"),  # key of its post in the solver; -1: not made yet
    ]
)


@njit(cache=True, nogil=True)
def probe_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    probes: Rows,
    pieces: Rows,
    outlines: FloatArray,
    maps: Rows,
    samples: FloatArray,
    blocked: npt.NDArray[np.bool_],
) -> int:
    """Write which probes stand before a step that is too high; return how many."""
    count = 0
    for k in range(probes.shape[0]):
        p = probes[k]
        b = bodies[p.body]
        x, y, z = in_world(b, p.x, p.y)
        ground, _ = heights_at(pieces, outlines, maps, samples, x, y, z + 1.05 * p.top)
        blocked[k] = ground - z > p.limit
        count += blocked[k]
    return count


@njit(cache=True, nogil=True)
def climbed_kernel(bodies: Rows, rows: IntArray, told: FloatArray) -> int:
    """Return how many bodies have changed their height since the solver was told."""
    count = 0
    for k in range(rows.shape[0]):
        if abs(bodies[rows[k]].z - told[k]) > LAYER_STEP:
            count += 1
    return count


class Steps:
    """Posts before steps, and heights for the solver.

    Args:
        surface: The ground.
        probes: Rows of PROBE.
        solver: The contact solver.
        rows: Rows of BODY of all that moves.
        keys: Their keys in the solver.
    """

    def __init__(
        self, surface: Surface, probes: Rows, solver: Any, rows: IntArray, keys: list[int]
    ) -> None:
        """Start without posts."""
        self._surface = surface
        self._probes = probes
        self._solver = solver
        self._rows = rows
        self._keys = keys
        self._told = np.full(len(rows), np.inf)
        self._blocked = np.zeros(len(probes), np.bool_)
        self._standing = np.zeros(len(probes), np.bool_)
        self._at = np.zeros((len(probes), 2))

    def apply(self, state: State) -> None:
        """Put up and take away posts; pass on heights."""
        s = self._surface
        if len(self._probes):
            count = probe_kernel(
                state.bodies,
                self._probes,
                s.pieces,
                s.outlines,
                s.maps,
                s.samples,
                self._blocked,
            )
            if count or self._standing.any():
                self._move_posts(state)
        if climbed_kernel(state.bodies, self._rows, self._told):
            self._tell_heights(state)

    def _move_posts(self, state: State) -> None:
        for k in np.flatnonzero(self._blocked | self._standing):
            probe = self._probes[k]
            if self._blocked[k]:
                x, y, _ = in_world(state.bodies[probe["body"]], probe["x"], probe["y"])
                if probe["post"] < 0:
                    probe["post"] = self._new_post(AWAY, AWAY)
                # a post stays where it was put up: one that moved along would not stop anything
                if not self._standing[k] or math.dist(self._at[k], (x, y)) > FOLLOW:
                    self._at[k] = x, y
                    self._solver.place(int(probe["post"]), x, y, 0.0)
            else:
                self._solver.place(int(probe["post"]), AWAY, AWAY, 0.0)
        self._standing[:] = self._blocked

    def _new_post(self, x: float, y: float) -> int:
        key: int = self._solver.add_body(STATIC, (x, y, 0.0), Inertia(0.0, 0.0, 0.0, 0.0))
        corners = box(2 * HALF, 2 * HALF, (0.0, 0.0, 0.0))
        self._solver.add_polygon(key, corners, POST, (-math.inf, math.inf))
        return key

    def _tell_heights(self, state: State) -> None:
        for k in range(len(self._rows)):
            z = float(state.bodies["z"][self._rows[k]])
            if abs(z - self._told[k]) > LAYER_STEP:
                self._told[k] = z
                self._solver.set_height(self._keys[k], z)
