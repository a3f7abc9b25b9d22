# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Triangles and looks: what 3D sensors see of one thing. No files and no poses are known here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_core.scene3d.rounds import ROUND
from mvsim_core.state.arrays import FloatArray, IntArray, Rows

Rgba = tuple[float, float, float, float]


#: Weights of red, green and blue (ITU-R BT.601).
BRIGHTNESS = (0.299, 0.587, 0.114)


class Material(NamedTuple):
    """How a surface looks.

    Attributes:
        color: Red, green, blue, opacity, 0 to 1; a texture is multiplied by it.
        texture: Image file, "" for none.
        texture_color: Mean colour of that image.
        cull_face: Which side of its triangles cameras do not see: "NONE", "FRONT" (from where
            their corners run counter-clockwise), "BACK" or "BOTH". Rays meet both sides.
    """

    color: Rgba = (0.7, 0.7, 0.7, 1.0)
    texture: str = ""
    texture_color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    cull_face: str = "NONE"

    @property
    def reflectivity(self) -> float:
        """Brightness of the mean colour, 0 to 1: what lidars call intensity."""
        colors = zip(BRIGHTNESS, self.color, self.texture_color, strict=False)
        return sum(weight * (c * t) for weight, c, t in colors)


GREY = Material()


@dataclass(frozen=True, eq=False)
class Model:
    """Triangles in the frame of what they belong to; models are compared by identity.

    Attributes:
        vertices: (n, 3) m.
        triangles: (m, 3) rows of vertices.
        materials: What `material` counts.
        material: (m,) index into materials.
        texcoords: (n, 2) texture coordinates, (0, 0) is the lower left corner; None: no textures.
        rounds: (k,) rows of ROUND, balls and cylinders that are exact for rays.
        round_of: (m,) row of `rounds` that a triangle lies around; -1: it is flat.
    """

    vertices: FloatArray
    triangles: IntArray
    materials: tuple[Material, ...] = (GREY,)
    material: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    texcoords: FloatArray | None = None
    rounds: Rows = field(default_factory=lambda: np.zeros(0, ROUND))
    round_of: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        """Drop triangles without an area; fill in what is not given."""
        triangles = np.asarray(self.triangles, np.int64).reshape(-1, 3)
        material = np.asarray(self.material, np.int64)
        if len(material) == 0:
            material = np.zeros(len(triangles), np.int64)
        round_of = np.asarray(self.round_of, np.int64)
        if len(round_of) == 0:
            round_of = np.full(len(triangles), -1)
        corners = self.vertices[triangles]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        kept = np.linalg.norm(normal, axis=1) > 0.0
        object.__setattr__(self, "triangles", triangles[kept])
        object.__setattr__(self, "material", material[kept])
        object.__setattr__(self, "round_of", round_of[kept])

    @cached_property
    def planes(self) -> FloatArray:
        """(m, 4): unit normal n and c of each triangle's plane n·x = c [1, m]."""
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        offset = (normal * (a + b + c)).sum(axis=1) / 3.0
        return np.column_stack((normal, offset))

    def moved(self, rotation: FloatArray, shift: npt.ArrayLike) -> Model:
        """Return it turned (and scaled alike in all directions), then shifted [m]."""
        rounds = self.rounds.copy()
        rounds["centre"] = self.rounds["centre"] @ rotation.T + np.asarray(shift)
        rounds["half"] = self.rounds["half"] @ rotation.T
        rounds["radius"] *= np.cbrt(abs(np.linalg.det(rotation)))
        vertices = self.vertices @ rotation.T + np.asarray(shift)
        return replace(self, vertices=vertices, rounds=rounds)


def join(models: Sequence[Model]) -> Model:
    """Return several models as one; texture coordinates are kept where there are any."""
    first = np.cumsum([0, *(len(m.vertices) for m in models)])
    materials: dict[Material, int] = {}
    triangles, material = [np.zeros((0, 3), np.int64)], [np.zeros(0, np.int64)]
    texcoords = [np.zeros((0, 2))]
    for model, start in zip(models, first[:-1], strict=True):
        rows = np.array([materials.setdefault(m, len(materials)) for m in model.materials])
        triangles.append(model.triangles + start)
        material.append(rows[model.material])
        uv = model.texcoords
        texcoords.append(np.zeros((len(model.vertices), 2)) if uv is None else uv)
    return Model(
        np.concatenate([np.zeros((0, 3)), *(m.vertices for m in models)]),
        np.concatenate(triangles),
        tuple(materials) or (GREY,),
        np.concatenate(material),
        np.concatenate(texcoords) if any(m.texcoords is not None for m in models) else None,
        *rounds_of(models),
    )


def rounds_of(models: Sequence[Model]) -> tuple[Rows, IntArray]:
    """Return `rounds` and `round_of` of all triangles of several models."""
    first = np.cumsum([0, *(len(m.rounds) for m in models)])
    rounds, round_of = [np.zeros(0, ROUND)], [np.zeros(0, np.int64)]
    for model, start in zip(models, first[:-1], strict=True):
        rounds.append(model.rounds)
        round_of.append(np.where(model.round_of >= 0, model.round_of + start, -1))
    return np.concatenate(rounds), np.concatenate(round_of)
