# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The row of LIMIT of a vehicle, compiled from its <kinematics>."""

from __future__ import annotations

import math

import numpy as np

from mvsim_core.errors import BuildError, Problem
from mvsim_core.kinematics import KINEMATICS, ArrayKinematics, Kinematics, scaled_moi
from mvsim_core.kinematics.laws import CUSTOM
from mvsim_core.specs.kinematics import (
    KinematicsSpec,
    LimitAccelerationSpec,
    MotorControllerSpec,
    MotorPidSpec,
)
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.state.arrays import LIMIT, Rows
from mvsim_core.state.entities import Inertia


def build_kinematics(
    spec: VehicleSpec, inertia: Inertia, track: float
) -> tuple[Rows, Kinematics | None]:
    """Return the row of LIMIT of a vehicle and its kinematics; none of both without an element.

    Args:
        spec: Its spec from the world file.
        inertia: Mass properties of the whole vehicle.
        track: Distance of its left and right wheels [m]; 0 if they have no sides.

    Raises:
        BuildError: A parameter is given neither in the file nor by the vehicle.
    """
    if spec.kinematics is None:
        return np.zeros(0, LIMIT), None
    axis = abs(track)
    moi = scaled_moi(inertia.about_com, inertia.mass, axis) if axis > 0.0 else 0.0
    try:
        kinematics = KINEMATICS.get(spec.kinematics.kind).from_spec(spec.kinematics, axis, moi)
    except ValueError as error:
        hint = "" if axis > 0.0 else "; its wheels have no sides: give their distance as <axis>"
        text = f"{spec.name}: {error}{hint}"
        raise BuildError(Problem.at(spec.kinematics.where, "kinematics", text)) from None
    if isinstance(kinematics, ArrayKinematics):
        rows = kinematics.row()
        _enter_modulations(spec.kinematics, rows)
    else:
        rows = np.zeros(1, LIMIT)
        rows["kind"] = CUSTOM
    rows["vx"], rows["vy"], rows["wz"] = spec.init_vel
    return rows, kinematics


def _enter_modulations(spec: KinematicsSpec, rows: Rows) -> None:
    for modulation in spec.modulations:
        if isinstance(modulation, LimitAccelerationSpec):
            for name, limit in (
                ("limit_linear", modulation.max_acceleration),
                ("limit_angular", modulation.max_angular_acceleration),
            ):
                rows[name] = math.inf if limit is None else limit
        if isinstance(modulation, MotorControllerSpec):
            rows["motor"], rows["k_p"] = 1, modulation.k
        if isinstance(modulation, MotorPidSpec):
            rows["motor"] = 1
            rows["k_p"], rows["k_i"], rows["k_d"] = modulation.k_p, modulation.k_i, modulation.k_d
