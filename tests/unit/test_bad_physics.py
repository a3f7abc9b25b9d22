# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles and grounds that cannot be: each with the message that its author reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core import BuildError, StepError, WorldFileError, load_world
from tests.physics.worlds import car, cart, world


def refused(text: str) -> str:
    """Return the message with which a world is refused."""
    with pytest.raises(WorldFileError) as caught:
        load_world(text=text)
    return str(caught.value)


def controlled(controller: str) -> str:
    return world(cart(controller=controller))


SPLIT = '<drivetrain type="torsen_4wd"><front_rear_split>1.2</front_rear_split></drivetrain>'
DRIVETRAIN = f"""<vehicle name="r1"><init_pose>0 0 0</init_pose>
  <dynamics class="ackermann_drivetrain">{SPLIT}</dynamics></vehicle>"""
BOW_TIE = """<block name="b1"><init_pose>0 0 0</init_pose><shape>
  <pt>0 0</pt><pt>1 1</pt><pt>1 0</pt><pt>0 1</pt></shape></block>"""
HOLE = """<block name="b1"><init_pose>0 0 0</init_pose><shape>
  <pt>0 0</pt><pt>4 0</pt><pt>4 4</pt><pt>0 4</pt>
  <pt>0 0</pt><pt>1 1</pt><pt>1 3</pt><pt>3 3</pt><pt>3 1</pt><pt>1 1</pt></shape></block>"""
CROSSED = cart().replace("<pt>-0.5 0.4</pt><pt>0.5 0.4</pt>", "<pt>0.5 0.4</pt><pt>-0.5 0.4</pt>")
TORQUE = '<controller class="raw"><fl_torque>1e999</fl_torque></controller>'

#: What is wrong: the world, and parts of the message.
BAD = {
    "zero diameter": (
        world(cart().replace('diameter="0.4"', 'diameter="0"', 1)),
        ("line 6: <l_wheel>: diameter must be > 0 [m], got '0'",),
    ),
    "all wheels on one point": (
        world(cart().replace('pos="0 -0.5"', 'pos="0 0.5"')),
        ("line 5: <dynamics>: all wheels are at the same position",),
    ),
    "zero inertia": (
        world(cart().replace('width="0.2"', 'width="0.2" inertia="0"', 1)),
        ("<l_wheel>: inertia must be > 0 [kg m^2], got '0'",),
    ),
    "torque beyond float": (
        world(car(controller=TORQUE)),
        ("<controller>: fl_torque must be a finite number", "got '1e999'"),
    ),
    "split above one": (
        world(DRIVETRAIN),
        ("<drivetrain>: front_rear_split must be in [0, 1], got '1.2'",),
    ),
    "negative gain": (
        controlled('<controller class="twist_pid"><KP>-1</KP></controller>'),
        ("<controller>: KP must be >= 0 [N m s/m], got '-1'",),
    ),
    "crossing edges of a block": (
        world(BOW_TIE),
        (
            "line 3: <block>: the edges of the shape must not cross or touch,"
            " as (0 0)-(1 1) and (1 0)-(0 1) do [m]",
        ),
    ),
    "polygon with a hole": (world(HOLE), ("the edges of the shape must not cross or touch",)),
    "crossing edges of a chassis": (
        world(CROSSED),
        ("<chassis>: the edges of the shape must not cross or touch",),
    ),
}


@pytest.mark.parametrize("name", list(BAD))
def test_message(name: str) -> None:
    text, parts = BAD[name]
    message = refused(text)
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("dynamics", "controller", "default"),
    [
        ("differential", "twist_pid", "10"),
        ("ackermann", "twist_front_steer_pid", "100"),
        ("ackermann_drivetrain", "front_steer_pid", "100"),
    ],
)
def test_missing_gain_gives_a_warning(dynamics: str, controller: str, default: str) -> None:
    """The documented default applies, and its author hears of it."""
    text = f"""<vehicle name="r1"><init_pose>0 0 0</init_pose><dynamics class="{dynamics}">
      <controller class="{controller}"><max_torque>5</max_torque></controller>
      </dynamics></vehicle>"""
    w = load_world(text=world(text))
    assert w.vehicles["r1"].spec.dynamics.controller.kp == float(default)
    message = f"<controller>: KP is missing; its default {default} [N m s/m] is used"
    assert any(message in str(warning) for warning in w.warnings)


def elevated(path: Path) -> str:
    return world(
        cart(),
        f"""<element class="elevation_map"><elevation_image>{path}</elevation_image>
        <elevation_image_min_z>0</elevation_image_min_z>
        <elevation_image_max_z>2</elevation_image_max_z><resolution>1</resolution></element>""",
    )


def picture(tmp_path: Path, pixels: np.ndarray, name: str = "hills.png") -> Path:
    path = tmp_path / name
    Image.fromarray(pixels).save(path)
    return path


GREY = np.arange(20, 36, dtype=np.uint8).reshape(4, 4)


def test_missing_elevation_image(tmp_path: Path) -> None:
    with pytest.raises((BuildError, WorldFileError)) as caught:
        load_world(text=elevated(tmp_path / "none.png"))
    assert "<element>" in str(caught.value)
    assert "none.png" in str(caught.value)


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (np.dstack([GREY, GREY, GREY + 60]), "must be grey, this one has colours"),
        (np.full((4, 4), 7, np.uint8), "all pixels are of one grey"),
        (GREY[:1], "needs at least 2 x 2 pixels"),
    ],
)
def test_elevation_image_without_heights(tmp_path: Path, pixels: np.ndarray, message: str) -> None:
    world_file = tmp_path / "hills.world.xml"
    world_file.write_text(elevated(picture(tmp_path, pixels)))
    with pytest.raises(BuildError) as caught:
        load_world(world_file)
    assert message in str(caught.value)
    line = (
        world_file.read_text()
        .splitlines()
        .index(
            '    </vehicle><element class="elevation_map">'
            f"<elevation_image>{tmp_path / 'hills.png'}</elevation_image>"
        )
        + 1
    )
    assert f"hills.world.xml:{line}: <element>" in str(caught.value)


def test_elevation_image_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "hills.png"
    path.write_text("no picture")
    with pytest.raises(BuildError, match="not an image that can be read"):
        load_world(text=elevated(path))


def test_grey_images_of_any_kind_give_the_same_heights(tmp_path: Path) -> None:
    """Eight bits, colours that are grey, and all of sixteen bits."""
    heights = []
    for number, pixels in enumerate(
        (GREY, np.dstack([GREY] * 3), GREY.astype(np.uint16) * 257, GREY.astype(np.uint16) + 40000)
    ):
        w = load_world(text=elevated(picture(tmp_path, pixels, f"{number}.png")))
        heights.append(w.model.maps[0][1])
    for other in heights[1:]:
        assert other == pytest.approx(heights[0])


def test_huge_torque_ends_the_step_with_a_name() -> None:
    """Vehicle, wheel, tick, field and value are named; the world does not go on with rubbish."""
    w = load_world(text=world(cart(), cart("r2", "0 5 0")))
    w.step()
    w.vehicles["r2"].set_wheel_torques([0.0, 1e300])
    with pytest.raises(StepError) as caught:
        w.run(1.0)
    message = str(caught.value)
    assert message.startswith("r2: r_wheel: omega is ")
    assert "in tick 2; a torque, mass or time step may be far out of range" in message


def test_poses_that_are_not_finite_name_the_body() -> None:
    w = load_world(text=world(cart(), BOW_TIE.replace("<pt>1 1</pt><pt>1 0</pt>", "<pt>1 0</pt>")))
    w.bodies["cvx"][w.data.entities["b1"].row] = np.nan
    with pytest.raises(StepError, match="b1: cvx is nan in tick 1"):
        w.step()
