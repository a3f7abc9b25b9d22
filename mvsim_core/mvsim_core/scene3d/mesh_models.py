# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""3D models with their colours and textures. Shapes come from `mesh_files`, with its axes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mvsim_core.meshes.readers import UP_AXIS, MeshError, local_model, read_mesh
from mvsim_core.scene3d.model import GREY, Material, Model, Rgba, join
from mvsim_core.scene3d.textures import keep_picture, texture_of
from mvsim_core.state.arrays import FloatArray

_WHITE = (1.0, 1.0, 1.0)
#: Vertex colours are rounded to this many steps, so that a model has few materials.
_SHADES = 8


def read_looks(path: str, color: Rgba) -> Model:
    """Return a model with its materials; a colour that is not white replaces all of them.

    Raises:
        MeshError: It cannot be read.
    """
    mesh = read_mesh(path)  # says what is wrong with a file, in one way everywhere
    file = local_model(path)
    if tuple(color[:3]) != _WHITE:
        look = Material((*_opaque(color)[:3], color[3]))
        return Model(mesh.vertices, mesh.triangles, (look,))
    try:
        model = _read(file, file.stat().st_mtime_ns)
    except Exception:  # the libraries raise whatever odd materials make them stumble on
        model = None
    return model or Model(mesh.vertices, mesh.triangles, (GREY,))


@lru_cache(maxsize=64)
def _read(path: Path, stamp: int) -> Model | None:
    del stamp  # only a part of the key
    pieces = list(_collada(path) if path.suffix.lower() == ".dae" else _other(path))
    return join(pieces) if pieces else None


def _collada(path: Path) -> Iterator[Model]:
    collada = importlib.import_module("collada")
    ignored = [collada.common.DaeUnsupportedError, collada.common.DaeBrokenRefError]
    document: Any = collada.Collada(str(path), ignore=ignored)
    turn = UP_AXIS[document.assetInfo.upaxis] * float(document.assetInfo.unitmeter or 1.0)
    for geometry in document.scene.objects("geometry") if document.scene else ():
        for part in geometry.primitives():
            if hasattr(part, "triangleset"):
                part = part.triangleset()
            rows = part.vertex_index
            if rows is None or len(rows) == 0 or rows.ndim < 2 or rows.shape[1] != 3:
                continue
            corners = (np.asarray(part.vertex, np.float64) @ turn.T)[rows].reshape(-1, 3)
            texcoords = None
            if part.texcoordset:
                table, index = part.texcoordset[0], part.texcoord_indexset[0]
                texcoords = np.asarray(table, np.float64)[index].reshape(-1, 2)
            look = _effect(path.parent, getattr(part.material, "effect", None))
            faces = np.arange(len(corners)).reshape(-1, 3)
            yield Model(corners, faces, (look,), texcoords=texcoords)


def _effect(folder: Path, effect: Any) -> Material:
    diffuse = getattr(effect, "diffuse", None)
    if diffuse is None:
        return GREY
    if not hasattr(diffuse, "sampler"):
        return Material(_opaque(tuple(diffuse)))
    file = folder / str(diffuse.sampler.surface.image.path)
    return texture_of((1.0, 1.0, 1.0, 1.0), str(file))[0]


def _other(path: Path) -> Iterator[Model]:
    trimesh = importlib.import_module("trimesh")
    scene: Any = trimesh.load_scene(str(path), process=False)
    for piece in scene.dump():
        if not hasattr(piece, "faces") or len(piece.faces) == 0:
            continue
        vertices = np.asarray(piece.vertices, np.float64)
        faces = np.asarray(piece.faces, np.int64)
        visual = piece.visual
        if getattr(visual, "kind", None) == "texture":
            look, uv = _surface(visual.material), getattr(visual, "uv", None)
            texcoords = None if uv is None else np.asarray(uv, np.float64)
            yield Model(vertices, faces, (look,), texcoords=texcoords)
            continue
        colors: FloatArray = np.tile(np.array(GREY.color), (len(faces), 1))
        if getattr(visual, "defined", False):
            colors = np.asarray(visual.face_colors, float) / 255
        coarse = np.round(colors * _SHADES) / _SHADES
        found, which = np.unique(coarse, axis=0, return_inverse=True)
        looks = tuple(Material(_opaque(tuple(c))) for c in found.tolist())
        yield Model(vertices, faces, looks, which.reshape(-1).astype(np.int64))


def _surface(material: Any) -> Material:
    """Return what a material of trimesh says: of OBJ files (simple) or of glTF (PBR)."""
    picture = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
    factor = getattr(material, "baseColorFactor", None)
    if factor is None:
        # The diffuse colour of an OBJ file tints nothing but surfaces without a picture.
        color = [*_WHITE] if picture is not None else _shares(material.main_color)
        return keep_picture(Material(_opaque(tuple(color))), picture)
    color = _shares(factor)
    look = Material(_opaque(tuple(color)))
    if getattr(material, "alphaMode", None) == "BLEND" and len(color) > 3:
        look = look._replace(color=(*look.color[:3], color[3]))
    return keep_picture(look, picture)


def _shares(color: Any) -> list[float]:
    """Return the channels of a colour, 0 to 1, from bytes or numbers."""
    values = np.asarray(color).ravel()
    shares: list[float] = (values / (255 if values.dtype.kind in "iu" else 1)).tolist()
    return shares


def _opaque(color: tuple[float, ...]) -> Rgba:
    r, g, b = (min(max(float(c), 0.0), 1.0) for c in color[:3])
    return (r, g, b, 1.0)


__all__ = ["MeshError", "read_looks"]
