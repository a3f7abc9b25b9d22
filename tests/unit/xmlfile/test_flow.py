# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Variables, loops, conditions, includes, and where names are looked up."""

from pathlib import Path

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.specs import LaserSpec
from mvsim_core.xmlfile import read_world
from tests.unit.xmlfile.reading import (
    DIFFERENTIAL,
    ORIGIN,
    block,
    read,
    vehicle,
    warnings,
    world,
)


def errors(body: str) -> str:
    with pytest.raises(WorldFileError) as caught:
        read_world(text=f"<mvsim_world>\n{body}</mvsim_world>")
    return str(caught.value)


def xs(body: str, **options: object) -> list[float]:
    """Return the x of all blocks."""
    return [made.init_pose.x for made in world(body, **options).blocks]


def at(x: str, rest: str = "") -> str:
    return f"<block><init_pose>{x} 0 0</init_pose>{rest}</block>"


# Variables


def test_variables_are_evaluated_where_they_stand() -> None:
    body = '<variable name="A" value="2"/><variable name="B" value="$f{A*3}"/>'
    body += at("${B}") + '<variable name="A" value="5"/>' + at("${A}") + at("$f{B+A}")
    assert xs(body) == [6, 5, 11]


def test_variables_of_the_caller() -> None:
    assert xs(at("${N}") + at("$f{N/2}"), variables={"N": 25}) == [25, 12.5]


def test_variables_of_the_caller_win_over_those_of_the_file() -> None:
    body = '<variable name="N" value="1"/><variable name="M" value="$f{N+1}"/>' + at("${M}")
    assert xs(body) == [2]
    assert xs(body, variables={"N": "7"}) == [8]


def test_defaults_work_everywhere() -> None:
    assert xs(at("${N|3}") + at("${N|${M|4}}") + at("$f{1/${N|8}}")) == [3, 4, 0.125]


def test_variables_and_defaults_in_names_and_plain_attributes() -> None:
    """The original leaves `name="box_${i}"` as it is and throws for vehicles."""
    body = (
        f'<for var="i" from="1" to="2"><block name="box_${{i}}">{ORIGIN}</block>'
        f'<vehicle name="r${{i}}">{DIFFERENTIAL}{ORIGIN}</vehicle></for>'
    )
    spec = world(body)
    assert [made.name for made in spec.blocks] == ["box_1", "box_2"]
    assert [made.name for made in spec.vehicles] == ["r1", "r2"]


def test_variables_in_world_scalars_shapes_and_chassis() -> None:
    body = '<variable name="G" value="1.62"/><gravity>${G}</gravity>'
    assert world(body).gravity == 1.62
    shape = "<shape><pt>0 0</pt><pt>$f{2*2} 0</pt><pt>0 ${W|3}</pt></shape>"
    assert block(shape).shape == ((0, 0), (4, 0), (0, 3))


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MVSIM_TEST_X", "7")
    assert xs(
        at("$env{MVSIM_TEST_X}") + at("${MVSIM_TEST_X}") + at("$f{$env{MVSIM_TEST_X}+1}")
    ) == [
        7,
        7,
        8,
    ]


def test_the_environment_is_no_variable_of_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI", "3")
    monkeypatch.setenv("MVSIM_TEST_X", "7")
    assert xs(at("$f{round(PI*100)}")) == [314]
    assert "unknown name 'MVSIM_TEST_X'" in errors(at("$f{MVSIM_TEST_X}"))


def test_names_in_formulas_ignore_case() -> None:
    assert xs('<variable name="iX" value="2"/>' + at("$f{ix + IX}")) == [4]


def test_minus_before_a_negative_formula() -> None:
    assert xs(at("-$f{1-3}")) == [2]


def test_full_precision() -> None:
    """The original prints formulas with six digits."""
    assert xs(at("$f{300000 + 0.125}")) == [300000.125]
    scan = vehicle('<sensor class="laser"><nrays>$f{1e6+1}</nrays></sensor>').sensors[0]
    assert isinstance(scan, LaserSpec)
    assert scan.nrays == 1_000_001


def test_a_variable_that_means_itself() -> None:
    text = "<mvsim_world>" + at("${A}") + "</mvsim_world>"
    with pytest.raises(WorldFileError, match="nested deeper than 25 levels"):
        read_world(text=text, variables={"A": "${A}"})


def test_doubling_variables_end_in_an_error() -> None:
    body = '<variable name="V0" value="0123456789"/>'
    for i in range(1, 40):
        body += f'<variable name="V{i}" value="${{V{i - 1}}}${{V{i - 1}}}"/>'
    assert "the value is longer than 1000000 characters" in errors(body)


# Random numbers


def test_same_seed_same_world() -> None:
    body = '<for var="i" from="1" to="20">' + at("$f{rand()+randn()}") + "</for>"
    assert xs(body, seed=3) == xs(body, seed=3)
    assert xs(body, seed=3) != xs(body, seed=4)
    assert len(set(xs(body))) == 20


def test_randomize_holds_between_elements() -> None:
    again = '<variable name="dummy" value="$f{randomize(2)}"/>' + at("$f{rand()}") * 3
    values = xs(again + again)
    assert values[:3] == values[3:]


def test_noise_in_a_class_differs_from_robot_to_robot() -> None:
    body = f"""<vehicle:class name="c">{DIFFERENTIAL}
      <odometry x_multiplier="$f{{1+0.1*randn()}}"/></vehicle:class>"""
    body += f'<vehicle class="c">{ORIGIN}</vehicle>' * 5
    made = world(body).vehicles
    assert len({own.odometry.x_multiplier for own in made}) == 5
    assert len({id(own.dynamics) for own in made}) == 1, "what is the same is made once"


# for and if


def test_loops_go_through_their_body_once_a_pass() -> None:
    body = '<for var="i" from="1" to="3"><variable name="X" value="$f{10*i}"/>'
    body += at("${X}") + at("${i}") + "</for>"
    assert xs(body) == [10, 1, 20, 2, 30, 3]


def test_nested_loops_with_limits_from_formulas() -> None:
    body = '<for var="i" from="0" to="1"><for var="k" from="$f{i}" to="$f{i+1.9}">'
    assert xs(body + at("$f{10*i+k}") + "</for></for>") == [0, 1, 11, 12]


def test_a_loop_may_run_not_at_all() -> None:
    assert xs('<for var="i" from="1" to="0">' + at("1") + "</for>") == []


def test_flow_control_inside_things() -> None:
    body = """<shape><for var="i" from="0" to="3"><pt>$f{cos(i*pi/2)} $f{sin(i*pi/2)}</pt></for>
      </shape><if condition="$f{2>1}"><mass>5</mass></if><if condition="no"><mass>6</mass></if>"""
    made = block(body)
    assert made.mass == 5
    assert made.shape is not None
    assert len(made.shape) == 4


@pytest.mark.parametrize("word", ["y", "YES", "true", "On", "1", "2.0", "-1", "0.5"])
def test_true(word: str) -> None:
    assert xs(f'<if condition="{word}">{at("1")}</if>') == [1]


@pytest.mark.parametrize("word", ["n", "No", "false", "off", "0", "0.0", ""])
def test_false(word: str) -> None:
    assert xs(f'<if condition="{word}">{at("1")}</if>') == []


def test_neither() -> None:
    assert warnings('<if condition="gazebo"></if>') == [
        "line 2: <if>: condition must be true, false or a number, got 'gazebo'; false is assumed"
    ]


def test_all_loops_together_are_limited() -> None:
    body = '<for var="i" from="1" to="1000"><for var="k" from="1" to="1000"><x/></for></for>'
    assert "all loops together have more than 200000 turns" in errors(body)


# Classes


def test_a_class_sees_the_loop_variable_of_its_user() -> None:
    body = '<block:class name="c"><mass>${i}</mass></block:class>'
    body += f'<for var="i" from="1" to="3"><block class="c">{ORIGIN}</block></for>'
    assert [made.mass for made in world(body).blocks] == [1, 2, 3]


def test_an_included_class_sees_the_variables_of_its_place(tmp_path: Path) -> None:
    (tmp_path / "c.xml").write_text(
        '<block:class name="c"><mass>${M|2}</mass><zmax>${Z}</zmax><zmin>$f{LATE}</zmin>'
        "</block:class>"
    )
    file = tmp_path / "w.world.xml"
    file.write_text(
        '<mvsim_world><variable name="Z" value="5"/><include file="c.xml"/>'
        '<variable name="M" value="9"/><variable name="Z" value="9"/>'
        f'<for var="LATE" from="1" to="2"><block class="c">{ORIGIN}</block></for></mvsim_world>'
    )
    made = read_world(file)[0].blocks
    assert [(own.mass, own.zmax, own.zmin) for own in made] == [(2, 5, 1), (2, 5, 2)]


def test_names_of_owner_and_part() -> None:
    body = f"""<vehicle:class name="c">{DIFFERENTIAL}
      <publish><publish_pose_topic>/${{NAME}}/pose</publish_pose_topic></publish>
      <sensor class="laser" name="${{PARENT_NAME}}_scan">
        <publish><publish_topic>/${{PARENT_NAME}}/${{NAME}}</publish_topic></publish></sensor>
      </vehicle:class>"""
    body += f'<vehicle name="a" class="c">{ORIGIN}</vehicle><vehicle class="c">{ORIGIN}</vehicle>'
    first, second = world(body).vehicles
    assert first.publish.publish_pose_topic == "/a/pose"
    assert first.sensors[0].publish.publish_topic == "/a/a_scan"
    assert second.sensors[0].publish.publish_topic == "/veh1/veh1_scan"


# Includes


def test_arguments_defaults_and_nested_includes(folder: Path) -> None:
    made = read(
        folder,
        '<include file="defs/rover.vehicle.xml" controller="twist_ideal" rate="4"/>'
        f'<vehicle name="r1" class="rover">{ORIGIN}</vehicle>',
    )
    assert made.dynamics.controller.kind == "twist_ideal"
    scan = made.sensors[0]
    assert isinstance(scan, LaserSpec)
    assert (scan.name, scan.period) == ("r1_scan", 0.25)
    assert (scan.pose.x, scan.pose.z) == (-0.1, 0.1)
    assert scan.visuals[0].model_uri == str(folder / "defs" / "scan.dae")


def test_arguments_that_switch_parts_off(folder: Path) -> None:
    made = read(
        folder,
        '<include file="defs/rover.vehicle.xml" with_scan="false"/>'
        f'<vehicle name="r1" class="rover">{ORIGIN}</vehicle>',
    )
    assert made.sensors == ()


def test_arguments_do_not_leak(folder: Path) -> None:
    made = read(
        folder,
        f'<vehicle name="r1">{DIFFERENTIAL}{ORIGIN}'
        '<include file="defs/scan.sensor.xml" sensor_name="a" sensor_x="1"/>'
        '<include file="defs/scan.sensor.xml"/></vehicle>',
    )
    assert [(scan.name, scan.pose.x) for scan in made.sensors] == [("a", 1), ("scan", 0)]


def test_an_argument_may_bear_the_name_of_what_it_passes_on(folder: Path) -> None:
    (folder / "outer.xml").write_text(
        '<include file="defs/scan.sensor.xml" sensor_x="${sensor_x|7}"/>'
    )
    made = read(
        folder,
        f'<vehicle name="r1">{DIFFERENTIAL}{ORIGIN}<include file="outer.xml" sensor_x="2"/>'
        "</vehicle>",
    )
    assert made.sensors[0].pose.x == 2


def test_loops_around_includes(folder: Path) -> None:
    made = read(
        folder,
        f'<vehicle name="r1">{DIFFERENTIAL}{ORIGIN}<for var="i" from="1" to="3">'
        '<include file="defs/scan.sensor.xml" sensor_name="s${i}" sensor_x="${i}"/></for>'
        "</vehicle>",
    )
    assert [(scan.name, scan.pose.x) for scan in made.sensors] == [("s1", 1), ("s2", 2), ("s3", 3)]


def test_included_files_go_before_the_instance_and_its_class(folder: Path) -> None:
    (folder / "extra.xml").write_text('<odometry x_multiplier="3"/><sensor class="imu"/>')
    file = folder / "w.world.xml"
    file.write_text(
        f'<mvsim_world><vehicle:class name="c">{DIFFERENTIAL}<odometry x_multiplier="1"/>'
        '<sensor class="gnss"/></vehicle:class>'
        f'<vehicle class="c">{ORIGIN}<sensor class="laser"/><odometry x_multiplier="2"/>'
        '<include file="extra.xml"/></vehicle></mvsim_world>'
    )
    made = read_world(file)[0].vehicles[0]
    assert made.odometry.x_multiplier == 3
    assert [sensor.name for sensor in made.sensors] == ["imu1", "laser2", "imu3"]


def test_a_world_in_a_world_is_its_content(folder: Path) -> None:
    (folder / "part.world.xml").write_text(f"<mvsim_world>{at('4')}</mvsim_world>")
    file = folder / "w.world.xml"
    file.write_text('<mvsim_world><include file="part.world.xml"/></mvsim_world>')
    assert read_world(file)[0].blocks[0].init_pose.x == 4


def test_files_beside_other_includes_are_found_with_a_warning(folder: Path) -> None:
    file = folder / "w.world.xml"
    file.write_text(
        '<mvsim_world><include file="defs/rover.vehicle.xml"/>\n'
        f'<vehicle name="r1" class="rover">{ORIGIN}<include file="scan.sensor.xml"/></vehicle>'
        "</mvsim_world>"
    )
    spec, found = read_world(file)
    assert [scan.name for scan in spec.vehicles[0].sensors] == ["scan", "r1_scan"]
    assert "'scan.sensor.xml' is not found from the folder of this file" in str(found[0])


@pytest.mark.parametrize(
    ("written", "text"),
    [("a${X|}b", "ab"), ("${X|}", ""), ("$env{MVSIM_TEST_UNSET|}c", "c"), ("${X|${Y|}}d", "d")],
)
def test_a_default_may_be_empty(written: str, text: str) -> None:
    assert world(f"<server_address>{written}</server_address>").server_address == text


def test_an_empty_value_precedes_the_default() -> None:
    assert world("<version>${V|1.0}</version>", variables={"V": ""}).version == ""
