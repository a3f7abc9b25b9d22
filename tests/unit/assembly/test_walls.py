# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Walls between points and along the lines of models."""

from pathlib import Path

import numpy as np
import pytest

from mvsim_core.assembly.wall_lines import wall_lines
from mvsim_core.specs.block import WallsSpec
from tests.unit.assembly.worlds import loaded, said, seen_ahead, write_lines

SQUARE = [(3.0, -1.0, 0.0), (3.0, 1.0, 0.0), (5.0, 1.0, 0.0), (5.0, -1.0, 0.0)]
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def lines_of(spec: WallsSpec) -> list[list[list[float]]]:
    def refuse(where: object, element: str, message: str) -> None:
        raise AssertionError(message)

    return wall_lines(spec, refuse).tolist()


@pytest.mark.parametrize("exact", [False, True])
def test_walls_stand_along_the_lines_of_a_model(tmp_path: Path, exact: bool) -> None:
    model = write_lines(tmp_path / "walls.dae", SQUARE, RING)
    walls = f"<walls><model_uri>{model}</model_uri><wallThickness>0.2</wallThickness></walls>"
    assert seen_ahead(walls, exact=exact) == pytest.approx(2.9, abs=1e-5)


def test_a_transformation_moves_and_turns_them_in_three_dimensions(tmp_path: Path) -> None:
    """Lines drawn in the plane of x and z lie on the ground after a quarter turn about x."""
    model = write_lines(tmp_path / "walls.dae", [(1.0, 7.0, 0.0), (1.0, 7.0, -2.0)], [(0, 1)])
    quarter_turn = ((1.0, 0.0, 0.0, 10.0), (0.0, 0.0, -1.0, 0.0), (0.0, 1.0, 0.0, 0.0))
    spec = WallsSpec(model_uri=str(model), transformation=(*quarter_turn, (0.0, 0.0, 0.0, 1.0)))
    assert np.array(lines_of(spec)) == pytest.approx(np.array([[[11.0, 0.0], [11.0, 2.0]]]))


def test_without_lines_the_edges_of_faces_make_walls(tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 2 0 0\nv 2 3 0\nv 0 3 0\nf 1 2 3\nf 1 3 4\n")
    found = lines_of(WallsSpec(model_uri=str(tmp_path / "m.obj")))
    sides = {frozenset(map(tuple, line)) for line in found}
    corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 3.0), (0.0, 3.0)]
    around = {frozenset(pair) for pair in zip(corners, corners[1:] + corners[:1], strict=True)}
    assert sides == around | {frozenset((corners[0], corners[2]))}


def test_a_shape_goes_before_a_model() -> None:
    spec = WallsSpec(shape=((0.0, 0.0), (1.0, 0.0)), model_uri="missing.dae")
    assert lines_of(spec) == [[[0.0, 0.0], [1.0, 0.0]]]


def test_a_model_that_cannot_be_read_makes_no_walls_and_is_named(tmp_path: Path) -> None:
    world = loaded(f"\n<walls><model_uri>{tmp_path}/m.dae</model_uri></walls>")
    assert said(world) == [
        f"line 3: <walls>: {tmp_path}/m.dae: the model file does not exist: no walls are made of"
        " it"
    ]


def test_a_model_of_points_makes_no_walls(tmp_path: Path) -> None:
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 2 0 0\n")
    world = loaded(f"<walls><model_uri>{tmp_path}/m.obj</model_uri></walls>")
    assert said(world) == [
        f"line 2: <walls>: {tmp_path}/m.obj: the model has neither lines nor faces: no walls are"
        " made of it"
    ]


def test_the_walls_that_come_with_the_original(mvsim_worlds: Path) -> None:
    model = mvsim_worlds / "mvsim_tutorial" / "testWalls.dae"
    found = np.array(lines_of(WallsSpec(model_uri=str(model))))
    assert found.shape == (7, 2, 2)
    assert np.isfinite(found).all()
