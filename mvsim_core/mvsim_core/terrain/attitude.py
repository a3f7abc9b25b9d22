# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Height and attitude of vehicles from the ground under their wheels.

Source: "Terrain Elevation Support" of the physics documentation; B. K. P. Horn, Closed-form
solution of absolute orientation using unit quaternions, J. Opt. Soc. Am. A 4 (1987), sections 4
and 5: the best rotation is the eigenvector of the largest eigenvalue of a 4×4 matrix. The contact
points of a vehicle lie in a plane of its frame, so the quartic has no linear term and is solved in
closed form.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import FloatArray, Row

#: Contact heights that differ by less are level [m].
LEVEL = 1e-6
#: Rounds of the fit: the contact points depend on the attitude.
ROUNDS = 2
#: Most rounds of the fit of a vehicle that is put somewhere, and the change of its angles at which
#: they end [rad].
SETTLING, SETTLED = 50, 1e-14
MAX_CONTACTS = 64
#: Angle beyond which a fit does not tell roll from yaw, and the steepest attitude [rad].
STEEP, STEEPEST = 1.4, 1.5
#: Rows of scratch memory that a fit needs.
WORK_ROWS = 7


@njit(cache=True, nogil=True)
def horn_rotation(
    local: FloatArray, world: FloatArray, n: int, work: FloatArray
) -> tuple[float, float, float]:
    """Return roll, pitch, yaw [rad] of the rotation that best takes local to world points.

    Args:
        local: (n, 3) points relative to their centroid, with z = 0 [m].
        world: (n, 3) points relative to their centroid [m].
        n: Number of points.
        work: (WORK_ROWS, 4) scratch memory.
    """
    s = work[4:6]
    m = work[:4]
    s[:] = 0.0
    for k in range(n):
        for i in range(2):
            for j in range(3):
                s[i, j] += local[k, i] * world[k, j]
    m[0, 0] = s[0, 0] + s[1, 1]
    m[0, 1] = s[1, 2]
    m[0, 2] = -s[0, 2]
    m[0, 3] = s[0, 1] - s[1, 0]
    m[1, 1] = s[0, 0] - s[1, 1]
    m[1, 2] = s[0, 1] + s[1, 0]
    m[1, 3] = s[0, 2]
    m[2, 2] = s[1, 1] - s[0, 0]
    m[2, 3] = s[1, 2]
    m[3, 3] = -s[0, 0] - s[1, 1]
    for i in range(4):
        for j in range(i):
            m[i, j] = m[j, i]
    squares = 0.0
    for i in range(2):
        for j in range(3):
            squares += s[i, j] * s[i, j]
    c2 = -2.0 * squares
    c0 = determinant4(m)
    largest = math.sqrt(max(0.0, 0.5 * (-c2 + math.sqrt(max(0.0, c2 * c2 - 4.0 * c0)))))
    for i in range(4):
        m[i, i] -= largest
    w, x, y, z = null_vector(m, work[6])
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = math.asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return roll, pitch, yaw


@njit(cache=True, nogil=True)
def steep_angles(q: FloatArray, yaw: float) -> tuple[float, float]:
    """Return roll and pitch at a given yaw for an attitude that is nearly upright [rad].

    Nose up or down by 90° roll and yaw are one and the same, and beyond it both are turned by π.
    What is kept is where the body's z axis points. No body is steeper than STEEPEST.

    Args:
        q: (4,) the attitude as a quaternion w, x, y, z of any length.
        yaw: Yaw of the body.
    """
    w, x, y, z = q[0], q[1], q[2], q[3]
    size = w * w + x * x + y * y + z * z
    if size == 0.0:
        return 0.0, 0.0
    c, s = math.cos(yaw), math.sin(yaw)
    east, north = 2.0 * (w * y + x * z) / size, 2.0 * (y * z - w * x) / size
    ahead, left = c * east + s * north, c * north - s * east
    up = (w * w + z * z - x * x - y * y) / size
    if up <= 0.0:  # beyond it
        flat = max(math.hypot(ahead, left), 1e-12)
        ahead, left = ahead / flat, left / flat
    roll = -math.asin(min(max(left, -1.0), 1.0))
    pitch = math.atan2(ahead, max(up, 1e-3))
    return min(max(roll, -STEEPEST), STEEPEST), min(max(pitch, -STEEPEST), STEEPEST)


@njit(cache=True, nogil=True)
def minor(m: FloatArray, row: int, column: int) -> float:
    """Return the determinant of a 4×4 matrix without one row and one column."""
    r0 = 1 if row == 0 else 0
    r1 = r0 + 1 if r0 + 1 != row else r0 + 2
    r2 = r1 + 1 if r1 + 1 != row else r1 + 2
    c0 = 1 if column == 0 else 0
    c1 = c0 + 1 if c0 + 1 != column else c0 + 2
    c2 = c1 + 1 if c1 + 1 != column else c1 + 2
    return float(
        m[r0, c0] * (m[r1, c1] * m[r2, c2] - m[r1, c2] * m[r2, c1])
        - m[r0, c1] * (m[r1, c0] * m[r2, c2] - m[r1, c2] * m[r2, c0])
        + m[r0, c2] * (m[r1, c0] * m[r2, c1] - m[r1, c1] * m[r2, c0])
    )


@njit(cache=True, nogil=True)
def determinant4(m: FloatArray) -> float:
    """Return the determinant of a 4×4 matrix."""
    total = 0.0
    for column in range(4):
        sign = 1.0 if column % 2 == 0 else -1.0
        total += sign * m[0, column] * minor(m, 0, column)
    return total


@njit(cache=True, nogil=True)
def null_vector(m: FloatArray, q: FloatArray) -> tuple[float, float, float, float]:
    """Return the unit vector that a singular 4×4 matrix takes to zero: its best cofactor row."""
    best = -1.0
    for row in range(4):
        size = 0.0
        for column in range(4):
            size += minor(m, row, column) ** 2
        if size > best:
            best = size
            for column in range(4):
                sign = 1.0 if (row + column) % 2 == 0 else -1.0
                q[column] = sign * minor(m, row, column)
    length = math.sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2)
    if length == 0.0:
        return 1.0, 0.0, 0.0, 0.0
    if q[0] < 0.0:
        length = -length
    return q[0] / length, q[1] / length, q[2] / length, q[3] / length


@njit(cache=True, nogil=True)
def set_slope(b: Row) -> None:
    """Derive gravity's direction and the axes in plan view from the attitude of a body."""
    cp, sp = math.cos(b.pitch), math.sin(b.pitch)
    cr, sr = math.cos(b.roll), math.sin(b.roll)
    b.slope_x = sp
    b.slope_y = -cp * sr
    b.plan_xx = cp
    b.plan_xy = sp * sr
    b.plan_yy = cr


@njit(cache=True, nogil=True)
def lie_on(b: Row, a: Row) -> None:
    """Put a body that is rigidly joined to another one into its plane; x, y and yaw stay.

    BODY.off_x, off_y and off_z are its place in the frame of the other body `a`.
    """
    up_x = math.sin(a.pitch) * math.cos(a.roll)  # the normal of the plane, in the heading of a
    up_y = -math.sin(a.roll)
    up_z = math.cos(a.pitch) * math.cos(a.roll)
    b.z = a.z + b.off_z - (up_x * b.off_x + up_y * b.off_y) / up_z
    c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
    b.roll = math.asin(s * up_x - c * up_y)
    b.pitch = math.atan2(c * up_x + s * up_y, up_z)
    set_slope(b)


@njit(cache=True, nogil=True)
def level(b: Row, z: float) -> None:
    """Set the height of a body and make it level."""
    b.z = z
    b.roll = 0.0
    b.pitch = 0.0
    set_slope(b)
