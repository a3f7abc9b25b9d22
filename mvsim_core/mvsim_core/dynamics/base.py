# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The interface of dynamics classes: the roles of the wheels of a vehicle."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

from mvsim_core.registry import Registry


class Gears(NamedTuple):
    """Differentials between one engine and the wheels; a bias of 0 is an open differential.

    Splits are the shares of the front axle and of the left wheels.
    """

    split_centre: float = 0.5
    split_front: float = 0.5
    split_rear: float = 0.5
    bias_centre: float = 0.0
    bias_front: float = 0.0
    bias_rear: float = 0.0


class WheelRoles(NamedTuple):
    """Roles of the wheels, which are counted in the order of the world file.

    Lengths in m, angles in rad; a wheelbase of 0 means that nothing steers. With `odometry` each
    wheel adds its part (vx, vy, wz per speed along its grip) to the measured twist; without it the
    left and right odometry wheels give it.
    """

    odo_left: int
    odo_right: int
    driven_first: int
    driven_count: int
    wheelbase: float = 0.0
    front_track: float = 0.0
    max_steer: float = 0.0
    max_steer_rate: float = math.inf
    gears: Gears = Gears()
    holonomic: bool = False
    odometry: tuple[tuple[float, ...], ...] = ()


class Dynamics(Protocol):
    """A dynamics class states which wheels drive, steer and measure odometry."""

    def wheel_roles(self, spec: Any) -> WheelRoles:
        """Return the roles of the wheels of a vehicle."""


DYNAMICS: Registry[Dynamics] = Registry("vehicle dynamics", "mvsim.dynamics")
