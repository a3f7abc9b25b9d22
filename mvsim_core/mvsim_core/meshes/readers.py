# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readers of 3D models. Their libraries are imported when the first model is read.

Axes are those of the C++ simulator: COLLADA models are converted to metres and rotated so that y
is up, whatever up axis their file declares; all other formats are used unchanged. A COLLADA model
that was drawn with z up therefore needs ``<model_roll>90</model_roll>`` to stand upright.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_core.errors import MvsimError
from mvsim_core.resources.remote_files import RemoteError, local_copy
from mvsim_core.state.arrays import FloatArray, IntArray

#: Formats that can be read.
FORMATS = (".dae", ".glb", ".gltf", ".obj", ".off", ".ply", ".stl")

UP_AXIS = {
    "X_UP": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "Y_UP": np.eye(3),
    "Z_UP": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
}


_DECLARATIONS = ("<!DOCTYPE", "<!ENTITY")
_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


class MeshError(MvsimError):
    """A 3D model cannot be read; the message names the file and the reason."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """A model as plain arrays.

    Attributes:
        vertices: (n, 3) m, in the model's frame.
        triangles: (m, 3) rows of vertices.
        lines: (k, 2) rows of vertices: edges that belong to no triangle.
    """

    vertices: FloatArray
    triangles: IntArray
    lines: IntArray


def local_model(path: str | Path) -> Path:
    """Return the file of a model, after downloading it if `path` is an http address.

    Raises:
        MeshError: It is of an unknown format, does not exist, or cannot be downloaded.
    """
    suffix = PurePosixPath(str(path).partition("?")[0]).suffix
    if suffix.lower() not in FORMATS:
        known = ", ".join(FORMATS)
        raise MeshError(f"{path}: models of type {suffix!r} cannot be read, only {known}")
    try:
        file = local_copy(str(path))
    except RemoteError as error:
        raise MeshError(str(error)) from None
    if not file.is_file():
        raise MeshError(f"{path}: the model file does not exist")
    return file


def read_mesh(path: str | Path) -> Mesh:
    """Return the model in a file or at an http address; unchanged files are read once.

    Raises:
        MeshError: It is missing, of an unknown format, damaged or empty, or cannot be downloaded.
    """
    path = local_model(path)
    stat = path.stat()
    return _read(path, (stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=64)
def _read(path: Path, stamp: tuple[int, int]) -> Mesh:
    del stamp  # part of the key only
    reader = _read_collada if path.suffix.lower() == ".dae" else _read_other
    try:
        mesh = reader(path)
    except ImportError as error:
        raise MeshError(f"{path}: reading it needs the Python package {error.name!r}") from error
    except MemoryError:
        raise
    except Exception as error:  # for damaged files the libraries raise errors of any class
        raise MeshError(f"{path}: the model is damaged ({error})") from error
    if len(mesh.vertices) == 0:
        raise MeshError(f"{path}: the model is empty")
    if not np.isfinite(mesh.vertices).all():
        raise MeshError(f"{path}: the model has vertices that are not finite")
    return mesh


class _Collector:
    """Joins parts into one mesh."""

    def __init__(self) -> None:
        self._vertices: list[FloatArray] = []
        self._triangles: list[IntArray] = []
        self._lines: list[IntArray] = []
        self._count = 0

    def add(
        self, vertices: npt.ArrayLike, triangles: npt.ArrayLike = (), lines: npt.ArrayLike = ()
    ) -> None:
        points = np.asarray(vertices, dtype=np.float64).reshape(-1, 3)
        self._vertices.append(points)
        self._triangles.append(np.asarray(triangles, np.int64).reshape(-1, 3) + self._count)
        self._lines.append(np.asarray(lines, np.int64).reshape(-1, 2) + self._count)
        self._count += len(points)

    def mesh(self) -> Mesh:
        no_points = np.zeros((0, 3))
        no_rows = np.zeros((0, 3), np.int64), np.zeros((0, 2), np.int64)
        return Mesh(
            np.concatenate([no_points, *self._vertices]),
            np.concatenate([no_rows[0], *self._triangles]),
            np.concatenate([no_rows[1], *self._lines]),
        )


def check_no_entities(path: Path) -> None:
    """Refuse a COLLADA file that declares entities, which may expand to gigabytes.

    Raises:
        MeshError: It has a document type, or is an archive in which one cannot be looked for.
    """
    data = path.read_bytes()
    if data.startswith(b"PK"):
        raise MeshError(f"{path}: is an archive; unpack it")
    if any(word.encode(code) in data for word in _DECLARATIONS for code in _ENCODINGS):
        raise MeshError(f"{path}: must not declare a document type or entities")


def _read_collada(path: Path) -> Mesh:
    check_no_entities(path)
    collada = importlib.import_module("collada")
    ignored = [collada.common.DaeUnsupportedError, collada.common.DaeBrokenRefError]
    document: Any = collada.Collada(str(path), ignore=ignored)
    info = document.assetInfo
    turn = UP_AXIS[info.upaxis] * float(info.unitmeter or 1.0)
    parts = _Collector()
    if document.scene is None:
        return parts.mesh()
    for geometry in document.scene.objects("geometry"):
        for primitive in geometry.primitives():
            if hasattr(primitive, "triangleset"):
                primitive = primitive.triangleset()
            rows = primitive.vertex_index
            if rows is None or len(rows) == 0:
                continue
            is_line = rows.ndim < 2 or rows.shape[1] == 2
            used, packed = np.unique(rows, return_inverse=True)
            points = np.asarray(primitive.vertex, np.float64)[used] @ turn.T
            if is_line:
                parts.add(points, lines=packed)
            else:
                parts.add(points, triangles=packed)
    return parts.mesh()


def _read_other(path: Path) -> Mesh:
    trimesh = importlib.import_module("trimesh")
    options = {"skip_materials": True} if path.suffix.lower() == ".obj" else {}
    scene: Any = trimesh.load_scene(str(path), process=False, **options)
    parts = _Collector()
    for piece in scene.dump():
        if hasattr(piece, "faces"):
            parts.add(piece.vertices, triangles=piece.faces)
        elif hasattr(piece, "entities"):
            for curve in piece.discrete:
                rows = np.arange(len(curve))
                parts.add(curve, lines=np.column_stack((rows[:-1], rows[1:])))
        else:
            parts.add(piece.vertices)
    return parts.mesh()
