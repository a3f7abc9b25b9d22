# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The columns of logs: names of the C++ simulator, units, and their values from the state.

Columns are functions of the history of the state, so that a step only copies rows. Signs are
those of the whole suite: a positive pitch puts the nose down, a positive torque drives forward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mvsim_core.state.arrays import FloatArray
from mvsim_core.state.plan_view import along_ground

if TYPE_CHECKING:
    from mvsim_core.state.entities import Entity

TIME = "Timestamp"
#: Below this speed slip is undefined and logged as 0 [m/s].
REST = 1e-4


#: Fields of the state that columns are computed from.
BODY_FIELDS = (
    *("x", "y", "z", "roll", "pitch", "yaw", "vx", "vy", "wz", "plan_xx", "plan_xy", "plan_yy"),
)
VEHICLE_FIELDS = ("odo_x", "odo_y", "odo_yaw")
WHEEL_FIELDS = (
    *("x", "y", "yaw", "radius", "load", "omega", "omega0", "torque", "fx", "fy", "vx", "vy"),
    "drag",
)
PID_FIELDS = ("target", "actual", "previous", "forward")


class Fields(dict[str, FloatArray]):
    """The history of some rows by field, each (rows, steps); gathered on first use."""

    def __init__(self, numbers: FloatArray, names: tuple[str, ...]) -> None:
        """Refer to numbers (steps, rows, fields)."""
        super().__init__()
        self.numbers = numbers
        self._names = names

    def __missing__(self, name: str) -> FloatArray:
        """Gather a field."""
        column = self.numbers[..., self._names.index(name)]
        field = self[name] = np.ascontiguousarray(column.T)
        return field


@dataclass
class PoseHistory:
    """Fields of BODY and VEHICLE, each (vehicles, steps)."""

    body: dict[str, FloatArray]
    vehicle: dict[str, FloatArray]

    @cached_property
    def heading(self) -> tuple[FloatArray, FloatArray]:
        """Cosine and sine of the yaw."""
        return np.cos(self.body["yaw"]), np.sin(self.body["yaw"])

    def along(self) -> FloatArray:
        """Return the forward speed along the ground [m/s]."""
        return self._along_ground()[0]

    def across(self) -> FloatArray:
        """Return the leftward speed along the ground [m/s]."""
        return self._along_ground()[1]

    def _along_ground(self) -> tuple[FloatArray, FloatArray]:
        c, s = self.heading
        vx, vy = self.body["vx"], self.body["vy"]
        return along_ground(self.body, c * vx + s * vy, c * vy - s * vx)


@dataclass
class WheelHistory:
    """Fields of WHEEL (wheels, steps), and the step length [s]."""

    wheel: dict[str, FloatArray]
    dt: float

    @cached_property
    def heading(self) -> tuple[FloatArray, FloatArray]:
        """Cosine and sine of the wheels' angles in the vehicle."""
        return np.cos(self.wheel["yaw"]), np.sin(self.wheel["yaw"])

    def in_vehicle(self, axis: int) -> FloatArray:
        """Return a component of the velocity in the vehicle frame [m/s]."""
        c, s = self.heading
        vx, vy = self.wheel["vx"], self.wheel["vy"]
        return np.asarray(c * vx - s * vy if axis == 0 else s * vx + c * vy)

    def in_wheel(self, axis: int) -> FloatArray:
        """Return a component of the ground's force in the wheel frame [N]."""
        c, s = self.heading
        fx, fy = self.wheel["fx"], self.wheel["fy"]
        return np.asarray(c * fx + s * fy if axis == 0 else c * fy - s * fx)

    @cached_property
    def impulse(self) -> FloatArray:
        """Change of wheel speed after which the wheel rolls without slip [rad/s]."""
        return np.asarray(self.wheel["vx"] / self.wheel["radius"] - self.wheel["omega0"])

    @cached_property
    def slip_angle(self) -> FloatArray:
        """Angle between rolling direction and velocity, within ±90° [rad]; 0 at rest."""
        vx, vy = np.abs(self.wheel["vx"]), self.wheel["vy"]
        return np.where(np.maximum(vx, np.abs(vy)) < REST, 0.0, np.arctan2(vy, vx))

    @cached_property
    def slip_ratio(self) -> FloatArray:
        """(ωR - vx) / |ωR| within ±1, with the wheel speed before the step; 0 at rest."""
        surface, vx = self.wheel["omega0"] * self.wheel["radius"], self.wheel["vx"]
        ratio = np.clip((surface - vx) / np.maximum(np.abs(surface), 1e-9), -1.0, 1.0)
        return np.where(np.maximum(np.abs(surface), np.abs(vx)) < REST, 0.0, ratio)


@dataclass
class PidHistory:
    """Fields of pairs of PID (left, right; steps), and the torques of the wheels they drive."""

    pid: dict[str, FloatArray]
    torque: FloatArray


class Column(NamedTuple):
    """A column: its unit, and the function from a history to its values."""

    unit: str
    of: Callable[[Any], Any]


POSE: dict[str, Column] = {
    "dqw": Column("rad/s", lambda h: h.body["wz"]),
    "dqx": Column("m/s", PoseHistory.along),
    "dqy": Column("m/s", PoseHistory.across),
    "odo_x": Column("m", lambda h: h.vehicle["odo_x"]),
    "odo_y": Column("m", lambda h: h.vehicle["odo_y"]),
    "odo_yaw": Column("rad", lambda h: h.vehicle["odo_yaw"]),
    "q0x": Column("m", lambda h: h.body["x"]),
    "q1y": Column("m", lambda h: h.body["y"]),
    "q2z": Column("m", lambda h: h.body["z"]),
    "q3yaw": Column("rad", lambda h: h.body["yaw"]),
    "q4pitch": Column("rad", lambda h: h.body["pitch"]),
    "q5roll": Column("rad", lambda h: h.body["roll"]),
}
"""Pose in the world frame (q…), velocity in the vehicle frame (dq…), odometry."""

WHEEL: dict[str, Column] = {
    "F_friction_lon": Column("N", lambda h: h.in_wheel(0)),
    "F_rr": Column("N", lambda h: h.wheel["drag"]),
    "actual_wheel_alpha": Column(
        "rad/s^2", lambda h: (h.wheel["omega"] - h.wheel["omega0"]) / h.dt
    ),
    "desired_wheel_alpha": Column("rad/s^2", lambda h: h.impulse / h.dt),
    "desired_wheel_w_impulse": Column("rad/s", lambda h: h.impulse),
    "force_z": Column("N", lambda h: h.wheel["load"]),
    "friction_x": Column("N", lambda h: h.wheel["fx"]),
    "friction_y": Column("N", lambda h: h.wheel["fy"]),
    "motor_torque": Column("N m", lambda h: h.wheel["torque"]),
    "omega": Column("rad/s", lambda h: h.wheel["omega"]),
    "slip_angle": Column("rad", lambda h: h.slip_angle),
    "slip_ratio": Column("1", lambda h: h.slip_ratio),
    "steering": Column("rad", lambda h: h.wheel["yaw"]),
    "torque": Column("N m", lambda h: h.wheel["torque"]),
    "vel_w_x": Column("m/s", lambda h: h.wheel["vx"]),
    "vel_w_y": Column("m/s", lambda h: h.wheel["vy"]),
    "velocity_x": Column("m/s", lambda h: h.in_vehicle(0)),
    "velocity_y": Column("m/s", lambda h: h.in_vehicle(1)),
    "wheel_ground_point_vel": Column(
        "m/s", lambda h: h.wheel["vx"] - h.wheel["omega0"] * h.wheel["radius"]
    ),
    "wheel_lateral_friction": Column("N", lambda h: h.in_wheel(1)),
    "wheel_long_friction": Column("N", lambda h: h.in_wheel(0)),
    "wheel_pos_x": Column("m", lambda h: h.wheel["x"]),
    "wheel_pos_y": Column("m", lambda h: h.wheel["y"]),
}
"""friction_*, velocity_*, wheel_pos_* are in the vehicle frame, the others in the wheel frame."""

PID: dict[str, Column] = {
    "pid_act_vel_l": Column("m/s", lambda h: h.pid["actual"][0]),
    "pid_act_vel_r": Column("m/s", lambda h: h.pid["actual"][1]),
    "pid_error_l": Column("m/s", lambda h: h.pid["previous"][0]),
    "pid_error_r": Column("m/s", lambda h: h.pid["previous"][1]),
    "pid_feedforward": Column("N m", lambda h: h.pid["forward"][0]),
    "pid_sp_vel_l": Column("m/s", lambda h: h.pid["target"][0]),
    "pid_sp_vel_r": Column("m/s", lambda h: h.pid["target"][1]),
    "pid_torque_l": Column("N m", lambda h: h.torque[0]),
    "pid_torque_r": Column("N m", lambda h: h.torque[1]),
}
"""Speed controllers of the first left and the first right driven wheel."""

_ALL_MODELS = (
    *("force_z", "friction_x", "friction_y", "omega", "slip_angle", "slip_ratio", "steering"),
    *("torque", "velocity_x", "velocity_y", "wheel_pos_x", "wheel_pos_y"),
)
_OF_MODEL = {
    "default": (
        *("F_friction_lon", "actual_wheel_alpha", "desired_wheel_alpha"),
        *("desired_wheel_w_impulse", "motor_torque"),
        *("wheel_lateral_friction", "wheel_long_friction"),
    ),
    "wardiagnemma": (
        *("F_rr", "actual_wheel_alpha", "desired_wheel_alpha", "motor_torque"),
        "wheel_long_friction",
    ),
    "ellipse": (
        *("actual_wheel_alpha", "motor_torque", "vel_w_x", "vel_w_y", "wheel_ground_point_vel"),
        *("wheel_lateral_friction", "wheel_long_friction"),
    ),
}


def wheel_columns(friction: str) -> tuple[str, ...]:
    """Return the columns of a wheel with a friction model, sorted as in all logs."""
    return tuple(sorted((*_ALL_MODELS, *_OF_MODEL.get(friction, ()))))


def log_columns(vehicle: Entity) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table of a vehicle's log: "pose", "wheel_1" and so on."""
    columns = (TIME, *wheel_columns(vehicle.spec.friction.kind))
    tables = {"pose": (TIME, *POSE)}
    tables |= {f"wheel_{k + 1}": columns for k in range(vehicle.n_wheels)}
    if vehicle.n_pids > 1:
        tables["wheel_1"] = (*columns, *PID)
    return tables


def unit_of(column: str) -> str:
    """Return the unit of a column ("1" if it is dimensionless)."""
    if column == TIME:
        return "s"
    return next(table[column].unit for table in (POSE, WHEEL, PID) if column in table)


def filled(columns: tuple[str, ...], table: dict[str, Column], history: Any) -> FloatArray:
    """Return the values of columns, (columns, vehicles or wheels, steps)."""
    return np.array([table[name].of(history) for name in columns], dtype=np.float64)
