# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From the axes of a body that lies on the ground to plan view, and back.

The x and y axes of a body lie in its ground plane. In plan view, turned by its yaw, they are the
columns of J = [[plan_xx, plan_xy], [0, plan_yy]]; on slopes they are neither of length 1 nor
square to each other. Velocities and forces in plan view are J times those along the ground, and
speeds across the ground's normal are those in plan view times J⁻¹. Turning counts along the
ground: a wheel at r from the centre of mass moves by ψ' × r beside it, and its force F along the
ground has the torque r × F. So what a force does to the vehicle is what the wheel feels.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from mvsim_core.state.arrays import Row


@njit(cache=True, nogil=True, error_model="numpy")
def is_level(b: Row) -> bool:
    """Return whether plan view and ground are the same for a body."""
    return bool(b.slope_x == 0.0 and b.slope_y == 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def to_plan(b: Row, x: float, y: float) -> tuple[float, float]:
    """Return a vector along the ground in plan view: from a body's axes to those of its yaw."""
    if is_level(b):
        return x, y
    return b.plan_xx * x + b.plan_xy * y, b.plan_yy * y


@njit(cache=True, nogil=True, error_model="numpy")
def to_ground(b: Row, x: float, y: float) -> tuple[float, float]:
    """Return what `to_plan` takes to (x, y)."""
    if is_level(b):
        return x, y
    y = y / b.plan_yy
    return (x - b.plan_xy * y) / b.plan_xx, y


@njit(cache=True, nogil=True, error_model="numpy")
def seen_along(b: Row, x: float, y: float) -> tuple[float, float]:
    """Return the vector whose product with a velocity in plan view is its part along (x, y).

    (x, y) is a unit vector along the ground in the body's axes: the result is J⁻ᵀ times it.
    """
    if is_level(b):
        return x, y
    x = x / b.plan_xx
    return x, (y - b.plan_xy * x) / b.plan_yy


def along_ground(b: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return what `to_ground` does, for one row of BODY outside of kernels or for many.

    Args:
        b: The row or rows, or a mapping with their columns.
        x: Forward part in plan view, in the axes of the yaw; a number or an array.
        y: Leftward part.
    """
    y = y / b["plan_yy"]
    return (x - b["plan_xy"] * y) / b["plan_xx"], y
