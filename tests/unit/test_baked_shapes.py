# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Shapes of static bodies that a planar scene has laid out: when it looks at the bodies again."""

from __future__ import annotations

import numpy as np
import pytest

from mvsim_core.sensors import PlaneScene
from mvsim_core.state.arrays import STATIC
from tests.unit.sensors.scenes import body_rows, lidar, scan

SQUARE = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]


def test_a_layout_never_reads_beyond_the_rows_of_bodies() -> None:
    """With the row of its body gone, the scene does not go on with what lies behind the rows.

    The rows are a part of a longer array, so that what lies behind them is still the pose that
    the layout was made for.
    """
    scene = PlaneScene()
    scene.add_polygon(SQUARE, body=1)
    bodies = body_rows((0, 0, 0), (3, 0, 0))
    bodies["kind"] = STATIC
    sensor = lidar(scene)
    assert scan(sensor, bodies)[180] == pytest.approx(2.5)
    with pytest.raises(IndexError):
        scan(sensor, bodies[:1])


@pytest.mark.parametrize("field", ["x", "y", "yaw"])
def test_each_part_of_a_pose_counts(field: str) -> None:
    """A static body that was moved or turned is seen where it is now."""
    scene = PlaneScene()
    scene.add_polygon([(0.0, -0.3), (0.5, -0.3), (0.5, 2.0), (0.0, 2.0)], body=0)
    bodies = body_rows((3, 0, 0))
    bodies["kind"] = STATIC
    sensor = lidar(scene)
    before = scan(sensor, bodies)
    bodies[field] += 0.4
    moved = scan(sensor, bodies)
    fresh = PlaneScene()
    fresh.add_polygon([(0.0, -0.3), (0.5, -0.3), (0.5, 2.0), (0.0, 2.0)], body=0)
    assert np.array_equal(moved, scan(lidar(fresh), bodies))
    assert not np.array_equal(moved, before)
