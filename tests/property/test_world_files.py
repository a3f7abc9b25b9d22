# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""World file -> spec -> world file -> spec is the identity."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mvsim_core import BuildError, WorldFileError, dump_world, read_world
from mvsim_core.geometry.poses import Pose
from mvsim_core.specs import (
    BlockSpec,
    ChassisSpec,
    DifferentialSpec,
    LaserSpec,
    VehicleSpec,
    WorldSpec,
)
from mvsim_core.specs.converters import DEGREES
from tests.property.random_specs import worlds

OWN = sorted((Path(__file__).resolve().parents[2] / "worlds").rglob("*.world.xml"))


def assert_survives(spec: WorldSpec) -> str:
    text = dump_world(spec)
    back, _ = read_world(text=text)
    assert replace(back, file=spec.file) == spec
    return text


@settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_random_specs_survive(data: st.DataObject, tmp_path: Path) -> None:
    file = tmp_path / "some file"
    file.touch()
    assert_survives(data.draw(worlds(str(file))))


@given(st.floats(-1e9, 1e9))
def test_every_angle_can_be_written(angle: float) -> None:
    assert DEGREES.read(DEGREES.write(angle)) == angle


def test_angles_and_colours_are_short_where_they_can_be() -> None:
    block = BlockSpec(name="b", init_pose=Pose(1.5, -2.0, yaw=DEGREES.read("30"))).finished()
    text = assert_survives(WorldSpec(blocks=(replace(block, static=True),)))
    assert "<init_pose>1.5 -2 30</init_pose>" in text
    assert "<static>true</static>" in text


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_own_worlds_survive(path: Path) -> None:
    assert_survives(read_world(path)[0])


def test_worlds_of_the_original_survive(mvsim_worlds: Path) -> None:
    paths = sorted(mvsim_worlds.rglob("*.world.xml"))
    assert len(paths) > 15
    for path in paths:
        spec, warnings = read_world(path)
        text = assert_survives(spec)
        assert len(read_world(text=text)[1]) <= len(warnings)


def test_vehicles_of_one_class_share_its_text() -> None:
    scan = LaserSpec(name="scan", nrays=77)
    vehicles = tuple(
        VehicleSpec(name=f"r{i}", class_name="rover", sensors=(scan,), init_pose=Pose(x=i))
        for i in range(1, 50)
    )
    text = assert_survives(WorldSpec(vehicles=vehicles))
    assert text.count("<nrays>77</nrays>") == 1
    assert text.count('class="rover"') == 49


def test_what_a_file_cannot_express_is_an_error() -> None:
    for spec, message in (
        (WorldSpec(gravity=float("nan")), "gravity: a world file cannot express nan"),
        (WorldSpec(server_address=" x"), "server_address: a world file cannot express ' x'"),
        (WorldSpec(vehicles=(VehicleSpec(dynamics=DifferentialSpec(wheels=())),)), "l_wheel"),
        (WorldSpec(vehicles=(VehicleSpec(dynamics=_shapeless()),)), "shape: .* express None"),
    ):
        with pytest.raises(BuildError, match=message):
            dump_world(spec)


def _shapeless() -> DifferentialSpec:
    return DifferentialSpec(chassis=ChassisSpec(shape=None))


def test_a_spec_against_the_rules_is_refused_by_the_reader() -> None:
    text = dump_world(WorldSpec(gravity=-1.0))
    with pytest.raises(WorldFileError, match=r"gravity must be in \[0, 10000\] \[m/s\^2\]"):
        read_world(text=text)
