# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""IMU, magnetometer and GNSS readings to Imu, MagneticField and NavSatFix of sensor_msgs."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Quaternion, TwistWithCovarianceStamped, Vector3
from sensor_msgs.msg import Imu, MagneticField, NavSatFix, NavSatStatus
from std_msgs.msg import Header

from mvsim_core.geometry.poses import FloatArray
from mvsim_core.sensors.gnss import GnssReading
from mvsim_core.sensors.imu import ImuReading
from mvsim_core.sensors.magnetometer import MagneticReading


def imu_message(reading: ImuReading, frame: str, stamp: Time) -> Imu:
    """Return angular velocity and specific force by REP-145.

    At rest the acceleration is +g upwards; the first variance of what is not measured is -1.
    """
    message = Imu(
        header=Header(stamp=stamp, frame_id=frame),
        angular_velocity=_vector(reading.angular_velocity),
        linear_acceleration=_vector(reading.linear_acceleration),
        angular_velocity_covariance=reading.angular_velocity_covariance.ravel(),
        linear_acceleration_covariance=reading.linear_acceleration_covariance.ravel(),
        orientation_covariance=reading.orientation_covariance.ravel(),
    )
    if reading.orientation is not None:
        x, y, z, w = reading.orientation
        message.orientation = Quaternion(x=x, y=y, z=z, w=w)
    return message


def magnetic_message(reading: MagneticReading, frame: str, stamp: Time) -> MagneticField:
    """Return the magnetic field in tesla, in the frame of the sensor."""
    return MagneticField(
        header=Header(stamp=stamp, frame_id=frame),
        magnetic_field=_vector(reading.magnetic_field),
        magnetic_field_covariance=reading.covariance.ravel(),
    )


def fix_message(reading: GnssReading, frame: str, stamp: Time) -> NavSatFix:
    """Return a position in degrees and metres above the WGS84 ellipsoid."""
    return NavSatFix(
        header=Header(stamp=stamp, frame_id=frame),
        status=NavSatStatus(status=reading.status, service=NavSatStatus.SERVICE_GPS),
        latitude=reading.latitude,
        longitude=reading.longitude,
        altitude=reading.altitude,
        position_covariance=reading.covariance.ravel(),
        position_covariance_type=reading.covariance_type,
    )


def velocity_message(reading: GnssReading, frame: str, stamp: Time) -> TwistWithCovarianceStamped:
    """Return the velocity of the antenna to the east, to the north and upwards [m/s].

    Angular velocities are not measured: they are 0 with a variance of -1.
    """
    message = TwistWithCovarianceStamped(header=Header(stamp=stamp, frame_id=frame))
    message.twist.twist.linear = _vector(reading.velocity)
    covariance = np.zeros((6, 6))
    covariance[:3, :3] = reading.velocity_covariance
    covariance[3, 3] = -1.0
    message.twist.covariance = covariance.ravel()
    return message


def _vector(values: FloatArray) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)
