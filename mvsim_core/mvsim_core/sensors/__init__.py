# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Sensors: what they see, when they measure, and the errors of their readings."""

from __future__ import annotations

from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.scene3d import Scene3d
from mvsim_core.sensors.base import (
    SENSORS,
    Sensor,
    SensorBatch,
    SensorContext,
    SensorData,
    StateView,
)
from mvsim_core.sensors.bumper import Bumper, BumperReading
from mvsim_core.sensors.camera import (
    CLASSES,
    Camera,
    CameraReading,
    StereoCamera,
    StereoReading,
    classes_of,
)
from mvsim_core.sensors.earth import Earth
from mvsim_core.sensors.encoders import EncoderReading, WheelEncoders
from mvsim_core.sensors.gnss import Gnss, GnssReading
from mvsim_core.sensors.imu import Imu, ImuReading
from mvsim_core.sensors.laser3d import Laser3d
from mvsim_core.sensors.lidar2d import LaserFan, LaserReading, Lidar2d
from mvsim_core.sensors.lidar3d import POINT, CloudReading, Lidar3d
from mvsim_core.sensors.magnetometer import MagneticReading, Magnetometer
from mvsim_core.sensors.plane_scene import Cylinder, PlaneScene, Prism
from mvsim_core.sensors.range_sensor import RangeReading, RangeSensor
from mvsim_core.sensors.readings import Reading, read_only
from mvsim_core.sensors.rgbd_camera import COLORED_POINT, RgbdCamera, RgbdReading
from mvsim_core.sensors.sensor_set import SensorSet

__all__ = [
    "CLASSES",
    "COLORED_POINT",
    "POINT",
    "SENSORS",
    "Bumper",
    "BumperReading",
    "Camera",
    "CameraReading",
    "CloudReading",
    "Cylinder",
    "Earth",
    "EncoderReading",
    "Gnss",
    "GnssReading",
    "Imu",
    "ImuReading",
    "Laser3d",
    "LaserFan",
    "LaserReading",
    "Lidar2d",
    "Lidar3d",
    "MagneticReading",
    "Magnetometer",
    "Pinhole",
    "PlaneScene",
    "Prism",
    "RangeReading",
    "RangeSensor",
    "Reading",
    "RgbdCamera",
    "RgbdReading",
    "Scene3d",
    "Sensor",
    "SensorBatch",
    "SensorContext",
    "SensorData",
    "SensorSet",
    "StateView",
    "StereoCamera",
    "StereoReading",
    "WheelEncoders",
    "classes_of",
    "read_only",
]
