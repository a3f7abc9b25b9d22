# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Simple polygons: edges that cross, outlines, and the convex parts that fill them."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvsim_core.geometry.polygons import convex_hull, convex_parts, crossing_edges, outline_of
from mvsim_core.geometry.poses import area_of

L_SHAPE = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
U_SHAPE = np.array([[0, 0], [3, 0], [3, 2], [2, 2], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
COMB = np.array(
    [point for x in range(0, 12, 2) for point in ((x, 0.5), (x, 3.0), (x + 1, 3.0), (x + 1, 0.5))]
    + [(11, 0), (0, 0)],
    dtype=float,
)
SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=float)


def star(radii: list[float]) -> np.ndarray:
    """Return a star-shaped polygon, counter-clockwise around the origin."""
    angles = 2 * math.pi * np.arange(len(radii)) / len(radii)
    return np.column_stack((np.cos(angles), np.sin(angles))) * np.array(radii)[:, None]


def is_convex(part: np.ndarray) -> bool:
    edges = np.roll(part, -1, axis=0) - part
    after = np.roll(edges, -1, axis=0)
    turns = edges[:, 0] * after[:, 1] - edges[:, 1] * after[:, 0]
    return bool((turns > -1e-12).all())


@pytest.mark.parametrize(("shape", "most"), [(SQUARE, 1), (L_SHAPE, 2), (U_SHAPE, 3), (COMB, 21)])
def test_parts_are_convex_and_fill_the_shape(shape: np.ndarray, most: int) -> None:
    outline = outline_of(shape)
    parts = convex_parts(outline)
    assert len(parts) <= most
    assert all(is_convex(part) for part in parts)
    assert sum(area_of(part).area for part in parts) == pytest.approx(area_of(shape).area)


@given(st.lists(st.floats(0.2, 5.0), min_size=3, max_size=24))
def test_any_star_is_filled(radii: list[float]) -> None:
    shape = star(radii)
    assert crossing_edges(shape) is None
    outline = outline_of(shape)
    parts = convex_parts(outline)
    assert all(is_convex(part) for part in parts)
    assert len(parts) <= max(1, len(radii) - 2)
    assert sum(area_of(part).area for part in parts) == pytest.approx(area_of(shape).area)
    mass = [area_of(part) for part in parts]
    x = sum(m.area * m.x for m in mass) / sum(m.area for m in mass)
    assert x == pytest.approx(area_of(shape).x, abs=1e-9)


def test_a_hull_has_no_collinear_corners_and_starts_at_the_lowest_x() -> None:
    grid = np.array([(x, y) for x in range(4) for y in range(3)], dtype=float)
    corners = [(0, 0), (3, 0), (3, 2), (0, 2)]
    assert convex_hull(grid[::-1]).tolist() == [list(map(float, c)) for c in corners]
    assert convex_hull(grid[:3]).tolist() == [[0.0, 0.0], [0.0, 2.0]]
    assert convex_hull(grid[:1]).shape == (0, 2)


def test_outline_is_the_hull_of_a_convex_polygon_whichever_way_it_winds() -> None:
    for points in (SQUARE, SQUARE[::-1], np.vstack([SQUARE, SQUARE[:1]])):
        assert np.array_equal(outline_of(points), convex_hull(points))


def test_outline_keeps_dents_and_drops_corners_in_line() -> None:
    doubled = np.insert(L_SHAPE, 1, [[1.0, 0.0], [1.5, 0.0]], axis=0)
    for points in (L_SHAPE[::-1], doubled, np.repeat(L_SHAPE, 2, axis=0)):
        outline = outline_of(points)
        assert sorted(map(tuple, outline)) == sorted(map(tuple, L_SHAPE))
        assert area_of(outline) == pytest.approx(area_of(L_SHAPE))


def test_corners_that_are_in_line_but_for_rounding_are_dropped() -> None:
    c, s = math.cos(0.3), math.sin(0.3)
    for shape, corners in ((SQUARE, 4), (L_SHAPE, 6)):
        middles = 0.3 * shape + 0.7 * np.roll(shape, -1, axis=0)
        points = np.stack([shape, middles], axis=1).reshape(-1, 2) @ np.array([[c, s], [-s, c]])
        for k in range(len(points)):
            assert len(outline_of(np.roll(points, k, axis=0))) == corners


def test_a_flat_polygon_has_no_outline() -> None:
    assert outline_of(np.array([(0.0, 0.0), (1.0, 0.0), (0.5, 1e-13)])).shape == (0, 2)
    assert outline_of(np.zeros((4, 2))).shape == (0, 2)


@pytest.mark.parametrize("shape", [SQUARE, L_SHAPE, U_SHAPE, COMB])
def test_simple_polygons_have_no_crossing(shape: np.ndarray) -> None:
    for points in (shape, shape[::-1], np.vstack([shape, shape[:1]]), 1e-3 * shape, 1e3 * shape):
        assert crossing_edges(points) is None


#: Points of a polygon and two edges of it that must not touch.
BAD = {
    "bow tie": ([(0, 0), (1, 1), (1, 0), (0, 1)], ((0, 0), (1, 1)), ((1, 0), (0, 1))),
    "star of one line": (
        [(0, 3), (2, -3), (-3, 1), (3, 1), (-2, -3)],
        ((0, 3), (2, -3)),
        ((-3, 1), (3, 1)),
    ),
    "corner on an edge": (
        [(0, 0), (4, 0), (4, 2), (2, 0), (0, 2)],
        ((0, 0), (4, 0)),
        ((4, 2), (2, 0)),
    ),
    "there and back": ([(0, 0), (2, 0), (1, 0), (1, 1)], ((0, 0), (2, 0)), ((2, 0), (1, 0))),
    "hole by a cut": (
        [(0, 0), (4, 0), (4, 4), (0, 4), (0, 0), (1, 1), (1, 3), (3, 3), (3, 1), (1, 1)],
        ((0, 0), (4, 0)),
        ((0, 4), (0, 0)),
    ),
    "a line": ([(0, 0), (1, 0), (2, 0)], ((0, 0), (1, 0)), ((2, 0), (0, 0))),
}


@pytest.mark.parametrize("name", list(BAD))
def test_crossing_edges_are_found(name: str) -> None:
    points, *edges = BAD[name]
    assert crossing_edges(np.array(points, dtype=float)) == tuple(edges)


def test_an_edge_that_touches_another_but_for_rounding_is_found() -> None:
    c, s = math.cos(0.3), math.sin(0.3)
    turned = np.array(BAD["corner on an edge"][0], dtype=float) @ np.array([[c, s], [-s, c]])
    assert crossing_edges(turned) is not None
    assert crossing_edges(turned + np.array([1e3, 0.0])) is not None


def test_a_thousand_corners_are_checked_and_divided_fast() -> None:
    shape = star([1.0, 0.8] * 500)
    start = time.process_time()
    assert crossing_edges(shape) is None
    parts = convex_parts(outline_of(shape))
    assert time.process_time() - start < 2.0  # 0.12 s on an idle core
    assert sum(area_of(part).area for part in parts) == pytest.approx(area_of(shape).area)
    shape[250] = shape[750]
    assert crossing_edges(shape) is not None


def test_shapes_that_are_shared_cannot_be_changed() -> None:
    notched = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 0.5), (0.0, 2.0)])
    for points in (outline_of(notched), *convex_parts(notched), outline_of(notched[:3])):
        with pytest.raises(ValueError, match="read-only"):
            points[0] = 5.0
