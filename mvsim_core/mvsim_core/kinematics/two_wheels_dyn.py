# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`2WDiffDyn`: two driven wheels whose motors have a limited torque too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from mvsim_core.geometry.poses import Twist
from mvsim_core.kinematics.base import KINEMATICS, as_floats, checked_time_step, require
from mvsim_core.kinematics.laws import DIFF_DYN, apply_torques, wheel_torques
from mvsim_core.kinematics.omni import or_default
from mvsim_core.kinematics.two_wheels import TwoWheelsDiff
from mvsim_core.specs.kinematics import STRATEGIES
from mvsim_core.state.arrays import Rows


@KINEMATICS.register("2WDiffDyn")
@dataclass(frozen=True, kw_only=True)
class TwoWheelsDiffDyn(TwoWheelsDiff):
    """A differential drive with limited wheel speeds and motor torques.

    Torques are scaled by the robot's mass, f = 2 F / m [m/s²], so that driving straight with both
    motors at their limit accelerates by `max_acceleration`.

    Strategies for what can't be reached in a step:

    * `angular` (the rule of 2WDiff carried on): the angular speed takes the torque it needs, the
      linear speed what is left. It may leave the range of wheel speeds for a while, when a fast
      robot is commanded to turn on the spot: the torque that turns it does not slow it down.
    * `torques`: accelerations are clipped, then each motor's torque on its own.
    * `intersection`: as `angular`, but it turns no faster than both limits admit together.

    >>> kinematics = TwoWheelsDiffDyn(max_speed=1, axis=1, max_acceleration=1, moi=1)
    >>> kinematics.max_angular_acceleration
    4.0
    >>> kinematics.feasible(Twist(2.0, 0.0, 1.5), current=Twist(), time_step=0.1)
    Twist(vx=0.0, vy=0.0, wz=0.4)

    Args:
        max_speed: Greatest speed of each wheel over the ground [m/s].
        max_angular_speed: Greatest angular speed [rad/s], at most 2 max_speed / axis.
        axis: Distance of the wheels [m].
        max_forward_speed: Greatest linear speed ahead [m/s].
        max_backward_speed: Greatest linear speed astern [m/s].
        max_acceleration: Acceleration with both motors at their limit [m/s²].
        moi: Scaled moment of inertia I / (m A² / 8) [1], see `scaled_moi`.
        strategy: Rule for twists that cannot be reached in a step, see above.
    """

    max_acceleration: float = math.inf
    moi: float = 1.0
    strategy: Literal["angular", "torques", "intersection"] = "angular"

    kind: ClassVar[int] = DIFF_DYN
    positive: ClassVar[dict[str, str]] = {
        "axis": " [m]",
        "max_acceleration": " [m/s²]",
        "moi": "",
    }

    def __post_init__(self) -> None:
        """Check the parameters that the base class lacks."""
        known = self.strategy in STRATEGIES
        require("strategy", self.strategy, known, f"one of {', '.join(STRATEGIES)}")
        require("moi", self.moi, self.moi < math.inf, "finite")
        super().__post_init__()

    @classmethod
    def from_spec(cls, spec: Any, axis: float, moi: float) -> TwoWheelsDiffDyn:
        """Make one from a TwoWheelsDiffDynSpec; axis and moi can be the vehicle's."""
        return cls(
            max_speed=or_default(spec.max_speed, math.inf),
            max_angular_speed=or_default(spec.max_angular_speed, math.inf),
            axis=or_default(spec.axis, axis),
            max_forward_speed=or_default(spec.max_forward_speed, math.inf),
            max_backward_speed=or_default(spec.max_backward_speed, math.inf),
            max_acceleration=or_default(spec.max_acceleration, math.inf),
            moi=or_default(spec.moi, moi),
            strategy=spec.strategy,
        )

    def row(self) -> Rows:
        """Return one row of LIMIT that holds the parameters."""
        row = super().row()
        row["max_acceleration"], row["moi"] = self.max_acceleration, self.moi
        row["strategy"] = STRATEGIES.index(self.strategy)
        return row

    @property
    def max_angular_acceleration(self) -> float:
        """Angular acceleration with the motors at opposite limits: 4 a_max / (i A) [rad/s²]."""
        return 4.0 * self.max_acceleration / (self.moi * self.axis)

    @property
    def max_wheel_torque(self) -> float:
        """Limit of each wheel's scaled torque [m/s²], equal to `max_acceleration`."""
        return self.max_acceleration

    def wheel_torques(self, twist: Twist, current: Twist, time_step: float) -> tuple[float, float]:
        """Return the scaled torques (left, right) from `current` to `twist` [m/s²].

        They are not limited: pass a feasible twist to get feasible torques.

        Args:
            twist: Twist at the end, vehicle frame.
            current: Twist at the start.
            time_step: Time between them [s]; at 0 there is no torque.
        """
        want, now, dt = as_floats(twist), as_floats(current), checked_time_step(time_step)
        if dt == 0.0:
            return 0.0, 0.0
        left, right = wheel_torques(self._row, want, now, dt)
        return left, right

    def twist_from_wheel_torques(
        self, torques: Sequence[float], current: Twist, time_step: float
    ) -> Twist:
        """Return the twist after scaled torques have acted for a time step.

        Args:
            torques: (left, right) [m/s²]; they are not limited here.
            current: Twist at the start, vehicle frame.
            time_step: How long they act [s].
        """
        left, right = (float(torque) for torque in torques)
        now, dt = as_floats(current), checked_time_step(time_step)
        return Twist(*apply_torques(self._row, (left, right), now, dt))
