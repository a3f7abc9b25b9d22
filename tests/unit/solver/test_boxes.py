# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Boxes of maps are the same shapes as those that are added one by one."""

import numpy as np
import pytest

from mvsim_core.geometry.polygons import convex_parts
from mvsim_core.solver.base import Material
from mvsim_core.solver.contact_data import ContactData, convex_shape
from mvsim_core.state.arrays import BODY


def test_all_rows_are_equal_to_the_bit() -> None:
    rng = np.random.default_rng(1)
    corner = rng.uniform(-500.0, 500.0, (50, 1, 2))
    unit = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    angle = rng.uniform(-3.0, 3.0)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    corners = corner + (unit * rng.uniform(0.05, 3.0, (50, 1, 2))) @ turn
    material, z_range = Material(0.3, 0.1), (-np.inf, np.inf)
    single, many = ContactData(), ContactData()
    shapes = [
        (-1, -3, convex_shape(part, material, z_range))
        for box in corners
        for part in convex_parts(box)
    ]
    single.add_shapes(shapes)
    many.add_boxes(-3, corners, material, z_range)
    for contacts in (single, many):  # another one comes after them
        contacts.add_shape(-1, -4, unit, material, (0.0, 1.0))
    assert single.shapes.rows.tobytes() == many.shapes.rows.tobytes()
    assert single.vertices.rows.tobytes() == many.vertices.rows.tobytes()
    single.place_pending(np.zeros(0, BODY))
    many.place_pending(np.zeros(0, BODY))
    assert single._boxes.rows.tobytes() == many._boxes.rows.tobytes()


def test_what_is_no_box_is_refused() -> None:
    contacts = ContactData()
    contacts.add_boxes(-1, np.zeros((0, 4, 2)), Material(0.0, 0.0), (0.0, 1.0))
    assert len(contacts.shapes.rows) == 0
    for bad in (np.nan, 0.0):
        with pytest.raises(ValueError, match="must be finite, convex"):
            contacts.add_boxes(-1, np.full((1, 4, 2), bad), Material(0.0, 0.0), (0.0, 1.0))
