# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Differential drive with two, three or four wheels: sides turn at different speeds.

Source: "Differential Drive Dynamics" of the physics documentation. Wheels alternate left, right,
rear pair first; the odd one of three is a caster.
"""

from __future__ import annotations

from mvsim_core.dynamics.base import DYNAMICS, WheelRoles
from mvsim_core.specs.dynamics import DifferentialSpec


@DYNAMICS.register("differential")
@DYNAMICS.register("differential_3_wheels")
@DYNAMICS.register("differential_4_wheels")
class Differential:
    """Two driven sides; the first pair of wheels is the odometer."""

    def wheel_roles(self, spec: DifferentialSpec) -> WheelRoles:
        """Return the roles of the wheels."""
        return WheelRoles(odo_left=0, odo_right=1, driven_first=0, driven_count=2)
