# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""Blocks (static or movable obstacles), walls, joints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from mvsim_core.specs.converters import DEGREES, MATRIX, NUMBER, POINT2, URI, Color, Matrix, Point2
from mvsim_core.specs.copying import changed
from mvsim_core.specs.dynamics import Polygon
from mvsim_core.specs.params import (
    NOT_EMPTY,
    NOT_NEGATIVE,
    POLYGON,
    POSITIVE,
    Check,
    Spec,
    one_of,
    optional,
    param,
    params,
    section,
)
from mvsim_core.specs.shapes import shape_errors
from mvsim_core.specs.simulable import SimulableSpec
from mvsim_core.specs.visual import GeometrySpec, VisualSpec

_UNIT_SQUARE: Polygon = ((-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5))
_IDENTITY: Matrix = (
    (1.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, 0.0),
    (0.0, 0.0, 0.0, 1.0),
)
_HEIGHTS = "default: from the geometry or the meshes, else {}"
_FOUR_BY_FOUR = Check("must be 4 x 4", lambda m: len(m) == 4 and len(m[0]) == 4)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BlockSpec(SimulableSpec):
    """A rigid prism. An `intangible` one does not collide, but is ground, and sensors see it."""

    name: str = param("", attribute=True, help="default: block001, block002, ...")
    class_name: str = param(
        "", xml="class", attribute=True, help="name of the block:class with its common content"
    )
    mass: float = param(30.0, unit="kg", check=POSITIVE)
    static: bool = param(False, help="does not move")
    intangible: bool = param(False, help="does not collide")
    ground_friction: float = param(
        0.5, check=NOT_NEGATIVE, help="friction coefficient on the ground"
    )
    lateral_friction: float = param(0.5, check=NOT_NEGATIVE, help="of the sides, in contacts")
    restitution: float = param(0.01, check=NOT_NEGATIVE, help="in contacts; 0: no bounce")
    linear_damping: float = param(
        0.1, unit="1/s", check=NOT_NEGATIVE, help="decay rate of the speed"
    )
    angular_damping: float = param(
        0.1, unit="1/s", check=NOT_NEGATIVE, help="decay rate of the turn rate"
    )
    #: None where a geometry or meshes give it, as `zmax`, and `shape` with `shape_from_visual`.
    zmin: float | None = param(None, conv=NUMBER, unit="m", help=_HEIGHTS.format(0))
    zmax: float | None = param(None, conv=NUMBER, unit="m", help=_HEIGHTS.format(1))
    color: Color = param(Color(0.0, 0.0, 1.0))
    visual_scale: float | None = param(
        None,
        conv=NUMBER,
        check=optional(POSITIVE),
        help="overrides model_scale of all visuals",
    )
    shape: Polygon | None = param(
        _UNIT_SQUARE,
        conv=POINT2,
        form="items",
        item="pt",
        unit="m",
        check=POLYGON,
        help="corners in the frame of the block",
    )
    geometry: GeometrySpec | None = section(
        None, "geometry", GeometrySpec, help="also the shape, if none is given"
    )
    shape_from_visual: bool = param(
        False, form="flag", help="the outline of the meshes is the shape"
    )
    visuals: tuple[VisualSpec, ...] = section((), "visual", VisualSpec, many=True)

    @property
    def is_geometry(self) -> bool:
        """Whether the geometry is the shape: no other shape is given or taken from meshes."""
        return self.geometry is not None and self.shape in (None, _UNIT_SQUARE)

    def warnings(self) -> Iterator[str]:
        """Yield a warning if two shapes are given."""
        if self.geometry is not None and not self.is_geometry:
            yield "<geometry> has no effect, because <shape> is given"

    def errors(self) -> Iterator[str]:
        """Yield errors in the height range and the shape's source."""
        if self.zmin is not None and self.zmax is not None and self.zmin >= self.zmax:
            yield f"zmin ({self.zmin:g} m) must be below zmax ({self.zmax:g} m)"
        if self.shape_from_visual and self.geometry is None and not self.visuals:
            yield "shape_from_visual requires a <visual> or a <geometry>"
        yield from shape_errors(self.shape)

    def finished(self) -> BlockSpec:
        """Return self with the default heights, or without a shape if a mesh gives it."""
        derived: dict[str, Any] = {}
        if self.visual_scale is not None:
            scale = self.visual_scale
            derived["visuals"] = tuple(replace(v, model_scale=scale) for v in self.visuals)
        if self.shape_from_visual:
            derived["shape"] = None
        elif not self.is_geometry:
            if self.zmin is None:
                derived["zmin"] = 0.0
            if self.zmax is None:
                derived["zmax"] = 1.0
        return changed(self, derived) if derived else self


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WallsSpec(Spec):
    """Straight walls between pairs of points, or along the lines of a mesh."""

    shape: tuple[Point2, ...] = param(
        (),
        conv=POINT2,
        form="items",
        item="pt",
        unit="m",
        help="end points of the walls, in pairs",
    )
    model_uri: str = param("", conv=URI, help="mesh; its lines, or else its edges, are the walls")
    transformation: Matrix = param(
        _IDENTITY,
        conv=MATRIX,
        check=_FOUR_BY_FOUR,
        help="homogeneous transform of the end points; points of a shape have z = 0",
    )
    thickness: float = param(0.1, xml="wallThickness", unit="m", check=POSITIVE)
    height: float = param(2.0, xml="wallHeight", unit="m", check=POSITIVE)
    color: Color = param(Color.hex("#323232"))
    scale: float = param(
        1.0, check=POSITIVE, no_effect="the original ignores it too; use the transformation"
    )

    @property
    def segments(self) -> tuple[tuple[Point2, Point2], ...]:
        """The end points of each wall before `transformation` [m]."""
        return tuple(pairwise(self.shape))[::2]

    def errors(self) -> Iterator[str]:
        """Yield errors in the points."""
        if not self.shape and not self.model_uri:
            yield "walls require a <shape> or a <model_uri>"
        if len(self.shape) % 2:
            yield f"the number of points must be even, two for each wall, got {len(self.shape)}"


_SYNONYMS = {"rope": "distance", "pin": "revolute"}
_PIVOT = ("lower_angle", "upper_angle", "kp", "kd", "target_angle", "max_torque")
#: Parameters that only some types of joint use.
_JOINT_USES = {
    "distance": ("max_length", "min_length", "stiffness", "damping"),
    "revolute": ("enable_limit", *_PIVOT),
    "prismatic": ("enable_limit", "axis", "max_length", "min_length"),
    "weld": (),
}
JOINTS = ("distance", "revolute", "weld", "prismatic", "rope", "pin")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JointSpec(Spec):
    """A joint of two bodies."""

    type: str = param(
        "",
        attribute=True,
        required=True,
        check=one_of(*JOINTS),
        help="rope is another name of distance, pin of revolute",
    )
    name: str = param("", attribute=True, help="name of a driven pivot")
    body_a: str = param(
        "", attribute=True, required=True, check=NOT_EMPTY, help="name of a vehicle or block"
    )
    body_b: str = param(
        "", attribute=True, required=True, check=NOT_EMPTY, help="name of a vehicle or block"
    )
    anchor_a: Point2 = param(
        (0.0, 0.0), conv=POINT2, attribute=True, unit="m", help="in the frame of body_a"
    )
    anchor_b: Point2 = param(
        (0.0, 0.0), conv=POINT2, attribute=True, unit="m", help="in the frame of body_b"
    )
    axis: Point2 = param(
        (1.0, 0.0),
        conv=POINT2,
        attribute=True,
        help="of a prismatic joint, frame of body_a",
    )
    max_length: float = param(
        5.0,
        unit="m",
        check=NOT_NEGATIVE,
        attribute=True,
        help="of a distance joint; of a prismatic joint with enable_limit",
    )
    min_length: float = param(
        0.0,
        unit="m",
        check=NOT_NEGATIVE,
        attribute=True,
        help="of a distance joint; of a prismatic joint with enable_limit",
    )
    stiffness: float = param(
        0.0,
        unit="N/m",
        check=NOT_NEGATIVE,
        attribute=True,
        help="of a distance joint as a spring; 0: rigid",
    )
    damping: float = param(
        0.0,
        unit="N s/m",
        check=NOT_NEGATIVE,
        attribute=True,
        help="of a distance joint as a spring",
    )
    enable_limit: bool = param(False, attribute=True, help="limits a revolute or prismatic joint")
    kp: float = param(
        0.0,
        unit="N m/rad",
        check=NOT_NEGATIVE,
        attribute=True,
        help="of the motor of a revolute joint; 0: no motor",
    )
    kd: float = param(
        0.0, unit="N m s/rad", check=NOT_NEGATIVE, attribute=True, help="of the motor"
    )
    target_angle: float = param(
        0.0, xml="target_angle_deg", conv=DEGREES, unit="rad", attribute=True, help="of the motor"
    )
    max_torque: float = param(
        0.0, unit="N m", check=NOT_NEGATIVE, attribute=True, help="of the motor; 0: no limit"
    )
    lower_angle: float = param(
        0.0,
        xml="lower_angle_deg",
        conv=DEGREES,
        unit="rad",
        attribute=True,
        help="with enable_limit",
    )
    upper_angle: float = param(
        0.0,
        xml="upper_angle_deg",
        conv=DEGREES,
        unit="rad",
        attribute=True,
        help="with enable_limit",
    )

    def errors(self) -> Iterator[str]:
        """Yield errors in the limits and the bodies."""
        if self.min_length > self.max_length:
            yield f"min_length ({self.min_length:g} m) exceeds max_length ({self.max_length:g} m)"
        if self.lower_angle > self.upper_angle:
            low, high = math.degrees(self.lower_angle), math.degrees(self.upper_angle)
            yield f"lower_angle_deg ({low:g} deg) exceeds upper_angle_deg ({high:g} deg)"
        if self.body_a and self.body_a == self.body_b:
            yield f"body_a and body_b must differ, both are {self.body_a!r}"

    def warnings(self) -> Iterator[str]:
        """Yield parameters that the type does not use, and limits that are not enabled."""
        kind = _SYNONYMS.get(self.type, self.type)
        if kind not in _JOINT_USES:
            return
        for name, about in params(self):
            users = [other for other, used in _JOINT_USES.items() if name in used]
            given = getattr(self, name) != type(self).__dataclass_fields__[name].default
            if given and users and kind not in users:
                shown = " and ".join(repr(user) for user in users)
                yield f"{about.name or name} has no effect on a {kind!r} joint, only on {shown}"
        if (
            kind == "revolute"
            and not self.enable_limit
            and (self.lower_angle, self.upper_angle) != (0, 0)
        ):
            yield 'lower_angle_deg and upper_angle_deg have no effect without enable_limit="true"'

    def finished(self) -> JointSpec:
        """Return self with the main name of the type instead of a synonym."""
        return replace(self, type=_SYNONYMS.get(self.type, self.type))
