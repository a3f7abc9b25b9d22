# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Shapes and places that come from geometries, heights and poses."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core import BuildError
from tests.unit.assembly.worlds import loaded, said, seen_ahead

CYLINDER = '<geometry type="cylinder" radius="0.1" length="2" vertex_count="40"/>'


def block(content: str, pose: str = "2 0 0") -> str:
    return f'<block name="b1"><init_pose>{pose}</init_pose><static>true</static>{content}</block>'


@pytest.mark.parametrize("flag", ["", "<shape_from_visual/>"])
@pytest.mark.parametrize("exact", [False, True])
def test_a_geometry_is_the_shape_for_sensors_and_contacts(flag: str, exact: bool) -> None:
    assert seen_ahead(block(CYLINDER + flag), exact=exact) == pytest.approx(1.9, abs=1e-3)
    world = loaded(block(CYLINDER + flag))
    assert world.blocks["b1"].z_range == (0.0, 2.0)
    assert abs(world.blocks["b1"].polygons[0]).max() == pytest.approx(0.1)


def test_a_ramp_is_seen_as_a_ramp() -> None:
    """At half the height of the ramp its surface is half way along it."""
    ramp = block('<geometry type="ramp" lx="2" ly="1" lz="1"/><intangible>true</intangible>')
    assert seen_ahead(ramp, height=0.5, exact=True) == pytest.approx(3.0, abs=1e-5)


def test_one_height_alone_counts() -> None:
    high, low = loaded(block("<zmax>3</zmax>")), loaded(block("<zmin>0.4</zmin>"))
    assert (high.blocks["b1"].z_range, low.blocks["b1"].z_range) == ((0.0, 3.0), (0.4, 1.0))


@pytest.mark.parametrize("yaw", [0, 30, 45, 90, 123.4])
@pytest.mark.parametrize("place", ["0 0", "0.1 0.3", "-700.7 33.3"])
def test_a_block_stands_on_another_one_of_its_size(place: str, yaw: float) -> None:
    """Its corners are above the edges of the other one, so rounding must not decide."""
    stack = "".join(
        f'<block name="{name}"><init_pose3d>{place} {z} {yaw} 0 0</init_pose3d>{content}</block>'
        for name, z, content in (("low", 0.0, "<static>true</static>"), ("high", 1.01, ""))
    )
    pose = loaded(stack).blocks["high"].pose
    assert (pose.z, pose.pitch, pose.roll) == pytest.approx((1.0, 0.0, 0.0), abs=1e-9)


def test_a_floor_turns_with_its_pose() -> None:
    """A strip along x becomes one along y."""
    floor = (
        '<element class="horizontal_plane"><x_min>-5</x_min><x_max>5</x_max>'
        "<y_min>-0.5</y_min><y_max>0.5</y_max><init_pose3d>1 0 1.5 90 0 0</init_pose3d></element>"
    )
    blocks = "".join(
        f'<block name="{name}"><init_pose3d>{place} 1.6 0 0 0</init_pose3d></block>'
        for name, place in (("on", "1 4"), ("beside", "4 0"))
    )
    world = loaded(floor + blocks)
    assert said(world) == []
    assert world.blocks["on"].pose.z == pytest.approx(1.5)
    assert world.blocks["beside"].pose.z == 0.0
    world.run(0.1)
    assert world.blocks["on"].pose.z == pytest.approx(1.5)


def test_a_turned_floor_is_seen_turned() -> None:
    """A beam from above at x = 0, y = 3 hits the strip that was turned there."""
    floor = (
        '<element class="horizontal_plane"><x_min>-5</x_min><x_max>5</x_max><z>0.2</z>'
        "<y_min>-0.5</y_min><y_max>0.5</y_max><init_pose>{pose}</init_pose></element>"
    )
    down = (
        '<sensor class="laser" name="down"><pose_3d>0 23 1.2 0 90 0</pose_3d><nrays>3</nrays>'
        "<fov_degrees>10</fov_degrees><range_std_noise>0</range_std_noise>"
        "<raytrace_3d>true</raytrace_3d></sensor>"
    )
    for pose, expected in (("0 0 90", 1.0), ("0 0 0", float("inf"))):
        world = loaded(
            '<vehicle name="r1"><init_pose>0 -20 0</init_pose><dynamics class="differential"/>'
            f"{down}</vehicle>{floor.format(pose=pose)}"
        )
        world.run(0.2)
        assert world.vehicles["r1"].sensors["down"].last.ranges[1] == pytest.approx(
            expected, abs=1e-5
        )


def test_a_door_without_width_leaves_the_wall_whole() -> None:
    wall = (
        '<element class="vertical_plane"><x0>3</x0><y0>-2</y0><x1>3</x1><y1>2</y1>'
        "<thickness>0.2</thickness>{}</element>"
    )
    for door in ("", '<door width="0"/>', '<door position="-2" width="1"/>'):
        assert seen_ahead(wall.format(door)) == pytest.approx(2.9, abs=1e-5)
    assert seen_ahead(wall.format('<door width="1"/>')) == float("inf")


def test_dark_pixels_of_an_elevation_image_may_be_the_high_ones(tmp_path: Path) -> None:
    grey = np.full((3, 3), 255, np.uint8)
    grey[0] = 0  # the row at the smallest x
    Image.fromarray(grey).save(tmp_path / "hill.png")
    world = loaded(
        f'<element class="elevation_map"><elevation_image>{tmp_path}/hill.png</elevation_image>'
        "<elevation_image_min_z>2</elevation_image_min_z>"
        "<elevation_image_max_z>0</elevation_image_max_z></element>"
        + "".join(
            f'<block name="{name}"><init_pose3d>{x} 0 3 0 0 0</init_pose3d>'
            "<static>true</static></block>"  # one that moves would lean on the slope
            for name, x in (("b1", -1), ("b2", 1))
        )
    )
    assert [world.blocks[name].pose.z for name in ("b1", "b2")] == pytest.approx([2.0, 0.0])


@pytest.mark.parametrize(
    "shape",
    [
        '<geometry type="box" lx="1" ly="1e-9" lz="1"/>',
        '<geometry type="cylinder" radius="1e-9" length="1"/>',
        "<shape><pt>0 0</pt><pt>1e-9 0</pt><pt>0 1e-9</pt></shape>",
    ],
)
def test_a_shape_without_area_is_refused(shape: str) -> None:
    with pytest.raises(BuildError, match="the collision shape of 'b1' has no area"):
        loaded(block(shape))


def test_instead_of_a_missing_model_a_chassis_is_a_box_over_its_wheels() -> None:
    """From the vehicle's origin to the outer sides of its wheels, at the heights of the file."""
    trailer = """<vehicle name="t"><init_pose>0 0 0</init_pose><dynamics class="differential">
      <l_wheel pos="-3 0.4" width="0.2" diameter="0.5"/>
      <r_wheel pos="-3 -0.4" width="0.2" diameter="0.5"/>
      <chassis zmin="0.3" zmax="2"><shape_from_visual/></chassis></dynamics>
      <visual><model_uri>/no/such.dae</model_uri></visual></vehicle>"""
    world = loaded(trailer)
    assert any("a box over its wheels is used instead" in str(w) for w in world.warnings)
    solid = world.vehicles["t"].polygons[0]
    low, high = solid.min(axis=0), solid.max(axis=0)
    assert (*low, *high) == pytest.approx((-3.25, -0.5, 0.0, 0.5))
    assert world.vehicles["t"].z_range == (0.0, 2.0)  # with its wheels
