# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A friction model from outside: in sand, wheels grip little and push a bow wave.

Once this package is installed, a world file may say
`<friction class="sand"><mu>0.5</mu><bow_wave>0.1</bow_wave></friction>`.
"""

import math
from dataclasses import dataclass

from mvsim_core.friction import PerWheelFriction, WheelContact
from mvsim_core.specs import FrictionSpec
from mvsim_core.specs.params import NOT_NEGATIVE, param


@dataclass(frozen=True, slots=True, kw_only=True)
class SandSpec(FrictionSpec):
    """What the world file may say."""

    kind: str = "sand"
    mu: float = param(0.5, check=NOT_NEGATIVE, help="friction coefficient")
    bow_wave: float = param(0.1, check=NOT_NEGATIVE, help="drag over normal force")


class Sand(PerWheelFriction):
    """Coulomb friction, and the drag of the sand that a moving wheel pushes ahead."""

    Spec = SandSpec

    def force(self, wheel: WheelContact) -> tuple[float, float]:
        """Return the force of the ground on a wheel [N], along its rolling direction and left."""
        limit = wheel.spec.mu * wheel.normal
        along = min(max(wheel.no_slip(), -limit), limit)
        return along, min(max(wheel.no_slide(), -limit), limit)

    def drag(self, wheel: WheelContact) -> float:
        """Return what the bow wave adds [N]; it stops a wheel but never pushes it back."""
        most = abs(wheel.vx) * wheel.carried / wheel.dt
        return -math.copysign(min(wheel.spec.bow_wave * wheel.normal, most), wheel.vx)
