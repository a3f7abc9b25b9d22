# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Textures of elevation maps that are turned."""

import math

import numpy as np
import pytest

from mvsim_core.scene3d import solids


@pytest.mark.parametrize("turn", [-180, -90, 0, 90, 180])
@pytest.mark.parametrize("extent", [(0.0, 0.0), (4.0, 2.0)])
def test_a_texture_turns_counter_clockwise_about_its_centre(
    turn: int, extent: tuple[float, float]
) -> None:
    """Each point of the picture is found where a rotation of the picture puts it."""
    field = solids.height_field(np.zeros((5, 3)), 1.0, (10.0, 20.0), extent, turn=turn)
    assert field.texcoords is not None
    on_ground = (field.vertices[:, :2] - (10.0, 20.0)) / (4.0, 2.0)  # shares of the whole
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    x, y = ((on_ground - 0.5) @ np.array([[c, -s], [s, c]]) + 0.5).T
    in_picture = np.column_stack((y, 1.0 - x))  # rows of the picture run along x
    difference = field.texcoords - in_picture
    assert np.round(difference) == pytest.approx(difference, abs=1e-12)  # pictures repeat


def test_a_turned_texture_covers_the_extent_along_x_and_y() -> None:
    """Its width lies along x then, and the extent there is the distance of its repetitions."""
    field = solids.height_field(np.zeros((5, 3)), 1.0, (0.0, 0.0), (1.0, 2.0), turn=90)
    assert field.texcoords is not None
    spans = np.ptp(field.texcoords, axis=0)
    assert spans == pytest.approx([4.0, 1.0])
