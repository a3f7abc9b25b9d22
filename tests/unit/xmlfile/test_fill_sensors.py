# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Sensors in world files: names, mounts, units, other spellings."""

import math

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.geometry.poses import Pose
from mvsim_core.specs import (
    ImuSpec,
    LaserSpec,
    Lidar3dSpec,
    SensorSpec,
)
from mvsim_core.xmlfile import read_world
from tests.unit.xmlfile.reading import (
    DIFFERENTIAL,
    ORIGIN,
    vehicle,
    world,
)


def sensor(kind: str, content: str) -> SensorSpec:
    return vehicle(f'<sensor class="{kind}">{content}</sensor>').sensors[0]


def test_sensor_names_count_all_sensors() -> None:
    made = vehicle('<sensor class="imu"/><sensor class="gnss"/><sensor class="lidar3d"/>')
    assert [own.name for own in made.sensors] == ["imu1", "imu2", "laser3"]


def test_standalone_sensors() -> None:
    spec = world('<sensor class="laser" name="gate"/><sensor class="laser"/>')
    assert [own.name for own in spec.sensors] == ["gate", "laser2"]


def test_laser_mounts() -> None:
    assert sensor("laser", "").pose == Pose(z=0.05)
    assert sensor("laser", "<pose>1 2 90</pose>").pose == Pose(1, 2, yaw=math.pi / 2)
    both = "<height>0.4</height><pose>1 2 0</pose>"
    assert sensor("laser", both).pose == Pose(1, 2, 0.4)


def test_listed_ring_angles_are_sorted() -> None:
    made = sensor(
        "lidar3d",
        "<vert_nrays>3</vert_nrays><vertical_ray_angles>10 -5 0</vertical_ray_angles>",
    )
    assert isinstance(made, Lidar3dSpec)
    assert [math.degrees(angle) for angle in made.vertical_ray_angles] == pytest.approx(
        [-5, 0, 10]
    )


def test_names_of_the_ros_2_tutorial() -> None:
    scan = sensor(
        "laser",
        "<rate_hz>20</rate_hz><ray_count>360</ray_count><range_max>12</range_max>",
    )
    assert isinstance(scan, LaserSpec)
    assert (scan.period, scan.nrays, scan.max_range) == (0.05, 360, 12)
    imu = sensor(
        "imu",
        "<gyroscope_noise>1e-3</gyroscope_noise><accelerometer_noise>0.2</accelerometer_noise>",
    )
    assert isinstance(imu, ImuSpec)
    assert imu.angular_velocity_white_noise == 1e-3
    assert imu.linear_acceleration_white_noise == 0.2


def test_nested_noise_of_the_ros_2_tutorial() -> None:
    imu = sensor(
        "imu",
        "<gyroscope_noise><noise_std>1e-3</noise_std><bias_drift>1e-6</bias_drift>"
        "</gyroscope_noise><accelerometer_noise> <noise_std>0.2</noise_std> "
        "</accelerometer_noise>",
    )
    assert isinstance(imu, ImuSpec)
    assert imu.angular_velocity_white_noise == 1e-3
    assert imu.angular_velocity_random_walk == 1e-6
    assert imu.linear_acceleration_white_noise == 0.2
    assert imu.linear_acceleration_random_walk == 0.0
    text = "<gyroscope_noise><noise_std>-1</noise_std></gyroscope_noise>"
    with pytest.raises(WorldFileError, match="gyroscope_noise must be >= 0"):
        world(f'<sensor class="imu">{text}</sensor>')


def test_six_numbers_in_pose_are_taken_with_a_notice() -> None:
    body = f"""<vehicle name="r1">{DIFFERENTIAL}{ORIGIN}<sensor class="laser">
      <pose>0.15 0 0.3 90 0 0</pose></sensor></vehicle>"""
    spec, found = read_world(text=f"<mvsim_world>{body}</mvsim_world>")
    assert spec.vehicles[0].sensors[0].pose == Pose(0.15, 0, 0.3, yaw=math.pi / 2)
    assert [str(problem) for problem in found] == [
        "line 2: <sensor>: pose: six numbers are read as 'x y z yaw pitch roll', angles in degrees"
    ]


def test_old_spellings() -> None:
    made = sensor(
        "lidar3d",
        "<max_vert_relative_depth_to_interpolatate>0.2</max_vert_relative_depth_to_interpolatate>",
    )
    assert isinstance(made, Lidar3dSpec)
    assert made.max_vert_relative_depth_to_interpolate == 0.2


def test_type_is_another_name_of_class() -> None:
    made = vehicle('<sensor type="laser" name="s"/>').sensors[0]
    assert isinstance(made, LaserSpec)
    assert world('<sensor type="imu"/>').sensors[0].kind == "imu"
    body = f'<vehicle>{DIFFERENTIAL}{ORIGIN}<sensor type="imu" class="laser"/></vehicle>'
    spec, found = read_world(text=f"<mvsim_world>{body}</mvsim_world>")
    assert spec.vehicles[0].sensors[0].kind == "laser"
    assert [str(problem) for problem in found] == [
        "line 1: <sensor>: type is given besides class; class is used"
    ]


def test_an_unknown_type_is_an_error() -> None:
    body = f'<vehicle>{DIFFERENTIAL}{ORIGIN}<sensor type="lasr"/></vehicle>'
    with pytest.raises(WorldFileError, match=r"unknown sensor class 'lasr'. Did you mean 'laser'"):
        read_world(text=f"<mvsim_world>{body}</mvsim_world>")


@pytest.mark.parametrize(
    "written", ["[1 2 3 90 0 0]", " [ 1, 2, 3, 90, 0, 0 ] ", "[1;2;3;90;0;0]"]
)
def test_poses_in_brackets(written: str) -> None:
    made = sensor("laser", f"<pose_3d>{written}</pose_3d>")
    assert made.pose == Pose(1, 2, 3, yaw=math.pi / 2)
    block = world("<block><init_pose>[1 2 90]</init_pose></block>").blocks[0]
    assert block.init_pose == Pose(1, 2, yaw=math.pi / 2)


@pytest.mark.parametrize("written", ["[1 2 3 90 0 0", "[[1 2 3 90 0 0]]", "[1 2]", "[]"])
def test_wrong_brackets_are_an_error(written: str) -> None:
    body = f"<vehicle>{DIFFERENTIAL}{ORIGIN}<sensor class='imu'><pose_3d>{written}</pose_3d>"
    with pytest.raises(WorldFileError, match="must be 'x y z yaw pitch roll'"):
        read_world(text=f"<mvsim_world>{body}</sensor></vehicle></mvsim_world>")
