# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The rigid fit of a vehicle to the ground, against linear algebra by numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.state.arrays import BODY
from mvsim_core.terrain.attitude import (
    STEEPEST,
    WORK_ROWS,
    determinant4,
    horn_rotation,
    level,
    minor,
    null_vector,
    set_slope,
)
from mvsim_core.terrain.following import fit
from tests.unit.kernels.rows import axes_in_plan_view


def best_rotation(local, world):
    """The rotation that fits best, by the singular value decomposition (Kabsch)."""
    u, _, vt = np.linalg.svd(local.T @ world)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(vt.T @ u.T))])
    return vt.T @ flip @ u.T


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n", [3, 4, 6])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_the_fit_is_the_best_rotation(seed: int, n: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    local = np.column_stack((rng.uniform(-1, 1, (n, 2)), np.zeros(n)))
    local -= local.mean(axis=0)
    roll, pitch, yaw = rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6), rng.uniform(-3, 3)
    world = local @ rotation(Pose(roll=roll, pitch=pitch, yaw=yaw)).T + rng.normal(
        0, noise, (n, 3)
    )
    world -= world.mean(axis=0)
    found = horn_rotation(local.copy(), world.copy(), n, np.full((WORK_ROWS, 4), 7.0))
    got = rotation(Pose(roll=found[0], pitch=found[1], yaw=found[2]))
    want = best_rotation(local, world)
    # as good as the best one: three points in a line fit any way round it
    assert np.square(local @ got.T - world).sum() == pytest.approx(
        np.square(local @ want.T - world).sum(), abs=1e-7
    )
    if noise == 0.0:
        assert found == pytest.approx((roll, pitch, yaw), abs=1e-6)


def test_only_the_first_points_count() -> None:
    """Rows beyond n belong to other vehicles."""
    local = np.array([(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0)], float)
    world = local @ rotation(Pose(roll=-0.2, pitch=0.1, yaw=0.3)).T
    more = np.vstack([local, np.full((3, 3), 9.0)])
    far = np.vstack([world, np.full((3, 3), -4.0)])
    work = np.zeros((WORK_ROWS, 4))
    assert horn_rotation(more, far, 4, work) == pytest.approx((-0.2, 0.1, 0.3), abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_minors_and_determinant(seed: int) -> None:
    m = np.random.default_rng(seed).normal(0, 2, (4, 4))
    for row in range(4):
        for column in range(4):
            rest = np.delete(np.delete(m, row, axis=0), column, axis=1)
            assert minor(m, row, column) == pytest.approx(np.linalg.det(rest))
    assert determinant4(m) == pytest.approx(np.linalg.det(m))


@pytest.mark.parametrize("seed", range(20))
def test_null_vector(seed: int) -> None:
    """The unit vector with a first element >= 0 that the matrix takes to zero."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    m = basis @ np.diag([3.0, 2.0, 1.0, 0.0]) @ basis.T
    want = basis[:, 3] * np.sign(basis[0, 3])
    assert null_vector(m, np.full(4, 5.0)) == pytest.approx(tuple(want), abs=1e-9)


def test_the_null_vector_of_nothing_is_no_rotation() -> None:
    """All points at one place: the attitude is level, not NaN."""
    assert null_vector(np.zeros((4, 4)), np.zeros(4)) == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_slopes_are_gravity_in_the_vehicle_frame(seed: int) -> None:
    rng = np.random.default_rng(seed)
    b = np.zeros(1, BODY)
    b["roll"], b["pitch"] = rng.uniform(-1, 1, 2)
    turned = rotation(Pose(roll=float(b["roll"][0]), pitch=float(b["pitch"][0])))
    set_slope(b[0])
    down = turned.T @ (0, 0, -1)
    assert (b["slope_x"][0], b["slope_y"][0]) == pytest.approx((down[0], down[1]))
    assert axes_in_plan_view(b[0]) == pytest.approx(turned[:2, :2])


def test_a_level_body_is_upright_on_its_height() -> None:
    b = np.zeros(1, BODY)
    for name in ("roll", "pitch", "slope_x", "slope_y"):
        b[name] = 0.3
    level(b[0], 1.25)
    got = [float(b[name][0]) for name in ("z", "roll", "pitch", "slope_x", "slope_y")]
    assert got == [1.25, 0.0, 0.0, 0.0, 0.0]
    assert (axes_in_plan_view(b[0]) == np.eye(2)).all()


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", ["pitch", "roll"])
def test_upright_and_beyond_it_no_angle_jumps(name: str, yaw: float, sign: float) -> None:
    """A fit that is turned about one axis by 80 to 110 degrees: at most STEEPEST, the other 0."""
    points = np.array([[0.3, 0.2, 0.0], [0.3, -0.2, 0.0], [-0.3, 0.2, 0.0], [-0.3, -0.2, 0.0]])
    for steep in (80.0, 85.0, 90.0, 90.0 + 1e-9, 91.0, 110.0):
        b = np.zeros(1, BODY)
        b["yaw"] = yaw
        turned = rotation(Pose(yaw=yaw, **{name: sign * math.radians(steep)}))
        fit(b[0], points.copy(), points @ turned.T, 4, np.zeros((WORK_ROWS, 4)))
        want = sign * min(math.radians(steep), STEEPEST)
        assert b[name][0] == pytest.approx(want, abs=1e-6)
        assert b["roll" if name == "pitch" else "pitch"][0] == pytest.approx(0.0, abs=1e-6)
