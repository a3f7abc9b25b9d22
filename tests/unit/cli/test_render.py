# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim render`: pictures of worlds, from the right place."""

import math
import sys
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
    view = made.gui_view()
    assert view.at == pytest.approx((-10.0, 2.0, 0.0), abs=0.6)
    far = math.dist(view.eye, view.at) * math.tan(view.fov / 2)
    assert 25 < far < 35
    empty = load_world(text=world('<element class="horizontal_plane"/>')).gui_view()
    assert math.dist(empty.eye, empty.at) < 30


def test_gui_says_from_where() -> None:
    gui = (
        "<gui><cam_distance>10</cam_distance><cam_azimuth>90</cam_azimuth><cam_elevation>30"
        "</cam_elevation><cam_point_to>1 2 3</cam_point_to><fov_deg>50</fov_deg>{}</gui>"
    )
    robot = (
        '<vehicle name="r1"><init_pose>5 6 0</init_pose><dynamics class="differential"/></vehicle>'
    )
    view = load_world(text=world(gui.format(""))).gui_view()
    assert view.at == (1, 2, 3)
    assert view.eye == pytest.approx((1, 2 + 10 * math.cos(math.pi / 6), 8))
    assert view.fov == pytest.approx(math.radians(50))
    follow = gui.format("<follow_vehicle>r1</follow_vehicle>")
    assert load_world(text=world(follow + robot)).gui_view().at == pytest.approx((5, 6, 0))


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


@needs_gl
def test_from_near_by_one_sees_what_is_near(mvsim: Outcome, tmp_path: Path) -> None:
    """However large the world is, whose whole view begins far away."""
    file, picture = tmp_path / "w.world.xml", tmp_path / "shot.png"
    far = "".join(
        f'<block name="far{x}"><static>true</static><init_pose>{x} {x} 0</init_pose></block>'
        for x in (-300, 300)
    )
    file.write_text(world(RED.format(0, 0, "") + FLOOR.format(WIDE) + far))
    eye = ("--eye", "3", "0", "1.5", "--at", "0", "0", "0.5")
    code, _, _ = mvsim("render", str(file), "-o", str(picture), "--size", "320x200", *eye)
    assert code == 0
    assert redness(np.array(Image.open(picture)))[100, 160]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("-o", "shot.jpg"), 2, "must end in .png"),
        (("-o", "shot.png", "--size", "big"), 2, "expected WxH such as 1280x720 [pixels]"),
        (("-o", "shot.png", "--size", "0x9"), 2, "pixels must be from 1 to 16384 a side"),
        (("-o", "shot.png", "--eye", "1", "2", "3", "--at", "1", "2", "3"), 2, "must differ"),
        ((), 2, "expected -o FILE.png or --video FILE.mp4"),
        (("-o", "shot.png", "--top", "--gui"), 2, "exclude each other"),
        (("-o", "shot.png", "--follow", "r9"), 2, "unknown vehicle 'r9'"),
        (("--video", "clip.avi"), 2, "must end in .mp4"),
        (("--video", "clip.mp4"), 2, "needs a length: --time SECONDS"),
        (("--video", "clip.mp4", "--size", "319x200", "--time", "1"), 2, "must be even"),
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


ROBOT = (
    '<vehicle name="r1"><init_pose>-3 2 90</init_pose><dynamics class="differential">'
    '<chassis mass="5" zmin="0.1" zmax="0.4"><color>#ff0000</color></chassis>'
    '<controller class="twist_ideal"/></dynamics></vehicle>'
)


@needs_gl
@pytest.mark.parametrize("size", [(300, 200), (200, 300)])
@pytest.mark.parametrize("top", [False, True])
def test_a_whole_world_fills_the_picture_and_no_more(size: tuple[int, int], top: bool) -> None:
    """Blocks at the corners of a wide or a narrow world, on a ground that goes on for miles."""
    for x, y in ((9, 3), (2, 30)):
        places = ((x, y), (-x, y), (x, -y), (-x, -y))
        text = "".join(RED.format(*p, "<zmax>2</zmax>") for p in places)
        made = load_world(text=world(text + FLOOR.format(WIDE)))
        picture = made.picture(made.whole_view(size, top=top), size)
        red = (picture[..., 0] > 40) & (picture[..., 1] < 30)
        rows, columns = np.nonzero(red)
        share = max(np.ptp(rows) / size[1], np.ptp(columns) / size[0])
        assert 0.85 < share < 0.99
        middle = 0.5 * (rows.min() + rows.max()), 0.5 * (columns.min() + columns.max())
        assert middle == pytest.approx((0.5 * size[1], 0.5 * size[0]), abs=0.1 * max(size))
        if top:  # x to the right, y to the top
            assert np.ptp(columns) / np.ptp(rows) == pytest.approx(
                (x + 0.5) / (y + 0.5), rel=0.05, abs=0.03
            )


def test_storeys_are_part_of_the_whole_but_not_the_ground() -> None:
    low, high = (
        '<element class="horizontal_plane"><x_min>-40</x_min><x_max>40</x_max><y_min>-40</y_min>'
        f"<y_max>40</y_max><z>{z}</z></element>"
        for z in (0.0, 3.0)
    )
    near, far = (
        math.dist(view.eye, view.at)
        for view in (
            load_world(text=world(RED.format(0, 0, "") + floors)).whole_view((320, 200))
            for floors in (low, low + high)
        )
    )
    assert near < 20.0
    assert far > 80.0


@needs_gl
def test_a_vehicle_is_followed_where_it_drives() -> None:
    made = load_world(text=world(ROBOT + FLOOR.format(WIDE)))
    made.vehicles["r1"].set_twist(1.0, 0.0, 0.5)
    for _ in range(3):
        view = made.view_of("r1")
        pose = made.vehicles["r1"].pose
        ahead = np.subtract(view.at, view.eye)[:2]
        assert math.atan2(ahead[1], ahead[0]) == pytest.approx(pose.yaw)
        column, row = middle_of(redness(made.picture(view, (300, 200))))
        assert (column, row) == pytest.approx((149.5, 120.0), abs=25.0)
        made.run(0.5)


@needs_gl
@pytest.mark.parametrize("height", [1, 90])
def test_a_vehicle_before_a_wall_is_not_hidden_by_it(height: int) -> None:
    """One looks over it, or from before it."""
    ends = f"<x0>-9</x0><y0>0.9</y0><x1>3</x1><y1>0.9</y1><height>{height}</height>"
    wall = f'<element class="vertical_plane">{ends}<color>#00ff00</color></element>'
    made = load_world(text=world(ROBOT + wall))
    view = made.view_of("r1")
    assert (view.eye[1] < 0.9) == (height == 1)
    assert redness(made.picture(view, (300, 200))).sum() > 100


@needs_gl
def test_a_video_shows_the_simulated_time(mvsim: Outcome, tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="PyAV is not installed")
    file, clip = tmp_path / "w.world.xml", tmp_path / "clip.mp4"
    file.write_text(world(ROBOT + FLOOR.format(WIDE)))
    code, out, _ = mvsim(
        *("render", str(file), "--video", str(clip), "--size", "160x120", "--time", "0.8"),
        *("--fps", "10", "--twist", "all", "2", "0", "--eye", "-3", "4", "12"),
        *("--at", "-3", "4.01", "0"),
    )
    assert code == 0
    assert "8 pictures of 160 x 120, 10 a second" in out
    with av.open(str(clip)) as container:
        frames = [f.to_ndarray(format="rgb24") for f in container.decode(video=0)]
    assert len(frames) == 8
    rows = [middle_of(redness(f))[1] for f in frames]
    assert (np.diff(rows) < 0).all()  # it drives to the top


def test_without_pyav_the_message_says_what_to_install(
    mvsim: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    file = tmp_path / "w.world.xml"
    file.write_text(world(FLOOR.format("")))
    code, _, err = mvsim("render", str(file), "--video", str(tmp_path / "a.mp4"), "--time", "1")
    assert code == 1
    assert "pip install av" in err
