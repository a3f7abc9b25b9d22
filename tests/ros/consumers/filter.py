# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A filter in the plane by robot_localization's conventions.

Odometry gives velocities in the robot's frame; an inertial unit, the rate of turning and the
forward acceleration, gravity taken out by its own orientation. A group of values whose covariance
begins with -1 is left out.
"""

import math
from typing import Any

import numpy as np

from tests.ros.rules import matrix_of

GRAVITY = 9.80665  # m/s², what robot_localization takes out
X, Y, YAW, VX, VY, TURN, AX = range(7)
#: Growth of the variances a second: by and large robot_localization's defaults of velocities,
#: and nearly none of poses, which follow from them.
GROWTH = np.diag([1e-4, 1e-4, 1e-4, 0.025, 0.025, 0.02, 0.01])


class Filter:
    """A state (7,) and its covariance: x, y, yaw, vx, vy, turn rate, ax."""

    def __init__(self) -> None:
        self.state = np.zeros(7)
        self.covariance = np.eye(7) * 1e-9
        self._stamp: int | None = None

    def predict(self, stamp: int) -> None:
        """Go on to a time [ns]."""
        dt = 0.0 if self._stamp is None else (stamp - self._stamp) * 1e-9
        assert dt >= 0
        self._stamp = stamp
        _, _, yaw, vx, vy, turn, ax = self.state
        c, s, way = math.cos(yaw), math.sin(yaw), vx * dt + 0.5 * ax * dt * dt
        jacobian = np.eye(7)
        jacobian[X, [YAW, VX, VY, AX]] = -s * way - c * vy * dt, c * dt, -s * dt, c * dt**2 / 2
        jacobian[Y, [YAW, VX, VY, AX]] = c * way - s * vy * dt, s * dt, c * dt, s * dt**2 / 2
        jacobian[YAW, TURN] = jacobian[VX, AX] = dt
        self.state[[X, Y]] += c * way - s * vy * dt, s * way + c * vy * dt
        self.state[[YAW, VX]] += turn * dt, ax * dt
        self.covariance = jacobian @ self.covariance @ jacobian.T + GROWTH * dt

    def correct(self, which: list[int], values: np.ndarray, covariance: np.ndarray) -> None:
        """Take in measured values of some parts of the state."""
        pick = np.eye(7)[which]
        gain = (
            self.covariance @ pick.T @ np.linalg.inv(pick @ self.covariance @ pick.T + covariance)
        )
        self.state += gain @ (values - pick @ self.state)
        keep = np.eye(7) - gain @ pick
        self.covariance = keep @ self.covariance @ keep.T + gain @ covariance @ gain.T

    def take_odometry(self, message: Any) -> None:
        """Take in the twist of an Odometry."""
        twist = message.twist.twist
        values = np.array([twist.linear.x, twist.linear.y, twist.angular.z])
        covariance = np.reshape(message.twist.covariance, (6, 6))[np.ix_([0, 1, 5], [0, 1, 5])]
        self.correct([VX, VY, TURN], values, covariance)

    def take_imu(self, message: Any, mount: np.ndarray) -> None:
        """Take in an Imu whose axes in the robot's frame are the columns of a matrix (3, 3)."""
        if message.angular_velocity_covariance[0] != -1:
            covariance = mount @ np.reshape(message.angular_velocity_covariance, (3, 3)) @ mount.T
            rate = mount @ vector(message.angular_velocity)
            self.correct([TURN], rate[2:], covariance[2:, 2:])
        if message.linear_acceleration_covariance[0] != -1:
            covariance = (
                mount @ np.reshape(message.linear_acceleration_covariance, (3, 3)) @ mount.T
            )
            acceleration = acceleration_of(message, mount)
            self.correct([AX], acceleration[:1], covariance[:1, :1])


def acceleration_of(message: Any, mount: np.ndarray) -> np.ndarray:
    """Return the acceleration (3,) [m/s²] in the robot's frame, without gravity."""
    pull = rotation(message.orientation).T @ [0.0, 0.0, GRAVITY]
    result: np.ndarray = mount @ (vector(message.linear_acceleration) - pull)
    return result


def vector(message: Any) -> np.ndarray:
    """Return a Vector3 as an array."""
    return np.array([message.x, message.y, message.z])


def rotation(q: Any) -> np.ndarray:
    """Return a Quaternion as a matrix (3, 3)."""
    return matrix_of(np.zeros(3), np.array([q.x, q.y, q.z, q.w]))[:3, :3]
