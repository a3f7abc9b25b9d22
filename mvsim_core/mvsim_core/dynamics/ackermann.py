# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Four wheels of which the front ones steer.

Source: "Ackermann Steering Dynamics" of the physics documentation. Wheels: rear left, rear right,
front left, front right; the rear pair is the odometer.
"""

from __future__ import annotations

import math

from mvsim_core.dynamics.base import DYNAMICS, WheelRoles
from mvsim_core.specs.dynamics import AckermannSpec

#: First driven wheel and their number for each value of <drive>.
_DRIVE = {"rear": (0, 2), "front": (2, 2), "all": (0, 4)}


@DYNAMICS.register("ackermann")
class Ackermann:
    """Rear wheel drive unless the file says otherwise."""

    def wheel_roles(self, spec: AckermannSpec) -> WheelRoles:
        """Return the roles of the wheels."""
        rear, front_left, front_right = spec.wheels[0], spec.wheels[2], spec.wheels[3]
        first, count = _DRIVE[spec.drive]
        return WheelRoles(
            odo_left=0,
            odo_right=1,
            driven_first=first,
            driven_count=count,
            wheelbase=front_left.x - rear.x,
            front_track=front_left.y - front_right.y,
            max_steer=spec.max_steer,
            max_steer_rate=math.inf if spec.max_steer_rate is None else spec.max_steer_rate,
        )
