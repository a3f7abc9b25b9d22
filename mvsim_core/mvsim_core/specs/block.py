# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""Blocks (obstacles, fixed or movable), walls drawn as point pairs, joints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from mvsim_core.specs.converters import DEGREES, MATRIX, NUMBER, POINT2, URI, Color, Matrix, Point2
from mvsim_core.specs.dynamics import Polygon
from mvsim_core.specs.params import (
    NOT_EMPTY,
    NOT_NEGATIVE,
    POLYGON,
    POSITIVE,
    Check,
    Spec,
    one_of,
    param,
    params,
    section,
)
from mvsim_core.specs.shapes import shape_faults
from mvsim_core.specs.simulable import SimulableSpec
from mvsim_core.specs.visual import GeometrySpec, VisualSpec

_UNIT_SQUARE: Polygon = ((-0.5, -0.5), (-0.5, 0.5), (0.5, 0.5), (0.5, -0.5))
_IDENTITY: Matrix = (
    (1.0, 0.0, 0.0, 0.0),
    (0.0, 1.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, 0.0),
    (0.0, 0.0, 0.0, 1.0),
)
_HEIGHTS = "absent: that of the geometry or the meshes, else {}"
_FOUR_BY_FOUR = Check("must be 4 x 4", lambda m: len(m) == 4 and len(m[0]) == 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSpec(SimulableSpec):
    """A rigid prism. `intangible` ones collide with nothing but still are ground and seen.

    `zmin`, `zmax` [m] may be None where a geometry or meshes give them; `shape` is None with
    `shape_from_visual`.
    """

    name: str = param("", attribute=True, help="absent: block001, block002, ...")
    class_name: str = param("", xml="class", attribute=True)
    mass: float = param(30.0, unit="kg", check=POSITIVE)
    static: bool = param(False)
    intangible: bool = param(False)
    ground_friction: float = param(0.5, check=NOT_NEGATIVE)
    lateral_friction: float = param(0.5, check=NOT_NEGATIVE, help="of its sides, in contacts")
    restitution: float = param(0.01, check=NOT_NEGATIVE)
    linear_damping: float = param(0.1, unit="1/s", check=NOT_NEGATIVE)
    angular_damping: float = param(0.1, unit="1/s", check=NOT_NEGATIVE)
    zmin: float | None = param(None, conv=NUMBER, unit="m", help=_HEIGHTS.format(0))
    zmax: float | None = param(None, conv=NUMBER, unit="m", help=_HEIGHTS.format(1))
    color: Color = param(Color(0.0, 0.0, 1.0))
    visual_scale: float | None = param(
        None,
        conv=NUMBER,
        check=Check("must be > 0", lambda v: v is None or v > 0),
        help="replaces the model_scale of all its visuals",
    )
    shape: Polygon | None = param(
        _UNIT_SQUARE, conv=POINT2, form="items", item="pt", unit="m", check=POLYGON
    )
    geometry: GeometrySpec | None = section(
        None, "geometry", GeometrySpec, help="the shape too, where none is given"
    )
    shape_from_visual: bool = param(False, form="flag")
    visuals: tuple[VisualSpec, ...] = section((), "visual", VisualSpec, many=True)

    @property
    def is_geometry(self) -> bool:
        """Whether the geometry is its shape: no other is given, nor comes from meshes alone."""
        return self.geometry is not None and self.shape in (None, _UNIT_SQUARE)

    def doubts(self) -> Iterator[str]:
        """Yield that of two shapes one does not count."""
        if self.geometry is not None and not self.is_geometry:
            yield "<geometry> has no effect beside <shape>"

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the height range and the shape's source."""
        if self.zmin is not None and self.zmax is not None and self.zmin >= self.zmax:
            yield f"zmin ({self.zmin:g} m) must be below zmax ({self.zmax:g} m)"
        if self.shape_from_visual and self.geometry is None and not self.visuals:
            yield "shape_from_visual needs a <visual> or a <geometry>"
        yield from shape_faults(self.shape)

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
        return replace(self, **derived) if derived else self


@dataclass(frozen=True, slots=True, kw_only=True)
class WallsSpec(Spec):
    """Straight walls between pairs of points, or along the lines of a model."""

    shape: tuple[Point2, ...] = param(
        (), conv=POINT2, form="items", item="pt", unit="m", help="ends of the walls, in pairs"
    )
    model_uri: str = param("", conv=URI, help="mesh whose lines, or edges, are the walls")
    transformation: Matrix = param(
        _IDENTITY,
        conv=MATRIX,
        check=_FOUR_BY_FOUR,
        help="of the ends, homogeneous; points of a shape have z = 0",
    )
    thickness: float = param(0.1, xml="wallThickness", unit="m", check=POSITIVE)
    height: float = param(2.0, xml="wallHeight", unit="m", check=POSITIVE)
    color: Color = param(Color.hex("#323232"))
    scale: float = param(
        1.0, check=POSITIVE, idle="nor has it in the original; use the transformation"
    )

    @property
    def segments(self) -> tuple[tuple[Point2, Point2], ...]:
        """The walls' ends before `transformation` [m]."""
        return tuple(pairwise(self.shape))[::2]

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the points."""
        if not self.shape and not self.model_uri:
            yield "walls need a <shape> or a <model_uri>"
        if len(self.shape) % 2:
            yield f"the points of walls come in pairs, got {len(self.shape)}"


_SYNONYMS = {"rope": "distance", "pin": "revolute"}
_PIVOT = ("lower_angle", "upper_angle", "kp", "kd", "target_angle", "max_torque")
#: What not all types of joint use.
_JOINT_USES = {
    "distance": ("max_length", "min_length", "stiffness", "damping"),
    "revolute": ("enable_limit", *_PIVOT),
    "prismatic": ("enable_limit", "axis", "max_length", "min_length"),
    "weld": (),
}
JOINTS = ("distance", "revolute", "weld", "prismatic", "rope", "pin")


@dataclass(frozen=True, slots=True, kw_only=True)
class JointSpec(Spec):
    """A joint of two bodies at anchors in their own frames [m]."""

    type: str = param("", attribute=True, required=True, check=one_of(*JOINTS))
    name: str = param("", attribute=True, help="under which a driven pivot is found")
    body_a: str = param("", attribute=True, required=True, check=NOT_EMPTY)
    body_b: str = param("", attribute=True, required=True, check=NOT_EMPTY)
    anchor_a: Point2 = param((0.0, 0.0), conv=POINT2, attribute=True, unit="m")
    anchor_b: Point2 = param((0.0, 0.0), conv=POINT2, attribute=True, unit="m")
    axis: Point2 = param(
        (1.0, 0.0),
        conv=POINT2,
        attribute=True,
        help="of a prismatic joint, in the frame of body_a",
    )
    max_length: float = param(5.0, unit="m", check=NOT_NEGATIVE, attribute=True)
    min_length: float = param(0.0, unit="m", check=NOT_NEGATIVE, attribute=True)
    stiffness: float = param(0.0, unit="N/m", check=NOT_NEGATIVE, attribute=True)
    damping: float = param(0.0, unit="N s/m", check=NOT_NEGATIVE, attribute=True)
    enable_limit: bool = param(False, attribute=True)
    kp: float = param(
        0.0,
        unit="N m/rad",
        check=NOT_NEGATIVE,
        attribute=True,
        help="of a motor in a revolute joint; 0: no motor",
    )
    kd: float = param(0.0, unit="N m s/rad", check=NOT_NEGATIVE, attribute=True)
    target_angle: float = param(
        0.0, xml="target_angle_deg", conv=DEGREES, unit="rad", attribute=True
    )
    max_torque: float = param(
        0.0, unit="N m", check=NOT_NEGATIVE, attribute=True, help="of the motor; 0: no limit"
    )
    lower_angle: float = param(
        0.0, xml="lower_angle_deg", conv=DEGREES, unit="rad", attribute=True
    )
    upper_angle: float = param(
        0.0, xml="upper_angle_deg", conv=DEGREES, unit="rad", attribute=True
    )

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the limits and the bodies."""
        if self.min_length > self.max_length:
            yield f"min_length ({self.min_length:g} m) exceeds max_length ({self.max_length:g} m)"
        if self.lower_angle > self.upper_angle:
            low, high = math.degrees(self.lower_angle), math.degrees(self.upper_angle)
            yield f"lower_angle_deg ({low:g} deg) exceeds upper_angle_deg ({high:g} deg)"
        if self.body_a and self.body_a == self.body_b:
            yield f"body_a and body_b are both {self.body_a!r}; a joint needs two bodies"

    def doubts(self) -> Iterator[str]:
        """Yield what its type of joint does not use, and limits that are not switched on."""
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
            yield 'lower_angle_deg and upper_angle_deg limit nothing without enable_limit="true"'

    def finished(self) -> JointSpec:
        """Return self with the type's own name instead of a synonym."""
        return replace(self, type=_SYNONYMS.get(self.type, self.type))
