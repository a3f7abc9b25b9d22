# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Broken world files, each with the message that its author would read."""

import re
from pathlib import Path

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.xmlfile import read_world

FILES = Path(__file__).parents[2] / "files"

# The text of the exception; FILES stands for the folder of the files.
EXPECTED = {
    "animation": "bad_animation.world.xml:4: <animation>: the times of an animation must increase",
    "attribute": (
        "bad_attribute.world.xml:2: <block>: expected name=\"value\" or '>', got 'name=b1/>'"
    ),
    "boolean": "bad_boolean.world.xml:4: <block>: static must be true or false, got 'maybe'",
    "color": (
        "bad_color.world.xml:4: <block>: color must be a colour like #RRGGBB or "
        "#RRGGBBAA, got 'red'"
    ),
    "comment": "bad_comment.world.xml:2: '<!--' is not closed by '-->'",
    "controller_without_class": (
        "bad_controller_without_class.world.xml:4: <controller>: the attribute 'class' is"
        " required; known: raw, twist_pid, twist_ideal"
    ),
    "cut_off": "bad_cut_off.world.xml:3: <init_pose> is never closed",
    "definition": (
        "bad_definition.world.xml:1: expected <mvsim_world>, got <vehicle:class>; this file is a"
        " definition, to be included by a world file"
    ),
    "elevation_without_heights": (
        "bad_elevation_without_heights.world.xml:2: <element>: an elevation_map requires"
        " <elevation_image>, <elevation_data_matrix> or <dem_xyzrgb_file>"
    ),
    "empty": "bad_empty.world.xml: the file has no <mvsim_world>",
    "endless_for": (
        "bad_endless_for.world.xml:2: <for>: a loop must have at most 200000 turns, got 2000000000"
    ),
    "environment": (
        "bad_environment.world.xml:2: <mvsim_world>: gravity: environment variable "
        "'MVSIM_TEST_UNSET' is not set"
    ),
    "extra_close": (
        "bad_extra_close.world.xml:2: </block> closes nothing; <mvsim_world> is open here"
    ),
    "for_without_to": "bad_for_without_to.world.xml:2: <for>: the attribute 'to' is required",
    "formula": (
        "bad_formula.world.xml:2: <mvsim_world>: gravity: in formula '9.81*': unexpected end\n"
        "bad_formula.world.xml:3: <mvsim_world>: collision_threshold: in formula "
        "'cosinus(1)': unknown name 'cosinus'\n"
        "bad_formula.world.xml:4: <mvsim_world>: simul_timestep: in formula '1/0': "
        "division by zero"
    ),
    "formula_with_text": (
        "bad_formula_with_text.world.xml:3: <mvsim_world>: gravity: in formula 'SIDE+1': "
        "variable 'SIDE' is 'left', not a number"
    ),
    "geometry": (
        "bad_geometry.world.xml:4: <geometry>: type must be one of cylinder, sphere, box, "
        "ramp, semi_cylinder_bump, got 'cilinder'. Did you mean 'cylinder'?\n"
        "bad_geometry.world.xml:8: <geometry>: lz of a box must be > 0 [m]"
    ),
    "heights": "bad_heights.world.xml:2: <block>: zmin (2 m) must be below zmax (1 m)",
    "in_include": (
        "rover.vehicle.xml:3: <l_wheel>: diameter must be > 0 [m], got '-0.1' (from "
        "'${diameter|0.1}')\n"
        "    included from bad_in_include.world.xml:2\n"
        "rover.vehicle.xml:4: <r_wheel>: diameter must be > 0 [m], got '-0.1' (from "
        "'${diameter|0.1}')\n"
        "    included from bad_in_include.world.xml:2"
    ),
    "include_loop": (
        "loop_b.xml:2: <include>: include loop: bad_include_loop.world.xml:2 -> "
        "loop_a.xml:1 -> loop_b.xml:2 -> loop_a.xml\n"
        "    included from loop_a.xml:1\n"
        "    included from bad_include_loop.world.xml:2"
    ),
    "include_without_file": (
        "bad_include_without_file.world.xml:2: <include>: the attribute 'file' is required"
    ),
    "infinite": (
        "bad_infinite.world.xml:4: <chassis>: mass must be a finite number [kg], got 'inf'"
    ),
    "joint": (
        "bad_joint.world.xml:5: <joint>: type must be one of distance, revolute, weld, "
        "prismatic, rope, pin, got 'glue'\n"
        "bad_joint.world.xml:5: <joint>: body_b: there is no vehicle or tangible block 'trailer'"
    ),
    "kinematics": (
        "bad_kinematics.world.xml:5: <kinematics>: axis must be > 0 [m], got '0'\n"
        "bad_kinematics.world.xml:6: <kinematics>: moi must be > 0, got '-1'\n"
        "bad_kinematics.world.xml:7: <kinematics>: strategy must be one of angular, torques, "
        "intersection, got 'linear'\n"
        "bad_kinematics.world.xml:13: <kinematics>: unknown kinematics class '2WDif'. Did you "
        "mean '2WDiff'? Known: 2WDiff, 2WDiffDyn, Omni\n"
        "bad_kinematics.world.xml:18: <kinematics>: a modulation of class 'MotorController' "
        "requires the class '2WDiffDyn'"
    ),
    "latitude": (
        "bad_latitude.world.xml:2: <georeference>: latitude must be in [-90, 90] [deg], got '95'"
    ),
    "less_than": (
        "bad_less_than.world.xml:2: <gravity>: '<' begins no element here; write &lt; for "
        "the character"
    ),
    "lidar": (
        "bad_lidar.world.xml:6: <sensor>: fov_degrees must be in (0, 360] [deg], got '400'\n"
        "bad_lidar.world.xml:7: <sensor>: nrays must be in [2, 10000000], got '0'\n"
        "bad_lidar.world.xml:8: <sensor>: range_std_noise must be >= 0 [m], got '-0.1'\n"
        "bad_lidar.world.xml:10: <sensor>: min_range (10 m) must be below max_range (5 m)"
    ),
    "many_at_once": (
        "bad_many_at_once.world.xml:2: <mvsim_world>: gravity must be a number [m/s^2], "
        "got 'down'\n"
        "bad_many_at_once.world.xml:3: <vehicle>: unknown vehicle class 'rover'; the file "
        "defines none\n"
        "bad_many_at_once.world.xml:7: <block>: init_pose must be 'x y yaw' or 'x y z yaw "
        "pitch roll', angles in degrees, got '0 0'\n"
        "bad_many_at_once.world.xml:8: <block>: mass must be > 0 [kg], got '0'"
    ),
    "map_without_file": "bad_map_without_file.world.xml:2: <element>: file is required",
    "matrix": (
        "bad_matrix.world.xml:3: <element>: elevation_data_matrix must be a matrix like "
        "[a b; c d] with rows of equal length [m], got '[1 2; 3]'"
    ),
    "missing_include": (
        "bad_missing_include.world.xml:2: <include>: cannot read "
        "'FILES/no_such_file.xml': no such file"
    ),
    "missing_map": (
        "bad_missing_map.world.xml:2: <element>: file is not found at "
        "'FILES/no_such_map.png', got 'no_such_map.png'"
    ),
    "nan": (
        "bad_nan.world.xml:2: <mvsim_world>: gravity must be a finite number [m/s^2], got 'nan'"
    ),
    "negative_mass": "bad_negative_mass.world.xml:4: <l_wheel>: mass must be > 0 [kg], got '-1'",
    "negative_timestep": (
        "bad_negative_timestep.world.xml:2: <mvsim_world>: simul_timestep must be 0 or in"
        " [1e-6, 10] [s], got '-0.01'"
    ),
    "nested": "bad_nested.world.xml:2: <if>: nested deeper than 100 levels",
    "no_element": "bad_no_element.world.xml: the file has no <mvsim_world>",
    "no_dynamics": "bad_no_dynamics.world.xml:2: <vehicle>: <dynamics> is required",
    "not_a_number": (
        "bad_not_a_number.world.xml:2: <mvsim_world>: simul_timestep must be a number "
        "[s], got '5ms'"
    ),
    "package": (
        "bad_package.world.xml:2: <include>: file: ROS package 'no_such_package' is not "
        "found; source its setup file or add its prefix to AMENT_PREFIX_PATH"
    ),
    "point": "bad_point.world.xml:4: <shape>: pt must be 'x y' [m], got '1 a'",
    "polygon_of_two_points": (
        "bad_polygon_of_two_points.world.xml:4: <block>: shape must have 3 to 2000 "
        "different points, got 2"
    ),
    "pose_with_two_numbers": (
        "bad_pose_with_two_numbers.world.xml:3: <block>: init_pose must be 'x y yaw' or "
        "'x y z yaw pitch roll', angles in degrees, got '1 2'"
    ),
    "region": "bad_region.world.xml:2: <element>: friction_mu requires <value_double>",
    "ring_angles": (
        "bad_ring_angles.world.xml:5: <sensor>: vertical_ray_angles must list vert_nrays "
        "= 4 different angles, got 3"
    ),
    "root": "bad_root.world.xml:1: expected <mvsim_world>, got <robot>",
    "same_name_twice": (
        "bad_same_name_twice.world.xml:5: <vehicle>: the name 'r1' is already used in"
        " bad_same_name_twice.world.xml:2"
    ),
    "same_sensor_twice": (
        "bad_same_sensor_twice.world.xml:5: <sensor>: the name 'scan' is already used by the"
        " sensor in bad_same_sensor_twice.world.xml:4"
    ),
    "sensor_period": (
        "bad_sensor_period.world.xml:5: <sensor>: sensor_period must be >= 0 [s], got '-0.1'"
    ),
    "shape_from_nothing": (
        "bad_shape_from_nothing.world.xml:2: <block>: shape_from_visual requires a <visual> "
        "or a <geometry>"
    ),
    "shell": (
        "bad_shell.world.xml:2: <mvsim_world>: server_address: shell command 'cat "
        "/etc/hostname' is not run; only $(ros2 pkg prefix PACKAGE) is supported unless shell"
        " commands are allowed"
    ),
    "split": (
        "bad_split.world.xml:4: <drivetrain>: type must be one of open_front, open_rear, "
        "open_4wd, torsen_front, torsen_rear, torsen_4wd, got 'open_5wd'. Did you mean "
        "'open_4wd'?\n"
        "bad_split.world.xml:4: <drivetrain>: front_rear_split must be in [0, 1], got '1.5'"
    ),
    "steering": (
        "bad_steering.world.xml:4: <dynamics>: max_steer_ang_deg must be in (0, 89] "
        "[deg], got '95'\n"
        "bad_steering.world.xml:5: <dynamics>: drive must be one of rear, front, all, got 'rare'"
    ),
    "unclosed": "bad_unclosed.world.xml:3: <shape>: never closed: </block> in line 5 comes first",
    "unclosed_brace": (
        "bad_unclosed_brace.world.xml:2: <mvsim_world>: gravity: '${' is not closed in '${G'"
    ),
    "undefined_variable": (
        "bad_undefined_variable.world.xml:4: <element>: x1: undefined variable 'WIDHT'. "
        "Did you mean 'WIDTH'?"
    ),
    "unknown_block_class": (
        "bad_unknown_block_class.world.xml:2: <block>: unknown block class 'box'; the "
        "file defines none"
    ),
    "unknown_controller": (
        "bad_unknown_controller.world.xml:4: <controller>: unknown controller class "
        "'twist_pd'. Did you mean 'twist_pid'? Known: raw, twist_ideal, twist_pid"
    ),
    "unknown_dynamics": (
        "bad_unknown_dynamics.world.xml:3: <dynamics>: unknown dynamics class "
        "'diferential'. Did you mean 'differential'? Known: ackermann, "
        "ackermann_drivetrain, differential, differential_3_wheels, differential_4_wheels"
    ),
    "unknown_element": (
        "bad_unknown_element.world.xml:2: <element>: unknown element class "
        "'ocupancy_grid'. Did you mean 'occupancy_grid'? Known: elevation_map, "
        "ground_grid, horizontal_plane, occupancy_grid, pointcloud, property_region, "
        "skybox, vertical_plane"
    ),
    "unknown_friction": (
        "bad_unknown_friction.world.xml:4: <friction>: unknown friction class 'elipse'. "
        "Did you mean 'ellipse'? Known: default, ellipse, wardiagnemma"
    ),
    "unknown_sensor": (
        "bad_unknown_sensor.world.xml:5: <sensor>: unknown sensor class 'lidar'. Did you "
        "mean 'lidar3d'? Known: camera, gnss, imu, laser, lidar3d, rgbd_camera"
    ),
    "unknown_vehicle_class": (
        "bad_unknown_vehicle_class.world.xml:5: <vehicle>: unknown vehicle class 'rovr'. "
        "Did you mean 'rover'? Known: rover"
    ),
    "wall_of_a_point": (
        "bad_wall_of_a_point.world.xml:2: <element>: the two ends of a vertical_plane must "
        "differ, both are at (1, 1) m"
    ),
    "walls_of_odd_points": (
        "bad_walls_of_odd_points.world.xml:2: <walls>: the number of points must be even, two for"
        " each wall, got 3"
    ),
    "wheels_on_a_point": (
        "bad_wheels_on_a_point.world.xml:3: <dynamics>: all wheels are at the same position\n"
        "bad_wheels_on_a_point.world.xml:3: <dynamics>: the left and the right wheel must differ"
        " in y"
    ),
    "zero_diameter": "bad_zero_diameter.world.xml:5: <l_wheel>: diameter must be > 0 [m], got '0'",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_message(name: str) -> None:
    with pytest.raises(WorldFileError) as caught:
        read_world(FILES / f"bad_{name}.world.xml")
    message = str(caught.value).replace(str(FILES), "FILES")
    # Plug-ins and later versions know more words than the texts above.
    assert _without_lists(message) == _without_lists(EXPECTED[name])


def _without_lists(message: str) -> str:
    return re.sub(r"Known: .*|one of .*, got", "...", message)


def test_every_broken_file_is_expected() -> None:
    stems = {file.name for file in FILES.glob("bad_*.world.xml")}
    assert stems == {f"bad_{name}.world.xml" for name in EXPECTED}


def test_no_message_speaks_python() -> None:
    for text in EXPECTED.values():
        assert "Error" not in text
        assert " at 0x" not in text
