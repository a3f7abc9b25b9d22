# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The content of a world file as frozen dataclasses in SI units and radians, with REP-103 axes.

Nothing here reads files or simulates. Specs can be made in Python too; `violations(spec)` lists
the rules that one breaks.
"""

from mvsim_core.specs.actor import ActorSpec, PathSpec, WaypointSpec
from mvsim_core.specs.block import BlockSpec, JointSpec, WallsSpec
from mvsim_core.specs.controller import (
    AckermannRawSpec,
    ControllerSpec,
    DrivetrainRawSpec,
    FrontSteerPidSpec,
    PidSpec,
    RawSpec,
    TwistFrontSteerPidSpec,
    TwistIdealSpec,
    TwistPidSpec,
)
from mvsim_core.specs.converters import Color, Keyframe, Matrix, Point2, Point3
from mvsim_core.specs.dynamics import (
    DYNAMICS,
    AckermannSpec,
    ChassisSpec,
    DifferentialGearsSpec,
    DifferentialSpec,
    DrivetrainSpec,
    DynamicsSpec,
    Polygon,
)
from mvsim_core.specs.element import (
    ELEMENTS,
    ElevationMapSpec,
    GroundGridSpec,
    HorizontalPlaneSpec,
    OccupancyGridSpec,
    PointcloudSpec,
    PropertyRegionSpec,
    SkyboxSpec,
    VerticalPlaneSpec,
)
from mvsim_core.specs.friction import (
    FRICTIONS,
    DefaultFrictionSpec,
    EllipseSpec,
    FrictionSpec,
    WardIagnemmaSpec,
)
from mvsim_core.specs.kinematics import (
    KINEMATICS,
    MODULATIONS,
    KinematicsSpec,
    LimitAccelerationSpec,
    ModulationSpec,
    MotorControllerSpec,
    MotorPidSpec,
    TwoWheelsDiffDynSpec,
    TwoWheelsDiffSpec,
)
from mvsim_core.specs.opening import OpeningSpec
from mvsim_core.specs.params import NOWHERE, Spec, Variants, Where, violations
from mvsim_core.specs.sensor import (
    SENSORS,
    BumperSpec,
    CameraSpec,
    EncodersSpec,
    GnssSpec,
    ImuSpec,
    LaserSpec,
    Lidar3dSpec,
    MagnetometerSpec,
    RangeSpec,
    RgbdCameraSpec,
    SensorSpec,
)
from mvsim_core.specs.simulable import AnimationSpec, PublishSpec, SimulableSpec
from mvsim_core.specs.vehicle import OdometrySpec, VehicleSpec
from mvsim_core.specs.visual import GeometrySpec, VisualSpec
from mvsim_core.specs.wheel import WheelSpec
from mvsim_core.specs.world import (
    GeoreferenceSpec,
    GuiSpec,
    LightsSpec,
    MarkerSpec,
    WorldSpec,
)

__all__ = [
    "DYNAMICS",
    "ELEMENTS",
    "FRICTIONS",
    "KINEMATICS",
    "MODULATIONS",
    "NOWHERE",
    "SENSORS",
    "AckermannRawSpec",
    "AckermannSpec",
    "ActorSpec",
    "AnimationSpec",
    "BlockSpec",
    "BumperSpec",
    "CameraSpec",
    "ChassisSpec",
    "Color",
    "ControllerSpec",
    "DefaultFrictionSpec",
    "DifferentialGearsSpec",
    "DifferentialSpec",
    "DrivetrainRawSpec",
    "DrivetrainSpec",
    "DynamicsSpec",
    "ElevationMapSpec",
    "EllipseSpec",
    "EncodersSpec",
    "FrictionSpec",
    "FrontSteerPidSpec",
    "GeometrySpec",
    "GeoreferenceSpec",
    "GnssSpec",
    "GroundGridSpec",
    "GuiSpec",
    "HorizontalPlaneSpec",
    "ImuSpec",
    "JointSpec",
    "Keyframe",
    "KinematicsSpec",
    "LaserSpec",
    "Lidar3dSpec",
    "LightsSpec",
    "LimitAccelerationSpec",
    "MagnetometerSpec",
    "MarkerSpec",
    "Matrix",
    "ModulationSpec",
    "MotorControllerSpec",
    "MotorPidSpec",
    "OccupancyGridSpec",
    "OdometrySpec",
    "OpeningSpec",
    "PathSpec",
    "PidSpec",
    "Point2",
    "Point3",
    "PointcloudSpec",
    "Polygon",
    "PropertyRegionSpec",
    "PublishSpec",
    "RangeSpec",
    "RawSpec",
    "RgbdCameraSpec",
    "SensorSpec",
    "SimulableSpec",
    "SkyboxSpec",
    "Spec",
    "TwistFrontSteerPidSpec",
    "TwistIdealSpec",
    "TwistPidSpec",
    "TwoWheelsDiffDynSpec",
    "TwoWheelsDiffSpec",
    "Variants",
    "VehicleSpec",
    "VerticalPlaneSpec",
    "VisualSpec",
    "WallsSpec",
    "WardIagnemmaSpec",
    "WaypointSpec",
    "WheelSpec",
    "Where",
    "WorldSpec",
    "violations",
]
