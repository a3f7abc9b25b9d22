# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Classes, includes, loops and variables that fail, each with its message."""

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.xmlfile import read_world
from tests.unit.xmlfile.reading import ORIGIN

BAD = [
    (
        "<vehicle:class/>",
        "line 1: <vehicle:class>: the attribute 'name' is required",
    ),
    (
        '<vehicle:class name="${X}"/>',
        "line 1: <vehicle:class>: name: undefined variable 'X'",
    ),
    (
        '<vehicle class="${X}"/>',
        "line 1: <vehicle>: class: undefined variable 'X'",
    ),
    (
        f'<actor class="x">{ORIGIN}</actor>',
        "line 1: <actor>: unknown actor class 'x'; the file defines none",
    ),
    (
        '<include file="http://a.b/c.xml"/>',
        "line 1: <include>: file must be a local file, not a web address, got 'http://a.b/c.xml'",
    ),
    (
        '<include file="package://no_such/c.xml"/>',
        "line 1: <include>: file is in the ROS package 'no_such', which is not found in"
        " AMENT_PREFIX_PATH or near the world file, got"
        " 'package://no_such/c.xml'",
    ),
    (
        '<include file="a\0b.xml"/>',
        "line 1: <include>: file must not contain a zero character, got 'a\\x00b.xml'",
    ),
    (
        '<include file="/"/>',
        "line 1: <include>: cannot read '/': not a file",
    ),
    (
        "<if/>",
        "line 1: <if>: the attribute 'condition' is required",
    ),
    (
        '<variable name="a"/>',
        "line 1: <variable>: the attribute 'value' is required",
    ),
    (
        '<for var="i" from="a" to="3"><gravity>1</gravity></for>',
        "line 1: <for>: from and to must be numbers, got from='a' to='3'",
    ),
    (
        '<for var="i" from="1" to="500"><for var="j" from="1" to="500">'
        '<variable name="a" value="1"/></for></for>',
        "line 1: <for>: all loops together have more than 200000 turns",
    ),
    (
        "<gravity>${a|${b|${c}}}</gravity>",
        "line 1: <mvsim_world>: gravity: undefined variable 'c'",
    ),
    (
        "<gravity>$env{</gravity>",
        "line 1: <mvsim_world>: gravity: '$env{' is not closed in '$env{'",
    ),
]


@pytest.mark.parametrize(("body", "message"), BAD)
def test_message(body: str, message: str) -> None:
    with pytest.raises(WorldFileError) as caught:
        read_world(text=f"<mvsim_world>{body}</mvsim_world>")
    assert str(caught.value) == message


ABSENT = '<variable name="D" value="$(ros2 pkg prefix no_such)"/>'
CAUSE = (
    "line 1: <variable>: value: ROS package 'no_such' is not found; source its setup file or"
    " add its prefix to AMENT_PREFIX_PATH"
)


@pytest.mark.parametrize(
    "follow_up",
    [
        "<gravity>${D}</gravity>",
        "<gravity>$f{2*D}</gravity>",
        '<variable name="E" value="${D}/e"/><include file="${E}"/>',
        '<include file="${D}/rover.xml"/><vehicle class="rover"/>',
        '<include file="${D}/r.xml"/><joint type="pin" body_a="a" body_b="b"/>',
        '<if condition="${D}"><gravity>1</gravity></if>',
        f'<block name="${{D}}">{ORIGIN}</block>',
    ],
)
def test_of_a_variable_without_value_only_the_cause_is_reported(follow_up: str) -> None:
    with pytest.raises(WorldFileError) as caught:
        read_world(text=f"<mvsim_world>{ABSENT}{follow_up}</mvsim_world>")
    assert str(caught.value) == CAUSE


def test_other_errors_are_reported_besides_that_of_a_variable() -> None:
    text = f"<mvsim_world>{ABSENT}<gravity>${{F}}</gravity></mvsim_world>"
    with pytest.raises(WorldFileError) as caught:
        read_world(text=text)
    gravity = "line 1: <mvsim_world>: gravity: undefined variable 'F'"
    assert str(caught.value) == f"{CAUSE}\n{gravity}"


def test_a_variable_of_the_caller_makes_a_failing_value_needless() -> None:
    text = f"<mvsim_world>{ABSENT}<gravity>${{D}}</gravity></mvsim_world>"
    spec, warnings = read_world(text=text, variables={"D": "3"})
    assert (spec.gravity, warnings) == (3.0, ())


def test_a_second_unknown_class_is_reported_besides_the_first() -> None:
    bodies = '<vehicle class="a"/><vehicle class="b" name="q"/>'
    pin = '<joint type="pin" body_a="q" body_b="q2"/>'
    with pytest.raises(WorldFileError) as caught:
        read_world(text=f"<mvsim_world>{bodies}{pin}</mvsim_world>")
    assert [problem.message for problem in caught.value.problems] == [
        "unknown vehicle class 'a'; the file defines none",
        "unknown vehicle class 'b'; the file defines none",
    ]
