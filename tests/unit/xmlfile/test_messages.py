# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the numbers and parts of a world can be wrong in, each with its message."""

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.xmlfile import read_world
from tests.unit.xmlfile.reading import DIFFERENTIAL, ORIGIN


def car(content: str, kind: str = "ackermann") -> str:
    return f'<vehicle>{ORIGIN}<dynamics class="{kind}">{content}</dynamics></vehicle>'


def sensor(kind: str, content: str) -> str:
    return f'<vehicle>{DIFFERENTIAL}{ORIGIN}<sensor class="{kind}">{content}</sensor></vehicle>'


def element(kind: str, content: str) -> str:
    return f'<element class="{kind}">{content}</element>'


def region(content: str) -> str:
    return element("property_region", f"<property_name>friction_mu</property_name>{content}")


def block(content: str, name: str = "b1") -> str:
    return f'<block name="{name}">{ORIGIN}{content}</block>'


def joint(attributes: str) -> str:
    return block("") + block("", "b2") + f'<joint body_a="b1" {attributes}/>'


BAD = [
    (
        joint('type="rope" body_b="b2" min_length="3" max_length="2"'),
        "line 1: <joint>: min_length (3 m) exceeds max_length (2 m)",
    ),
    (
        joint('type="pin" body_b="b2" lower_angle_deg="90" upper_angle_deg="-90"'),
        "line 1: <joint>: lower_angle_deg (90 deg) exceeds upper_angle_deg (-90 deg)",
    ),
    (
        joint('type="pin" body_b="b1"'),
        "line 1: <joint>: body_a and body_b must differ, both are 'b1'",
    ),
    (
        car("<f_wheels_x>0</f_wheels_x>"),
        "line 1: <dynamics>: f_wheels_x must differ from x of the rear wheels, both are 0 m",
    ),
    (
        car("", "wheels"),
        "line 1: <dynamics>: dynamics of class 'wheels' require at least one <wheel>",
    ),
    (
        car('<chassis zmin="1" zmax="0.5"/>'),
        "line 1: <chassis>: zmin (1 m) must be below zmax (0.5 m)",
    ),
    (
        car("<max_steer_rate_deg>0</max_steer_rate_deg>"),
        "line 1: <dynamics>: max_steer_rate_deg must be > 0 [deg/s], got '0'",
    ),
    (
        car("<drivetrain><rear>locked</rear></drivetrain>", "ackermann_drivetrain"),
        "line 1: <drivetrain>: rear must be one of open, torsen, got 'locked'",
    ),
    (
        car(
            "<drivetrain><front_rear_bias>0.5</front_rear_bias></drivetrain>",
            "ackermann_drivetrain",
        ),
        "line 1: <drivetrain>: front_rear_bias must be >= 1, got '0.5'",
    ),
    (
        element("elevation_map", "<elevation_data_matrix>[1 2]</elevation_data_matrix>"),
        "line 1: <element>: elevation_data_matrix must have at least 2 rows and 2"
        " columns, got 1 x 2",
    ),
    (
        element("elevation_map", "<elevation_data_matrix>[]</elevation_data_matrix>"),
        "line 1: <element>: elevation_data_matrix must be a matrix like [a b; c d]"
        " with rows of equal length [m], got '[]'",
    ),
    (
        element("elevation_map", "<elevation_data_matrix>[1 b; 1 2]</elevation_data_matrix>"),
        "line 1: <element>: elevation_data_matrix must be a matrix like [a b; c d]"
        " with rows of equal length [m], got '[1 b; 1 2]'",
    ),
    (
        element(
            "elevation_map",
            f"<elevation_image>{__file__}</elevation_image>"
            "<elevation_image_min_z>5</elevation_image_min_z>",
        ),
        "line 1: <element>: elevation_image_min_z and elevation_image_max_z, the heights of the"
        " darkest and of the brightest pixel, must differ, both are 5 m",
    ),
    (
        element(
            "elevation_map",
            "<elevation_data_matrix>[1 2; 1 2]</elevation_data_matrix>"
            "<texture_image_rotate>45</texture_image_rotate>",
        ),
        "line 1: <element>: texture_image_rotate must be one of -180, -90, 0, 90,"
        " 180 [deg], got '45'",
    ),
    (
        element(
            "elevation_map",
            "<elevation_data_matrix>[1 2; 1 2]</elevation_data_matrix>"
            "<apply_kernel>[1 2]</apply_kernel>",
        ),
        "line 1: <element>: apply_kernel must be a square matrix larger than 1 x 1"
        " whose numbers sum to 1, got '[1 2]'",
    ),
    (
        element("vertical_plane", '<door z_min="2" z_max="1"/>'),
        "line 1: <door>: z_min (2 m) must be below z_max (1 m)",
    ),
    (
        element("vertical_plane", "<cull_face>both</cull_face>"),
        "line 1: <element>: cull_face must be one of NONE, FRONT, BACK, got 'both'",
    ),
    (
        element("horizontal_plane", "<x_min>1</x_min><x_max>1</x_max>"),
        "line 1: <element>: x_min and x_max must differ, both are 1 m",
    ),
    (
        element("pointcloud", ""),
        "line 1: <element>: a pointcloud requires <file_txt_2d> or <file_txt_3d>",
    ),
    (
        element("skybox", ""),
        "line 1: <element>: textures is required",
    ),
    (
        element("skybox", "<textures>sky.png</textures>"),
        "line 1: <element>: textures must contain %s once, in place of Front, Back, Down ..., got"
        " 'sky.png'",
    ),
    (
        element("property_region", "<value_double>1</value_double>"),
        "line 1: <element>: property_name is required",
    ),
    (
        region(""),
        "line 1: <element>: a property_region requires <value_double>, <value_bool> or"
        " <value_string>",
    ),
    (
        region("<value_bool>true</value_bool>"),
        "line 1: <element>: friction_mu requires <value_double>",
    ),
    (
        region("<value_double>-1</value_double>"),
        "line 1: <element>: friction_mu must be >= 0, got -1",
    ),
    (
        region("<value_double>1</value_double><z_min>1</z_min><z_max>0</z_max>"),
        "line 1: <element>: z_min (1 m) must be below z_max (0 m)",
    ),
    (
        region("<value_double>1</value_double>").replace("friction_mu", "gps_no_coverage"),
        "line 1: <element>: gps_no_coverage requires <value_bool>",
    ),
    (
        sensor("camera", "<clip_min>5</clip_min><clip_max>1</clip_max>"),
        "line 1: <sensor>: clip_min (5 m) must be below clip_max (1 m)",
    ),
    (
        sensor("rgbd_camera", "<depth_clip_min>20</depth_clip_min>"),
        "line 1: <sensor>: depth_clip_min (20 m) must be below depth_clip_max (15 m)",
    ),
    (
        sensor("rgbd_camera", "<rgb_clip_max>0.001</rgb_clip_max>"),
        "line 1: <sensor>: rgb_clip_min (0.01 m) must be below rgb_clip_max (0.001 m)",
    ),
    (
        sensor("camera", "<ncols>16000</ncols><nrows>16000</nrows>"),
        "line 1: <sensor>: ncols x nrows must be <= 10000000, got 16000 x 16000 = 256000000",
    ),
    (
        sensor("laser", "<rate_hz>0</rate_hz>"),
        "line 1: <sensor>: rate_hz must be > 0 [Hz], got '0'",
    ),
    (
        sensor("laser", "<rate_hz>fast</rate_hz>"),
        "line 1: <sensor>: rate_hz must be a number [Hz], got 'fast'",
    ),
    (
        sensor("laser", "<pose>0 0</pose>"),
        "line 1: <sensor>: pose must be 'x y yaw' or 'x y z yaw pitch roll', angles"
        " in degrees, got '0 0'",
    ),
    (
        sensor("laser", "<pose_3d>0 0 0 0 0</pose_3d>"),
        "line 1: <sensor>: pose_3d must be 'x y z yaw pitch roll', angles in"
        " degrees, got '0 0 0 0 0'",
    ),
    (
        sensor("laser", "<nrays>1e17</nrays>"),
        "line 1: <sensor>: nrays must be within ±1e+15, got '1e17'",
    ),
    (
        sensor("laser", "<dropout>2</dropout>"),
        "line 1: <sensor>: dropout must be in [0, 1], got '2'",
    ),
    (
        sensor("lidar3d", "<vertical_ray_angles>1 b</vertical_ray_angles>"),
        "line 1: <sensor>: vertical_ray_angles must be numbers [deg], got '1 b'",
    ),
    (
        block("<animation/>"),
        "line 1: <animation>: at least one <time_pose> or <time_pose3d> is required",
    ),
    (
        block("<animation><time_pose>-1 0 0 0</time_pose></animation>"),
        "line 1: <animation>: the last time of an animation must be > 0 [s], got -1",
    ),
    (
        block("<animation><time_pose>0 0 0</time_pose></animation>"),
        "line 1: <animation>: time_pose must be 't x y yaw', yaw in degrees, got '0 0 0'",
    ),
    (
        block("<animation><time_pose3d>0 0 0 1</time_pose3d></animation>"),
        "line 1: <animation>: time_pose3d must be 't x y z yaw pitch roll', angles"
        " in degrees, got '0 0 0 1'",
    ),
    (
        block('<animation type="spline"><time_pose>1 0 0 0</time_pose></animation>'),
        "line 1: <animation>: type must be keyframes, got 'spline'",
    ),
    (
        block("<init_vel>1 2</init_vel>"),
        "line 1: <block>: init_vel must be 'vx vy wz', wz in degrees per second, got '1 2'",
    ),
    (
        block("<visual><model_uri>model://x/y.dae</model_uri></visual>"),
        "line 1: <visual>: model_uri must be a path, package://, file:// or"
        " http(s)://, not model://, got 'model://x/y.dae'",
    ),
    (
        f'<actor name="a">{ORIGIN}<path><waypoint>0 0</waypoint></path></actor>',
        "line 1: <waypoint>: its text must be 'x y yaw' or 'x y z yaw pitch roll',"
        " angles in degrees, got '0 0'",
    ),
    (
        "<georeference><world_is_utm>true</world_is_utm></georeference>",
        "line 1: <georeference>: world_is_utm requires <latitude> and <longitude>",
    ),
    (
        "<georeference><latitude>1</latitude><world_is_utm>true</world_is_utm>"
        "<world_to_enu_rotation_deg>5</world_to_enu_rotation_deg></georeference>",
        "line 1: <georeference>: world_to_enu_rotation_deg must be 0 [deg] with"
        " world_is_utm, got 5: UTM coordinates already point east and north",
    ),
    (
        "<georeference><longitude>400</longitude></georeference>",
        "line 1: <georeference>: longitude must be in [-180, 360] [deg], got '400'",
    ),
    (
        "<marker><points>0 0 0 1</points></marker>",
        "line 1: <marker>: points must be lines of 'x y z' [m], got '0 0 0 1'",
    ),
    (
        "<marker><points>0 0 0</points></marker>",
        "line 1: <marker>: points must list at least 2 points 'x y z' [m], got '0 0 0'",
    ),
    (
        "<marker/>",
        "line 1: <marker>: points is required",
    ),
    (
        "<gui><cam_point_to>1</cam_point_to></gui>",
        "line 1: <gui>: cam_point_to must be 'x y' or 'x y z' [m], got '1'",
    ),
    (
        "<walls><shape><pt>0 0</pt><pt>1 0</pt></shape><transformation>[1 0; 0 1]"
        "</transformation></walls>",
        "line 1: <walls>: transformation must be 4 x 4, got '[1 0; 0 1]'",
    ),
    (
        joint('type="pin" body_b=""'),
        "line 1: <joint>: body_b must not be empty, got ''",
    ),
    (
        car('<l_wheel pos="0"/>', "differential"),
        "line 1: <l_wheel>: pos must be 'x y' or 'x y yaw', yaw in degrees, got '0'",
    ),
    (
        sensor("rgbd_camera", "<rgb_ncols>9000</rgb_ncols><rgb_nrows>9000</rgb_nrows>"),
        "line 1: <sensor>: rgb_ncols x rgb_nrows must be <= 10000000, got 9000 x 9000 = 81000000",
    ),
    (
        f'<vehicle>{DIFFERENTIAL}{ORIGIN}<kinematics class="2WDiffDyn">'
        '<modulation class="MotorPID"/><modulation class="MotorController"/></kinematics>'
        "</vehicle>",
        "line 1: <kinematics>: only one motor is allowed: 'MotorController' or 'MotorPID'",
    ),
    (
        f'<vehicle>{DIFFERENTIAL}{ORIGIN}<kinematics class="2WDiffDyn">'
        '<modulation class="MotorPID"/><modulation class="MotorPID"/></kinematics></vehicle>',
        "line 1: <kinematics>: only one modulation of class 'MotorPID' is allowed, got 2",
    ),
    (
        "<walls/>",
        "line 1: <walls>: walls require a <shape> or a <model_uri>",
    ),
    (
        "<gravity>1_000</gravity>",
        "line 1: <mvsim_world>: gravity must be a number without '_' [m/s^2], got '1_000'",
    ),
    (
        "<ground_truth_rate>0</ground_truth_rate>",
        "line 1: <mvsim_world>: ground_truth_rate must be > 0 [Hz], got '0'",
    ),
]


@pytest.mark.parametrize(("body", "message"), BAD)
def test_message(body: str, message: str) -> None:
    with pytest.raises(WorldFileError) as caught:
        read_world(text=f"<mvsim_world>{body}</mvsim_world>")
    assert str(caught.value) == message
