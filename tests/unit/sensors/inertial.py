# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Inertial units and receivers for tests: without a world, and on a robot in one."""

import math

from mvsim_core import load_world
from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import Imu, PlaneScene, SensorContext
from mvsim_core.specs.sensor import ImuSpec
from tests.physics.worlds import cart, world
from tests.unit.sensors.scenes import placed

G = 9.81
DT = 0.005
IDEAL = '<controller class="twist_ideal"/>'


def imu(*, body=-1, dt=0.01, seed=0, parent=None, earth=None, **changes):
    """A noise-free unit that reads each step, unless changed."""
    keys = {
        "name": "imu1",
        "pose": Pose(),
        "period": dt,
        "angular_velocity_white_noise": 0.0,
        "linear_acceleration_white_noise": 0.0,
        "orientation_std_noise": 0.0,
        **changes,
    }
    context = SensorContext(PlaneScene(), dt, parent=parent, earth=earth)
    return placed(Imu(ImuSpec(**keys), context), body, seed)


def imu_xml(mount="0 0 0 0 0 0", period=DT, noise=0.0, more="", name="imu1"):
    """A unit as XML; mount is x y z yaw pitch roll of the format."""
    return f"""<sensor class="imu" name="{name}"><pose_3d>{mount}</pose_3d>
      <sensor_period>{period}</sensor_period>
      <angular_velocity_white_noise_std_noise>{noise}</angular_velocity_white_noise_std_noise>
      <linear_acceleration_white_noise_std_noise>{noise}</linear_acceleration_white_noise_std_noise>
      <orientation_std_noise>{noise}</orientation_std_noise>{more}</sensor>"""


def gnss_xml(mount="0 0 0 0 0 0", horizontal=0.0, vertical=0.0, name="gps1"):
    """A receiver as XML that reads each step."""
    return f"""<sensor class="gnss" name="{name}"><pose_3d>{mount}</pose_3d>
      <sensor_period>{DT}</sensor_period>
      <horizontal_std_noise>{horizontal}</horizontal_std_noise>
      <vertical_std_noise>{vertical}</vertical_std_noise></sensor>"""


def robot(sensors, *parts, controller=IDEAL, pose="0 0 0", seed=0, **keys):
    """A world with one robot that carries sensors."""
    vehicle = cart(controller=controller, pose=pose, extra=sensors, **keys)
    return load_world(text=world(*parts, vehicle, dt=DT), seed=seed)


def incline(degrees, size=400.0):
    """An elevation map that rises along x."""
    rise = 0.5 * size * math.tan(math.radians(degrees))
    return f"""<element class="elevation_map">
      <elevation_data_matrix>[{-rise} {-rise}; {rise} {rise}]</elevation_data_matrix>
      <resolution>{size}</resolution></element>"""
