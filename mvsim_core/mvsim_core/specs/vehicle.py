# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""A vehicle with its dynamics, friction, sensors and visuals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mvsim_core.specs.controller import RawSpec
from mvsim_core.specs.dynamics import DYNAMICS, DifferentialSpec, DynamicsSpec
from mvsim_core.specs.friction import FRICTIONS, DefaultFrictionSpec, FrictionSpec
from mvsim_core.specs.kinematics import KINEMATICS, KinematicsSpec
from mvsim_core.specs.params import Spec, param, section
from mvsim_core.specs.sensor import SENSORS, SensorSpec
from mvsim_core.specs.simulable import SimulableSpec
from mvsim_core.specs.visual import VisualSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class OdometrySpec(Spec):
    """Factors of the increments that wheel odometry measures, in the vehicle frame."""

    x_multiplier: float = param(1.0, attribute=True)
    y_multiplier: float = param(1.0, attribute=True)
    yaw_multiplier: float = param(1.0, attribute=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class VehicleSpec(SimulableSpec):
    """A vehicle. `class_name` is its vehicle class in the file, or ""."""

    name: str = param("", attribute=True, help="default: veh1, veh2, ...")
    class_name: str = param("", xml="class", attribute=True)
    dynamics: DynamicsSpec = section(DifferentialSpec(), "dynamics", DYNAMICS, required=True)
    kinematics: KinematicsSpec | None = section(None, "kinematics", KINEMATICS)
    friction: FrictionSpec = section(DefaultFrictionSpec(), "friction", FRICTIONS)
    odometry: OdometrySpec = section(OdometrySpec(), "odometry", OdometrySpec)
    sensors: tuple[SensorSpec, ...] = section((), "sensor", SENSORS, by_alias="type", many=True)
    visuals: tuple[VisualSpec, ...] = section((), "visual", VisualSpec, many=True)
    log_path: str = param("", help="folder or prefix of the vehicle's CSV logs")
    auto_start_recording: bool = param(False)

    def warnings(self) -> Iterator[str]:
        """Yield a warning if the kinematics have no effect."""
        if self.kinematics is not None and isinstance(self.dynamics.controller, RawSpec):
            yield "<kinematics> has no effect: the controller 'raw' takes no twists"
