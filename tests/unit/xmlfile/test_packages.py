# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""ROS packages without ROS, and shell commands."""

from pathlib import Path

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.xmlfile import read_world
from tests.unit.xmlfile.reading import ORIGIN, read


@pytest.fixture
def prefix(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An install prefix with the package `robots`."""
    prefix = folder / "install"
    marker = prefix / "share" / "ament_index" / "resource_index" / "packages"
    marker.mkdir(parents=True)
    (marker / "robots").touch()
    (folder / "defs").rename(prefix / "share" / "robots")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{prefix}")
    return prefix


@pytest.mark.parametrize(
    "where",
    [
        "$(ros2 pkg prefix robots)/share/robots",
        "$( ros2 pkg prefix --share robots )",
        "package://robots",
    ],
)
def test_packages_without_ros(folder: Path, prefix: Path, where: str) -> None:
    made = read(
        folder,
        f'<variable name="DEFS" value="{where}"/><include file="${{DEFS}}/rover.vehicle.xml"/>'
        f'<vehicle name="r1" class="rover">{ORIGIN}</vehicle>',
    )
    uri = made.sensors[0].visuals[0].model_uri
    assert uri == str(prefix / "share" / "robots" / "scan.dae")


def test_packages_in_the_source_tree(folder: Path) -> None:
    (folder / "defs" / "package.xml").write_text("<package><name>robots</name></package>")
    worlds = folder / "worlds" / "deep"
    worlds.mkdir(parents=True)
    made = read(
        worlds,
        '<include file="package://robots/rover.vehicle.xml"/>'
        f'<vehicle name="r1" class="rover">{ORIGIN}</vehicle>',
    )
    assert made.sensors[0].name == "r1_scan"


def test_shell_commands_only_on_demand() -> None:
    text = "<mvsim_world><server_address>$(printf 3)</server_address></mvsim_world>"
    with pytest.raises(WorldFileError, match="is not run"):
        read_world(text=text)
    assert read_world(text=text, allow_shell=True)[0].server_address == "3"
    with pytest.raises(WorldFileError, match="failed"):
        read_world(text=text.replace("printf 3", "exit 3"), allow_shell=True)
