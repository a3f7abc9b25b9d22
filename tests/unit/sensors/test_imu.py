# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What inertial units feel, against closed forms and against differences of positions."""

import math

import numpy as np
import pytest

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.sensors.inertia import inertial_kernel
from mvsim_core.state.arrays import BODY
from tests.unit.sensors.inertial import DT, G, imu, imu_xml, incline, robot
from tests.unit.sensors.scenes import state_of

NO_BODIES = np.zeros(0, BODY)
ARM = "0.3 0.2 0.15 0 0 0"
ARM_POINT = np.array([0.3, 0.2, 0.15])


def felt(sensor, bodies=NO_BODIES):
    reading = sensor.measure(state_of(bodies), 1, 0.01)
    return np.concatenate((reading.angular_velocity, reading.linear_acceleration))


@pytest.mark.parametrize(
    ("pose", "expected"),
    [
        (Pose(), (0, 0, G)),
        (Pose(roll=math.pi), (0, 0, -G)),
        (Pose(roll=math.pi / 2), (0, G, 0)),
        (Pose(pitch=math.pi / 2), (-G, 0, 0)),
        (Pose(pitch=math.radians(-10)), (G * math.sin(math.radians(10)), 0, 0)),
    ],
)
def test_at_rest_gravity_points_up(pose, expected):
    found = felt(imu(pose=pose))[3:]
    if expected[2] == 0 and expected[1] == 0 and abs(expected[0]) < G:
        expected = (expected[0], 0, G * math.cos(math.radians(10)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def path(t):
    """Some motion of all six degrees of freedom: place (3,) and roll, pitch, yaw (3,)."""
    place = np.array([2 * math.sin(0.9 * t), math.cos(1.3 * t) + 0.4 * t, 0.2 * math.sin(2 * t)])
    turn = np.array([0.3 * math.sin(1.7 * t), 0.25 * math.cos(1.1 * t), 0.8 * t + 0.3 * t * t])
    return place, turn


def differences(function, t, h=1e-3):
    """Value, first and second derivative, of fourth order."""
    m2, m1, o, p1, p2 = (function(t + k * h) for k in (-2, -1, 0, 1, 2))
    first = (m2 - 8 * m1 + 8 * p1 - p2) / (12 * h)
    return o, first, (-m2 + 16 * m1 - 30 * o + 16 * p1 - p2) / (12 * h * h)


@pytest.mark.parametrize("t", [0.0, 0.37, 1.9])
def test_any_motion_is_felt_as_the_motion_of_the_mount_says(t):
    mount = Pose(0.4, -0.3, 0.7, roll=0.2, pitch=-0.5, yaw=2.0)
    arm, turned = np.array(mount[:3]), rotation(mount)

    def attitude(at):
        return rotation(Pose(0, 0, 0, *path(at)[1]))

    def mounted(at):
        return path(at)[0] + attitude(at) @ arm

    r, dr, _ = differences(attitude, t)
    spin = r.T @ dr
    rate = turned.T @ np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    force = turned.T @ r.T @ (differences(mounted, t)[2] + [0, 0, G])

    (x, y, z), v, a = differences(lambda at: path(at)[0], t)
    (roll, pitch, yaw), turn_rate, turn_acc = differences(lambda at: path(at)[1], t)
    body = np.zeros(1, BODY)
    values = {
        **{"x": x, "y": y, "z": z, "roll": roll, "pitch": pitch, "yaw": yaw},
        **{"vx": v[0], "vy": v[1], "vz": v[2], "ax": a[0], "ay": a[1], "az_up": a[2]},
        **{"roll_rate": turn_rate[0], "pitch_rate": turn_rate[1], "wz": turn_rate[2]},
        **{"roll_acc": turn_acc[0], "pitch_acc": turn_acc[1], "az": turn_acc[2]},
    }
    for name, value in values.items():
        body[name] = value
    felt = np.full((1, 6), np.nan)
    rows = np.zeros(1, np.int64)
    # a step without length: its middle is now
    inertial_kernel(body, rows, arm[None], turned[None], G, 0.0, felt)
    np.testing.assert_allclose(felt[0, :3], rate, atol=1e-8)
    np.testing.assert_allclose(felt[0, 3:], force, atol=1e-6)


def test_constant_circle_gives_the_centripetal_force_of_the_mount():
    world = robot(imu_xml(ARM))
    v, w = 1.2, 0.8
    world.vehicles["r1"].set_twist(v, 0.0, w)
    world.run(2.0)
    reading = world.vehicles["r1"].sensors["imu1"].last
    np.testing.assert_allclose(reading.angular_velocity, (0, 0, w), atol=1e-12)
    expected = (-w * w * 0.3, v * w - w * w * 0.2, G)
    # the chord of a step of 5 ms is shorter than its arc by (w dt)²/24 = 7e-7 of it
    np.testing.assert_allclose(reading.linear_acceleration, expected, atol=2e-6)


def test_a_turned_mount_turns_the_reading():
    world = robot(imu_xml("0 0 0 90 0 0"))
    world.vehicles["r1"].set_twist(1.2, 0.0, 0.8)
    world.run(1.0)
    reading = world.vehicles["r1"].sensors["imu1"].last
    np.testing.assert_allclose(reading.linear_acceleration, (0.96, 0, G), atol=2e-6)


def test_a_push_is_felt_forward_and_angular_acceleration_by_the_arm():
    world = robot(imu_xml(ARM), controller='<controller class="raw"/>')
    robot1 = world.vehicles["r1"]
    robot1.set_wheel_torques([1.0, 1.0])
    world.run(1.0)
    mass, spin, radius = 23.0, 0.08, 0.2
    straight = 2.0 / radius / (mass + 2 * spin / radius**2)
    force = robot1.sensors["imu1"].last.linear_acceleration
    np.testing.assert_allclose(force, (straight, 0, G), atol=5e-4)
    robot1.teleport(0, 0, 0)
    robot1.set_wheel_torques([-1.0, 1.0])
    world.run(0.05)
    yaw_acc = robot1.acceleration[2]
    assert yaw_acc > 0.5
    force = robot1.sensors["imu1"].last.linear_acceleration
    np.testing.assert_allclose(force[:2], (-yaw_acc * 0.2, yaw_acc * 0.3), atol=0.02)


@pytest.mark.parametrize("heading", [0, 40, 90, 180])
def test_standing_on_a_slope_gravity_tilts(heading):
    world = robot(imu_xml(), incline(10), pose=f"0 0 {heading}")
    world.run(0.5)
    slope, yaw = math.radians(10), math.radians(heading)
    # up in the frame of the vehicle: the slope's normal is its z axis
    along = math.atan2(math.sin(yaw), math.cos(yaw) / math.cos(slope))
    expected = G * np.array(
        [
            math.sin(slope) * math.cos(along),
            -math.sin(slope) * math.sin(along),
            math.cos(slope),
        ]
    )
    reading = world.vehicles["r1"].sensors["imu1"].last
    np.testing.assert_allclose(reading.linear_acceleration, expected, atol=1e-4)
    np.testing.assert_allclose(reading.angular_velocity, 0, atol=1e-6)


def test_a_circle_on_a_slope_turns_about_the_normal_only():
    world = robot(imu_xml(ARM), incline(15))
    robot1, places, readings = world.vehicles["r1"], [], []
    robot1.set_twist(1.0, 0.0, 0.9)
    world.run(0.5)
    for _ in range(800):
        world.step()
        places.append(np.array(robot1.pose[:3]) + rotation(robot1.pose) @ ARM_POINT)
        readings.append((rotation(robot1.pose), robot1.sensors["imu1"].last))
    second = np.diff(places, 2, axis=0) / DT**2  # centred at the second of three places
    for k in range(2, 800, 97):
        turn, reading = readings[k]
        assert np.abs(reading.angular_velocity[:2]).max() < 1e-5
        normal = reading.linear_acceleration[2]
        assert normal == pytest.approx(G * math.cos(math.radians(15)), abs=1e-3)
        if k < 799:
            middle = 0.5 * (second[k - 2] + second[k - 1])
            half = rotation(Pose(0, 0, 0, 0, 0, -0.5 * DT * reading.angular_velocity[2]))
            expected = (turn @ half).T @ (middle + np.array([0, 0, G]))
            # the vertical part lags by half a step: jerk · dt/2
            np.testing.assert_allclose(reading.linear_acceleration, expected, atol=3e-3)


def test_driving_over_a_crest_shows_the_pitch_rate():
    matrix = " ".join(f"{0.5 * x * x:.9f} {0.5 * x * x:.9f};" for x in np.arange(-2, 2.01, 0.02))
    dish = f"""<element class="elevation_map"><elevation_data_matrix>[{matrix[:-1]}]
      </elevation_data_matrix><resolution>0.02</resolution><corner_min_x>-2</corner_min_x>
      <corner_min_y>-0.01</corner_min_y></element>"""
    period = "<average>true</average>"
    world = robot(imu_xml(period=0.2, more=period), dish, pose="-0.8 0 0")
    world.vehicles["r1"].set_twist(0.5)
    world.run(1.2)
    before = world.vehicles["r1"].pose
    world.run(0.2)
    after, reading = world.vehicles["r1"].pose, world.vehicles["r1"].sensors["imu1"].last
    assert reading.angular_velocity[1] == pytest.approx((after.pitch - before.pitch) / 0.2)
    assert reading.angular_velocity[1] < -0.2  # the nose comes up on the far side of the dish
    assert np.abs(reading.angular_velocity[[0, 2]]).max() < 1e-9


def test_a_teleport_onto_a_slope_is_no_motion():
    world = robot(imu_xml(), incline(10))
    world.run(0.1)
    world.vehicles["r1"].teleport(30.0, 5.0, 1.0)
    for _ in range(5):
        world.step()
        reading = world.vehicles["r1"].sensors["imu1"].last
        assert np.abs(reading.angular_velocity).max() < 1e-3
        assert np.linalg.norm(reading.linear_acceleration) == pytest.approx(G, abs=1e-2)


def test_averages_are_the_mean_of_all_steps():
    sensors = imu_xml(ARM) + imu_xml(ARM, period=0.05, more="<average>true</average>", name="slow")
    world = robot(sensors, incline(8), controller='<controller class="raw"/>')
    robot1 = world.vehicles["r1"]
    robot1.set_wheel_torques([2.0, 2.5])
    single, means = [], []
    for _ in range(100):
        world.step()
        single.append(robot1.sensors["imu1"].last.linear_acceleration)
        if robot1.sensors["slow"] in world.new_readings:
            means.append(robot1.sensors["slow"].last.linear_acceleration)
    assert len(means) == 10
    np.testing.assert_allclose(means, np.reshape(single, (10, 10, 3)).mean(axis=1), atol=1e-12)
