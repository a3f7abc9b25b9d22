# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim render`: pictures of worlds, from the right place."""

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core import load_world
from mvsim_core.rendering.picture import View
from tests.unit.cli.conftest import Outcome
from tests.unit.sensors3d.test_cameras import needs_gl

RED = "<block><init_pose>{} {} 0</init_pose><color>#ff0000</color>{}</block>"
FLOOR = '<element class="horizontal_plane"><color>#00ff00</color>{}</element>'
WIDE = "<x_min>-50</x_min><x_max>50</x_max><y_min>-50</y_min><y_max>50</y_max>"


def world(body: str) -> str:
    return f"<mvsim_world>{body}</mvsim_world>"


def redness(picture: np.ndarray) -> np.ndarray:
    values = picture.astype(int)
    red: np.ndarray = (values[..., 0] > 60) & (values[..., 1] < 40)
    return red


def middle_of(mask: np.ndarray) -> tuple[float, float]:
    rows, columns = np.nonzero(mask)
    return float(columns.mean()), float(rows.mean())


@needs_gl
def test_what_is_looked_at_is_in_the_middle_and_as_large_as_it_should_be() -> None:
    made = load_world(text=world(RED.format(3, 2, "") + FLOOR.format(WIDE)))
    view = View(eye=(3.0, 2.0, 21.0), at=(3.0, 2.0, 0.0), fov=math.radians(40), near=0.1)
    picture = made.picture(view, (300, 200))
    assert middle_of(redness(picture)) == pytest.approx((149.5, 99.5), abs=0.6)
    focal = 100 / math.tan(math.radians(20))
    share = picture[..., 0] / picture[..., 0].max()  # of pixels on its edge only a part is red
    assert math.sqrt(share.sum()) == pytest.approx(focal / 20, abs=1.0)  # its top is 1 m wide


@needs_gl
def test_left_is_left_and_the_horizon_is_level() -> None:
    made = load_world(text=world(RED.format(10, 2, "") + FLOOR.format(WIDE)))
    view = View(eye=(0.0, 0.0, 1.0), at=(10.0, 0.0, 1.0), fov=math.radians(60), near=0.1)
    picture = made.picture(view, (300, 200))
    column, row = middle_of(redness(picture))
    assert column < 130  # y is to the left
    assert row > 100  # below the eye
    green = picture[..., 1] > 2 * picture[..., 0].astype(int)
    first = green[:, :100].argmax(axis=0)
    assert np.ptp(first) <= 1


def test_without_gui_all_of_a_world_is_seen() -> None:
    made = load_world(text=world(RED.format(-40, 7, "") + RED.format(20, -3, "")))
    view = made.view()
    assert view.at == pytest.approx((-10.0, 2.0, 0.0), abs=0.6)
    far = math.dist(view.eye, view.at) * math.tan(view.fov / 2)
    assert 25 < far < 35
    empty = load_world(text=world('<element class="horizontal_plane"/>')).view()
    assert math.dist(empty.eye, empty.at) < 30


def test_gui_says_from_where() -> None:
    gui = (
        "<gui><cam_distance>10</cam_distance><cam_azimuth>90</cam_azimuth><cam_elevation>30"
        "</cam_elevation><cam_point_to>1 2 3</cam_point_to><fov_deg>50</fov_deg>{}</gui>"
    )
    robot = (
        '<vehicle name="r1"><init_pose>5 6 0</init_pose><dynamics class="differential"/></vehicle>'
    )
    view = load_world(text=world(gui.format(""))).view()
    assert view.at == (1, 2, 3)
    assert view.eye == pytest.approx((1, 2 + 10 * math.cos(math.pi / 6), 8))
    assert view.fov == pytest.approx(math.radians(50))
    follow = gui.format("<follow_vehicle>r1</follow_vehicle>")
    assert load_world(text=world(follow + robot)).view().at == pytest.approx((5, 6, 0))


def test_the_eye_must_be_elsewhere() -> None:
    made = load_world(text=world(FLOOR.format("")))
    with pytest.raises(ValueError, match="the eye is where it looks at"):
        made.picture(View((0, 0, 0), (0, 0, 0), 1.0, 0.1))


@needs_gl
def test_a_picture_is_written(mvsim: Outcome, tmp_path: Path) -> None:
    file, picture = tmp_path / "w.world.xml", tmp_path / "shot.png"
    file.write_text(world(RED.format(0, 0, "") + FLOOR.format(WIDE)))
    code, out, _ = mvsim(
        *("render", str(file), "-o", str(picture), "--size", "320x200"),
        *("--eye", "8", "0", "2", "--at", "0", "0", "0.5"),
    )
    assert code == 0
    assert "shot.png: 320 x 200, seen from (8.0 0.0 2.0) m" in out
    pixels = np.array(Image.open(picture))
    assert pixels.shape == (200, 320, 3)
    assert redness(pixels)[100, 160]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("-o", "shot.jpg"), 2, "must end in .png"),
        (("-o", "shot.png", "--size", "big"), 2, "expected WxH such as 1280x720 [pixels]"),
        (("-o", "shot.png", "--size", "0x9"), 2, "pixels must be from 1 to 16384 a side"),
        (("-o", "shot.png", "--eye", "1", "2", "3", "--at", "1", "2", "3"), 2, "must differ"),
    ],
)
def test_wrong_use_is_told(
    mvsim: Outcome, tmp_path: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(world(FLOOR.format("")))
    got, _, err = mvsim("render", str(file), *options)
    assert got == code
    assert message in " ".join(err.replace("│", " ").split())
