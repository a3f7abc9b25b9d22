# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""Sensors. Poses are mounts in the vehicle frame (world frame for sensors without a vehicle)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.camera import CameraSpec, RgbdCameraSpec, StereoCameraSpec
from mvsim_core.specs.converters import (
    ANGLES,
    BOOLEAN,
    DEGREES,
    FILE,
    NUMBER,
    POINT3,
    POSE3D,
    WORDS,
    Color,
    Point3,
)
from mvsim_core.specs.params import (
    NOT_EMPTY,
    NOT_NEGATIVE,
    POSITIVE,
    Alias,
    Variants,
    above,
    at_least,
    in_range,
    one_of,
    optional,
    param,
)
from mvsim_core.specs.sensor_base import (
    BOXES,
    FULL_TURN,
    GLASS,
    HALF_TURN,
    LASER_MOUNT,
    MOST_RAYS,
    POSE_ALIASES,
    PUBLISHED,
    RAYS,
    TURN_ON,
    SensorSpec,
    size_errors,
)

__all__ = [
    "MOST_RAYS",
    "NAME_PREFIXES",
    "PUBLISHED",
    "SENSORS",
    "BumperSpec",
    "CameraSpec",
    "EncodersSpec",
    "GnssSpec",
    "ImuSpec",
    "LaserSpec",
    "Lidar3dSpec",
    "MagnetometerSpec",
    "RangeSpec",
    "RgbdCameraSpec",
    "SensorSpec",
    "StereoCameraSpec",
]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LaserSpec(SensorSpec):
    """A 2D laser scanner. The first ray is at -fov/2, the last at +fov/2."""

    kind: str = "laser"
    pose: Pose = param(
        LASER_MOUNT,
        xml="pose_3d",
        conv=POSE3D,
        also=POSE_ALIASES,
        unit="m, rad",
        help="in the frame of the vehicle",
    )
    height: float | None = param(None, conv=NUMBER, unit="m", help="overrides z of the pose")
    fov: float = param(
        math.pi,
        xml="fov_degrees",
        conv=DEGREES,
        unit="rad",
        check=FULL_TURN,
        help="angle from the first ray to the last",
    )
    nrays: int = param(
        181,
        check=in_range(2, MOST_RAYS, "[2, 10000000]"),
        also=("ray_count",),
        help="number of rays",
    )
    range_std_noise: float = param(
        0.01, unit="m", check=NOT_NEGATIVE, help="standard deviation of a range"
    )
    angle_std_noise: float = param(
        math.radians(0.01),
        xml="angle_std_noise_deg",
        conv=DEGREES,
        unit="rad",
        check=NOT_NEGATIVE,
        help="standard deviation of the direction of a ray",
    )
    max_range: float = param(
        80.0, unit="m", check=POSITIVE, also=("range_max",), help="largest range"
    )
    min_range: float = param(
        0.02, unit="m", check=NOT_NEGATIVE, also=("range_min",), help="smallest range"
    )
    bodies_visible: bool = param(True, help="detects vehicles and blocks, not only maps")
    raytrace_3d: bool | None = param(
        None,
        conv=BOOLEAN,
        help="casts rays against 3D shapes; default: with a tilted mount and on uneven ground",
    )
    ignore_parent_body: bool = param(
        False, help="with raytrace_3d true: rays pass through the own vehicle, as else always"
    )
    pass_glass: bool = param(False, help=f"where rays are cast against 3D shapes: {GLASS}")
    motion_distortion: bool = param(
        False,
        help="extension: rays are cast one after the other while the vehicle moves, a full turn in"
        " a period",
    )
    generate_intensity: bool = param(False, help="extension: brightness of the surface, 0 to 1")
    viz_point_size: float = param(
        3.0, xml="viz_pointSize", check=POSITIVE, help="in the viewer, in cm"
    )
    viz_visible_plane: bool = param(
        False, xml="viz_visiblePlane", help="shows the free area in the viewer"
    )
    viz_visible_lines: bool = param(True, xml="viz_visibleLines", no_effect=BOXES)
    viz_visible_points: bool = param(False, xml="viz_visiblePoints", no_effect=BOXES)
    viz_points_color: Color = param(
        Color.hex("#ff000080"), xml="viz_pointsColor", help="of points in the viewer"
    )
    viz_plane_color: Color = param(
        Color.hex("#0000ff10"), xml="viz_planeColor", help="of the free area in the viewer"
    )

    def errors(self) -> Iterator[str]:
        """Yield errors in the range, and if what only 3D rays can do is asked of planar ones."""
        yield from range_errors(self)
        for name in ("motion_distortion", "generate_intensity"):
            if self.raytrace_3d is False and getattr(self, name):
                yield f"{name} casts rays against 3D shapes, which raytrace_3d false excludes"

    def finished(self) -> LaserSpec:
        """Return self with `height` as the pose's z."""
        if self.height is None:
            return self
        return replace(self, pose=self.pose._replace(z=self.height))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Lidar3dSpec(SensorSpec):
    """A rotating 3D lidar: `vert_nrays` rings, `horz_nrays` columns in a full turn.

    The rings are spaced evenly over `vert_fov_degrees` unless `vertical_ray_angles` lists them.
    """

    kind: str = "lidar3d"
    range_std_noise: float = param(
        0.01, unit="m", check=NOT_NEGATIVE, help="standard deviation of a range"
    )
    min_range: float = param(
        0.01, unit="m", check=NOT_NEGATIVE, also=("range_min",), help="smallest range"
    )
    max_range: float = param(
        80.0, unit="m", check=POSITIVE, also=("range_max",), help="largest range"
    )
    vert_fov: float = param(
        math.radians(30.0),
        xml="vert_fov_degrees",
        conv=DEGREES,
        unit="rad",
        check=HALF_TURN,
        help="from the lowest ring to the highest",
    )
    vert_nrays: int = param(16, check=in_range(1, 100000), help="number of rings")
    horz_nrays: int = param(
        180, check=in_range(1, 100000), help="number of columns in a full turn"
    )
    vertical_ray_angles: tuple[float, ...] = param(
        (),
        conv=ANGLES,
        unit="rad",
        help="of the rings, positive upwards; overrides vert_fov_degrees",
    )
    horz_resolution_factor: float = param(
        1.0, check=POSITIVE, help="of the original's depth images", no_effect=RAYS
    )
    vert_resolution_factor: float = param(
        1.0, check=POSITIVE, help="of the original's depth images", no_effect=RAYS
    )
    max_vert_relative_depth_to_interpolate: float = param(
        0.3,
        check=NOT_NEGATIVE,
        also=("max_vert_relative_depth_to_interpolatate",),
        help="of the original's depth images",
        no_effect=RAYS,
    )
    max_horz_relative_depth_to_interpolate: float = param(
        0.1,
        check=NOT_NEGATIVE,
        also=("max_horz_relative_depth_to_interpolatate",),
        help="of the original's depth images",
        no_effect=RAYS,
    )
    ignore_parent_body: bool = param(False, help="rays pass through the own vehicle")
    pass_glass: bool = param(False, help=GLASS)
    generate_intensity: bool = param(True, help="brightness of the surface; otherwise 1")
    motion_distortion: bool = param(
        True, help="columns are measured one after the other while the vehicle moves"
    )
    range_noise_growth: float = param(
        0.0, check=NOT_NEGATIVE, help="additional standard deviation per metre of range [m/m]"
    )
    intensity_incidence: bool = param(
        False, help="intensity falls with the cosine of the angle of incidence"
    )
    ray_dropout: float = param(
        0.0, check=in_range(0.0, 1.0), help="fraction of rays without return"
    )
    visibility: float | None = param(
        None,
        conv=NUMBER,
        unit="m",
        check=optional(POSITIVE),
        help="extension: meteorological visibility in rain or fog; absent: clear air",
    )
    mixed_pixels: bool = param(
        False,
        help="extension: at edges the range is the mean of what the beam hits within a metre;"
        " needs beam_divergence_deg",
    )
    beam_divergence: float = param(
        0.0,
        xml="beam_divergence_deg",
        conv=DEGREES,
        unit="rad",
        check=NOT_NEGATIVE,
        help="full angle of a beam, which is cast as five rays; the shortest range is used",
    )
    cloud_layout: str = param(
        "points",
        check=one_of("points", "organized", "ouster", "livox"),
        help="extension: of the message: returns only; all rays, a row for each ring, NaN without"
        " return; as the driver of Ouster (organized) or Livox publishes it",
    )
    scan_pattern: str = param(
        "",
        conv=FILE,
        help="CSV file of time [s], azimuth, zenith [deg] for a lidar that does not rotate",
    )
    viz_point_size: float = param(
        3.0, xml="viz_pointSize", check=POSITIVE, help="in the viewer, in cm"
    )

    def errors(self) -> Iterator[str]:
        """Yield errors in the range, the number of rays, the listed ring angles and the beam."""
        yield from range_errors(self)
        if self.mixed_pixels and self.beam_divergence == 0.0:
            yield "mixed_pixels needs beam_divergence_deg > 0 [deg]: a thin ray meets one thing"
        yield from size_errors("vert_nrays x horz_nrays", self.vert_nrays, self.horz_nrays)
        listed = self.vertical_ray_angles
        if listed and len(set(listed)) != self.vert_nrays:
            yield (
                f"vertical_ray_angles must list vert_nrays = {self.vert_nrays} different"
                f" angles, got {len(set(listed))}"
            )

    def finished(self) -> Lidar3dSpec:
        """Return self with the listed ring angles in ascending order."""
        return replace(self, vertical_ray_angles=tuple(sorted(self.vertical_ray_angles)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ImuSpec(SensorSpec):
    """An inertial measurement unit with white noise on each reading and biases that drift.

    White noise is the standard deviation of one reading, independent of the period. In a period T
    the standard deviation of a change of bias is its random walk times sqrt(T).
    """

    kind: str = "imu"
    angular_velocity_white_noise: float = param(
        2e-4,
        xml="angular_velocity_white_noise_std_noise",
        unit="rad/s",
        check=NOT_NEGATIVE,
        also=(
            "angular_velocity_std_noise",
            "gyroscope_noise",
            Alias("gyroscope_noise", inner="noise_std"),
        ),
        help="standard deviation of one reading, each axis",
    )
    linear_acceleration_white_noise: float = param(
        0.017,
        xml="linear_acceleration_white_noise_std_noise",
        unit="m/s^2",
        check=NOT_NEGATIVE,
        also=(
            "linear_acceleration_std_noise",
            "accelerometer_noise",
            Alias("accelerometer_noise", inner="noise_std"),
        ),
        help="standard deviation of one reading, each axis",
    )
    angular_velocity_random_walk: float = param(
        0.0,
        xml="angular_velocity_random_walk_std_noise",
        unit="rad/s/sqrt(s)",
        check=NOT_NEGATIVE,
        also=(Alias("gyroscope_noise", inner="bias_drift"),),
        help="of the bias",
    )
    linear_acceleration_random_walk: float = param(
        0.0,
        xml="linear_acceleration_random_walk_std_noise",
        unit="m/s^2/sqrt(s)",
        check=NOT_NEGATIVE,
        also=(Alias("accelerometer_noise", inner="bias_drift"),),
        help="of the bias",
    )
    angular_velocity_start_bias: float = param(
        0.0,
        xml="angular_velocity_start_bias_std",
        unit="rad/s",
        check=NOT_NEGATIVE,
        help=TURN_ON,
    )
    linear_acceleration_start_bias: float = param(
        0.0,
        xml="linear_acceleration_start_bias_std",
        unit="m/s^2",
        check=NOT_NEGATIVE,
        help=TURN_ON,
    )
    angular_velocity_scale: float = param(
        0.0, xml="angular_velocity_scale_std", check=NOT_NEGATIVE, help=TURN_ON
    )
    linear_acceleration_scale: float = param(
        0.0, xml="linear_acceleration_scale_std", check=NOT_NEGATIVE, help=TURN_ON
    )
    misalignment: float = param(
        0.0,
        xml="misalignment_std_deg",
        conv=DEGREES,
        unit="rad",
        check=NOT_NEGATIVE,
        help=f"of gyroscopes and accelerometers against the pose; {TURN_ON}",
    )
    angular_velocity_max: float | None = param(
        None,
        conv=NUMBER,
        unit="rad/s",
        check=optional(POSITIVE),
        help="extension: limit of readings",
    )
    linear_acceleration_max: float | None = param(
        None,
        conv=NUMBER,
        unit="m/s^2",
        check=optional(POSITIVE),
        help="extension: limit of readings",
    )
    measure_orientation: bool = param(False, help="absolute; yaw 0 is east")
    orientation_std_noise: float = param(
        0.005, unit="rad", check=NOT_NEGATIVE, help="standard deviation about each axis"
    )
    average: bool = param(
        False, help="extension: readings are means over the period instead of the last step"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GnssSpec(SensorSpec):
    """A GNSS receiver; requires the world's georeference. The pose is that of the antenna."""

    kind: str = "gnss"
    horizontal_std_noise: float = param(
        2.0, unit="m", check=NOT_NEGATIVE, help="of east and north, each"
    )
    vertical_std_noise: float = param(4.0, unit="m", check=NOT_NEGATIVE, help="of the height")
    horizontal_slow_noise: float = param(
        0.0,
        xml="horizontal_slow_std_noise",
        unit="m",
        check=NOT_NEGATIVE,
        help="extension: of slowly changing errors of east and north, each",
    )
    vertical_slow_noise: float = param(
        0.0,
        xml="vertical_slow_std_noise",
        unit="m",
        check=NOT_NEGATIVE,
        help="extension: of slowly changing errors of the height",
    )
    correlation_time: float = param(
        60.0,
        unit="s",
        check=POSITIVE,
        help="extension: time in which slowly changing errors decay to 1/e",
    )
    velocity_std_noise: float = param(
        0.05, unit="m/s", check=NOT_NEGATIVE, help="extension: of each component of the velocity"
    )
    fix_status: str = param(
        "fix", check=one_of("fix", "sbas", "gbas"), help="extension: status of fixes"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EncodersSpec(SensorSpec):
    """Encoders of all wheels of a vehicle (an extension): angles and speeds."""

    kind: str = "wheel_encoders"
    ticks_per_revolution: int = param(
        0, check=at_least(0), help="angles are rounded down to whole ticks; 0: exact"
    )
    velocity_std_noise: float = param(
        0.0, unit="rad/s", check=NOT_NEGATIVE, help="standard deviation of a speed"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RangeSpec(SensorSpec):
    """A range sensor with one beam (an extension): sonar, infrared, or a cliff sensor.

    The beam is a cone about the x axis of the pose; pitch 90 looks down.
    """

    kind: str = "range"
    radiation_type: str = param(
        "ultrasound", check=one_of("ultrasound", "infrared"), help="as in sensor_msgs/Range"
    )
    fov: float = param(
        math.radians(15.0),
        xml="fov_degrees",
        conv=DEGREES,
        unit="rad",
        check=HALF_TURN,
        help="full angle of the cone",
    )
    ray_spacing: float = param(
        math.radians(1.0),
        xml="ray_spacing_deg",
        conv=DEGREES,
        unit="rad",
        check=in_range(math.radians(0.1), math.pi, "[0.1, 180]"),
        help="angle between the rays that fill the cone",
    )
    min_range: float = param(
        0.02, unit="m", check=NOT_NEGATIVE, also=("range_min",), help="smallest range"
    )
    max_range: float = param(
        4.0,
        unit="m",
        check=POSITIVE,
        also=("range_max",),
        help="equal to min_range: a switch that detects whether something is nearer",
    )
    range_std_noise: float = param(
        0.01, unit="m", check=NOT_NEGATIVE, help="standard deviation of a range"
    )
    max_incidence: float = param(
        math.pi / 2,
        xml="max_incidence_deg",
        conv=DEGREES,
        unit="rad",
        check=above(0.0, math.pi / 2, "(0, 90]"),
        help="surfaces hit at a larger angle to their normal return no echo",
    )
    bodies_visible: bool = param(True, help="detects vehicles and blocks, not only what is fixed")
    ignore_parent_body: bool = param(True, help="rays pass through the own vehicle")
    pass_glass: bool = param(False, help=GLASS)

    def errors(self) -> Iterator[str]:
        """Yield an error if the range is empty."""
        if self.min_range != self.max_range:
            yield from range_errors(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MagnetometerSpec(SensorSpec):
    """A magnetometer (an extension): the earth's field by the World Magnetic Model.

    It requires the world's georeference or `magnetic_field`.
    """

    kind: str = "magnetometer"
    magnetic_field_std_noise: float = param(
        5e-7, unit="T", check=NOT_NEGATIVE, help="of each axis"
    )
    year: float = param(
        2026.0, check=in_range(2020.0, 2030.0), help="decimal year of the World Magnetic Model"
    )
    magnetic_field: Point3 | None = param(
        None, conv=POINT3, unit="T", help="east, north, up; absent: World Magnetic Model"
    )
    hard_iron: Point3 = param(
        (0.0, 0.0, 0.0), conv=POINT3, unit="T", help="field of the vehicle itself, sensor frame"
    )
    soft_iron: Point3 = param(
        (1.0, 1.0, 1.0), conv=POINT3, help="factors of the outer field along the sensor's axes"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BumperSpec(SensorSpec):
    """A bumper (an extension): the sectors of the chassis that are in contact.

    Sectors follow each other counter-clockwise about the pose, seen from above.
    """

    kind: str = "bumper"
    sectors: tuple[str, ...] = param(
        ("front", "left", "rear", "right"), conv=WORDS, check=NOT_EMPTY, help="their names"
    )
    sector_width: float | None = param(
        None,
        xml="sector_width_deg",
        conv=DEGREES,
        unit="rad",
        check=optional(FULL_TURN),
        help="absent: equal parts of a full turn",
    )
    first: float = param(
        0.0, xml="first_sector_deg", conv=DEGREES, unit="rad", help="middle of the first; 0: ahead"
    )

    @property
    def width(self) -> float:
        """Angle of each sector [rad]."""
        return (
            2.0 * math.pi / len(self.sectors) if self.sector_width is None else self.sector_width
        )

    def errors(self) -> Iterator[str]:
        """Yield errors in the names and the widths."""
        if len(set(self.sectors)) < len(self.sectors):
            yield f"sectors must be different names, got '{' '.join(self.sectors)}'"
        total = math.degrees(self.width * len(self.sectors))
        if total > 360.0 + 1e-6:
            yield (
                f"{len(self.sectors)} sectors of {math.degrees(self.width):g} deg each are"
                f" {total:g} deg, more than a full turn"
            )


def range_errors(spec: LaserSpec | Lidar3dSpec | RangeSpec) -> Iterator[str]:
    """Yield an error if min_range is not below max_range."""
    if spec.min_range >= spec.max_range:
        yield f"min_range ({spec.min_range:g} m) must be below max_range ({spec.max_range:g} m)"


SENSORS: Variants = Variants(
    "sensor class",
    {
        "laser": LaserSpec(),
        "lidar3d": Lidar3dSpec(),
        "camera": CameraSpec(),
        "rgbd_camera": RgbdCameraSpec(),
        "imu": ImuSpec(),
        "gnss": GnssSpec(),
        "wheel_encoders": EncodersSpec(),
        "stereo_camera": StereoCameraSpec(),
        "range": RangeSpec(),
        "magnetometer": MagnetometerSpec(),
        "bumper": BumperSpec(),
    },
    base=SensorSpec,
    group="mvsim.sensors",
)

# A sensor without a name is called prefix + (number of sensors before it + 1).
NAME_PREFIXES: dict[str, str] = {
    "laser": "laser",
    "lidar3d": "laser",
    "camera": "camera",
    "rgbd_camera": "camera",
    "imu": "imu",
    "gnss": "imu",
    "wheel_encoders": "encoders",
    "stereo_camera": "camera",
    "range": "range",
    "magnetometer": "magnetometer",
    "bumper": "bumper",
}
