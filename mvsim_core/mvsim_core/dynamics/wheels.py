# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`wheels` and `mecanum`: any number of wheels of any type, each with its own motor.

Source: the design of mecanum wheels and rigid islands. A wheel with heading ψ and grip direction φ
at (x, y) has the speed s cos(φ - ψ) = vx cos φ + vy sin φ + ω (x sin φ - y cos φ) along its grip,
s being its surface speed. These rows make the matrix B of a vehicle: its rank determines which
twists can be driven, its pseudo-inverse gives the odometry. What no grip measures, such as the
sideways motion of wheels without rollers, is what makes these wheels slip least across.
"""

from __future__ import annotations

import math

import numpy as np

from mvsim_core.dynamics.base import DYNAMICS, WheelRoles
from mvsim_core.specs.dynamics import FreeWheelsSpec
from mvsim_core.specs.wheel import WheelSpec
from mvsim_core.state.arrays import FloatArray

#: Singular values below this fraction of the largest one count as zero.
RANK_TOLERANCE = 1e-6


@DYNAMICS.register("wheels")
@DYNAMICS.register("mecanum")
class FreeWheels:
    """Every wheel is driven; the odometry is the least-squares twist of all wheels."""

    def wheel_roles(self, spec: FreeWheelsSpec) -> WheelRoles:
        """Return the roles of the wheels."""
        n = len(spec.wheels)
        matrix, constraints = grip_matrix(spec.wheels), slip_matrix(spec.wheels)
        columns = odometry_matrix(matrix, constraints)
        return WheelRoles(
            odo_left=0,
            odo_right=min(1, n - 1),
            driven_first=0,
            driven_count=n,
            holonomic=len(constraints) == 0 and not undrivable(matrix),
            odometry=tuple(tuple(float(x) for x in column) for column in columns.T),
        )


def grip_matrix(wheels: tuple[WheelSpec, ...]) -> FloatArray:
    """Return B (n, 3): speed of each wheel along its grip per vx, vy [m/s] and ω [rad/s]."""
    return np.array([_row(w, w.yaw + w.grip) for w in wheels])


def slip_matrix(wheels: tuple[WheelSpec, ...]) -> FloatArray:
    """Return the rows (m, 3) of the sideways speeds that wheels without rollers do not allow."""
    rows = [_row(w, w.yaw + 0.5 * math.pi) for w in wheels if not w.has_rollers]
    return np.array(rows).reshape(-1, 3)


def wheels_scrub(wheels: tuple[WheelSpec, ...]) -> bool:
    """Return whether a turn makes wheels slip across, about whatever point.

    Their axles have no point in common then: four wheels with a motor a side.
    """
    grips = [w for w in wheels if not w.has_rollers and w.type != "caster"]
    rows = slip_matrix(tuple(grips))
    if len(rows) == 0:
        return False
    _, sizes, directions = np.linalg.svd(rows, full_matrices=True)
    rank = int((sizes > RANK_TOLERANCE * sizes[0]).sum())
    return not bool(np.abs(directions[rank:, 2]).max(initial=0.0) > RANK_TOLERANCE)


def odometry_matrix(grips: FloatArray, slips: FloatArray) -> FloatArray:
    """Return the matrix (3, n) from speeds along the grips to the twist: least squares.

    Wheels that skid in turns contradict their own rows of `slips`, so that those count only in
    directions that the grips leave open.

    Args:
        grips: B (n, 3).
        slips: Rows (m, 3) of `slip_matrix`.
    """
    inverse = np.array(np.linalg.pinv(grips), np.float64)
    _, sizes, directions = np.linalg.svd(grips, full_matrices=True)
    rank = int((sizes > RANK_TOLERANCE * max(1.0, sizes[0])).sum())
    free = directions[rank:].T
    if free.shape[1] and len(slips):
        inverse -= free @ np.linalg.pinv(slips @ free) @ slips @ inverse
    return inverse


def _row(w: WheelSpec, phi: float) -> tuple[float, float, float]:
    c, s = math.cos(phi), math.sin(phi)
    return c, s, w.x * s - w.y * c


def undrivable(matrix: FloatArray) -> list[str]:
    """Return the twists, in words, that the wheels of a matrix B cannot drive."""
    _, sizes, directions = np.linalg.svd(matrix, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(3 - len(sizes))])
    lost = directions[sizes < RANK_TOLERANCE * max(1.0, sizes[0])]
    lost = np.array([d if d[np.argmax(np.abs(d))] > 0.0 else -d for d in lost])
    return [
        "vx = {:.2g} m/s, vy = {:.2g} m/s, wz = {:.2g} rad/s".format(*np.round(d, 12) + 0.0)
        for d in lost
    ]


def wheel_warnings(spec: FreeWheelsSpec) -> list[str]:
    """Return warnings about the wheels of a vehicle, one sentence each."""
    found = []
    rollers = [w for w in spec.wheels if w.has_rollers]
    if rollers and len(rollers) < len(spec.wheels):
        found.append(
            "wheels with and without rollers are mixed: those without resist every sideways motion"
        )
    for w in rollers:
        if abs(math.cos(w.grip)) < RANK_TOLERANCE:
            found.append(
                f"{w.name}: with a roller angle of {math.degrees(w.roller_angle):g} degrees the"
                " rollers turn with the wheel, so that its motor has no hold on the ground"
            )
        elif w.type == "mecanum" and abs(math.sin(w.grip)) < RANK_TOLERANCE:
            found.append(
                f"{w.name}: with a roller angle of {math.degrees(w.roller_angle):g} degrees the"
                " rollers lie across the wheel as those of an omni wheel do, so that it pushes"
                " along its heading only"
            )
    if 0 < len([w for w in rollers if w.type == "mecanum"]) < 4:
        found.append(
            "fewer than four mecanum wheels: their sideways forces do not cancel, or a direction"
            " is left that no motor pushes in"
        )
    lost = undrivable(grip_matrix(spec.wheels))
    if rollers and lost:
        found.append(f"the wheels cannot drive {'; '.join(lost)}")
    return found
