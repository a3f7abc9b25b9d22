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
from mvsim_core.resources.remote_files import RemoteError, local_copy
from mvsim_core.sensors.scene3d.model import GREY, Material, Model, Rgba, join
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
        return Model(mesh.vertices, mesh.triangles, (Material(_opaque(color)),))
    try:
        model = _read(file, file.stat().st_mtime_ns)
    except Exception:  # the libraries raise whatever odd materials make them stumble on
        model = None
    return model or Model(mesh.vertices, mesh.triangles, (GREY,))


def texture_of(color: Rgba, texture: str) -> tuple[Material, str]:
    """Return a material and what is wrong with its texture, or ""."""
    if not texture:
        return Material(color), ""
    try:
        path = str(local_copy(texture))
    except RemoteError as error:
        return Material(color), str(error)
    mean = _mean_color(path)
    if mean is None:
        return Material(color), f"{texture}: the texture cannot be read as an image"
    return Material(color, path, mean), ""


@lru_cache(maxsize=256)
def _mean_color(path: str) -> tuple[float, float, float] | None:
    from PIL import Image

    try:
        with Image.open(path) as image:
            r, g, b = (np.asarray(image.convert("RGB").resize((1, 1)))[0, 0] / 255).tolist()
    except (OSError, ValueError):
        return None
    return r, g, b


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
        visual = piece.visual
        colors: FloatArray = np.tile(np.array(GREY.color), (len(piece.faces), 1))
        if getattr(visual, "kind", None) == "texture":
            colors[:] = np.asarray(visual.material.main_color, float) / 255
        elif getattr(visual, "defined", False):
            colors = np.asarray(visual.face_colors, float) / 255
        coarse = np.round(colors * _SHADES) / _SHADES
        found, which = np.unique(coarse, axis=0, return_inverse=True)
        looks = tuple(Material(_opaque(tuple(c))) for c in found.tolist())
        yield Model(
            np.asarray(piece.vertices, np.float64),
            np.asarray(piece.faces, np.int64),
            looks,
            which.reshape(-1).astype(np.int64),
        )


def _opaque(color: tuple[float, ...]) -> Rgba:
    r, g, b = (min(max(float(c), 0.0), 1.0) for c in color[:3])
    return (r, g, b, 1.0)


__all__ = ["MeshError", "read_looks", "texture_of"]
