# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Text files of points, and what is said about those that are none."""

from pathlib import Path

import numpy as np
import pytest

from mvsim_core.elements.point_files import MOST_LINES, MOST_POINTS, read_cloud
from mvsim_core.errors import BuildError
from tests.unit.assembly.worlds import loaded, said, seen_ahead

BAD = [
    ("a b\n", "expected lines of 'x y z' [m], but line 1 is 'a b'"),
    ("1 2 3\n\n1,2,3\n", "expected lines of 'x y z' [m], but line 3 is '1,2,3'"),
    ("1 2 3\n4 5\n", "expected lines of 'x y z' [m], but line 2 has 2 numbers and line 1 has 3"),
    ("1 2\n3 4\n", "expected lines of 'x y z' [m], got 2 numbers a line"),
    ("# nothing\n", "expected lines of 'x y z' [m], got none"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_a_cloud_that_cannot_be_read_is_named_and_left_out(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "points.txt"
    file.write_text(text)
    world = loaded(f'\n<element class="pointcloud"><file>{file}</file></element>')
    assert said(world) == [f"line 3: <element>: {file}: {message}; no sensor sees them"]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_elevation_points_that_cannot_be_read_are_an_error(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "points.txt"
    file.write_text(text)
    with pytest.raises(BuildError) as caught:
        loaded(
            f'<element class="elevation_map"><dem_xyzrgb_file>{file}</dem_xyzrgb_file></element>'
        )
    expected = message.replace("'x y z' [m]", "'x y z r g b'")
    assert str(caught.value) == f"line 2: <element>: {file}: {expected}"


def test_elevation_points_must_be_finite(tmp_path: Path) -> None:
    file = tmp_path / "points.txt"
    file.write_text("0 0 nan 1 1 1\n3 3 1 1 1 1\n")
    with pytest.raises(BuildError, match=r"the elevation points must be finite numbers \[m\]$"):
        loaded(
            f'<element class="elevation_map"><dem_xyzrgb_file>{file}</dem_xyzrgb_file></element>'
        )


def test_points_that_are_not_finite_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "points.txt"
    file.write_text("1 2 3 255 0 0\nnan 2 3 0 0 0\n4 5 6 0 0 0\n")
    points, warning = read_cloud(file, 3)
    assert points.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert warning == f"{file}: 1 points are not finite and left out"


def test_points_in_the_plane_lie_at_no_height(tmp_path: Path) -> None:
    file = tmp_path / "points.txt"
    file.write_text("1 2 7\n")
    assert read_cloud(file, 2)[0].tolist() == [[1, 2, 0]]


def test_too_many_points_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.zeros((MOST_LINES + 1, 3))
    monkeypatch.setattr("mvsim_core.elements.point_files.read_table", lambda *_: table)
    with pytest.raises(BuildError, match=f"has {MOST_LINES + 1} points, at most {MOST_LINES}"):
        read_cloud(tmp_path / "points.txt", 3)


def test_of_many_points_some_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.arange(3.0 * (2 * MOST_POINTS + 1)).reshape(-1, 3)
    monkeypatch.setattr("mvsim_core.elements.point_files.read_table", lambda *_: table)
    points, warning = read_cloud(tmp_path / "points.txt", 3)
    assert (points == table[::3]).all()
    assert warning.endswith(
        f"one of 3 of its {2 * MOST_POINTS + 1} points is used, at most {MOST_POINTS}"
    )


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"points\.txt: cannot be read \("):
        read_cloud(tmp_path / "points.txt", 3)


def test_points_are_seen_where_their_pose_puts_them(tmp_path: Path) -> None:
    file = tmp_path / "points.txt"
    file.write_text("1 0 0\n")
    pose = "<pose_3d>2 0 0.3 0 0 0</pose_3d>"
    cloud = f'<element class="pointcloud"><file>{file}</file>{pose}</element>'
    assert seen_ahead(cloud, exact=True) == pytest.approx(3.0, abs=0.011)
