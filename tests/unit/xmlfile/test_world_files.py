# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""World files of other people, as they are."""

import os
import shutil
from pathlib import Path

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.specs import Lidar3dSpec, SkyboxSpec
from mvsim_core.xmlfile import read_world

# Set by the launch files of the benchmark that this world belongs to.
GREENHOUSE = {
    "MIN_ALT": "0",
    "MAX_ALT": "1",
    "PAYLOAD_MASS": "5",
    "USE_ADAPTATIVE_FRICTION": "0",
    "mass": "75",
    "KP": "10",
    "KI": "1",
    "KD": "0",
    "N": "100",
    "ENABLE_ANTIWINDUP": "1",
    "ENABLE_FEEDFORWARD": "0",
    "K_FF": "1",
    "TAU_FF": "0.1",
    "ENABLE_REFERENCEFILTER": "0",
    "TAU_F": "0.1",
    "N_F": "1",
    "MAX_TORQUE": "100",
}


def counts(file: Path) -> tuple[int, int, int, int]:
    spec, _ = read_world(file)
    sensors = sum(len(vehicle.sensors) for vehicle in spec.vehicles) + len(spec.sensors)
    return len(spec.vehicles), len(spec.blocks), len(spec.elements), sensors


# Vehicles, blocks, elements, sensors, counted by hand.
TUTORIAL = {
    "demo_1robot": (1, 0, 2, 2),
    "demo_2robots": (2, 3, 2, 5),
    "demo_articulated_vehicle": (2, 0, 12, 0),
    "demo_jackal": (1, 4, 1, 3),
    "demo_many_robots": (25, 0, 1, 25),
    "demo_walls": (1, 0, 6, 3),
    "mvsim_slam": (1, 0, 2, 1),
}


def test_there_are_nineteen(mvsim_worlds: Path) -> None:
    assert len(list((mvsim_worlds / "mvsim_tutorial").glob("*.world.xml"))) == 19


@pytest.mark.parametrize("name", TUTORIAL)
def test_counts_of_tutorial_worlds(mvsim_worlds: Path, name: str) -> None:
    assert counts(mvsim_worlds / "mvsim_tutorial" / f"{name}.world.xml") == TUTORIAL[name]


def test_all_tutorial_worlds_and_their_warnings(mvsim_worlds: Path) -> None:
    """What remains is what the original ignores too, or closes wrongly."""
    expected = {
        "unknown element <drivetrain> is ignored. Only ackermann_drivetrain has it",
        "closed by </model_offset_z>, a different name",
        "unknown element <texture_size_x> is ignored. Only horizontal_plane, vertical_plane have"
        " it",
        "unknown element <texture_size_y> is ignored. Only horizontal_plane, vertical_plane have"
        " it",
    }
    found = set()
    for file in (mvsim_worlds / "mvsim_tutorial").glob("*.world.xml"):
        _, problems = read_world(file)
        found |= {problem.message for problem in problems if problem.severity == "warning"}
    assert found == expected


def test_details_of_a_tutorial_world(mvsim_worlds: Path) -> None:
    file = mvsim_worlds / "mvsim_tutorial" / "demo_road_circuit1.world.xml"
    spec, _ = read_world(file, seed=1)
    first, second = spec.vehicles
    assert (first.name, second.name) == ("r1", "r2")
    assert len(first.visuals) == 2
    lidar, camera = first.sensors
    assert isinstance(lidar, Lidar3dSpec)
    assert (lidar.name, lidar.period, lidar.horz_nrays) == ("lidar1", 0.1, 1808)
    assert (lidar.pose.x, lidar.pose.z) == (-0.08, 0.97)
    assert camera.name == "camera1"
    sky = next(element for element in spec.elements if isinstance(element, SkyboxSpec))
    assert sky.textures.startswith("https://")
    # randomize(2) makes the rocks independent of the seed.
    assert spec.blocks == read_world(file, seed=2)[0].blocks


def test_reference_worlds(reference: Path) -> None:
    files = [*reference.glob("worlds/*.world.xml"), *reference.glob("perf_worlds/*.world.xml")]
    assert len(files) > 60
    for file in files:
        spec, _ = read_world(file)
        assert spec.vehicles
    assert counts(reference / "perf_worlds" / "13_scale_jackal_200.world.xml")[0] == 200


def test_cases(
    cases: Path, mvsim_worlds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in GREENHOUSE.items():
        monkeypatch.setenv(name, value)
    share = tmp_path / "share"
    marker = share / "ament_index" / "resource_index" / "packages"
    marker.mkdir(parents=True)
    (marker / "mvsim").touch()
    (share / "mvsim").symlink_to(mvsim_worlds)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    # The greenhouse's height image is not part of the cases.
    copy = tmp_path / "cases"
    shutil.copytree(cases / "greenhouse_benchmark", copy)
    world = next(copy.rglob("greenhouse_control.world.xml"))
    shutil.copy(mvsim_worlds / "mvsim_tutorial" / "elevation_mesh1.png", world.parent)
    files = [file for file in cases.rglob("*.world.xml") if file.name != world.name]
    assert len(files) > 10
    for file in [*files, world]:
        read_world(file)


def test_a_folder_is_no_world(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.world.xml", Path(os.devnull)):
        with pytest.raises(WorldFileError):
            read_world(path)
