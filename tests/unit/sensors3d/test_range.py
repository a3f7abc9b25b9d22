# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Range sensors: the cone against closed forms, cliffs, limits by REP-117."""

import math
from typing import Any

import numpy as np
import pytest

from mvsim_core import World, load_world
from mvsim_core.errors import WorldFileError
from mvsim_core.geometry.poses import Pose
from mvsim_core.scene3d.solids import sphere
from mvsim_core.sensors import RangeSensor
from mvsim_core.sensors.range_sensor import cone
from mvsim_core.specs.sensor import RangeSpec
from tests.unit.sensors3d.scenes import NO_STATE, room, scene, sensor

#: Of distances: rays of the cone are at most 1 degree apart, so one is within 0.71 degrees.
SPACING = 1.0 / math.cos(math.radians(0.71)) - 1.0
FLOOR = '<element class="horizontal_plane"><color>#00ff00</color></element>'
QUIET = "<range_std_noise>0</range_std_noise><sensor_period>0.1</sensor_period>"


def beam(name: str, mount: str, more: str = "") -> str:
    return f'<sensor class="range" name="{name}"><pose_3d>{mount}</pose_3d>{QUIET}{more}</sensor>'


def read(world: World) -> dict[str, Any]:
    """Distances by name of the sensor."""
    world.run(0.1)
    return {sensor.name: sensor.last.range for sensor in world.new_readings}


def test_rays_fill_the_cone() -> None:
    for degrees, spacing in ((15.0, 1.0), (40.0, 2.5), (180.0, 10.0)):
        half, gap = math.radians(degrees) / 2, math.radians(spacing)
        ways = cone(2 * half, gap)
        assert np.linalg.norm(ways, axis=1) == pytest.approx(1.0)
        assert np.arccos(np.clip(ways[:, 0], -1, 1)).max() == pytest.approx(half)
        rng = np.random.default_rng(1)
        tilt, turn = rng.uniform(0, half, 500), rng.uniform(0, 2 * math.pi, 500)
        points = np.column_stack(
            (np.cos(tilt), np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn))
        )
        nearest = np.arccos(np.clip(points @ ways.T, -1, 1)).min(axis=1)
        assert nearest.max() < 0.71 * gap


def test_a_wall_is_as_far_as_the_nearest_point_of_it_in_the_cone() -> None:
    turns = (0.0, 5.0, 7.0, 15.0, 30.0, 55.0)
    sensors = "".join(
        beam(f"{turn}", f"6 0 1 {turn} 0 {turn * 3}", "<max_range>20</max_range>")
        for turn in turns
    )
    found = read(load_world(text=room(sensors)))
    for turn in turns:
        off = math.radians(max(turn - 7.5, 0.0))  # from the normal to the rim of the cone
        assert found[f"{turn}"] == pytest.approx(3.9 / math.cos(off), rel=4 * SPACING)


@pytest.mark.parametrize("degrees", [0.0, 6.0, 10.0, 15.0, 18.0, 21.0, 25.0])
def test_a_ball_at_the_side_of_the_cone(degrees: float) -> None:
    away, radius, half = 3.0, 0.4, math.radians(15.0)
    spec = RangeSpec(
        name="sonar",
        pose=Pose(x=-away, yaw=math.radians(degrees), roll=0.3),
        fov=2 * half,
        ray_spacing=math.radians(0.25),
        range_std_noise=0.0,
    )
    found = sensor(RangeSensor, spec, scene(sphere(radius))).measure(NO_STATE, 0, 0.0)
    off = max(math.radians(degrees) - half, 0.0)
    miss = away * math.sin(off)
    if miss > radius:
        assert found.range == math.inf
    else:
        expected = away * math.cos(off) - math.sqrt(radius**2 - miss**2)
        assert found.range == pytest.approx(expected, abs=3e-3)
        assert found.range >= expected - 1e-9
    assert (found.field_of_view, found.radiation_type) == (2 * half, 0)


def test_limits_are_those_of_rep_117() -> None:
    sensors = (
        beam("far", "0 0 0.5 0 0 0", "<fov_degrees>2</fov_degrees>")
        + beam("near", "9.8 0 0.5 0 0 0", "<min_range>0.2</min_range>")
        + beam("seen", "9 0 0.5 0 0 0")
        + beam("switch", "9 0 0.5 0 0 0", "<min_range>1</min_range><max_range>1</max_range>")
        + beam("off", "8 0 0.5 0 0 0", "<min_range>1</min_range><max_range>1</max_range>")
    )
    found = read(load_world(text=room(sensors)))
    assert found.pop("seen") == pytest.approx(0.9, abs=1e-6)
    low, high = -math.inf, math.inf
    assert found == {"far": high, "near": low, "switch": low, "off": high}


@pytest.mark.parametrize("ground", [True, False])
def test_a_cliff_sensor_sees_the_floor_and_where_it_ends(ground: bool) -> None:
    plane = "<element class='horizontal_plane'><x_max>0.25</x_max></element>" if ground else ""
    sensors = "".join(
        beam(name, f"{x} 0 0.1 0 90 0", "<max_range>0.3</max_range>")
        for name, x in (("inside", 0.1), ("outside", 0.35))
    )
    text = room(sensors).replace(FLOOR, plane)
    found = read(load_world(text=text))
    assert found["inside"] == pytest.approx(0.1, abs=1e-6)
    # in a world without any ground, vehicles drive on the level 0
    assert found["outside"] == (math.inf if ground else pytest.approx(0.1, abs=1e-6))


@pytest.mark.parametrize("ground", [True, False])
def test_a_beam_that_grazes_the_floor_sees_its_rim_or_gets_no_echo(ground: bool) -> None:
    sensors = beam("rim", "0 0 0.3 0 20 0") + beam(
        "smooth", "0 0 0.3 0 20 0", "<max_incidence_deg>60</max_incidence_deg>"
    )
    found = read(load_world(text=room(sensors).replace("" if ground else FLOOR, "")))
    assert found["rim"] == pytest.approx(0.3 / math.sin(math.radians(27.5)), rel=1e-3)
    assert found["smooth"] == math.inf


def test_what_it_sees_of_bodies() -> None:
    crate = '<block name="crate"><init_pose>2 0 0</init_pose><zmax>1</zmax></block>'
    narrow = "<fov_degrees>4</fov_degrees>"
    sensors = (
        beam("plain", "0 0 0.2 0 0 0", narrow)
        + beam("fixed", "0 0 0.2 0 0 0", narrow + "<bodies_visible>false</bodies_visible>")
        + beam("own", "-1 0 0.2 0 0 0", "<ignore_parent_body>false</ignore_parent_body>")
        + beam("through", "-1 0 0.2 0 0 0", narrow)
    )
    found = read(load_world(text=room(sensors, extra=crate)))
    assert found["plain"] == pytest.approx(1.5, rel=1e-3)
    assert found["through"] == pytest.approx(2.5, rel=1e-3)
    assert found["own"] < 0.95
    assert found["fixed"] == math.inf


def test_noise_has_its_size_and_is_stated() -> None:
    spec = RangeSpec(name="ir", pose=Pose(x=-2.0), range_std_noise=0.05, radiation_type="infrared")
    made = sensor(RangeSensor, spec, scene(sphere(0.5)))
    readings = [made.measure(NO_STATE, tick, 0.0) for tick in range(400)]
    assert np.std([r.range for r in readings]) == pytest.approx(0.05, rel=0.12)
    assert np.mean([r.range for r in readings]) == pytest.approx(1.5, abs=0.01)
    assert readings[0].variance == pytest.approx(0.0025)
    assert readings[0].radiation_type == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("<min_range>3</min_range><max_range>2</max_range>", "min_range (3 m) must be below max"),
        ("<fov_degrees>200</fov_degrees>", "fov_degrees must be in (0, 180] [deg], got '200'"),
        ("<radiation_type>light</radiation_type>", "must be one of ultrasound, infrared"),
    ],
)
def test_errors_name_the_rule(given: str, message: str) -> None:
    with pytest.raises(WorldFileError) as caught:
        load_world(text=room(beam("a", "0 0 0 0 0 0", given)))
    assert message in str(caught.value)
