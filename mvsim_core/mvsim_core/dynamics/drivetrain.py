# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One engine, up to three differentials: how its torque reaches the four wheels of a car.

Source: "Ackermann with Drivetrain" of the physics documentation.
"""

from __future__ import annotations

from numba import njit

from mvsim_core.dynamics.ackermann import Ackermann
from mvsim_core.dynamics.base import DYNAMICS, Gears, WheelRoles
from mvsim_core.dynamics.motor import motor_range
from mvsim_core.specs.dynamics import DrivetrainSpec
from mvsim_core.state.arrays import Row, Rows

#: Below it speeds are too small to say which shaft is faster [rad/s]; the split stays continuous.
SLOW = 1e-2


@njit(cache=True, nogil=True, error_model="numpy")
def split_torque(w1: float, w2: float, bias: float, split: float) -> float:
    """Return the share of the first shaft of a differential, 0 … 1.

    Args:
        w1: Speed of the first shaft [rad/s].
        w2: Speed of the second.
        bias: Bias ratio of a torsen; 0: open.
        split: Share of the first shaft when both turn alike.
    """
    if bias <= 0.0:
        return split
    fast = max(abs(w1), abs(w2))
    slow = min(abs(w1), abs(w2))
    locked = max(0.0, fast - bias * slow) / max(fast, SLOW)
    if abs(w1) > abs(w2):
        locked = -locked
    f1 = split * (1.0 + locked)
    f2 = (1.0 - split) * (1.0 - locked)
    if f1 + f2 <= 0.0:
        return split
    return f1 / (f1 + f2)


@njit(cache=True, nogil=True, error_model="numpy")
def wheel_shares(v: Row, wheels: Rows) -> tuple[float, float, float, float]:
    """Return the shares of the engine's torque: rear left, right, front left, right wheel."""
    rl, rr = wheels[v.wheel0], wheels[v.wheel0 + 1]
    fl, fr = wheels[v.wheel0 + 2], wheels[v.wheel0 + 3]
    front = split_torque(fl.omega + fr.omega, rl.omega + rr.omega, v.bias_centre, v.split_centre)
    front_left = split_torque(fl.omega, fr.omega, v.bias_front, v.split_front)
    rear_left = split_torque(rl.omega, rr.omega, v.bias_rear, v.split_rear)
    return (
        (1.0 - front) * rear_left,
        (1.0 - front) * (1.0 - rear_left),
        front * front_left,
        front * (1.0 - front_left),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def shaft_speed(v: Row, wheels: Rows) -> float:
    """Return the speed of the engine's shaft [rad/s]: its power is that of all wheels."""
    shares = wheel_shares(v, wheels)
    first = v.wheel0
    return float(
        shares[0] * wheels[first].omega
        + shares[1] * wheels[first + 1].omega
        + shares[2] * wheels[first + 2].omega
        + shares[3] * wheels[first + 3].omega
    )


@njit(cache=True, nogil=True, error_model="numpy")
def drive_wheels(v: Row, wheels: Rows, torque: float) -> None:
    """Distribute the engine's torque [N m], within what its motor has at its speed."""
    if v.motor_stall > 0.0 and torque != 0.0:
        low, high = motor_range(v, shaft_speed(v, wheels))
        torque = min(max(torque, low), high)
    shares = wheel_shares(v, wheels)
    for k in range(4):
        wheels[v.wheel0 + k].torque = torque * shares[k]


@DYNAMICS.register("ackermann_drivetrain")
class Drivetrain:
    """A car whose wheels are driven through differentials, each open or torsen."""

    def wheel_roles(self, spec: DrivetrainSpec) -> WheelRoles:
        """Return the roles of the wheels and the gears between engine and wheels."""
        kind, _, axle = spec.gears.type.partition("_")

        def bias(own: str, ratio: float) -> float:
            return ratio if (own or kind) == "torsen" else 0.0

        gears = Gears(
            split_centre={"front": 1.0, "rear": 0.0}.get(axle, spec.gears.front_rear_split),
            split_front=spec.gears.front_left_right_split,
            split_rear=spec.gears.rear_left_right_split,
            bias_centre=bias(spec.gears.center, spec.gears.front_rear_bias)
            if axle == "4wd"
            else 0.0,
            bias_front=bias(spec.gears.front, spec.gears.front_left_right_bias),
            bias_rear=bias(spec.gears.rear, spec.gears.rear_left_right_bias),
        )
        return Ackermann().wheel_roles(spec)._replace(driven_first=0, driven_count=1, gears=gears)
