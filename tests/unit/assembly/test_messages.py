# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What building a world can fail on, or has to replace: each with its message."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mvsim_core.assembly.load import world_of
from mvsim_core.elements.occupancy_grid import GridMap, GridOrigin
from mvsim_core.errors import BuildError
from mvsim_core.specs import (
    AckermannSpec,
    DifferentialSpec,
    EllipseSpec,
    JointSpec,
    SensorSpec,
    Spec,
    VehicleSpec,
    WheelSpec,
    Where,
    WorldSpec,
)
from mvsim_core.specs.block import WallsSpec
from mvsim_core.specs.dynamics import FreeWheelsSpec, MecanumSpec
from mvsim_core.specs.kinematics import TwoWheelsDiffDynSpec
from tests.unit.assembly.worlds import loaded, said

PLACE = Where("/home/me/w.world.xml", 7)


def vehicle(dynamics: Spec, **more: Any) -> WorldSpec:
    """Return a world of one vehicle, as a program writes it: the reader refuses some of them."""
    made: Any = replace(dynamics, where=PLACE)
    return WorldSpec(vehicles=(VehicleSpec(name="r1", dynamics=made, **more),))


LEFT, RIGHT = WheelSpec(name="l_wheel", y=0.3), WheelSpec(name="r_wheel", y=-0.3)
CAR = AckermannSpec().finished()
BEHIND = tuple(replace(w, x=-1.0) if w.name.startswith("f") else w for w in CAR.wheels)
FREE = FreeWheelsSpec(wheels=(WheelSpec(),))

ERRORS: dict[str, tuple[WorldSpec, str]] = {
    "wheels on one line": (
        vehicle(DifferentialSpec(wheels=(LEFT, replace(RIGHT, y=0.3, x=0.5)))),
        "w.world.xml:7: <dynamics>: r1: the wheels of the odometry must differ in y [m], both"
        " have 0.3",
    ),
    "front wheels behind": (
        vehicle(replace(CAR, wheels=BEHIND)),
        "w.world.xml:7: <dynamics>: r1: front wheels must be ahead of the rear wheels (wheelbase"
        " must be > 0 [m], got -1)",
    ),
    "rollers on an ellipse": (
        vehicle(MecanumSpec(), friction=EllipseSpec()),
        "w.world.xml:7: <dynamics>: r1: the friction of class ellipse knows no rollers; take"
        " default or wardiagnemma",
    ),
    "kinematics without an axis": (
        vehicle(FREE, kinematics=TwoWheelsDiffDynSpec(where=PLACE, max_forward_speed=1.0)),
        "w.world.xml:7: <kinematics>: r1: axis must be > 0 [m], got 0.0; its wheels have no"
        " sides: give their distance as <axis>",
    ),
    "a joint to nothing": (
        replace(
            vehicle(DifferentialSpec()),
            joints=(JointSpec(type="revolute", body_a="r1", body_b="r2", where=PLACE),),
        ),
        "w.world.xml:7: <joint>: there is no body called 'r2'. Known: r1",
    ),
    "a name twice": (
        WorldSpec(vehicles=2 * (VehicleSpec(name="r1", where=PLACE),)),
        "w.world.xml:7: there is already something called 'r1'",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str) -> None:
    spec, message = ERRORS[name]
    with pytest.raises(BuildError) as caught:
        world_of(spec)
    assert str(caught.value) == message


def test_errors_of_all_maps_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("no picture")
    (tmp_path / "b.txt").write_text("1 2\n")
    with pytest.raises(BuildError) as caught:
        loaded(
            f'<element class="occupancy_grid"><file>{tmp_path}/a.png</file></element>\n'
            f'<element class="elevation_map"><dem_xyzrgb_file>{tmp_path}/b.txt</dem_xyzrgb_file>'
            "</element>"
        )
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"line 2: <element>: {tmp_path}/a.png: not an image that can be read")
    assert second == (
        f"line 3: <element>: {tmp_path}/b.txt: expected lines of 'x y z r g b', got 2 numbers a"
        " line"
    )


def test_a_scan_pattern_that_is_none_names_its_sensor(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("0,1,2\n0,1,2\n")
    with pytest.raises(BuildError) as caught:
        loaded(
            '<vehicle><init_pose>0 0 0</init_pose><dynamics class="differential"/>\n'
            f'<sensor class="lidar3d"><scan_pattern>{tmp_path}/p.csv</scan_pattern></sensor>'
            "</vehicle>"
        )
    assert str(caught.value) == (
        f"line 3: <sensor>: {tmp_path}/p.csv: expected at least 16 lines of time [s], azimuth,"
        " zenith [deg], got 2"
    )


def robot(content: str, visuals: str = "") -> str:
    return (
        f'<vehicle name="r1"><init_pose>0 0 0</init_pose><dynamics class="differential">{content}'
        f"</dynamics>{visuals}</vehicle>"
    )


WARNINGS = {
    "a step longer than a period": (
        "<simul_timestep>0.1</simul_timestep>"
        + robot(
            '<controller class="twist_ideal"/>',
            '<sensor class="laser"><sensor_period>0.05</sensor_period></sensor>',
        ),
        "line 2: <sensor>: 'laser1' asks for 20 Hz and reads each step of 0.1 s, with 10 Hz; it"
        " takes a simul_timestep of 0.05 s or less",
    ),
    "visuals without models": (
        robot("<chassis><shape_from_visual/></chassis>", "<visual/>"),
        "line 2: <visual>: r1: its models have no shape of any size: a box over its wheels is"
        " used instead",
    ),
    "a missing model that only sensors see": (
        robot("", "<visual><model_uri>/no/such.dae</model_uri></visual>")
        .replace("</vehicle>", '<sensor class="lidar3d"/></vehicle>'),
        "line 2: <visual>: /no/such.dae: the model file does not exist: 3D sensors see its plain"
        " shape",
    ),
    "a missing model that is a shape": (
        '<block><init_pose>0 0 0</init_pose><shape_from_visual/><visual><model_uri>/no/such.dae'
        "</model_uri></visual></block>",
        "line 2: <visual>: /no/such.dae: the model file does not exist: a box of 1 m is used"
        " instead",
    ),
    "a model of a kind that cannot be read": (
        '<block><init_pose>0 0 0</init_pose><shape_from_visual/><visual><model_uri>/no/such.fbx'
        "</model_uri></visual></block>",
        "line 2: <visual>: /no/such.fbx: models of type '.fbx' cannot be read, only .dae, .glb,"
        " .gltf, .obj, .off, .ply, .stl: a box of 1 m is used instead",
    ),
    "a receiver without a place on earth": (
        robot("", '<sensor class="gnss"/>'),
        "line 2: <sensor>: the world has no <georeference>: its gnss sensors give no readings",
    ),
    "a fan on edge": (
        robot("", '<sensor class="laser" name="l"><pose_3d>0 0 1 0 80 0</pose_3d>'
              "<raytrace_3d>false</raytrace_3d></sensor>"),
        "line 2: <sensor>: the fan of 'l' is tilted by more than 60 degrees: without raytrace_3d"
        " it sees walls by the plan view of its rays, and nothing with an upright fan",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WARNINGS)
def test_warning(name: str) -> None:
    body, message = WARNINGS[name]
    assert said(loaded(body)) == [message]


def test_sensors_that_nobody_simulates_are_named_and_off() -> None:
    """A plug-in may bring a spec whose class is not there."""
    sensor = SensorSpec(kind="sonar", name="s1", where=PLACE)
    spec = vehicle(DifferentialSpec(), sensors=(sensor,))
    world = world_of(spec)
    assert said(world) == [
        "w.world.xml:7: <sensor>: sensors of class 'sonar' are not simulated yet: 's1' is off"
    ]
    assert not list(world.vehicles["r1"].sensors)


def test_a_texture_that_is_no_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.png").write_text("no picture")
    floor = f'<element class="horizontal_plane"><texture>{tmp_path}/t.png</texture></element>'
    world = loaded(floor + robot("", '<sensor class="lidar3d"/>'))
    assert said(world) == [
        f"line 2: <texture>: {tmp_path}/t.png: the texture cannot be read as an image, or has more"
        " than 64 million pixels: a plain colour stands for it"
    ]


def test_a_model_without_volume_is_named(tmp_path: Path) -> None:
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n")
    uri = f"<visual><model_uri>{tmp_path}/flat.obj</model_uri></visual>"
    world = loaded(f"<block><init_pose>0 0 0</init_pose><shape_from_visual/>{uri}</block>")
    assert said(world) == [
        f"line 2: <visual>: {tmp_path}/flat.obj: the model has no volume: a box of 1 m is used"
        " instead"
    ]


def test_a_map_whose_doubts_are_told(tmp_path: Path) -> None:
    Image.fromarray(np.full((2, 2), 205, np.uint8)).save(tmp_path / "m.png")
    (tmp_path / "m.yaml").write_text(
        "image: m.png\nresolution: 0.1\norigin: [0, 0, 0]\nnegate: 0\noccupied_thresh: 0.65\n"
        "free_thresh: 0.25\n"
    )
    world = loaded(f'<element class="occupancy_grid"><file>{tmp_path}/m.yaml</file></element>')
    (text,) = said(world)
    assert text.startswith(f"line 2: <element>: {tmp_path}/m.yaml: ")
    assert "free_thresh" in text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: GridMap(np.zeros((0, 2), np.int8), 0.1, source="m.png"),
            "m.png: a map needs at least one cell, got (0, 2)",
        ),
        (
            lambda: GridMap(np.zeros((2, 2), np.int8), 0.0, source="m.png"),
            "m.png: resolution must be > 0 [m], got 0.0",
        ),
        (
            lambda: GridMap(np.zeros((2, 2), np.int8), 0.1, GridOrigin(np.nan, 0.0), "m.png"),
            "m.png: origin must be three finite numbers, got GridOrigin(x=nan, y=0.0, yaw=0.0)",
        ),
    ],
)
def test_a_map_that_cannot_be(make: Callable[[], GridMap], message: str) -> None:
    with pytest.raises(BuildError) as caught:
        make()
    assert str(caught.value) == message


def test_walls_of_too_many_lines_are_cut_off_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mvsim_core.assembly.wall_lines.MOST_LINES", 1)
    walls = WallsSpec(shape=((0, 0), (1, 0), (5, 0), (6, 0)), where=PLACE)
    world = world_of(WorldSpec(walls=(walls,)))
    assert said(world) == ["w.world.xml:7: <walls>: 2 lines are too many for walls: 1 are made"]
