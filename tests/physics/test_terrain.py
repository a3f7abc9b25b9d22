# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ground that is not a plane: steps, ramps, bumps, floors, lifts, maps from images."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core import BuildError, World, load_world
from mvsim_core.terrain.surface import PIECE, Surface, join_maps, map_of
from tests.physics.test_slopes import FOUR, TWO
from tests.physics.worlds import block, cart, friction, twist_pid, world

IDEAL = '<controller class="twist_ideal"/>'


def four(pose: str = "0 0 0", controller: str = IDEAL, name: str = "r1") -> str:
    """Return a robot with four wheels of 0.4 m diameter."""
    return cart(name, pose, controller=controller, ground=friction(mu=0.9)).replace(
        TWO.strip(), FOUR
    )


def wide_step(height: float) -> str:
    """Return two floors that meet at x = 2 m."""
    return f"""
      <element class="horizontal_plane"><x_min>-9</x_min><x_max>2</x_max></element>
      <element class="horizontal_plane"><x_min>2</x_min><x_max>9</x_max><z>{height}</z>
      </element>"""


@pytest.mark.parametrize("controller", [IDEAL, twist_pid(30, 30, 60)])
def test_high_steps_stop_and_low_steps_are_climbed(controller: str) -> None:
    """0.55 of the wheel's diameter (0.22 m) is the limit."""
    ends = {}
    for height in (0.1, 0.3):
        w = load_world(text=world(wide_step(height), four(controller=controller)))
        robot = w.vehicles["r1"]
        robot.set_twist(0.5)
        w.run(10.0)
        ends[height] = robot.pose
    assert ends[0.1].x > 4.0
    assert ends[0.1].z == pytest.approx(0.1, abs=1e-6)
    assert 1.2 < ends[0.3].x < 1.7
    assert ends[0.3].z == pytest.approx(0.0, abs=1e-6)


def test_vehicle_can_back_off_from_a_step() -> None:
    """The post goes when the step is no longer ahead."""
    w = load_world(text=world(wide_step(0.3), four()))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5)
    w.run(5.0)
    assert robot.in_collision
    robot.set_twist(-0.5)
    w.run(2.0)
    assert not robot.in_collision
    assert robot.pose.x < 1.0


def geometry(kind: str, size: str, pose: str) -> str:
    """Return an intangible block of a geometry."""
    return f"""<block name="g"><geometry type="{kind}" {size}/><intangible>true</intangible>
      <static>true</static><init_pose>{pose}</init_pose></block>"""


def test_ramp_lifts_and_tilts() -> None:
    """A ramp of 4 m that rises 1 m: z and pitch of its plane."""
    ramp = geometry("ramp", 'lx="4" ly="3" lz="1"', "2 0 0")
    w = load_world(text=world(ramp, four()))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5)
    while robot.pose.x < 4.0:
        w.step()
    assert robot.pose.z == pytest.approx(0.5, abs=0.01)
    assert robot.pose.pitch == pytest.approx(-math.atan(0.25), abs=1e-3)


def test_turned_ramp_rises_along_its_own_x() -> None:
    """A ramp turned by 90° rises along the world's y."""
    ramp = geometry("ramp", 'lx="4" ly="3" lz="1"', "0 2 90")
    w = load_world(text=world(ramp, four("0 4 90")))
    assert w.vehicles["r1"].pose.z == pytest.approx(0.5, abs=0.02)
    assert w.vehicles["r1"].pose.pitch == pytest.approx(-math.atan(0.25), abs=5e-3)


def test_bump_is_driven_over() -> None:
    """A speed bump lifts by its height and is left again."""
    bump = geometry("semi_cylinder_bump", 'lx="4" ly="0.8" lz="0.08"', "2 0 90")
    w = load_world(text=world(bump, four()))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5)
    highest = 0.0
    while robot.pose.x < 4.0:
        w.step()
        highest = max(highest, robot.pose.z)
    assert 0.03 < highest <= 0.081
    assert robot.pose.z == pytest.approx(0.0, abs=1e-9)
    assert robot.pose.pitch == 0.0


def test_two_floors_and_what_is_between() -> None:
    """Robots above and below a bridge do not meet, and stay on their floor."""
    floors = """
      <element class="horizontal_plane"><z>0</z></element>
      <element class="horizontal_plane"><x_min>-2</x_min><x_max>9</x_max><z>3</z></element>"""
    above = four(name="up").replace(
        "<init_pose>0 0 0</init_pose>", "<init_pose3d>0 0 3 0 0 0</init_pose3d>"
    )
    w = load_world(text=world(floors, above, four("-4 0 0", name="down")))
    up, down = w.vehicles["up"], w.vehicles["down"]
    assert (up.pose.z, down.pose.z) == (3.0, 0.0)
    down.set_twist(1.0)
    w.run(8.0)
    assert down.pose.x == pytest.approx(4.0, abs=1e-6)
    assert up.pose.x == pytest.approx(0.0, abs=1e-9)


def test_lift_carries_a_robot_up() -> None:
    """An animated plane takes the robot on it along, to the height where a wall stands."""
    lift = """<element class="horizontal_plane"><z>0</z></element>
      <element class="horizontal_plane"><x_min>-2</x_min><x_max>2</x_max><y_min>-2</y_min>
      <y_max>2</y_max><init_pose3d>0 0 0.01 0 0 0</init_pose3d><animation type="keyframes">
      <time_pose3d>0 0 0 0 0 0 0</time_pose3d><time_pose3d>4 0 0 2 0 0 0</time_pose3d>
      <time_pose3d>8 0 0 2 0 0 0</time_pose3d></animation></element>"""
    low = block("low", "1.2 0 0", mass=500, size=0.4, extra="<static>true</static>")
    w = load_world(text=world(lift, low, four()))
    robot = w.vehicles["r1"]
    w.run(5.0)
    assert robot.pose.z == pytest.approx(2.01, abs=1e-6)
    robot.set_twist(0.3)
    w.run(2.0)  # over the block, which stands on the ground floor
    assert robot.pose.x == pytest.approx(0.6, abs=1e-6)


def test_image_rows_run_along_x_and_scale_from_darkest_to_brightest(tmp_path: Path) -> None:
    """An image of 3 × 4 pixels: corners are where rows and columns put them."""
    grey = np.full((3, 4), 60, np.uint8)
    grey[0, 0], grey[2, 3] = 40, 240
    Image.fromarray(grey).save(tmp_path / "hill.png")
    text = f"""<element class="elevation_map">
      <elevation_image>{tmp_path / "hill.png"}</elevation_image>
      <elevation_image_min_z>1</elevation_image_min_z>
      <elevation_image_max_z>5</elevation_image_max_z><resolution>2</resolution></element>"""
    w = load_world(text=world(text, cart(pose="-2 -3 0"), cart("r2", "2 3 0")))
    ground = w._runtime.ground
    assert ground.height(-2.0, -3.0, 9.0) == pytest.approx(1.0)
    assert ground.height(2.0, 3.0, 9.0) == pytest.approx(5.0)
    assert ground.height(0.0, 0.0, 9.0) == pytest.approx(1 + 4 * 20 / 200)
    assert ground.height(-50.0, -50.0, 9.0) == pytest.approx(1.0)  # goes on beyond its border


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: Image.new("L", (4, 4), 7).save(p), "of one grey"),
        (lambda p: p.write_text("no image"), "not an image"),
    ],
)
def test_bad_elevation_images_are_named(tmp_path: Path, make, message: str) -> None:  # type: ignore[no-untyped-def]
    """Flat and broken images give one error with the line of the element."""
    path = tmp_path / "hill.png"
    make(path)
    text = (
        f"""<element class="elevation_map"><elevation_image>{path}</elevation_image></element>"""
    )
    with pytest.raises(BuildError, match=rf"line \d+: <element>: .*{message}"):
        load_world(text=world(text, cart()))


def test_blocks_rest_on_the_ground() -> None:
    """A block pushed up a slope rises with it."""
    rise = math.tan(math.radians(5)) * 10
    slope = f"""<element class="elevation_map">
      <elevation_data_matrix>[{-rise} {-rise}; {rise} {rise}]</elevation_data_matrix>
      <resolution>20</resolution></element>"""
    w = load_world(text=world(slope, four(), block("b", "2 0 0", mass=2, mu=0.3)))
    b = w.blocks["b"]
    assert b.pose.z == pytest.approx(2 * math.tan(math.radians(5)))
    w.vehicles["r1"].set_twist(0.5)
    w.run(6.0)
    assert b.pose.x > 3.0
    assert b.pose.z == pytest.approx(b.pose.x * math.tan(math.radians(5)), abs=1e-6)


@pytest.mark.parametrize(("height", "climbs"), [(0.217, True), (0.223, False)])
def test_the_highest_step_that_is_climbed_is_55_percent_of_a_wheel(
    height: float, climbs: bool
) -> None:
    """Wheels of 0.4 m climb 0.22 m."""
    w = load_world(text=world(wide_step(height), four()))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5)
    w.run(8.0)
    assert robot.pose.x == pytest.approx(4.0, abs=1e-6) if climbs else robot.pose.x < 1.7


@pytest.mark.parametrize("corner", [(0.0, 0.0), (3.0, 7.0), (-20.0, 5.0), (4.0, -30.0)])
def test_a_map_ends_where_its_samples_end(corner: tuple[float, float]) -> None:
    """Within the map its height counts, beside it that of the plane, whatever its corner."""
    x0, y0 = corner
    row, samples = map_of(np.full((5, 9), 2.0), 0.5, corner)  # 2 m along x, 4 m along y
    plane = np.zeros(1, PIECE)
    plane["body"] = -1
    plane["x0"] = plane["y0"] = -100.0
    plane["x1"] = plane["y1"] = plane["far"] = 100.0
    plane["c"] = 1.0
    ground = Surface(plane, np.zeros((0, 2)), row, samples)
    for x in (x0, x0 + 1.0, x0 + 2.0):
        for y in (y0, y0 + 1.9, y0 + 4.0):
            assert ground.height(x, y, 9.0) == 2.0
    for x, y in ((-0.01, 2.0), (2.01, 2.0), (1.0, -0.01), (1.0, 4.01), (-9.0, -9.0)):
        assert ground.height(x0 + x, y0 + y, 9.0) == 0.0


def test_beyond_several_maps_the_nearest_one_goes_on() -> None:
    """Two maps 10 m apart along y: the ground between them is that of the nearer one."""
    maps = [map_of(np.full((3, 3), z), 1.0, (4.0, y)) for z, y in ((1.0, 6.0), (5.0, 18.0))]
    ground = Surface(np.zeros(0, PIECE), np.zeros((0, 2)), *join_maps(maps))
    for y, want in ((-3.0, 1.0), (7.0, 1.0), (12.9, 1.0), (13.1, 5.0), (19.0, 5.0), (40.0, 5.0)):
        assert ground.height(5.0, y, 99.0) == want, y


#: Outlines of blocks with their centres of mass in the origin [m].
OUTLINES = {
    "square": [(0.3, 0.3), (-0.3, 0.3), (-0.3, -0.3), (0.3, -0.3)],
    "bar": [(0.8, 0.05), (-0.8, 0.05), (-0.8, -0.05), (0.8, -0.05)],
    "triangle": [(0.4, 0.0), (-0.2, 0.3), (-0.2, -0.3)],
    "pentagon": [(0.4 * math.cos(a), 0.4 * math.sin(a)) for a in np.arange(5) * 0.4 * math.pi],
}


def overhanging(outline: str, yaw: float, out: float, vel: str = "0 0 0") -> World:
    """Return a world with a block `out` [m] beyond the edge of a table 1 m high, turned by 25°."""
    angle = math.radians(25)
    x, y = out * math.cos(angle), out * math.sin(angle)
    points = "".join(f"<pt>{px} {py}</pt>" for px, py in OUTLINES[outline])
    table = block("table", f"{-2 * math.cos(angle)} {-2 * math.sin(angle)} 25", size=4.0)
    text = block("b1", f"{x} {y} {math.degrees(yaw)}", vel, mu=0.3)
    shape = text[text.index("<shape>") : text.index("</shape>")]
    text = text.replace(shape, f"<shape>{points}").replace("<zmax>1</zmax>", "<zmax>0.4</zmax>")
    pose = re.search(r"<init_pose>(\S+ \S+) (\S+)</init_pose>", text)
    assert pose is not None
    text = text.replace(pose[0], f"<init_pose3d>{pose[1]} 1 {pose[2]} 0 0</init_pose3d>")
    return load_world(text=world(table.replace("<zmin>", "<static>1</static><zmin>"), text))


@pytest.mark.parametrize("outline", OUTLINES)
def test_a_block_overhangs_level_while_its_centre_of_mass_is_supported(outline: str) -> None:
    """Whatever hangs over, at each angle; and it drops when the centre of mass is beyond."""
    rng = np.random.default_rng(3)
    for yaw in (0.0, math.radians(25), *rng.uniform(-3.0, 3.0, 4)):
        for out in (-0.25, -0.01):
            w = overhanging(outline, yaw, out)
            b = w.blocks["b1"]
            level = pytest.approx((1.0, 0.0, 0.0), abs=1e-9)
            assert (b.pose.z, b.pose.roll, b.pose.pitch) == level
            state = w.state()
            w.run(0.05)
            assert (b.pose.z, b.pose.roll, b.pose.pitch) == level
            p = b.pose
            b.teleport(20.0, 0.0, 1.0)
            assert b.pose.z == 0.0
            b.teleport(p.x, p.y, p.yaw, z=1.0)
            assert (b.pose.z, b.pose.roll, b.pose.pitch) == level
            w.restore(state)
            batch = w.replicate(2)
            batch.step()
            assert batch[1].blocks["b1"].pose.z == pytest.approx(1.0, abs=1e-9)
        assert overhanging(outline, yaw, 0.01).blocks["b1"].pose.z < 0.9


def test_a_block_slides_over_an_edge() -> None:
    """Level until its centre of mass has passed the edge, at each step the same."""
    angle = math.radians(25)
    w = overhanging("square", 0.3, -0.3, f"{2 * math.cos(angle)} {2 * math.sin(angle)} 0")
    for _ in range(100):
        w.step()
        p = w.blocks["b1"].pose
        out = p.x * math.cos(angle) + p.y * math.sin(angle)
        if out < 0.0:
            assert (p.z, p.roll, p.pitch) == pytest.approx((1.0, 0.0, 0.0), abs=1e-9)
        else:
            assert p.z < 0.9
    assert out > 0.1


def test_a_block_lies_on_the_crest_below_it() -> None:
    """On a roof whose ridge is below its centre: level, on the ridge; beside it on the slope."""
    rows = ";".join(" ".join(f"{-0.3 * abs(i - 20)!r}" for _ in range(3)) for i in range(41))
    roof = f"""<element class="elevation_map"><elevation_data_matrix>[{rows}]
      </elevation_data_matrix><resolution>1</resolution></element>"""
    w = load_world(text=world(roof, block("b1", mu=1.0, size=0.6)))
    b = w.blocks["b1"]
    for x in (0.0, 0.1, 0.4):
        b.teleport(x, 0.0, 0.4)
        assert b.pose.z >= -0.3 * x - 1e-9  # nothing of the ground is above its centre
    b.teleport(0.0, 0.0, 0.4)
    assert (b.pose.z, b.pose.roll, b.pose.pitch) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    b.teleport(2.0, 0.0, 0.0)
    assert b.pose.pitch == pytest.approx(math.atan(0.3), abs=1e-9)
