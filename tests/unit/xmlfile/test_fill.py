# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Elements to specs: forms, precedence, defaults, units, aliases, warnings."""

import math

import pytest

from mvsim_core.geometry.poses import Pose, Twist
from mvsim_core.specs import (
    AckermannRawSpec,
    AckermannSpec,
    Color,
    DefaultFrictionSpec,
    DifferentialSpec,
    DrivetrainRawSpec,
    DrivetrainSpec,
    ElevationMapSpec,
    EllipseSpec,
    HorizontalPlaneSpec,
    LaserSpec,
    PropertyRegionSpec,
    SensorSpec,
    TwistFrontSteerPidSpec,
    TwistPidSpec,
    VerticalPlaneSpec,
    WardIagnemmaSpec,
)
from mvsim_core.xmlfile import read_world
from tests.unit.xmlfile.reading import (
    ORIGIN,
    block,
    dynamics,
    vehicle,
    warnings,
    world,
)


def sensor(kind: str, content: str) -> SensorSpec:
    return vehicle(f'<sensor class="{kind}">{content}</sensor>').sensors[0]


# Forms


@pytest.mark.parametrize(
    "content",
    [
        '<chassis linear_damping="0.5"/>',
        "<chassis><linear_damping>0.5</linear_damping></chassis>",
    ],
)
def test_attributes_and_children_are_equal(content: str) -> None:
    assert dynamics("differential", content).dynamics.chassis.linear_damping == 0.5


def test_blocks_accept_attributes_as_documented() -> None:
    made = world(f'<block name="b" static="true" mass="7">{ORIGIN}</block>').blocks[0]
    assert (made.static, made.mass) == (True, 7)


def test_flags() -> None:
    assert not block("").skip_elevation_adjust
    assert block("<skip_elevation_adjust/>").skip_elevation_adjust
    assert block("<skip_elevation_adjust>true</skip_elevation_adjust>").skip_elevation_adjust


def test_a_flag_with_the_text_false_is_false_with_a_warning() -> None:
    body = f"<block>{ORIGIN}<skip_elevation_adjust>false</skip_elevation_adjust></block>"
    assert warnings(body) == [
        "line 2: <block>: skip_elevation_adjust: false has its meaning here; the original reads"
        " any content as true"
    ]


def test_a_value_given_twice() -> None:
    body = f'<block mass="2">{ORIGIN}<mass>1</mass></block>'
    assert warnings(body) == ["line 2: <block>: mass is given again; mass in line 2 is used"]


def test_numbers_as_people_write_them() -> None:
    made = block("<mass> +1e1 </mass><restitution>.5</restitution>")
    assert (made.mass, made.restitution) == (10, 0.5)
    scan = sensor("laser", "<nrays>181.9</nrays>")
    assert isinstance(scan, LaserSpec)
    assert scan.nrays == 181


@pytest.mark.parametrize("word", ["true", "TRUE", " 1 ", "yes", "On"])
def test_booleans(word: str) -> None:
    assert block(f"<static>{word}</static>").static


def test_colors() -> None:
    assert block("<color>#ff0080</color>").color == Color(1, 0, 128 / 255, 1)
    assert block("<color> #FF008040 </color>").color == Color(1, 0, 128 / 255, 64 / 255)


# Poses and units


def test_poses_become_radians() -> None:
    made = world('<block name="b"><init_pose>1, 2, 90</init_pose></block>').blocks[0]
    assert made.init_pose == Pose(1, 2, yaw=math.pi / 2)
    body = '<block name="b"><init_pose3d>1 2 3 90 -30 10</init_pose3d></block>'
    assert world(body).blocks[0].init_pose == pytest.approx(
        Pose(1, 2, 3, roll=math.radians(10), pitch=math.radians(-30), yaw=math.pi / 2)
    )


def test_initial_velocity() -> None:
    assert vehicle("<init_vel>1 2 180</init_vel>").init_vel == Twist(1, 2, math.pi)


def test_init_pose_goes_before_init_pose3d_with_a_warning() -> None:
    body = "<block><init_pose3d>1 2 3 0 0 0</init_pose3d>\n<init_pose>4 5 0</init_pose></block>"
    assert warnings(body) == [
        "line 2: <block>: init_pose3d is given besides init_pose; init_pose in line 3 is used"
    ]


def test_animation() -> None:
    made = block(
        '<animation type="keyframes"><time_pose>0 0 0 0</time_pose>'
        "<time_pose3d>2 1 2 3 180 0 0</time_pose3d><time_pose>4 0 0 90</time_pose></animation>"
    )
    assert made.animation is not None
    assert [frame.time for frame in made.animation.frames] == [0, 2, 4]
    assert made.animation.frames[1].pose == Pose(1, 2, 3, yaw=math.pi)


def test_raw_torques_are_positive_forward() -> None:
    raw = '<controller class="raw"><fl_torque>-5</fl_torque><steer_ang_deg>90</steer_ang_deg>'
    controller = dynamics("ackermann", raw + "</controller>").dynamics.controller
    assert isinstance(controller, AckermannRawSpec)
    assert (controller.fl_torque, controller.fr_torque) == (5, 0)
    assert controller.steer_ang == math.pi / 2
    raw = '<controller class="raw"><torque>-7</torque></controller>'
    engine = dynamics("ackermann_drivetrain", raw).dynamics.controller
    assert isinstance(engine, DrivetrainRawSpec)
    assert engine.torque == 7


# Dynamics


def test_wheel_order_and_places() -> None:
    made = dynamics(
        "differential_4_wheels",
        '<rf_wheel pos="1 -2 90" mass="3"/><lr_wheel pos="-1 2"/><rr_wheel mass="5"/>',
    ).dynamics
    assert isinstance(made, DifferentialSpec)
    assert made.variant == 4
    assert [wheel.name for wheel in made.wheels] == [
        "lr_wheel",
        "rr_wheel",
        "lf_wheel",
        "rf_wheel",
    ]
    assert [(wheel.x, wheel.y) for wheel in made.wheels] == [
        (-1, 2),
        (0, -0.5),
        (0.5, 0.5),
        (1, -2),
    ]
    assert made.wheels[3].yaw == math.pi / 2
    assert [wheel.mass for wheel in made.wheels] == [2, 5, 2, 3]


def test_caster() -> None:
    made = dynamics("differential_3_wheels", '<caster_wheel diameter="0.1"/>').dynamics
    assert [(wheel.x, wheel.y) for wheel in made.wheels] == [(0, 0.5), (0, -0.5), (0.5, 0)]
    assert made.wheels[2].diameter == 0.1


def test_wheel_inertia() -> None:
    made = dynamics("differential", '<l_wheel inertia="-1"/><r_wheel inertia="0.3"/>').dynamics
    left, right = made.wheels
    assert left.inertia is None
    assert left.spin_inertia == pytest.approx(0.5 * 2.0 * 0.2**2)
    assert right.spin_inertia == 0.3


def test_front_wheels_are_placed_by_axle_and_track() -> None:
    made = dynamics(
        "ackermann",
        '<f_wheels_x>2</f_wheels_x><f_wheels_d>1.5</f_wheels_d><fl_wheel pos="9 9" mass="4"/>'
        "<max_steer_ang_deg>45</max_steer_ang_deg><drive>all</drive>",
    ).dynamics
    assert isinstance(made, AckermannSpec)
    assert [(wheel.x, wheel.y) for wheel in made.wheels] == [
        (0, 0.9),
        (0, -0.9),
        (2, 0.75),
        (2, -0.75),
    ]
    assert made.wheels[2].mass == 4
    assert (made.max_steer, made.drive) == (math.pi / 4, "all")


def test_default_chassis_depends_on_the_dynamics() -> None:
    robot = dynamics("differential", '<chassis mass="20"/>').dynamics.chassis
    car = dynamics("ackermann", '<chassis zmax="2"/>').dynamics.chassis
    assert (robot.mass, robot.zmin, robot.zmax) == (20, 0.05, 0.6)
    assert (car.mass, car.zmin, car.zmax) == (500, 0.2, 2)
    assert robot.shape is not None
    assert car.shape is not None
    assert max(x for x, _ in robot.shape) == 0.6
    assert max(x for x, _ in car.shape) == 1.8


def test_shape_from_visual_leaves_the_shape_open() -> None:
    made = dynamics("differential", "<chassis><shape_from_visual/></chassis>").dynamics.chassis
    assert made.shape_from_visual
    assert made.shape is None


def test_controllers_and_their_defaults() -> None:
    made = dynamics(
        "differential",
        '<controller class="twist_pid"><KP>1</KP><I_MAX>3</I_MAX><W>180</W></controller>',
    ).dynamics.controller
    assert isinstance(made, TwistPidSpec)
    assert (made.kp, made.ki, made.i_max, made.max_torque, made.w) == (1, 0, 3, 100, math.pi)
    steer = '<controller class="twist_front_steer_pid"><KP>70</KP></controller>'
    car = dynamics("ackermann", steer).dynamics.controller
    truck = dynamics("ackermann_drivetrain", steer).dynamics.controller
    assert isinstance(car, TwistFrontSteerPidSpec)
    assert isinstance(truck, TwistFrontSteerPidSpec)
    assert (car.kp, car.max_torque, truck.max_torque) == (70, 100, 400)


def test_a_controller_may_keep_the_numbers_of_another() -> None:
    made = dynamics("differential", '<controller class="twist_ideal"><KP>5</KP></controller>')
    assert made.dynamics.controller.kind == "twist_ideal"


def test_drivetrain() -> None:
    made = dynamics(
        "ackermann_drivetrain",
        '<drivetrain type="open_rear"><front_rear_split>0.3</front_rear_split></drivetrain>',
    ).dynamics
    assert isinstance(made, DrivetrainSpec)
    assert (made.gears.type, made.gears.front_rear_split) == ("open_rear", 0.3)


def test_frictions() -> None:
    made = vehicle('<friction class="wardiagnemma"><R1>0.1</R1><C_rr>0.2</C_rr></friction>')
    assert isinstance(made.friction, WardIagnemmaSpec)
    assert (made.friction.r1, made.friction.r2, made.friction.c_rr) == (0.1, 0.02, 0.2)
    made = vehicle('<friction class="ellipse"><C_s>9</C_s></friction>')
    assert isinstance(made.friction, EllipseSpec)
    assert made.friction.c_s == 9
    assert vehicle("").friction == DefaultFrictionSpec()


# Blocks, walls, joints, elements


def test_block_heights() -> None:
    assert (block("").zmin, block("").zmax) == (0, 1)
    for content, heights in (
        ("<zmin>0.5</zmin>", (0.5, 1)),
        ("<zmax>3</zmax>", (0, 3)),
        ("<zmin>0.5</zmin><zmax>3</zmax>", (0.5, 3)),
        ('<geometry type="sphere" radius="1"/>', (None, None)),
    ):
        made = block(content)
        assert (made.zmin, made.zmax) == heights
    made = block('<shape_from_visual/><geometry type="sphere" radius="1"/><zmax>3</zmax>')
    assert (made.zmin, made.zmax, made.shape) == (None, 3, None)


def test_visual_scale_replaces_that_of_the_visuals() -> None:
    made = block("<visual><model_uri>/a.dae</model_uri></visual><visual_scale>3</visual_scale>")
    assert made.visuals[0].model_scale == 3


def test_instance_goes_before_class() -> None:
    body = f"""<block:class name="c"><mass>1</mass><static>true</static>
      <visual><model_uri>/class.dae</model_uri></visual></block:class>
      <block class="c">{ORIGIN}<mass>2</mass>
      <visual><model_uri>/instance.dae</model_uri></visual></block>"""
    made = world(body).blocks[0]
    assert (made.mass, made.static, made.class_name) == (2, True, "c")
    assert [visual.model_uri for visual in made.visuals] == ["/instance.dae", "/class.dae"]


def test_walls() -> None:
    made = world(
        "<walls><shape><pt>0 0</pt><pt>1 0</pt><pt>1 0</pt><pt>1 2</pt></shape>"
        "<wallThickness>0.2</wallThickness></walls>"
    ).walls[0]
    assert made.segments == (((0, 0), (1, 0)), ((1, 0), (1, 2)))
    assert (made.thickness, made.height) == (0.2, 2)


def test_joints_have_synonyms() -> None:
    body = f'<block name="a">{ORIGIN}</block><block name="b">{ORIGIN}</block>'
    body += '<joint type="pin" body_a="a" body_b="b" anchor_a="1 2"'
    body += ' lower_angle_deg="-90" enable_limit="true"/>'
    joint = world(body).joints[0]
    assert (joint.type, joint.anchor_a, joint.lower_angle) == ("revolute", (1, 2), -math.pi / 2)


def test_elements() -> None:
    spec = world(
        '<element class="horizontal_plane"><z>2</z><cull_face>BACK</cull_face></element>'
        '<element class="vertical_plane"><door position="0.2" z_start="0.1"/>'
        "<window><width>2</width></window></element>"
        '<element class="elevation_map"><elevation_data_matrix>[1 2;\n 3 4;]'
        "</elevation_data_matrix></element>"
        '<element class="property_region"><property_name>friction_mu</property_name>'
        "<value_double>0.1</value_double></element>"
    )
    plane, wall, terrain, region = spec.elements
    assert isinstance(plane, HorizontalPlaneSpec)
    assert (plane.z, plane.cull_face) == (2, "BACK")
    assert isinstance(wall, VerticalPlaneSpec)
    door, window = wall.openings
    assert (door.kind, door.position, door.z_min) == ("door", 0.2, 0.1)
    assert (window.kind, window.width) == ("window", 2)
    assert isinstance(terrain, ElevationMapSpec)
    assert terrain.elevation_data_matrix == ((1, 2), (3, 4))
    assert isinstance(region, PropertyRegionSpec)
    assert region.value == 0.1


def test_a_property_that_nothing_reads_is_named() -> None:
    region = (
        '<element class="property_region"><property_name>friction_mou</property_name>'
        "<value_double>0.2</value_double></element>"
    )
    _, found = read_world(text=f"<mvsim_world>{region}</mvsim_world>")
    assert [problem.message for problem in found] == [
        "unknown property 'friction_mou' has no effect. Did you mean 'friction_mu'?"
        " Known: friction_C_rr, friction_mu, gps_no_coverage"
    ]


def test_exchanged_limits_are_put_in_order_with_a_warning() -> None:
    body = '<element class="horizontal_plane"><x_min>3</x_min><x_max>-1</x_max></element>'
    spec, found = read_world(text=f"<mvsim_world>{body}</mvsim_world>")
    plane = spec.elements[0]
    assert isinstance(plane, HorizontalPlaneSpec)
    assert (plane.x_min, plane.x_max) == (-1, 3)
    assert [problem.message for problem in found] == [
        "x_min (3 m) is above x_max (-1 m); they are swapped"
    ]


def test_world_scalars() -> None:
    spec = world(
        "<simul_timestep>0.001</simul_timestep><gui><cam_point_to>1 2</cam_point_to></gui>"
        "<lights/><georeference><latitude>36</latitude><longitude>-2</longitude></georeference>"
        '<marker type="line_strip"><points>0 0 0\n1 2 3</points></marker>'
    )
    assert spec.timestep == 0.001
    assert spec.gui.cam_point_to == (1, 2, 0)
    assert spec.georeference.origin == (36, -2)
    assert spec.markers[0].points == ((0, 0, 0), (1, 2, 3))


def test_actors() -> None:
    actor = world(
        '<actor:class name="man"><walking_speed>1</walking_speed></actor:class>'
        '<actor name="p" class="man"><init_pose>0 0 0</init_pose><path loop="false">'
        '<waypoint pause="2" animation="run">1 2 90</waypoint>'
        "<waypoint>3 4 0</waypoint></path></actor>"
    ).actors[0]
    assert actor.walking_speed == 1
    assert actor.path is not None
    assert not actor.path.loop
    first, second = actor.path.waypoints
    assert (first.pose, first.pause, first.animation) == (
        Pose(1, 2, yaw=math.pi / 2),
        2,
        "run",
    )
    assert (second.pose, second.animation) == (Pose(3, 4), "walk")


def test_car_ackermann_is_another_name_of_ackermann() -> None:
    assert dynamics("car_ackermann", "") == dynamics("ackermann", "")
    assert dynamics("car_ackermann", "").dynamics.kind == "ackermann"
