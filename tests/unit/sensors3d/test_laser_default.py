# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""When planar lidars cast rays against 3D shapes by default, and that both kinds see alike."""

import math

import pytest

from mvsim_core import World, load_world
from mvsim_core.sensors.laser3d import Laser3d

EXACT = "<range_std_noise>0</range_std_noise><angle_std_noise_deg>0</angle_std_noise_deg>"
WALL = "<walls><shape><pt>8 -7</pt><pt>8 7</pt></shape></walls>"
KERB = (
    '<block name="kerb"> <init_pose>{x} 0 0</init_pose> <static>true</static>'
    " <zmax>{top}</zmax> </block>"
)


def laser(mount: str = "0 0 0.5 0 0 0", extra: str = "") -> str:
    return (
        f'<sensor class="laser" name="a"><pose_3d>{mount}</pose_3d>{EXACT}{extra}'
        "<sensor_period>0.1</sensor_period></sensor>"
    )


def world(*parts: str) -> World:
    step = "<simul_timestep>0.005</simul_timestep>"
    w = load_world(text=f"<mvsim_world>{step}{''.join(parts)}</mvsim_world>")
    w.run(0.1)
    return w


def ahead(w: World) -> float:
    (sensor,) = w.new_readings
    return float(sensor.last.ranges[90])


def is_3d(w: World) -> bool:
    (sensor,) = w.new_readings
    return isinstance(sensor, Laser3d)


@pytest.mark.parametrize("degrees", [2.0, 10.0, 30.0])
def test_a_tilted_laser_sees_the_ground_and_what_stands_in_its_beam(degrees: float) -> None:
    tilt = math.radians(degrees)
    ground = '<element class="horizontal_plane"/>'
    mount = f"0 0 0.5 0 {degrees} 0"
    over_ground = world(ground, WALL, laser(mount))
    face = 7.95  # of the wall, which is 0.1 m thick
    assert ahead(over_ground) == pytest.approx(
        min(0.5 / math.sin(tilt), face / math.cos(tilt)), rel=1e-5
    )
    # the beam is 0.25 m above the ground half way to it: it meets a block of 0.3 m, not of 0.2 m
    x = 0.25 / math.tan(tilt)
    if x > 6.0:
        return
    hit = world(ground, WALL, KERB.format(x=x + 0.5, top=0.3), laser(mount))
    assert ahead(hit) == pytest.approx(x / math.cos(tilt), rel=1e-5)


def test_a_level_laser_keeps_the_plan_view_and_both_see_alike() -> None:
    parts = WALL, KERB.format(x=3.0, top=1.0)
    plan, exact = (
        world(*parts, laser()),
        world(*parts, laser(extra="<raytrace_3d>true</raytrace_3d>")),
    )
    assert (is_3d(plan), is_3d(exact)) == (False, True)
    assert ahead(plan) == pytest.approx(2.5)
    assert ahead(exact) == pytest.approx(2.5, rel=1e-6)


@pytest.mark.parametrize(
    ("mount", "ground", "expected"),
    [
        ("0 0 0.5 0 0 0", "", False),
        ("0 0 0.5 90 0 0", "", False),
        ("0 0 0.5 0 1 0", "", True),
        ("0 0 0.5 0 0 180", "", True),
        ("0 0 0.5 0 0 0", '<geometry type="ramp" lx="1" ly="1" lz="0.1"/>', True),
        ("0 0 0.5 0 0 0", '<geometry type="box" lx="1" ly="1" lz="0.1"/>', False),
    ],
)
def test_3d_is_the_default_where_the_plane_would_be_wrong(
    mount: str, ground: str, expected: bool
) -> None:
    block = f'<block name="b"><init_pose>4 0 0</init_pose><static>true</static>{ground}</block>'
    assert is_3d(world(block if ground else "", laser(mount))) == expected
    never = laser(mount, "<raytrace_3d>false</raytrace_3d>")
    assert not is_3d(world(block if ground else "", never))


@pytest.mark.parametrize("exact", ["true", "false"])
@pytest.mark.parametrize("static", ["true", "false"])
def test_without_bodies_only_maps_are_seen(static: str, exact: str) -> None:
    block = KERB.format(x=4.0, top=1.0).replace("true", static)
    extra = f"<raytrace_3d>{exact}</raytrace_3d><bodies_visible>{{}}</bodies_visible>"
    assert ahead(world(WALL, block, laser(extra=extra.format("true")))) == pytest.approx(3.5)
    assert ahead(world(WALL, block, laser(extra=extra.format("false")))) == pytest.approx(7.95)


def test_a_laser_that_is_3d_by_default_does_not_see_its_own_vehicle() -> None:
    robot = (
        '<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential">'
        '<l_wheel pos="0 .3" diameter=".2" width=".05" mass="1"/>'
        '<r_wheel pos="0 -.3" diameter=".2" width=".05" mass="1"/>'
        '<chassis mass="9" zmin="0.05" zmax="0.8"/><controller class="raw"/></dynamics>'
        '<friction class="default"/>{}</vehicle>'
    )
    inside = laser("0 0 0.5 0 2 0")
    assert ahead(world(WALL, robot.format(inside))) == pytest.approx(
        7.95 / math.cos(math.radians(2.0)), rel=1e-4
    )
    shows = laser("0 0 0.5 0 2 0", "<raytrace_3d>true</raytrace_3d>")
    assert ahead(world(WALL, robot.format(shows))) < 1.0
