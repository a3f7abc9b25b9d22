# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that both ray casters share: instances, triangles, rays and hits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.state.arrays import FloatArray, IntArray, Row, Rows

#: One placed model. Rotation and shift take its frame to the world (less the scene's origin).
INSTANCE = np.dtype(
    [
        ("body", "i8"),  # row of BODY whose frame it is in; -1: the world
        ("wheel", "i8"),  # row of WHEEL whose frame it is in; -1: the body's
        ("first", "i8"),  # its first row of the triangle table
        ("mask", "u8"),  # it is seen by rays that share a bit with it; 0: a free row
        ("r", "f8", (3, 3)),  # 1
        ("t", "f8", (3,)),  # m
        ("known", "f8", (8,)),  # m, rad: pose of the body, spin and steering at the last look
    ]
)

#: One triangle of a model; all models in use share a table.
TRIANGLE = np.dtype(
    [
        ("plane", "f8", (4,)),  # unit normal and offset [m], frame of the model
        ("round", "i4"),  # row of ROUND that it lies around; -1: it is flat
        ("brightness", "f4"),  # 1, of its material: what lidars call intensity, without a picture
        ("opacity", "f4"),  # 1
        ("part", "i4"),  # id of the fixed part that it belongs to; -1: the instance's
        ("surface", "i4"),  # row of SURFACE, if a picture is on it; -1: none
    ],
    align=True,
)
#: Surfaces less opaque than this are glass to rays that pass glass.
GLASS = 0.5

#: What never moves is seen by all rays; the codes of bodies do not use this bit.
FIXED_BIT = 31
SEE_ALL = 0xFFFFFFFF
SEE_FIXED_ONLY = 1 << FIXED_BIT
#: Bits in the code of a body.
CODE_WEIGHT = 4
#: Number of different codes.
CODES = math.comb(FIXED_BIT, CODE_WEIGHT)

Floats = npt.NDArray[np.float32]


class Rays(NamedTuple):
    """A grid of rays, some rows of which are cast.

    Attributes:
        directions: (rows, columns, 3) in the sensor's frame; lengths are measured in them.
        poses: (rows or 1, 12) rotation (row by row) and origin [m] of the sensor, world frame.
        first: First row that is cast.
        rows: Number of rows that are cast; poses belong to these.
        near: Nothing nearer is seen [lengths of the direction].
        reach: Nothing farther is seen [lengths of the direction].
        mask: Bits that an instance must have one of.
        tile: Rows and columns of 16 rays that go together best.
        pass_glass: Whether rays go through surfaces whose opacity is below `GLASS`.
        own: Full name of the sensor, whose own visual they do not see.
        own_row: Row of that visual; -1: none. Layouts find it.
    """

    directions: FloatArray
    poses: FloatArray
    first: int
    rows: int
    near: float
    reach: float
    mask: int = SEE_ALL
    tile: tuple[int, int] = (4, 4)
    pass_glass: bool = False
    own: str = ""
    own_row: int = -1


@dataclass(frozen=True, eq=False)
class Hits:
    """What rays met, in the order of the grid; only rows that were cast are written.

    Attributes:
        distance: (rows, columns) in lengths of the direction; inf: nothing.
        cosine: (rows, columns) of the angle between ray and surface normal, 0 to 1.
        brightness: (rows, columns) of the surface, 0 to 1; 0: nothing.
        part: (rows, columns) id of the part, see `Layout.parts`; -1: nothing. It depends on what
            came before, so that it is no part of a state; (0, 0) where it is not asked for.
    """

    distance: FloatArray
    cosine: Floats
    brightness: Floats
    part: npt.NDArray[np.int32]

    @classmethod
    def empty(cls, rows: int, columns: int, *, parts: bool = False) -> Hits:
        """Return hits of a grid of rays that met nothing, with parts or without them."""
        shape = (rows, columns)
        return cls(
            np.full(shape, np.inf),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.float32),
            np.full(shape if parts else (0, 0), -1, np.int32),
        )


def body_code(number: int) -> int:
    """Return the mask of a body: four of 31 bits, no two bodies the same four.

    A ray with all other bits set misses this body and sees each other one, which has at least
    one bit that this one lacks. 31,465 bodies have different codes; then codes repeat.
    """
    rest = number % CODES
    code = 0
    for k in range(CODE_WEIGHT, 0, -1):  # the combinatorial number system
        bit = k - 1
        while math.comb(bit + 1, k) <= rest:
            bit += 1
        rest -= math.comb(bit, k)
        code |= 1 << bit
    return code


@njit(cache=True, nogil=True)
def rotation_kernel(roll: float, pitch: float, yaw: float, out: FloatArray) -> None:
    """Write Rz(yaw)·Ry(pitch)·Rx(roll) into a 3×3 array."""
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    out[0, 0], out[0, 1], out[0, 2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    out[1, 0], out[1, 1], out[1, 2] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    out[2, 0], out[2, 1], out[2, 2] = -sp, cp * sr, cp * cr


@njit(cache=True, nogil=True, inline="always")
def _is_known(item: Row, b: Row, wheels: Rows) -> bool:
    """Tell whether an instance is where it was at the last look; remember where it is now."""
    known = item.known
    spin, steer = 0.0, 0.0
    if item.wheel >= 0:
        spin, steer = wheels[item.wheel].phi, wheels[item.wheel].yaw
    now = (b.x, b.y, b.z, b.roll, b.pitch, b.yaw, spin, steer)
    same = True
    for k in range(8):
        same &= known[k] == now[k]
        known[k] = now[k]
    return same


@njit(cache=True, nogil=True)
def place_kernel(
    instances: Rows, bodies: Rows, wheels: Rows, origin: FloatArray, moved: IntArray
) -> int:
    """Put instances where their bodies and wheels are; return how many rows of `moved` are new.

    What is where it was at the last look is left alone: set `known` to NaN to have all placed.
    """
    count = 0
    turn = np.zeros((3, 3))
    local = np.zeros((3, 3))
    whole = np.zeros((3, 3))
    shift = np.zeros(3)
    for k in range(instances.shape[0]):
        item = instances[k]
        if item.body < 0:  # fixed, or a free row
            continue
        b = bodies[item.body]
        if _is_known(item, b, wheels):
            continue
        rotation_kernel(b.roll, b.pitch, b.yaw, turn)
        shift[0], shift[1], shift[2] = b.x - origin[0], b.y - origin[1], b.z - origin[2]
        if item.wheel >= 0:
            w = wheels[item.wheel]
            rotation_kernel(0.0, w.phi, w.yaw, local)
            for i in range(3):
                shift[i] += turn[i, 0] * w.x + turn[i, 1] * w.y + turn[i, 2] * w.radius
                for j in range(3):
                    whole[i, j] = (
                        turn[i, 0] * local[0, j]
                        + turn[i, 1] * local[1, j]
                        + turn[i, 2] * local[2, j]
                    )
        else:
            whole[:] = turn
        item.t[:] = shift
        item.r[:] = whole
        moved[count] = k
        count += 1
    return count


@njit(cache=True, nogil=True, inline="always")
def plane_hit(
    item: Row,
    plane: FloatArray,
    origin: tuple[float, float, float],
    direction: tuple[float, float, float],
    found: float,
) -> tuple[float, float]:
    """Return where a ray meets the plane of the triangle that it hit, and the cosine there.

    Double precision, since single precision is not enough for grazing rays. Where the ray runs
    within the plane, the caster's word counts.
    """
    ox, oy, oz = origin[0] - item.t[0], origin[1] - item.t[1], origin[2] - item.t[2]
    dx, dy, dz = direction
    nx = item.r[0, 0] * plane[0] + item.r[0, 1] * plane[1] + item.r[0, 2] * plane[2]
    ny = item.r[1, 0] * plane[0] + item.r[1, 1] * plane[1] + item.r[1, 2] * plane[2]
    nz = item.r[2, 0] * plane[0] + item.r[2, 1] * plane[1] + item.r[2, 2] * plane[2]
    along = nx * dx + ny * dy + nz * dz
    if along == 0.0:
        return found, 0.0
    t = (plane[3] - (nx * ox + ny * oy + nz * oz)) / along
    if abs(t - found) > 1e-3 + 1e-3 * found:
        t = found
    return t, abs(along) / math.sqrt(dx * dx + dy * dy + dz * dz)


def aligned(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return zeros whose address is a multiple of 64 bytes."""
    size = count * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype)
