# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""The content of a world file: constants of the world, vehicles, blocks, elements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mvsim_core.specs.actor import ActorSpec
from mvsim_core.specs.block import BlockSpec, JointSpec, WallsSpec
from mvsim_core.specs.converters import DEGREES, NUMBER, OUTPUT, POINT3, POINTS3, Color, Point3
from mvsim_core.specs.element import ELEMENTS
from mvsim_core.specs.params import (
    NOT_NEGATIVE,
    POSITIVE,
    Check,
    Spec,
    above,
    at_least,
    in_range,
    one_of,
    optional,
    param,
    section,
)
from mvsim_core.specs.sensor import SENSORS, SensorSpec
from mvsim_core.specs.simulable import POSE_TOPICS, PublishSpec
from mvsim_core.specs.vehicle import VehicleSpec

_SOLVER = "the contact solver sets its own number of iterations"
_SLOPES = "the original ignores it too; what a wheel can climb depends on its size"
_WINDOW = "the browser has its own window, and so has RViz"
_RAWLOG = "mvsim run --log records vehicles and wheels, ros2 bag record sensors (MCAP)"
_SHADOWS = "shadow maps are fitted to the view of each camera"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GuiSpec(Spec):
    """Settings of the viewer; `mvsim render` uses those of its camera."""

    win_w: int = param(800, unit="px", check=at_least(1), no_effect=_WINDOW)
    win_h: int = param(600, unit="px", check=at_least(1), no_effect=_WINDOW)
    start_maximized: bool = param(True, no_effect=_WINDOW)
    refresh_fps: int = param(20, unit="Hz", check=at_least(1), help="of the viewer, at most 30")
    ortho: bool = param(False, help="parallel projection")
    show_forces: bool = param(False, help="draws the forces of wheels and contacts")
    force_scale: float = param(
        0.01, unit="m/N", check=POSITIVE, help="length of an arrow per newton"
    )
    show_sensor_points: bool = param(True, help="draws the points of lidars")
    fov: float = param(
        math.radians(60.0),
        xml="fov_deg",
        conv=DEGREES,
        unit="rad",
        check=above(0.0, math.radians(179.0), "(0, 179]"),
        help="vertical field of view",
    )
    cam_distance: float = param(
        80.0, unit="m", check=POSITIVE, help="of the camera from cam_point_to"
    )
    cam_azimuth: float = param(
        math.radians(45.0),
        conv=DEGREES,
        unit="rad",
        help="direction from cam_point_to to the camera, counter-clockwise from x",
    )
    cam_elevation: float = param(
        math.radians(40.0), conv=DEGREES, unit="rad", help="of the camera above the horizontal"
    )
    cam_point_to: Point3 = param(
        (0.0, 0.0, 0.0), conv=POINT3, unit="m", help="point in the middle of the view"
    )
    follow_vehicle: str = param("", help="name of the vehicle that the camera follows")
    clip_plane_min: float = param(
        0.05, unit="m", check=POSITIVE, help="nearest distance that is drawn"
    )
    clip_plane_max: float = param(
        1e4, unit="m", check=POSITIVE, no_effect="the far plane is fitted to the world"
    )
    headless: bool = param(False, no_effect=_WINDOW)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LightsSpec(Spec):
    """The directional light and the ambient light."""

    enable_shadows: bool = param(True, help="draws shadows in pictures")
    shadow_map_size: int = param(2048, unit="px", check=at_least(1), no_effect=_SHADOWS)
    light_azimuth: float = param(
        math.radians(45.0),
        xml="light_azimuth_deg",
        conv=DEGREES,
        unit="rad",
        help="of the sun, counter-clockwise from x",
    )
    light_elevation: float = param(
        math.radians(70.0),
        xml="light_elevation_deg",
        conv=DEGREES,
        unit="rad",
        help="of the sun above the horizontal",
    )
    light_clip_plane_min: float = param(0.1, unit="m", check=POSITIVE, no_effect=_SHADOWS)
    light_clip_plane_max: float = param(900.0, unit="m", check=POSITIVE, no_effect=_SHADOWS)
    light_color: Color = param(Color(1.0, 1.0, 1.0), help="of the sun")
    light_ambient: float = param(0.5, check=NOT_NEGATIVE, help="light of the sky, at most 1")
    shadow_bias: float = param(1e-5, no_effect=_SHADOWS)
    shadow_bias_cam2frag: float = param(1e-5, no_effect=_SHADOWS)
    shadow_bias_normal: float = param(1e-4, no_effect=_SHADOWS)
    eye_distance_to_shadow_map_extension: float = param(2.0, check=POSITIVE, no_effect=_SHADOWS)
    minimum_shadow_map_extension_ratio: float = param(0.005, check=POSITIVE, no_effect=_SHADOWS)


_NOWHERE_ON_EARTH = "latitude and longitude absent: no georeference"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GeoreferenceSpec(Spec):
    """Position of the world's origin on the earth."""

    latitude: float | None = param(
        None,
        conv=NUMBER,
        unit="deg",
        check=optional(in_range(-90.0, 90.0)),
        help=_NOWHERE_ON_EARTH,
    )
    longitude: float | None = param(
        None,
        conv=NUMBER,
        unit="deg",
        check=optional(in_range(-180.0, 360.0)),
        help=_NOWHERE_ON_EARTH,
    )
    height: float = param(0.0, unit="m", help="above the ellipsoid")
    world_to_enu_rotation: float = param(
        0.0,
        xml="world_to_enu_rotation_deg",
        conv=DEGREES,
        unit="rad",
        help="0: x points east, y north",
    )
    world_is_utm: bool = param(False, help="world coordinates are UTM coordinates")

    @property
    def origin(self) -> tuple[float, float] | None:
        """Latitude and longitude [deg]; None: neither is given."""
        if self.latitude is None and self.longitude is None:
            return None
        return self.latitude or 0.0, self.longitude or 0.0

    def warnings(self) -> Iterator[str]:
        """Yield that one coordinate is given without the other."""
        for name, other in (("latitude", "longitude"), ("longitude", "latitude")):
            if getattr(self, name) is None and getattr(self, other) is not None:
                yield f"<{other}> is given without <{name}>, which is taken as 0 [deg]"

    def errors(self) -> Iterator[str]:
        """Yield settings that contradict each other."""
        if self.world_is_utm and self.origin is None:
            yield "world_is_utm requires <latitude> and <longitude>"
        if self.world_is_utm and self.world_to_enu_rotation != 0.0:
            turn = math.degrees(self.world_to_enu_rotation)
            yield (
                f"world_to_enu_rotation_deg must be 0 [deg] with world_is_utm, got {turn:g}:"
                " UTM coordinates already point east and north"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MarkerSpec(Spec):
    """A line through points in the world frame, which is drawn only."""

    type: str = param("line_strip", attribute=True, check=one_of("line_strip"))
    points: tuple[Point3, ...] = param(
        (),
        conv=POINTS3,
        required=True,
        unit="m",
        check=Check("must list at least 2 points 'x y z'", lambda v: len(v) >= 2),
    )
    color: Color = param(Color(1.0, 1.0, 1.0))
    translation: Point3 = param((0.0, 0.0, 0.0), conv=POINT3, unit="m", help="added to the points")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WorldSpec(Spec):
    """The content of a world file."""

    #: Path of the file, "" for a world given as text or in Python.
    file: str = ""
    version: str = param("", attribute=True, help="of the file format")
    timestep: float = param(
        0.0,
        xml="simul_timestep",
        unit="s",
        check=Check("must be 0 or in [1e-6, 10]", lambda v: v == 0.0 or 1e-6 <= v <= 10.0),
        help="length of a step; 0: the longest that is good for all controllers",
    )
    gravity: float = param(
        9.81, unit="m/s^2", check=in_range(0.0, 1e4), help="acceleration, downwards"
    )
    b2d_vel_iters: int = param(8, check=at_least(1), no_effect=_SOLVER)
    b2d_pos_iters: int = param(3, check=at_least(1), no_effect=_SOLVER)
    collision_threshold: float = param(
        0.03, unit="m", check=NOT_NEGATIVE, no_effect="bodies collide when they touch"
    )
    joystick_enabled: bool = param(
        False, no_effect="use the topic cmd_vel, for a joystick with teleop_twist_joy"
    )
    server_address: str = param(
        "localhost",
        help="host of the message bus's server; with this machine, --server starts one",
    )
    save_to_rawlog: str = param("", conv=OUTPUT, no_effect=_RAWLOG)
    rawlog_odometry_rate: float = param(
        10.0, unit="Hz", check=POSITIVE, no_effect="there are no rawlogs"
    )
    save_ground_truth_trajectory: str = param(
        "",
        conv=OUTPUT,
        help="TUM trajectory files: gt.txt gives gt.VEHICLE.txt, in the working directory",
    )
    ground_truth_rate: float = param(
        50.0, unit="Hz", check=POSITIVE, help="of save_ground_truth_trajectory"
    )
    max_slope_to_collide: float = param(0.30, no_effect=_SLOPES)
    min_slope_to_collide: float = param(-0.50, no_effect=_SLOPES)
    gui: GuiSpec = section(GuiSpec(), "gui", GuiSpec)
    lights: LightsSpec = section(LightsSpec(), "lights", LightsSpec)
    georeference: GeoreferenceSpec = section(GeoreferenceSpec(), "georeference", GeoreferenceSpec)
    elements: tuple[Spec, ...] = section((), "element", ELEMENTS, many=True)
    vehicles: tuple[VehicleSpec, ...] = section((), "vehicle", VehicleSpec, many=True)
    blocks: tuple[BlockSpec, ...] = section((), "block", BlockSpec, many=True)
    walls: tuple[WallsSpec, ...] = section((), "walls", WallsSpec, many=True)
    joints: tuple[JointSpec, ...] = section((), "joint", JointSpec, many=True)
    actors: tuple[ActorSpec, ...] = section((), "actor", ActorSpec, many=True)
    sensors: tuple[SensorSpec, ...] = section((), "sensor", SENSORS, by_alias="type", many=True)
    markers: tuple[MarkerSpec, ...] = section((), "marker", MarkerSpec, many=True)
    publish: PublishSpec = section(PublishSpec(), "publish", PublishSpec)

    def warnings(self) -> Iterator[str]:
        """Yield a warning if the version is not a version number."""
        if self.version and not re.fullmatch(r"\d+\.\d+", self.version):
            yield f"version must be two numbers such as 1.0, got {self.version[:40]!r}"

    def hints(self) -> Iterator[str]:
        """Yield fields without effect, and topics of the world itself, which has none."""
        yield from Spec.hints(self)
        topics = ("publish_topic", *POSE_TOPICS)
        yield from self.publish.without_effect(topics, "it belongs into a vehicle or sensor")
