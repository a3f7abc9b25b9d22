# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""OpenCV looks at pictures: it finds ArUco markers where it projects their corners itself."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core import load_world
from tests.opengl import has_gl
from tests.unit.sensors3d.test_pictures import AHEAD, panel

cv2 = pytest.importorskip("cv2")
pytestmark = pytest.mark.skipif(not has_gl(), reason="no OpenGL here")

NUMBER, CELLS, RIM = 23, 6, 1
#: Half the side of a marker on a square of 2 m with a white rim [m].
HALF = CELLS / (CELLS + 2 * RIM)
SIZE, FOCAL = 480, 260.0
CORNERS = HALF * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])  # x right, y down, from upper left
K = np.array([[FOCAL, 0, 0.5 * SIZE], [0, FOCAL, 0.5 * SIZE], [0, 0, 1]])


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A marker as a picture, under the name that `panel` expects."""
    words = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    marker = cv2.aruco.generateImageMarker(words, NUMBER, CELLS * 64)
    Image.fromarray(np.pad(marker, RIM * 64, constant_values=255)).save(tmp_path / "quarters.png")
    return tmp_path / "quarters.png"


def sensor(pose: str, kind: str = "camera", more: str = "") -> str:
    names = ("ncols", "nrows", "fx", "fy", "cx", "cy")
    values = (SIZE, SIZE, FOCAL, FOCAL, 0.5 * SIZE, 0.5 * SIZE)
    prefix = "rgb_" if kind == "rgbd_camera" else ""
    numbers = "".join(
        f"<{prefix}{name}>{value}</{prefix}{name}>"
        for name, value in zip(names, values, strict=True)
    )
    return f'<sensor class="{kind}" name="c"><pose_3d>{pose}</pose_3d>{numbers}{more}</sensor>'


def reading_of(text: str):
    world = load_world(
        text='<mvsim_world version="1.0"><simul_timestep>0.01</simul_timestep><lights>'
        f"<enable_shadows>false</enable_shadows></lights>{text}</mvsim_world>"
    )
    world.run(0.11)
    return next(iter(world.standalone_sensors.values())).last


def corners_in(rgb) -> np.ndarray:
    """The corners of the one marker in a picture (4, 2), from its upper left one clockwise."""
    options = cv2.aruco.DetectorParameters()
    options.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    words = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    detector = cv2.aruco.ArucoDetector(words, options)
    corners, numbers, _ = detector.detectMarkers(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY))
    assert numbers is not None
    assert numbers.ravel().tolist() == [NUMBER]
    return corners[0].reshape(4, 2)


def wall(board: Path) -> str:
    return (
        '<element class="vertical_plane"><x0>2</x0><y0>1</y0><x1>2</x1><y1>-1</y1><z>0</z>'
        f"<height>2</height><thickness>0.01</thickness><color>#ffffff</color>"
        f"<texture>{board}</texture>"
        "<texture_size_x>2</texture_size_x><texture_size_y>2</texture_size_y></element>"
    )


@pytest.mark.parametrize("where", ["wall", "wall from behind", "obj", "glb", "dae"])
def test_a_marker_is_found_and_not_mirrored_where_it_is(board: Path, where: str) -> None:
    distance, scale = 1.995, 1.0
    if where.startswith("wall"):
        behind = where != "wall"
        text = wall(board) + sensor("4 0 1 90 0 -90" if behind else f"0 0 1 {AHEAD}")
    else:
        distance, scale = 1.0, 0.5
        text = (
            '<block name="p"><init_pose>1 0 0</init_pose><static>true</static><visual>'
            f"<model_uri>{panel(board.parent, where)}</model_uri></visual></block>"
            + sensor(f"0 0 0.5 {AHEAD}")
        )
    expected = FOCAL * scale * CORNERS / distance + 0.5 * SIZE
    np.testing.assert_allclose(corners_in(reading_of(text).rgb), expected, atol=0.5)


@pytest.mark.parametrize("kind", ["camera", "stereo_camera", "rgbd_camera"])
@pytest.mark.parametrize(
    ("model", "k"),
    [
        ("plumb_bob", (-0.25, 0.07, 0.001, -0.0008, -0.005)),
        ("equidistant", (-0.02, 0.006, -0.002, 0.0003)),
    ],
)
def test_through_a_lens_it_is_where_opencv_projects_it(board, kind, model, k) -> None:
    prefix = "rgb_" if kind == "rgbd_camera" else ""
    numbers = " ".join(map(str, k))
    more = (
        f"<{prefix}distortion_model>{model}</{prefix}distortion_model>"
        f"<{prefix}distortion>{numbers}</{prefix}distortion>"
    )
    more += "<baseline>0.3</baseline>" if kind == "stereo_camera" else ""
    aside, up = 0.35, 0.25  # of the camera
    pose = f"0 {aside} {1 + up} " + ("0 0 0" if kind == "rgbd_camera" else AHEAD)
    reading = reading_of(wall(board) + sensor(pose, kind, more))
    pictures = {0.0: reading.left, 0.3: reading.right} if kind == "stereo_camera" else None
    for shift, rgb in (pictures or {0.0: reading.rgb}).items():
        points = np.column_stack((CORNERS + np.array((aside - shift, up)), np.full(4, 1.995)))
        zero = np.zeros(3)
        project = cv2.fisheye.projectPoints if model == "equidistant" else None
        if project is not None:
            expected, _ = project(points[:, None], zero, zero, K, np.array(k))
        else:
            expected, _ = cv2.projectPoints(points[:, None], zero, zero, K, np.array(k))
        np.testing.assert_allclose(corners_in(rgb), expected.reshape(4, 2), atol=0.5)
    lens = reading.rgb_lens if kind == "rgbd_camera" else reading.lens
    assert (lens.model, lens.coefficients) == (model, pytest.approx(k))
