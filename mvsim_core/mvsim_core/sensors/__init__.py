# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Sensors: what they see, when they measure, and how their readings are made untrue."""

from __future__ import annotations

from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext
from mvsim_core.sensors.camera import Camera, CameraReading
from mvsim_core.sensors.earth import Earth
from mvsim_core.sensors.encoders import EncoderReading, WheelEncoders
from mvsim_core.sensors.gnss import Gnss, GnssReading
from mvsim_core.sensors.imu import Imu, ImuReading
from mvsim_core.sensors.laser3d import Laser3d
from mvsim_core.sensors.lidar2d import LaserReading, Lidar2d
from mvsim_core.sensors.lidar3d import POINT, CloudReading, Lidar3d
from mvsim_core.sensors.pinhole import Pinhole
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.sensors.rgbd_camera import COLORED_POINT, RgbdCamera, RgbdReading
from mvsim_core.sensors.scene3d import Scene3d
from mvsim_core.sensors.schedule import Schedule

__all__ = [
    "COLORED_POINT",
    "POINT",
    "SENSORS",
    "Camera",
    "CameraReading",
    "CloudReading",
    "Earth",
    "EncoderReading",
    "Gnss",
    "GnssReading",
    "Imu",
    "ImuReading",
    "Laser3d",
    "LaserReading",
    "Lidar2d",
    "Lidar3d",
    "Pinhole",
    "PlaneScene",
    "RgbdCamera",
    "RgbdReading",
    "Scene3d",
    "Schedule",
    "Sensor",
    "SensorContext",
    "WheelEncoders",
]
