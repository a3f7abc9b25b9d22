# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""World elements: ground, planes, maps, regions, point clouds, sky."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from mvsim_core.errors import suggestion
from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.converters import (
    BOOLEAN,
    FILE,
    MATRIX,
    NUMBER,
    POSE3D,
    TEXT,
    URI,
    Color,
    Matrix,
)
from mvsim_core.specs.opening import OPENINGS, OpeningSpec
from mvsim_core.specs.params import (
    NOT_EMPTY,
    NOT_NEGATIVE,
    POSITIVE,
    Check,
    Spec,
    Variants,
    param,
    section,
)
from mvsim_core.specs.simulable import POSE_TOPICS, SimulableSpec
from mvsim_core.specs.visual import CULL_FACES, CULL_HELP, NO_SPLIT

_STAYS = "the grid of the viewer stays where it is"
_GREY = Color.hex("#a0a0a0")
_MESH_COLOR = Color.hex("#a0e0a0")
_QUARTER_TURNS = Check(
    "must be one of -180, -90, 0, 90, 180", (-180, -90, 0, 90, 180).__contains__
)
_KERNEL = Check(
    "must be a square matrix larger than 1 x 1 whose numbers sum to 1",
    lambda m: m is None or (len(m) == len(m[0]) > 1 and abs(sum(map(sum, m)) - 1.0) <= 5e-3),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GroundGridSpec(Spec):
    """A grid on the ground for the viewer; sensors do not see it."""

    kind: str = "ground_grid"
    floating: bool = param(True, no_effect=_STAYS)
    floating_focus: str = param(
        "",
        also=("float_center_at_vehicle_name",),
        help="vehicle to follow",
        no_effect=_STAYS,
    )
    color: Color = param(Color.hex("#e0e0e0"))
    line_width: float = param(1.0, check=POSITIVE)
    x_min: float = param(-25.0, unit="m")
    x_max: float = param(25.0, unit="m")
    y_min: float = param(-25.0, unit="m")
    y_max: float = param(25.0, unit="m")
    interval: float = param(5.0, unit="m", check=POSITIVE, help="distance of the lines")

    def errors(self) -> Iterator[str]:
        """Yield an error if the rectangle is empty."""
        yield from _empty(self)

    def warnings(self) -> Iterator[str]:
        """Yield the limits that are swapped."""
        yield from _swapped(self)

    def finished(self) -> Any:
        """Return self with the smaller limits first."""
        return _ordered(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OccupancyGridSpec(Spec):
    """A 2D map whose occupied cells are walls of unlimited height.

    `centerpixel_x`, `centerpixel_y` is the pixel at the world's origin, counted from the lower
    left corner of an image.
    """

    kind: str = "occupancy_grid"
    file: str = param(
        "", conv=FILE, required=True, check=NOT_EMPTY, help="image, Nav2 .yaml or .gridmap[.gz]"
    )
    resolution: float = param(0.10, unit="m", check=POSITIVE, help="size of a pixel, images only")
    centerpixel_x: float = param(-1.0, help="images only")
    centerpixel_y: float = param(-1.0, help="images only")
    show_collisions: bool = param(True, no_effect="RViz shows the map")
    restitution: float = param(
        0.01, check=NOT_NEGATIVE, help="of walls, in contacts; 0: no bounce"
    )
    lateral_friction: float = param(0.5, check=NOT_NEGATIVE, help="of walls, in contacts")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ElevationMapSpec(Spec):
    """Ground heights on a grid; rows run along +x, columns along +y.

    The heights come from an image (its darkest and brightest pixels are at min and max z), a
    matrix, or a text file of points x y z r g b.
    """

    kind: str = "elevation_map"
    elevation_image: str = param("", conv=FILE, help="picture whose grey levels are heights")
    elevation_image_min_z: float = param(0.0, unit="m", help="height of the darkest pixel")
    elevation_image_max_z: float = param(5.0, unit="m", help="height of the brightest pixel")
    elevation_data_matrix: Matrix | None = param(None, conv=MATRIX, unit="m", help="heights")
    elevation_data_matrix_scale: float = param(1.0, help="factor of the matrix")
    dem_xyzrgb_file: str = param("", conv=FILE, help="text file with lines x y z r g b")
    dem_offset_x: float = param(0.0, unit="m")
    dem_offset_y: float = param(0.0, unit="m")
    dem_offset_z: float = param(0.0, unit="m")
    resolution: float = param(1.0, unit="m", check=POSITIVE, help="grid spacing")
    corner_min_x: float | None = param(
        None, conv=NUMBER, unit="m", help="default: the map is centred"
    )
    corner_min_y: float | None = param(
        None, conv=NUMBER, unit="m", help="default: the map is centred"
    )
    texture_image: str = param("", conv=URI, help="picture on the ground")
    texture_image_rotate: int = param(
        0, unit="deg", check=_QUARTER_TURNS, help="counter-clockwise, seen from above"
    )
    texture_extension_x: float = param(0.0, unit="m", check=NOT_NEGATIVE, help="0: automatic")
    texture_extension_y: float = param(0.0, unit="m", check=NOT_NEGATIVE, help="0: automatic")
    mesh_color: Color = param(
        _MESH_COLOR, help="without texture_image, or where it cannot be loaded"
    )
    model_split_size: float = param(0.0, unit="m", check=NOT_NEGATIVE, no_effect=NO_SPLIT)
    apply_kernel: Matrix | None = param(
        None, conv=MATRIX, check=_KERNEL, help="convolution kernel for the heights, zero padded"
    )

    def errors(self) -> Iterator[str]:
        """Yield errors in the source of the heights."""
        if self.elevation_image:
            low, high = self.elevation_image_min_z, self.elevation_image_max_z
            if low == high:
                yield (
                    "elevation_image_min_z and elevation_image_max_z, the heights of the darkest"
                    f" and of the brightest pixel, must differ, both are {low:g} m"
                )
        elif self.elevation_data_matrix:
            rows, columns = len(self.elevation_data_matrix), len(self.elevation_data_matrix[0])
            if min(rows, columns) < 2:
                yield (
                    "elevation_data_matrix must have at least 2 rows and 2 columns, got"
                    f" {rows} x {columns}"
                )
        elif not self.dem_xyzrgb_file:
            yield (
                "an elevation_map requires <elevation_image>, <elevation_data_matrix> or"
                " <dem_xyzrgb_file>"
            )

    def warnings(self) -> Iterator[str]:
        """Yield a warning about a colour that the texture hides."""
        if self.texture_image and self.mesh_color != _MESH_COLOR:
            yield (
                "mesh_color is given besides texture_image; it is used only if the image cannot"
                " be loaded"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class HorizontalPlaneSpec(SimulableSpec):
    """A rectangle at height z above its own pose: ground for bodies, and visible to sensors.

    Its pose moves and turns it, but does not tilt it.
    """

    kind: str = "horizontal_plane"
    x_min: float = param(-10.0, unit="m")
    x_max: float = param(10.0, unit="m")
    y_min: float = param(-10.0, unit="m")
    y_max: float = param(10.0, unit="m")
    z: float = param(0.0, unit="m", help="height above its pose")
    color: Color = param(_GREY)
    enable_shadows: bool = param(True)
    cull_face: str = param("NONE", check=CULL_FACES, help=CULL_HELP)
    texture: str = param("", conv=URI, help="picture, repeated")
    texture_size_x: float = param(1.0, unit="m", check=POSITIVE, help="of one repetition")
    texture_size_y: float = param(1.0, unit="m", check=POSITIVE, help="of one repetition")

    @property
    def moves(self) -> bool:
        """Whether it has a frame of its own: it is animated, or its sides are turned."""
        return self.animation is not None or self.init_pose.yaw != 0.0

    def errors(self) -> Iterator[str]:
        """Yield an error if the rectangle is empty."""
        yield from _empty(self)

    def warnings(self) -> Iterator[str]:
        """Yield the limits that are swapped, and a pose that would tilt the plane."""
        yield from _swapped(self)
        if self.init_pose.roll or self.init_pose.pitch:
            yield (
                "a horizontal_plane is level: roll and pitch of its pose have no effect;"
                ' use a <block> with <geometry type="ramp"/> or an elevation_map'
            )

    def finished(self) -> Any:
        """Return self with the smaller limits first."""
        return _ordered(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VerticalPlaneSpec(SimulableSpec):
    """A straight wall from (x0, y0) to (x1, y1), from z to z + height [m]."""

    kind: str = "vertical_plane"
    x0: float = param(-10.0, unit="m")
    y0: float = param(-10.0, unit="m")
    x1: float = param(-10.0, unit="m")
    y1: float = param(10.0, unit="m")
    z: float = param(0.0, unit="m", help="of the lower edge")
    height: float = param(3.0, unit="m", check=POSITIVE)
    thickness: float = param(0.02, unit="m", check=NOT_NEGATIVE)
    color: Color = param(_GREY)
    enable_shadows: bool = param(True)
    cull_face: str = param("NONE", check=CULL_FACES, help=CULL_HELP)
    texture: str = param("", conv=URI, help="picture, repeated")
    texture_size_x: float = param(1.0, unit="m", check=POSITIVE, help="of one repetition")
    texture_size_y: float = param(1.0, unit="m", check=POSITIVE, help="of one repetition")
    openings: tuple[OpeningSpec, ...] = section((), "", OPENINGS, by="tag", many=True)

    def warnings(self) -> Iterator[str]:
        """Yield the fields of a movable entity that have no effect on a wall."""
        if self.init_pose != Pose():
            yield "init_pose has no effect on a vertical_plane; x0, y0, x1, y1, z are its position"
        if self.animation is not None:
            yield "a vertical_plane cannot move: its <animation> has no effect; use a <block>"

    def hints(self) -> Iterator[str]:
        """Yield fields without effect, and the topics that only movable entities have."""
        yield from SimulableSpec.hints(self)
        yield from self.publish.without_effect(POSE_TOPICS[:2], "a vertical_plane cannot move")

    def errors(self) -> Iterator[str]:
        """Yield errors in the ends."""
        if (self.x0, self.y0) == (self.x1, self.y1):
            yield (
                "the two ends of a vertical_plane must differ, both are at"
                f" ({self.x0:g}, {self.y0:g}) m"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PointcloudSpec(Spec):
    """Points from a text file, seen by 3D sensors, without collisions."""

    kind: str = "pointcloud"
    file_txt_2d: str = param("", conv=FILE, help="text file with lines x y")
    file_txt_3d: str = param("", conv=FILE, also=("file",), help="text file with lines x y z")
    points_size: float = param(
        3.0,
        also=("render_points_size",),
        check=POSITIVE,
        no_effect="sensors see each point with a size of 2 cm",
    )
    pose: Pose = param(Pose(), xml="pose_3d", conv=POSE3D, unit="m, rad")

    def errors(self) -> Iterator[str]:
        """Yield an error if there is no file."""
        if not self.file_txt_2d and not self.file_txt_3d:
            yield "a pointcloud requires <file_txt_2d> or <file_txt_3d>"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SkyboxSpec(Spec):
    """Six images around the world; `%s` stands for Front, Back, Down, Up, Left, Right."""

    kind: str = "skybox"
    textures: str = param(
        "",
        conv=URI,
        required=True,
        check=Check(
            "must contain %s once, in place of Front, Back, Down ...",
            lambda v: v.count("%s") == 1,
        ),
    )


#: Properties that the simulator reads.
PROPERTIES = ("friction_mu", "friction_C_rr", "gps_no_coverage")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PropertyRegionSpec(Spec):
    """A box in which a property has a value; where boxes overlap the first one is used.

    Known properties: `friction_mu`, `friction_C_rr` (numbers), `gps_no_coverage` (true, false).
    """

    kind: str = "property_region"
    property_name: str = param("", required=True, check=NOT_EMPTY, help="a known property")
    value_double: float | None = param(None, conv=NUMBER, help="of a property that is a number")
    value_bool: bool | None = param(None, conv=BOOLEAN, help="of a property that is true or false")
    value_string: str | None = param(None, conv=TEXT, help="of a property that is text")
    x_min: float = param(-1.0, unit="m")
    x_max: float = param(1.0, unit="m")
    y_min: float = param(-1.0, unit="m")
    y_max: float = param(1.0, unit="m")
    z_min: float = param(-1000.0, unit="m")
    z_max: float = param(1000.0, unit="m")

    @property
    def value(self) -> float | bool | str | None:
        """The first value given, in the order number, true or false, text."""
        for value in (self.value_double, self.value_bool, self.value_string):
            if value is not None:
                return value
        return None

    def warnings(self) -> Iterator[str]:
        """Yield the limits that are swapped, and an unknown property."""
        yield from _swapped(self)
        if self.property_name not in PROPERTIES:
            hint = suggestion(self.property_name, PROPERTIES, listed=True)
            yield f"unknown property {self.property_name!r} has no effect{hint}"

    def finished(self) -> Any:
        """Return self with the smaller limits first."""
        return _ordered(self)

    def errors(self) -> Iterator[str]:
        """Yield errors in the value and the extent."""
        yield from _empty(self)
        if self.z_min >= self.z_max:
            yield f"z_min ({self.z_min:g} m) must be below z_max ({self.z_max:g} m)"
        if self.value is None:
            yield "a property_region requires <value_double>, <value_bool> or <value_string>"
        elif self.property_name == "gps_no_coverage" and not isinstance(self.value, bool):
            yield "gps_no_coverage requires <value_bool>"
        elif self.property_name in ("friction_mu", "friction_C_rr"):
            if self.value_double is None:
                yield f"{self.property_name} requires <value_double>"
            elif self.value_double < 0:
                yield f"{self.property_name} must be >= 0, got {self.value_double:g}"


_Rectangle = GroundGridSpec | HorizontalPlaneSpec | PropertyRegionSpec


def _ranges(spec: _Rectangle) -> tuple[tuple[str, float, float], tuple[str, float, float]]:
    return ("x", spec.x_min, spec.x_max), ("y", spec.y_min, spec.y_max)


def _empty(spec: _Rectangle) -> Iterator[str]:
    for axis, low, high in _ranges(spec):
        if low == high:
            yield f"{axis}_min and {axis}_max must differ, both are {low:g} m"


def _swapped(spec: _Rectangle) -> Iterator[str]:
    for axis, low, high in _ranges(spec):
        if low > high:
            yield f"{axis}_min ({low:g} m) is above {axis}_max ({high:g} m); they are swapped"


def _ordered(spec: _Rectangle) -> _Rectangle:
    (_, x0, x1), (_, y0, y1) = _ranges(spec)
    if x0 <= x1 and y0 <= y1:
        return spec
    return replace(
        spec, x_min=min(x0, x1), x_max=max(x0, x1), y_min=min(y0, y1), y_max=max(y0, y1)
    )


ELEMENTS = Variants(
    "element class",
    {
        "ground_grid": GroundGridSpec(),
        "occupancy_grid": OccupancyGridSpec(),
        "elevation_map": ElevationMapSpec(),
        "horizontal_plane": HorizontalPlaneSpec(),
        "vertical_plane": VerticalPlaneSpec(),
        "pointcloud": PointcloudSpec(),
        "skybox": SkyboxSpec(),
        "property_region": PropertyRegionSpec(),
    },
    aliases={"point_cloud": "pointcloud"},
)
