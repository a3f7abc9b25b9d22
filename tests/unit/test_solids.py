# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Triangles of simple solids: their corners lie on the surfaces that they stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.scene3d import Model, solids


def volume(model: Model) -> float:
    """Return the volume that the triangles enclose [m³], positive if they face outwards."""
    a, b, c = (model.vertices[model.triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def extent(model: Model) -> list[tuple[float, float]]:
    """Return the lowest and highest x, y and z [m]."""
    low, high = model.vertices.min(axis=0), model.vertices.max(axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def test_a_bump_is_half_an_elliptic_cylinder() -> None:
    """(2 y / ly)² + (z / lz)² = 1 at each corner; its crest is along x."""
    lx, ly, lz, sides = 3.0, 0.8, 0.2, 40
    bump = solids.bump((lx, ly, lz), sides=sides)
    x, y, z = bump.vertices.T
    assert (2.0 * y / ly) ** 2 + (z / lz) ** 2 == pytest.approx(np.ones(len(x)))
    assert np.abs(x) == pytest.approx(np.full(len(x), 0.5 * lx))
    for (low, high), (want_low, want_high) in zip(
        extent(bump), ((-1.5, 1.5), (-0.4, 0.4), (0.0, 0.2)), strict=True
    ):
        assert (low, high) == pytest.approx((want_low, want_high), abs=1e-12)
    # an inscribed polygon of 2 n sides has the part sin(π/n) / (π/n) of the ellipse
    inscribed = sides / math.pi * math.sin(math.pi / sides)
    want = 0.5 * math.pi * 0.5 * ly * lz * lx * inscribed
    assert volume(bump) == pytest.approx(want)


def test_a_ramp_is_a_wedge_that_rises_along_x() -> None:
    ramp = solids.ramp((4.0, 3.0, 1.0))
    assert extent(ramp) == [(0.0, 4.0), (-1.5, 1.5), (0.0, 1.0)]
    assert volume(ramp) == pytest.approx(0.5 * 4 * 3 * 1)
    x, _, z = ramp.vertices.T
    assert (z[z > 0] == 1.0).all()
    assert (x[z > 0] == 4.0).all()


@pytest.mark.parametrize("sides", [6, 24, 64])
def test_the_hull_of_a_cylinder_touches_it(sides: int) -> None:
    """Its sides are tangents: the corners are at r / cos(π/n), the middles of sides at r."""
    hull = solids.cylinder(1.5, 2.0, sides=sides)
    assert np.hypot(*hull.vertices[:, :2].T) == pytest.approx(
        np.full(2 * sides, 1.5 / math.cos(math.pi / sides))
    )
    area = sides * 1.5**2 * math.tan(math.pi / sides)
    assert volume(hull) == pytest.approx(area * 2.0)


def test_the_hull_of_a_ball_is_around_it() -> None:
    """No plane of a triangle cuts the ball, and the nearest ones touch it."""
    hull = solids.sphere(0.7)
    distances = np.abs(hull.planes[:, 3])
    assert distances.min() == pytest.approx(0.7)
    # flat faces of the sphere are up to FINE inside it; grown to tangents, corners are outside
    assert np.linalg.norm(hull.vertices, axis=1).max() < 0.7 + 2.1 * solids.FINE
    assert volume(hull) > 4.0 / 3.0 * math.pi * 0.7**3
    assert volume(hull) == pytest.approx(4.0 / 3.0 * math.pi * 0.7**3, rel=0.01)


def test_a_box_and_a_dented_prism_have_their_volumes() -> None:
    assert volume(solids.box((-1, -2, 0.5), (1, 3, 2.5))) == pytest.approx(2 * 5 * 2)
    corner = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    assert volume(solids.prism(corner, 0.0, 2.0)) == pytest.approx(3 * 2)
