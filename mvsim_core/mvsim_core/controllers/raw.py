# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`raw`: wheel torques, and for Ackermann vehicles the steering angle, as commanded."""

from __future__ import annotations

from numba import njit

from mvsim_core.controllers.base import CONTROLLERS, IdController
from mvsim_core.dynamics.steering import set_steering
from mvsim_core.state.arrays import IntArray, Rows


@njit(cache=True, nogil=True, error_model="numpy")
def raw_kernel(  # noqa: PLR0913 (arrays of a kernel)
    vehicles: Rows,
    wheels: Rows,
    pids: Rows,
    gains: Rows,
    bodies: Rows,
    ids: IntArray,
    gravity: float,
    dt: float,
) -> None:
    """Copy commanded torques; a steering target turns the front wheels."""
    for i in ids:
        v = vehicles[i]
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            wheels[k].torque = 0.0 if v.expired != 0 else wheels[k].cmd_torque
        if v.wheelbase > 0.0:
            set_steering(v, wheels, v.cmd_steer, dt)


@CONTROLLERS.register("raw")
class Raw(IdController):
    """All vehicles whose torques are commanded directly."""

    accepts = frozenset({"torque"})
    kernel = staticmethod(raw_kernel)
