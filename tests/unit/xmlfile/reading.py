# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the reader share."""

from pathlib import Path

from mvsim_core.errors import Problem, Severity
from mvsim_core.specs import BlockSpec, VehicleSpec, WorldSpec
from mvsim_core.xmlfile import read_world

DIFFERENTIAL = '<dynamics class="differential"/>'
ORIGIN = "<init_pose>0 0 0</init_pose>"


def world(body: str, **options: object) -> WorldSpec:
    """Read `<mvsim_world>body</mvsim_world>`, which must give no warnings."""
    spec, warnings = read_world(text=f"<mvsim_world>{body}</mvsim_world>", **options)  # type: ignore[arg-type]
    assert texts(warnings, "warning") == []
    return spec


def texts(problems: tuple[Problem, ...], severity: Severity) -> list[str]:
    """Return the texts of one severity."""
    return [str(problem) for problem in problems if problem.severity == severity]


def warnings(body: str) -> list[str]:
    """Return the warnings of a world without errors."""
    return texts(read_world(text=f"<mvsim_world>\n{body}</mvsim_world>")[1], "warning")


def hints(body: str) -> list[str]:
    """Return the hints of a world without errors."""
    return texts(read_world(text=f"<mvsim_world>\n{body}</mvsim_world>")[1], "hint")


def vehicle(content: str, **options: object) -> VehicleSpec:
    """Read the one vehicle of a world; dynamics and pose are given."""
    body = f'<vehicle name="r1">{DIFFERENTIAL}{ORIGIN}{content}</vehicle>'
    return world(body, **options).vehicles[0]


def dynamics(kind: str, content: str) -> VehicleSpec:
    """Read a vehicle with the given content of its dynamics."""
    inner = f'<dynamics class="{kind}">{content}</dynamics>'
    return world(f'<vehicle name="r1">{inner}{ORIGIN}</vehicle>').vehicles[0]


def block(content: str, **options: object) -> BlockSpec:
    """Read the one block of a world; its pose is given."""
    return world(f'<block name="b1">{ORIGIN}{content}</block>', **options).blocks[0]


def read(folder: Path, body: str) -> VehicleSpec:
    """Read the first vehicle of a world file in a folder; it must give no warnings."""
    file = folder / "w.world.xml"
    file.write_text(f"<mvsim_world>{body}</mvsim_world>")
    spec, found = read_world(file)
    assert texts(found, "warning") == []
    return spec.vehicles[0]
