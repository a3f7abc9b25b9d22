# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`2WDiff`: two driven wheels on one axis, each with a limited speed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mvsim_core.geometry.poses import Twist
from mvsim_core.kinematics.base import KINEMATICS, ArrayKinematics, as_floats
from mvsim_core.kinematics.laws import DIFF, wheel_speeds
from mvsim_core.kinematics.omni import or_default
from mvsim_core.state.arrays import Rows


@KINEMATICS.register("2WDiff")
@dataclass(frozen=True, kw_only=True)
class TwoWheelsDiff(ArrayKinematics):
    """A differential drive; its angular speed has priority over its linear speed.

    >>> kinematics = TwoWheelsDiff(max_speed=1.0, axis=1.0)
    >>> kinematics.max_angular_speed
    2.0
    >>> kinematics.feasible(Twist(2.0, 0.0, 1.5))
    Twist(vx=0.25, vy=0.0, wz=1.5)
    >>> kinematics.wheel_speeds(Twist(0.25, 0.0, 1.5))
    (-0.5, 1.0)

    Args:
        max_speed: Greatest speed of each wheel over the ground [m/s].
        max_angular_speed: Greatest angular speed [rad/s], at most 2 max_speed / axis.
        axis: Distance of the wheels [m].
        max_forward_speed: Greatest linear speed ahead [m/s].
        max_backward_speed: Greatest linear speed astern [m/s].
    """

    axis: float = 1.0
    max_forward_speed: float = math.inf
    max_backward_speed: float = math.inf

    kind: ClassVar[int] = DIFF
    positive: ClassVar[dict[str, str]] = {"axis": " [m]"}

    def __post_init__(self) -> None:
        """Limit the angular speed to what the wheels can do."""
        if self.axis > 0.0:
            most = min(self.max_angular_speed, 2.0 * self.max_speed / self.axis)
            object.__setattr__(self, "max_angular_speed", most)
        super().__post_init__()

    @classmethod
    def from_spec(cls, spec: Any, axis: float, moi: float) -> TwoWheelsDiff:
        """Make one from a TwoWheelsDiffSpec; without an axis it takes the vehicle's."""
        return cls(
            max_speed=or_default(spec.max_speed, math.inf),
            max_angular_speed=or_default(spec.max_angular_speed, math.inf),
            axis=or_default(spec.axis, axis),
            max_forward_speed=or_default(spec.max_forward_speed, math.inf),
            max_backward_speed=or_default(spec.max_backward_speed, math.inf),
        )

    def row(self) -> Rows:
        """Return one row of LIMIT that holds the parameters."""
        row = super().row()
        row["axis"] = self.axis
        row["max_forward"], row["max_backward"] = self.max_forward_speed, self.max_backward_speed
        return row

    def wheel_speeds(self, twist: Twist) -> tuple[float, float]:
        """Return the speeds of the left and right wheel that make a twist [m/s].

        They are not limited: pass a feasible twist to get feasible speeds.
        """
        left, right = wheel_speeds(as_floats(twist), self.axis)
        return left, right

    def twist(self, speeds: Sequence[float]) -> Twist:
        """Return the twist that the speeds of the left and right wheel make.

        Args:
            speeds: (left, right) over the ground [m/s].
        """
        left, right = speeds
        return Twist((left + right) / 2.0, 0.0, (right - left) / self.axis)
