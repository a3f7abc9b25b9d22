# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`Omni`: limits on the norm of the velocity and on the angular speed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from mvsim_core.kinematics.base import KINEMATICS, ArrayKinematics
from mvsim_core.kinematics.laws import OMNI


@KINEMATICS.register("Omni")
@dataclass(frozen=True, kw_only=True)
class Omni(ArrayKinematics):
    """A body that moves in any direction; too fast a velocity keeps its direction.

    >>> Omni(max_speed=1.0, max_angular_speed=2.0).feasible(Twist(3.0, 4.0, -5.0))
    Twist(vx=0.6000000000000001, vy=0.8, wz=-2.0)
    """

    kind: ClassVar[int] = OMNI

    @classmethod
    def from_spec(cls, spec: Any, axis: float, moi: float) -> Omni:
        """Make one from a KinematicsSpec; the vehicle is not needed."""
        return cls(
            max_speed=or_default(spec.max_speed, math.inf),
            max_angular_speed=or_default(spec.max_angular_speed, math.inf),
        )


def or_default(value: float | None, default: float) -> float:
    """Return the value of the file, or a default."""
    return default if value is None else value
