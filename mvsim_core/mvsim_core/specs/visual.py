# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""Visuals: meshes and simple geometry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.converters import DEGREES, URI, Color
from mvsim_core.specs.params import NOT_NEGATIVE, POSITIVE, Spec, in_range, one_of, param

CULL_FACES = one_of("NONE", "FRONT", "BACK")
CULL_HELP = "side that neither cameras nor shadows see; lidars see both"
NO_SPLIT = "models are rendered in one piece"
GEOMETRIES = ("cylinder", "sphere", "box", "ramp", "semi_cylinder_bump")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VisualSpec(Spec):
    """A mesh at a pose in the frame of its owner; without a `model_uri` nothing is visible."""

    enabled: bool = param(True, attribute=True)
    name: str = param("group", help="target of a wheel's linked_yaw")
    model_uri: str = param("", conv=URI, help="mesh file: local path, package:// or http(s)://")
    model_scale: float = param(1.0, check=POSITIVE)
    model_offset_x: float = param(0.0, unit="m", help="in the frame of the owner")
    model_offset_y: float = param(0.0, unit="m", help="in the frame of the owner")
    model_offset_z: float = param(0.0, unit="m", help="in the frame of the owner")
    model_yaw: float = param(0.0, conv=DEGREES, unit="rad")
    model_pitch: float = param(0.0, conv=DEGREES, unit="rad")
    model_roll: float = param(0.0, conv=DEGREES, unit="rad")
    model_color: Color = param(Color(1.0, 1.0, 1.0), help="overrides materials unless white")
    model_cull_faces: str = param("NONE", check=CULL_FACES, help=CULL_HELP)
    model_split_size: float = param(0.0, unit="m", check=NOT_NEGATIVE, no_effect=NO_SPLIT)
    show_bounding_box: bool = param(False, no_effect="there is no window that shows it")

    @property
    def pose(self) -> Pose:
        """Pose of the mesh in the frame of its owner [m, rad]."""
        return Pose(
            self.model_offset_x,
            self.model_offset_y,
            self.model_offset_z,
            self.model_roll,
            self.model_pitch,
            self.model_yaw,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class GeometrySpec(Spec):
    """A simple solid instead of a mesh.

    A cylinder has its base at z = 0, a sphere its centre and a box a corner at the origin. A ramp
    rises along x from 0 to lx. A bump is half a cylinder with its axis along x.
    """

    type: str = param("", attribute=True, check=one_of(*GEOMETRIES), required=True)
    radius: float = param(
        0.0, unit="m", check=NOT_NEGATIVE, attribute=True, help="of a cylinder or sphere"
    )
    length: float = param(
        0.0, unit="m", check=NOT_NEGATIVE, attribute=True, help="height of a cylinder"
    )
    lx: float = param(0.0, unit="m", check=NOT_NEGATIVE, attribute=True, help="size along x")
    ly: float = param(0.0, unit="m", check=NOT_NEGATIVE, attribute=True, help="size along y")
    lz: float = param(0.0, unit="m", check=NOT_NEGATIVE, attribute=True, help="height")
    vertex_count: int = param(
        0, check=in_range(0, 1000), attribute=True, help="number of sides of round shapes; 0: 10"
    )

    def errors(self) -> Iterator[str]:
        """Yield the sizes that the type requires and that are missing."""
        needed = {
            "cylinder": ("radius", "length"),
            "sphere": ("radius",),
            "box": ("lx", "ly", "lz"),
            "ramp": ("lx", "ly", "lz"),
            "semi_cylinder_bump": ("lx", "ly", "lz"),
        }
        for size in needed.get(self.type, ()):
            if not getattr(self, size) > 0:
                yield f"{size} of a {self.type} must be > 0 [m]"
