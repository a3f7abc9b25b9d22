# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is remarked on but read, and vehicles that are read on their own."""

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.geometry import Pose
from mvsim_core.xmlfile import read_vehicle, read_world
from tests.unit.xmlfile.reading import (
    DIFFERENTIAL,
    ORIGIN,
    warnings,
    world,
)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f"<block>{ORIGIN}<masss>1</masss></block>",
            "line 2: <block>: unknown element <masss> is ignored. Did you mean 'mass'?",
        ),
        (
            f'<block clas="x">{ORIGIN}</block>',
            "line 2: <block>: unknown attribute 'clas' is ignored. Did you mean 'class'?",
        ),
        (
            f'<vehicle>{DIFFERENTIAL}{ORIGIN}\n<chassis mass="3"/></vehicle>',
            "line 3: <vehicle>: unknown element <chassis> is ignored. It belongs inside"
            " <dynamics>",
        ),
        (
            f'<vehicle>{ORIGIN}<dynamics class="ackermann">\n<drivetrain/></dynamics></vehicle>',
            "line 3: <dynamics>: unknown element <drivetrain> is ignored. Only"
            " ackermann_drivetrain reads it",
        ),
        (
            f'<vehicle>{DIFFERENTIAL}{ORIGIN}<sensor class="laser"><fov>9</fov></sensor>'
            "</vehicle>",
            "line 2: <sensor>: unknown element <fov> is ignored. Did you mean 'fov_degrees'?",
        ),
        (
            "<light/>",
            "line 2: <mvsim_world>: unknown element <light> is ignored. Did you mean 'lights'?",
        ),
        (
            "<walls><shape><pt>0 0</pt><pt>1 0</pt><point/></shape></walls>",
            "line 2: <shape>: unknown element <point> is ignored; expected <pt>",
        ),
        (
            f"<block>{ORIGIN} stray</block>",
            "line 2: <block>: text 'stray' has no meaning here and is ignored",
        ),
        ("<block/>", "line 2: <block>: has no <init_pose>; it starts at the origin"),
        (
            "<gravity>9</gravity><gravity>8</gravity>",
            "line 2: <mvsim_world>: gravity again; gravity in line 2 counts",
        ),
        (
            f'<vehicle>{DIFFERENTIAL}{ORIGIN}<friction class="default"/>\n'
            '<friction class="ellipse"/></vehicle>',
            "line 3: <vehicle>: <friction> again; the one in line 2 counts",
        ),
        (
            '<block:class name="c"/>\n<block:class name="c"/>',
            "line 3: <block:class>: 'c' replaces the class of line 2 from here on",
        ),
    ],
)
def test_warnings(body: str, message: str) -> None:
    assert warnings(body) == [message]


def test_a_fault_in_a_class_is_reported_once() -> None:
    body = f'<vehicle:class name="c">{DIFFERENTIAL}<x/></vehicle:class>'
    body += f'<vehicle class="c">{ORIGIN}</vehicle>' * 9
    assert len(warnings(body)) == 1


def test_the_root_may_be_called_world() -> None:
    spec, found = read_world(text="<world><gravity>1</gravity></world>")
    assert spec.gravity == 1
    assert [problem.severity for problem in found] == ["warning"]


def test_errors_come_with_the_warnings() -> None:
    with pytest.raises(WorldFileError) as caught:
        read_world(text="<mvsim_world><gravty>1</gravty><gravity>x</gravity></mvsim_world>")
    assert {problem.severity for problem in caught.value.problems} == {"warning", "error"}
    assert len(caught.value.errors) == 1


def test_where_specs_come_from() -> None:
    spec = world(f"\n\n<block>{ORIGIN}</block>")
    assert spec.blocks[0].where.line == 3


# Vehicles added later


def test_a_vehicle_for_a_world() -> None:
    spec = world(f'<variable name="X" value="3"/><vehicle:class name="c">{DIFFERENTIAL}'
                 '<log_path>${NAME}</log_path></vehicle:class>')  # fmt: skip
    text = '<vehicle class="c"><init_pose>${X} 0 0</init_pose></vehicle>'
    made, found = read_vehicle(text, world=spec, name="late", pose=Pose(y=1.0))
    assert found == ()
    assert (made.name, made.log_path, made.init_pose) == ("late", "late", Pose(y=1.0))
    made, _ = read_vehicle(text, world=spec)
    assert (made.name, made.init_pose.x) == ("veh1", 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "<vehicle class='d'/>",
            "line 1: <vehicle>: unknown vehicle class 'd'; the file defines none",
        ),
        ("<block/>", "line 1: <block>: expected <vehicle>, got <block>"),
        ("", "expected one <vehicle>, got 0"),
        ("<vehicle", "line 1: <vehicle>: the file ends inside this tag"),
    ],
)
def test_not_a_vehicle(text: str, message: str) -> None:
    with pytest.raises(WorldFileError) as caught:
        read_vehicle(text)
    assert str(caught.value) == message
