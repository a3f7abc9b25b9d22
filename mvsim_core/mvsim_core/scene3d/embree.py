# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rays by Embree 4, through the C library that the `embreex` wheel brings.

The wheel's own Python interface has no instances, so the library is called directly: building
by ctypes, casting from a compiled kernel. Constants and layouts are those of `embree4/rtcore.h`,
which are stable within version 4.
"""

from __future__ import annotations

import ctypes
import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import llvmlite.binding as llvm
import numpy as np
from numba import njit, types

from mvsim_core.errors import MvsimError
from mvsim_core.scene3d.caster import Tables
from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.rounds import round_hit
from mvsim_core.scene3d.tables import GLASS, Floats, Hits, Rays, aligned, plane_hit
from mvsim_core.state.arrays import FloatArray, IntArray, Rows

_TRIANGLE, _INSTANCE = 0, 121
_INDEX, _VERTEX = 0, 1
_UINT3, _FLOAT3, _FLOAT3X4_COLUMN_MAJOR = 0x5003, 0x9003, 0x9234
_DYNAMIC, _ROBUST = 1 << 0, 1 << 2
_LOW, _MEDIUM = 0, 1
_NOTHING = 0xFFFFFFFF
_FIELDS = 21  # of RTCRayHit16, each 16 wide
#: A ray that goes on starts so much farther than where it met a triangle, not to meet it again.
BEHIND = 1.0 + 4e-6
#: Smaller components of directions are zero to the library; hits are computed with the true ones.
TINY = 1e-15

_pointer = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "rtcNewDevice": (_pointer, [ctypes.c_char_p]),
    "rtcGetDeviceError": (ctypes.c_int, [_pointer]),
    "rtcNewScene": (_pointer, [_pointer]),
    "rtcReleaseScene": (None, [_pointer]),
    "rtcCommitScene": (None, [_pointer]),
    "rtcSetSceneFlags": (None, [_pointer, ctypes.c_int]),
    "rtcSetSceneBuildQuality": (None, [_pointer, ctypes.c_int]),
    "rtcNewGeometry": (_pointer, [_pointer, ctypes.c_int]),
    "rtcReleaseGeometry": (None, [_pointer]),
    "rtcCommitGeometry": (None, [_pointer]),
    "rtcAttachGeometryByID": (None, [_pointer, _pointer, ctypes.c_uint]),
    "rtcDetachGeometry": (None, [_pointer, ctypes.c_uint]),
    "rtcSetGeometryMask": (None, [_pointer, ctypes.c_uint]),
    "rtcSetGeometryInstancedScene": (None, [_pointer, _pointer]),
    "rtcSetGeometryTransform": (None, [_pointer, ctypes.c_uint, ctypes.c_int, _pointer]),
    "rtcSetSharedGeometryBuffer": (
        None,
        [
            _pointer,
            ctypes.c_int,
            ctypes.c_uint,
            ctypes.c_int,
            _pointer,
            *[ctypes.c_size_t] * 3,
        ],
    ),
}


class EmbreeMissingError(MvsimError):
    """The library is not installed, or not one that can be used."""


def _load() -> Any:
    found = importlib.util.find_spec("embreex")
    if found is None or found.origin is None:
        raise EmbreeMissingError("the Python package 'embreex' is not installed")
    base = Path(found.origin).parent
    places = [base.parent / "embreex.libs", base / ".dylibs", base]
    files = [f for place in places for f in sorted(place.glob("*embree4*"))]
    if not files:
        raise EmbreeMissingError(f"{base}: the package has no library embree4")
    try:
        for needed in sorted(files[0].parent.glob("*tbb*")):
            ctypes.CDLL(str(needed), mode=ctypes.RTLD_GLOBAL)
        library = ctypes.CDLL(str(files[0]))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        for name in ("rtcIntersect16", "rtcSetGeometryTransform", "rtcCommitGeometry"):
            address = ctypes.cast(getattr(library, name), _pointer).value
            llvm.add_symbol(f"mvsim_{name}", address)
    except (OSError, AttributeError) as error:
        raise EmbreeMissingError(f"{files[0].name}: {error}") from error
    return library


LIBRARY = _load()
# By symbol and not by address, so that numba can keep the compiled kernels.
_intersect16: Any = types.ExternalFunction(
    "mvsim_rtcIntersect16", types.void(types.intp, types.intp, types.intp, types.intp)
)
_set_transform: Any = types.ExternalFunction(
    "mvsim_rtcSetGeometryTransform",
    types.void(types.intp, types.uint32, types.int32, types.intp),
)
_commit_geometry: Any = types.ExternalFunction("mvsim_rtcCommitGeometry", types.void(types.intp))


@lru_cache(maxsize=1)
def device() -> int:
    """Return the library's handle, one for the whole process."""
    handle: int = LIBRARY.rtcNewDevice(b"threads=1")
    return handle


class ModelTree:
    """The library's tree of one model, kept as long as the model."""

    def __init__(self, model: Model) -> None:
        """Build the tree."""
        self.scene: int = LIBRARY.rtcNewScene(device())
        LIBRARY.rtcSetSceneFlags(self.scene, _ROBUST)  # else a ray in a million slips through
        LIBRARY.rtcSetSceneBuildQuality(self.scene, _MEDIUM)
        geometry = LIBRARY.rtcNewGeometry(device(), _TRIANGLE)
        count = len(model.vertices)
        # Kept, since the library reads them; a vertex more, since it reads 16 bytes at each.
        self._vertices = np.zeros((count + 1, 3), np.float32)
        self._vertices[:-1] = model.vertices
        self._faces = np.ascontiguousarray(model.triangles, np.uint32)
        share = LIBRARY.rtcSetSharedGeometryBuffer
        share(geometry, _VERTEX, 0, _FLOAT3, self._vertices.ctypes.data, 0, 12, count)
        share(geometry, _INDEX, 0, _UINT3, self._faces.ctypes.data, 0, 12, len(self._faces))
        LIBRARY.rtcSetGeometryMask(geometry, _NOTHING)
        LIBRARY.rtcCommitGeometry(geometry)
        LIBRARY.rtcAttachGeometryByID(self.scene, geometry, 0)
        LIBRARY.rtcReleaseGeometry(geometry)
        LIBRARY.rtcCommitScene(self.scene)

    def __del__(self) -> None:
        """Give the memory of the library back; instances hold the scene as long as they need."""
        if LIBRARY is not None:  # as it is when the interpreter ends
            LIBRARY.rtcReleaseScene(self.scene)


_trees: WeakKeyDictionary[Model, ModelTree] = WeakKeyDictionary()


def tree_of(model: Model) -> ModelTree:
    """Return the tree of a model, which is built once."""
    if model not in _trees:
        _trees[model] = ModelTree(model)
    return _trees[model]


class EmbreeCaster:
    """Casts rays at instances of models; a `Caster`."""

    def __init__(self) -> None:
        """Make an empty tree over instances."""
        self._device = device()
        self._trees: dict[int, ModelTree] = {}
        self._transforms = np.zeros((1, 12), np.float32)
        self._geometries = np.zeros(1, np.int64)
        self._top = LIBRARY.rtcNewScene(self._device)
        LIBRARY.rtcSetSceneFlags(self._top, _DYNAMIC | _ROBUST)
        LIBRARY.rtcSetSceneBuildQuality(self._top, _LOW)
        self._changed = True
        self._packet = aligned(_FIELDS * 16, np.float32)
        self._packet_ids = self._packet.view(np.uint32)
        self._valid = aligned(16, np.int32)
        self._options = aligned(16, np.uint32)  # RTCIntersectArguments
        # Not RTC_RAY_QUERY_FLAG_COHERENT, which saves no time: on processors with AVX-512 a
        # packet with a component of a direction between -1e-18 and 0 then meets nothing at all.
        self._options[0], self._options[1] = 0, _NOTHING

    def attach(self, row: int, model: Model, mask: int) -> None:
        """Take in an instance, as in `Caster`."""
        if row >= len(self._geometries):
            size = 2 * (row + 1)
            self._geometries = np.resize(self._geometries, size)
            self._transforms = np.zeros((size, 12), np.float32)
        tree = self._trees[row] = tree_of(model)  # kept, for the library reads its arrays
        geometry = LIBRARY.rtcNewGeometry(self._device, _INSTANCE)
        LIBRARY.rtcSetGeometryInstancedScene(geometry, tree.scene)
        LIBRARY.rtcSetGeometryMask(geometry, mask)
        LIBRARY.rtcAttachGeometryByID(self._top, geometry, row)
        LIBRARY.rtcReleaseGeometry(geometry)  # the scene holds it
        self._geometries[row] = geometry
        self._changed = True

    def detach(self, row: int, model: Model) -> None:
        """Take out an instance, as in `Caster`."""
        del model, self._trees[row]
        LIBRARY.rtcDetachGeometry(self._top, row)
        self._changed = True

    def place(self, instances: Rows, moved: IntArray) -> None:
        """Take over poses, as in `Caster`."""
        if len(moved):
            _place_kernel(instances, moved, self._geometries, self._transforms)
            self._changed = True

    def cast(self, rays: Rays, tables: Tables, origin: FloatArray, own: int, hits: Hits) -> None:
        """Write what rays meet, as in `Caster`."""
        if self._changed:
            self._commit()
        address = np.array(
            [
                self._top,
                self._packet.ctypes.data,
                self._valid.ctypes.data,
                self._options.ctypes.data,
            ],
            dtype=np.int64,
        )
        glass = GLASS if rays.pass_glass else 0.0
        _cast_kernel(
            address,
            (self._packet, self._packet_ids, self._valid),
            (rays.directions, rays.poses, origin),
            (
                rays.first,
                rays.rows,
                rays.near,
                rays.reach,
                np.uint32(rays.mask),
                rays.tile,
                glass,
                own,
            ),
            (tables.instances, tables.triangles, tables.rounds),
            (hits.distance, hits.cosine, hits.brightness, hits.part),
        )

    def _commit(self) -> None:
        LIBRARY.rtcCommitScene(self._top)
        error = LIBRARY.rtcGetDeviceError(self._device)
        if error:
            raise EmbreeMissingError(f"the library reports error {error}")
        self._changed = False

    def __del__(self) -> None:
        """Give the memory of the library back."""
        top = self.__dict__.pop("_top", None)
        if top is not None and LIBRARY is not None:
            LIBRARY.rtcReleaseScene(top)


@njit(cache=True, nogil=True)
def _place_kernel(
    instances: Rows, moved: IntArray, geometries: IntArray, transforms: Floats
) -> None:
    base = transforms.ctypes.data
    for k in moved:
        item = instances[k]
        for j in range(3):
            for i in range(3):
                transforms[k, 3 * j + i] = item.r[i, j]
            transforms[k, 9 + j] = item.t[j]
        _set_transform(geometries[k], 0, 0x9234, base + 48 * k)
        _commit_geometry(geometries[k])


@njit(cache=True, nogil=True, error_model="numpy")
def _cast_kernel(address, packet, grid, limits, tables, hits):  # type: ignore[no-untyped-def]
    """Cast packets of 16 rays: tiles of the grid.

    Triangles around something round only tell that a ray comes near it. What it meets of that is
    computed, and the ray cast on: there may be something else before that, or behind where it
    passes by. A ray that passes glass, or
    the visual of its own sensor, is cast on likewise.
    """
    floats, ids, valid = packet
    directions, poses, origin = grid
    first, count, near, reach, mask, tile, glass, own = limits
    instances, triangles, rounds = tables
    distance, cosine, brightness, part = hits
    columns = directions.shape[1]
    high, wide = tile
    along = np.zeros((16, 3))
    start = np.zeros((16, 3))
    for row0 in range(0, count, high):
        for column0 in range(0, columns, wide):
            for k in range(16):
                i = min(row0 + k // wide, count - 1)
                j = min(column0 + k % wide, columns - 1)
                p = poses[i] if poses.shape[0] > 1 else poses[0]
                d = directions[first + i, j]
                for axis in range(3):
                    a = 3 * axis
                    along[k, axis] = p[a] * d[0] + p[a + 1] * d[1] + p[a + 2] * d[2]
                    start[k, axis] = p[9 + axis] - origin[axis]
                    floats[16 * axis + k] = start[k, axis]
                    # Not the 1e-16 that sin(180 degrees) leaves; see `EmbreeCaster`.
                    tiny = abs(along[k, axis]) < TINY
                    floats[64 + 16 * axis + k] = 0.0 if tiny else along[k, axis]
                floats[48 + k] = near
                floats[112 + k] = 0.0
                floats[128 + k] = reach
                ids[144 + k] = mask
                ids[160 + k] = 0
                ids[176 + k] = 0
                valid[k] = -1
                distance[first + i, j], cosine[first + i, j] = np.inf, 0.0
                brightness[first + i, j], part[first + i, j] = 0.0, -1
            again = True
            while again:
                ids[18 * 16 : 21 * 16] = _NOTHING
                _intersect16(address[2], address[0], address[1], address[3])
                again = False
                for k in range(16):
                    if valid[k] == 0:
                        continue
                    valid[k] = 0
                    i, j = first + row0 + k // wide, column0 + k % wide
                    if i >= first + count or j >= columns or ids[18 * 16 + k] == _NOTHING:
                        continue
                    row = np.int64(ids[19 * 16 + k])
                    item = instances[row]
                    face = triangles[item.first + ids[17 * 16 + k]]
                    o = (start[k, 0], start[k, 1], start[k, 2])
                    d3 = (along[k, 0], along[k, 1], along[k, 2])
                    found = np.float64(floats[128 + k])
                    flat = face.round < 0
                    if flat:
                        t, c = plane_hit(item, face.plane, o, d3, found)
                    else:
                        t, c = round_hit(item, rounds[face.round], o, d3, near)
                        t = t if t <= reach else np.inf
                    if face.opacity < glass or row == own:
                        t = np.inf
                        flat = False
                    if not flat:
                        floats[48 + k] = BEHIND * found + 1e-6
                        floats[128 + k] = min(t, distance[i, j], reach)
                        if floats[48 + k] < floats[128 + k]:
                            valid[k] = -1
                            again = True
                    if t < distance[i, j]:
                        distance[i, j], cosine[i, j] = t, c
                        brightness[i, j] = face.brightness
                        part[i, j] = face.part if face.part < -1 else row
