# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The interface of kinematics: from any twist to a feasible one.

Kinematics are constraints without state. Planners use them alone; a world stores the twist of the
last step for them (`limits.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol

import numpy as np

from mvsim_core.geometry.poses import Twist
from mvsim_core.kinematics.laws import Triple, feasible_twist
from mvsim_core.registry import Registry
from mvsim_core.state.arrays import LIMIT, Rows


class Kinematics(Protocol):
    """A kinematics class, which third parties may write in plain Python."""

    @classmethod
    def from_spec(cls, spec: Any, axis: float, moi: float) -> Kinematics:
        """Make kinematics from a spec of a world file.

        Args:
            spec: The spec of its XML class.
            axis: Distance of the vehicle's left and right wheels [m].
            moi: Scaled moment of inertia of the vehicle, see `scaled_moi`.
        """

    def feasible(
        self, twist: Twist, current: Twist | None = None, time_step: float = 0.0
    ) -> Twist:
        """Return the feasible twist nearest to a wished one, vehicle frame.

        Args:
            twist: The wished twist.
            current: The present twist, for limits of acceleration; None: there are none.
            time_step: Time in which to reach it from `current` [s].
        """


KINEMATICS: Registry[Kinematics] = Registry("kinematics", "mvsim.kinematics")


@dataclass(frozen=True, kw_only=True)
class ArrayKinematics:
    """Base of the built-in classes, whose laws a world runs in a kernel.

    Args:
        max_speed: Greatest speed, of the body (Omni) or of each wheel [m/s].
        max_angular_speed: Greatest angular speed of the body [rad/s].

    Raises:
        ValueError: A parameter is out of range; the message names it.
    """

    max_speed: float = math.inf
    max_angular_speed: float = math.inf
    _row: Any = field(init=False, repr=False, compare=False, default=None)

    #: Value of LIMIT.kind.
    kind: ClassVar[int] = -1
    #: Parameters that must be > 0, not only >= 0, with their units.
    positive: ClassVar[dict[str, str]] = {}

    def __post_init__(self) -> None:
        """Check the parameters and store them as a row of LIMIT."""
        for name in (f.name for f in fields(self) if f.init):
            value = getattr(self, name)
            if isinstance(value, str):
                continue
            if name in self.positive:
                require(name, value, value > 0.0, f"> 0{self.positive[name]}")
            else:
                require(name, value, value >= 0.0, ">= 0")
        object.__setattr__(self, "_row", self.row()[0])

    def row(self) -> Rows:
        """Return one row of LIMIT that holds the parameters."""
        row = np.zeros(1, LIMIT)
        row["kind"] = self.kind
        row["max_speed"], row["max_angular"] = self.max_speed, self.max_angular_speed
        row["limit_linear"] = row["limit_angular"] = math.inf
        return row

    def feasible(
        self, twist: Twist, current: Twist | None = None, time_step: float = 0.0
    ) -> Twist:
        """Return the feasible twist nearest to `twist`, vehicle frame [m/s, rad/s].

        Args:
            twist: The wished twist.
            current: The present twist; None leaves limits of acceleration out.
            time_step: Time in which to reach it from `current` [s]; at 0 nothing can change.

        Raises:
            ValueError: A number is not finite, or time_step is negative.
        """
        if current is None:
            want = as_floats(twist)
            return Twist(*feasible_twist(self._row, want, want, 0.0))
        return self.feasible_from_current(twist, current, time_step)

    def feasible_from_current(self, twist: Twist, current: Twist, time_step: float) -> Twist:
        """Return the twist nearest to `twist` that can be reached from `current`.

        Args:
            twist: The wished twist [m/s, rad/s], vehicle frame.
            current: The present twist.
            time_step: Time in which to reach it [s]; at 0 nothing can change.

        Raises:
            ValueError: A number is not finite, or time_step is negative.
        """
        want, now, dt = as_floats(twist), as_floats(current), checked_time_step(time_step)
        if dt == 0.0:
            return Twist(*now)
        return Twist(*feasible_twist(self._row, want, now, dt))


def as_floats(twist: Twist) -> Triple:
    """Return a twist as floats.

    Raises:
        ValueError: A number is not finite.
    """
    vx, vy, wz = (float(value) for value in twist)
    require("twist", twist, math.isfinite(vx + vy + wz), "finite")
    return vx, vy, wz


def checked_time_step(time_step: float) -> float:
    """Return a time step as a float [s].

    Raises:
        ValueError: It is negative or not finite.
    """
    require("time_step", time_step, 0.0 <= time_step < math.inf, ">= 0 [s]")
    return float(time_step)


def require(name: str, value: object, good: bool, rule: str) -> None:
    """Check a parameter.

    Raises:
        ValueError: The rule is not met; NaN never meets it.
    """
    if not good:
        raise ValueError(f"{name} must be {rule}, got {value!r}")


def scaled_moi(inertia: float, mass: float, axis: float) -> float:
    """Return i = I / (m A² / 8) [1]: 1 for a uniform disc whose diameter is the axis.

    Args:
        inertia: Of the vehicle about its vertical axis [kg m²].
        mass: Of the vehicle [kg].
        axis: Distance of the wheels [m].
    """
    return 8.0 * inertia / (mass * axis**2)


def moi_of_accelerations(
    max_acceleration: float, max_angular_acceleration: float, axis: float
) -> float:
    """Return the scaled moment of inertia i = 4 a_max / (A α_max) [1] of measured accelerations.

    Args:
        max_acceleration: Driving straight [m/s²].
        max_angular_acceleration: Turning in place [rad/s²].
        axis: Distance of the wheels [m].
    """
    return 4.0 * max_acceleration / (axis * max_angular_acceleration)


def interpolate(
    current: Twist,
    target: Twist,
    *,
    time_step: float,
    max_acceleration: float = math.inf,
    max_angular_acceleration: float = math.inf,
) -> Twist:
    """Return the twist after a time step from `current` towards `target`.

    Args:
        current: The present twist, vehicle frame.
        target: The wished twist.
        time_step: Time on the way [s].
        max_acceleration: Limit of the linear acceleration, as a vector [m/s²].
        max_angular_acceleration: Limit of the angular acceleration [rad/s²].
    """
    from mvsim_core.kinematics.modulations import LimitAcceleration

    limit = LimitAcceleration(
        max_acceleration=max_acceleration, max_angular_acceleration=max_angular_acceleration
    )
    return limit.apply(None, target, current, time_step)
