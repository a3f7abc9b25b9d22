# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Warnings: what is accepted but probably not meant."""

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.xmlfile import read_world
from tests.unit.xmlfile.reading import (
    DIFFERENTIAL,
    ORIGIN,
    warnings,
    world,
)


def joint(attributes: str) -> str:
    blocks = f'<block name="a">{ORIGIN}</block><block name="b">{ORIGIN}</block>'
    return f'{blocks}<joint body_a="a" body_b="b" {attributes}/>'


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
            " ackermann_drivetrain has it",
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
        (
            '<element class="elevation_map"><elevation_data_matrix>[0 0; 0 0]'
            "</elevation_data_matrix><mesh_color>#ff0000</mesh_color>"
            "<texture_image>a.png</texture_image></element>",
            "line 2: <element>: mesh_color is given besides texture_image; it is used only if"
            " the image cannot be loaded",
        ),
        ("<block/>", "line 2: <block>: <init_pose> is missing; the initial pose is the origin"),
        (
            "<gravity>9</gravity><gravity>8</gravity>",
            "line 2: <mvsim_world>: gravity is given again; gravity in line 2 is used",
        ),
        (
            '<element class="vertical_plane"><window position="1.5"/></element>',
            "line 2: <window>: position must be in [0, 1], a fraction of the wall's length, got"
            " 1.5; 1 is used",
        ),
        (
            '<element class="vertical_plane"><door width="0"/></element>',
            "line 2: <door>: width must be > 0 [m], got 0; there is no door",
        ),
        (
            '<element class="vertical_plane"><init_pose>1 0 0</init_pose></element>',
            "line 2: <element>: init_pose has no effect on a vertical_plane; x0, y0, x1, y1, z"
            " are its position",
        ),
        (
            '<element class="vertical_plane"><animation><time_pose>1 0 0 0</time_pose>'
            "</animation></element>",
            "line 2: <element>: a vertical_plane cannot move: its <animation> has no effect; use"
            " a <block>",
        ),
        (
            '<element class="horizontal_plane"><init_pose3d>0 0 0 0 10 0</init_pose3d></element>',
            "line 2: <element>: a horizontal_plane is level: roll and pitch of its pose have no"
            ' effect; use a <block> with <geometry type="ramp"/> or an elevation_map',
        ),
        (
            f"<block>{ORIGIN}<shape><pt>0 0</pt><pt>1 0</pt><pt>0 1</pt></shape>"
            '<geometry type="sphere" radius="1"/></block>',
            "line 2: <block>: <geometry> has no effect, because <shape> is given",
        ),
        (
            joint('type="rope" lower_angle_deg="-5"'),
            "line 2: <joint>: lower_angle_deg has no effect on a 'distance' joint, only on"
            " 'revolute'",
        ),
        (
            joint('type="pin" max_length="2"'),
            "line 2: <joint>: max_length has no effect on a 'revolute' joint, only on 'distance'"
            " and 'prismatic'",
        ),
        (
            joint('type="pin" lower_angle_deg="-5"'),
            "line 2: <joint>: lower_angle_deg and upper_angle_deg have no effect without"
            ' enable_limit="true"',
        ),
        (
            f'<vehicle>{ORIGIN}<dynamics class="ackermann_drivetrain"><drive>front</drive>'
            '<drivetrain type="open_rear"/></dynamics></vehicle>',
            "line 2: <dynamics>: drive 'front' has no effect on 'ackermann_drivetrain': the type"
            " of its <drivetrain>, 'open_rear', selects the driven wheels",
        ),
        (
            f'<vehicle>{ORIGIN}<dynamics class="differential"><caster_wheel pos="1 0"/>'
            "</dynamics></vehicle>",
            "line 2: <dynamics>: unknown element <caster_wheel> is ignored. Only"
            " differential_3_wheels has it",
        ),
        (
            f'<vehicle>{DIFFERENTIAL}{ORIGIN}<friction class="default"/>\n'
            '<friction class="ellipse"/></vehicle>',
            "line 3: <vehicle>: <friction> is given again; the one in line 2 is used",
        ),
        (
            '<block:class name="c"/>\n<block:class name="c"/>',
            "line 3: <block:class>: 'c' replaces the class defined in line 2 from here on",
        ),
    ],
)
def test_warnings(body: str, message: str) -> None:
    assert warnings(body) == [message]


def test_a_warning_about_a_class_is_reported_once() -> None:
    body = f'<vehicle:class name="c">{DIFFERENTIAL}<x/></vehicle:class>'
    body += f'<vehicle class="c">{ORIGIN}</vehicle>' * 9
    assert len(warnings(body)) == 1


def test_a_version_that_is_no_number() -> None:
    _, found = read_world(text='<mvsim_world version="new"/>')
    (message,) = map(str, found)
    assert message == ("line 1: <mvsim_world>: version must be two numbers such as 1.0, got 'new'")
    assert read_world(text='<mvsim_world version="1.0"/>')[1] == ()


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
