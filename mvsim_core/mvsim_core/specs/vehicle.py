# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""A vehicle with its dynamics, friction, sensors and visuals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mvsim_core.specs.controller import RawSpec
from mvsim_core.specs.converters import OUTPUT, RECORDING
from mvsim_core.specs.dynamics import DYNAMICS, DifferentialSpec, DynamicsSpec
from mvsim_core.specs.friction import FRICTIONS, DefaultFrictionSpec, FrictionSpec
from mvsim_core.specs.kinematics import KINEMATICS, KinematicsSpec
from mvsim_core.specs.params import NOT_NEGATIVE, Spec, param, section
from mvsim_core.specs.sensor import SENSORS, SensorSpec
from mvsim_core.specs.simulable import SimulableSpec
from mvsim_core.specs.visual import VisualSpec


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OdometrySpec(Spec):
    """Errors and covariance of wheel odometry, in the vehicle frame.

    The multipliers scale the pose and the twist that the wheels measure. The variances of the
    pose grow with distance and angle, as those of a random walk, and by the uncertain heading;
    the variances of the twist are constant.
    """

    x_multiplier: float = param(1.0, attribute=True, help="factor of the measured x")
    y_multiplier: float = param(1.0, attribute=True, help="factor of the measured y")
    yaw_multiplier: float = param(1.0, attribute=True, help="factor of the measured yaw")
    x_variance_per_metre: float = param(
        1e-3, unit="m^2/m", check=NOT_NEGATIVE, attribute=True, help="along the heading"
    )
    y_variance_per_metre: float = param(
        1e-4, unit="m^2/m", check=NOT_NEGATIVE, attribute=True, help="across the heading"
    )
    yaw_variance_per_metre: float = param(1e-4, unit="rad^2/m", check=NOT_NEGATIVE, attribute=True)
    yaw_variance_per_radian: float = param(
        1e-3, unit="rad^2/rad", check=NOT_NEGATIVE, attribute=True
    )
    twist_variance_x: float = param(1e-4, unit="m^2/s^2", check=NOT_NEGATIVE, attribute=True)
    twist_variance_y: float = param(1e-4, unit="m^2/s^2", check=NOT_NEGATIVE, attribute=True)
    twist_variance_yaw: float = param(1e-3, unit="rad^2/s^2", check=NOT_NEGATIVE, attribute=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VehicleSpec(SimulableSpec):
    """A vehicle with its dynamics, friction and sensors."""

    name: str = param("", attribute=True, help="default: veh1, veh2, ...")
    class_name: str = param(
        "", xml="class", attribute=True, help="name of the vehicle:class with its common content"
    )
    dynamics: DynamicsSpec = section(DifferentialSpec(), "dynamics", DYNAMICS, required=True)
    kinematics: KinematicsSpec | None = section(None, "kinematics", KINEMATICS)
    friction: FrictionSpec = section(DefaultFrictionSpec(), "friction", FRICTIONS)
    odometry: OdometrySpec = section(OdometrySpec(), "odometry", OdometrySpec)
    sensors: tuple[SensorSpec, ...] = section((), "sensor", SENSORS, by_alias="type", many=True)
    visuals: tuple[VisualSpec, ...] = section((), "visual", VisualSpec, many=True)
    log_path: str = param("", conv=OUTPUT, help="folder or prefix of the vehicle's CSV logs")
    auto_start_recording: bool = param(
        False, conv=RECORDING, help="writes the CSV logs of this vehicle from the start"
    )

    def warnings(self) -> Iterator[str]:
        """Yield a warning if the kinematics have no effect."""
        if self.kinematics is not None and isinstance(self.dynamics.controller, RawSpec):
            yield "<kinematics> has no effect: the controller 'raw' takes no twists"

    @property
    def _has_odometry(self) -> bool:
        return True
