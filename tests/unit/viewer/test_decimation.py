# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Coarser models of large ground."""

from __future__ import annotations

import numpy as np
import pytest

from mvsim_core.scene3d import Model
from mvsim_core.viewer.decimation import decimated


def hills(rows: int, columns: int) -> Model:
    """Return a surface of 40 m x 20 m, with texture coordinates that follow it."""
    x, y = np.meshgrid(np.linspace(-20.0, 20.0, rows), np.linspace(5.0, 25.0, columns))
    z = np.sin(0.3 * x) * np.cos(0.4 * y)
    vertices = np.stack([x, y, z], axis=2).reshape(-1, 3)
    k = np.arange(columns * rows).reshape(columns, rows)
    a, b, c, d = k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]
    triangles = np.concatenate(
        [np.stack(t, axis=2).reshape(-1, 3) for t in ((a, b, c), (a, c, d))]
    )
    return Model(vertices, triangles, texcoords=vertices[:, :2] / 40.0)


def test_small_ground_is_sent_as_it_is() -> None:
    model = hills(20, 10)
    assert decimated(model) is model


def test_large_ground_keeps_its_border_heights_and_texture() -> None:
    model = hills(600, 300)
    coarse = decimated(model, 5000)
    assert 2500 < len(coarse.triangles) <= 5500
    for side in (np.min, np.max):
        assert (
            side(coarse.vertices, axis=0)[:2].tolist() == side(model.vertices, axis=0)[:2].tolist()
        )
    x, y, z = coarse.vertices.T
    assert z == pytest.approx(np.sin(0.3 * x) * np.cos(0.4 * y))
    assert coarse.texcoords == pytest.approx(coarse.vertices[:, :2] / 40.0)
    corners = coarse.vertices[coarse.triangles][:, :, :2]
    (a, b) = (corners[:, k] - corners[:, 0] for k in (1, 2))
    areas = 0.5 * (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
    assert (areas > 0.0).all()  # none is turned over
    assert areas.sum() == pytest.approx(40.0 * 20.0)  # no holes, nothing twice


def test_a_strip_and_a_wall_of_ground() -> None:
    strip = hills(2000, 2)
    assert len(decimated(strip, 500).triangles) < 1100
    level = strip.vertices.copy()
    level[:, 1] = 0.0
    upright = Model(level + [[0.0, 0.0, 1.0]] * len(level), strip.triangles)
    assert len(decimated(upright, 500).vertices) <= len(upright.vertices)
