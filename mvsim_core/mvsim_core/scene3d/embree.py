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
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import llvmlite.binding as llvm
import numpy as np
from numba import njit, types

from mvsim_core.errors import MvsimError
from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.scene3d.caster import Tables
from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.rounds import round_hit
from mvsim_core.scene3d.surfaces import brightness_at
from mvsim_core.scene3d.tables import (
    CODES,
    GLASS,
    Floats,
    Hits,
    Rays,
    aligned,
    body_code,
    plane_hit,
)
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.threads import run_all, threads

_TRIANGLE, _INSTANCE = 0, 121
_INDEX, _VERTEX = 0, 1
_UINT3, _FLOAT3, _FLOAT3X4_COLUMN_MAJOR = 0x5003, 0x9003, 0x9234
_DYNAMIC, _ROBUST = 1 << 0, 1 << 2
_LOW, _MEDIUM = 0, 1
_NOTHING = 0xFFFFFFFF
_COHERENT = 1 << 16  # RTC_RAY_QUERY_FLAG_COHERENT: the rays of a packet go about the same way
_FIELDS = 21  # of RTCRayHit8 and RTCRayHit16, each as wide as the packet
_RAY16_SUPPORTED = 34  # RTC_DEVICE_PROPERTY_NATIVE_RAY16_SUPPORTED
#: Least rays that are worth a piece of work; pieces a thread, for some take longer than others.
LEAST_RAYS, PIECES = 3000, 4
#: A ray that goes on starts so much farther than where it met a triangle, not to meet it again.
BEHIND = 1.0 + 4e-6
#: Edges of triangles are moved out by so much [m], and by this share of the model's size: a few
#: units in the last place of single precision at 400 m, and at the farthest corner.
WIDER, WIDER_SHARE = 2e-5, 4e-7
#: The library's world is turned by this. Of a packet of coherent rays with a component of a
#: direction between -1e-18 and 0, in the world or in a model's frame, it loses all, since it takes
#: the sign once from the component and once from what it puts in its place. Rays along the axes,
#: of sensors and models that lie along the axes but for rounding, have such components; turned,
#: their components are sums of products that are all larger, or 0.
TURN = rotation(Pose(roll=0.0413, pitch=-0.0307, yaw=0.0529))

_pointer = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "rtcNewDevice": (_pointer, [ctypes.c_char_p]),
    "rtcGetDeviceError": (ctypes.c_int, [_pointer]),
    "rtcGetDeviceProperty": (ctypes.c_ssize_t, [_pointer, ctypes.c_int]),
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


_CALLED_BY_KERNELS = (
    "rtcIntersect8",
    "rtcIntersect16",
    "rtcSetGeometryTransform",
    "rtcCommitGeometry",
)


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
        for name in _CALLED_BY_KERNELS:
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
_intersect8: Any = types.ExternalFunction(
    "mvsim_rtcIntersect8", types.void(types.intp, types.intp, types.intp, types.intp)
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


@lru_cache(maxsize=1)
def packet_width() -> int:
    """Return how many rays the library casts together; wider packets it takes apart."""
    return 16 if LIBRARY.rtcGetDeviceProperty(device(), _RAY16_SUPPORTED) else 8


class ModelTree:
    """The library's tree of one model, kept as long as the model."""

    def __init__(self, model: Model) -> None:
        """Build the tree."""
        self.scene: int = LIBRARY.rtcNewScene(device())
        LIBRARY.rtcSetSceneBuildQuality(self.scene, _MEDIUM)
        geometry = LIBRARY.rtcNewGeometry(device(), _TRIANGLE)
        corners = widened(model.vertices[model.triangles])
        count = 3 * len(corners)
        # Kept, since the library reads them; a vertex more, since it reads 16 bytes at each.
        self._vertices = np.zeros((count + 1, 3), np.float32)
        self._vertices[:-1] = corners.reshape(-1, 3)
        self._faces = np.arange(count, dtype=np.uint32).reshape(-1, 3)
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


def widened(corners: FloatArray) -> FloatArray:
    """Return triangles whose edges overlap a little, so that no ray slips through between two.

    The library works in single precision. Its robust mode, which closes the gaps by other means,
    takes half as long again. Where a ray meets a triangle is computed from its own plane.

    Args:
        corners: (n, 3, 3) m.

    Returns:
        (n, 3, 3) The same with edges moved out by what single precision leaves open [m]; tips
        sharper than 29 degrees are moved by less than that would take.
    """
    extent = np.abs(corners).max(initial=0.0)
    margin = WIDER + WIDER_SHARE * extent
    to_next = _unit(np.roll(corners, -1, axis=1) - corners)
    to_last = _unit(np.roll(corners, 1, axis=1) - corners)
    half_sine = np.sqrt(np.maximum(1.0 - (to_next * to_last).sum(axis=2), 0.0) / 2.0)
    out = np.minimum(margin / np.maximum(half_sine, 1e-12), 4.0 * margin)
    moved: FloatArray = corners - out[:, :, None] * _unit(to_next + to_last)
    return moved


def _unit(vectors: FloatArray) -> FloatArray:
    """Return vectors of length 1, or 0 where there is none."""
    length = np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True))
    unit: FloatArray = vectors / np.maximum(length, 1e-300)
    return unit


_trees: WeakKeyDictionary[Model, ModelTree] = WeakKeyDictionary()


def tree_of(model: Model) -> ModelTree:
    """Return the tree of a model, which is built once."""
    if model not in _trees:
        _trees[model] = ModelTree(model)
    return _trees[model]


class Packet:
    """The memory in which one piece of the rays is handed to the library.

    Attributes:
        floats: Fields of RTCRayHit8 or RTCRayHit16.
        valid: Which rays of the packet are to be cast.
    """

    def __init__(self) -> None:
        """Allocate it."""
        width = packet_width()
        self.floats = aligned(_FIELDS * width, np.float32)
        self.valid = aligned(width, np.int32)
        self._ids = self.floats.view(np.uint32)
        self._options = aligned(16, np.uint32)  # RTCIntersectArguments
        self._options[0], self._options[1] = _COHERENT, _NOTHING

    def cast(
        self, top: int, rays: Rays, mask: int, tables: Tables, origin: FloatArray, hits: Hits
    ) -> None:
        """Cast rays with a mask at a scene of the library; the rest as in `Caster`."""
        arrays = (self.floats, self.valid, self._options)
        address = np.array([top, *(each.ctypes.data for each in arrays)], dtype=np.int64)
        _cast_kernel(
            address,
            (self.floats, self._ids, self.valid),
            (rays.directions, rays.poses, origin),
            (
                rays.first,
                rays.rows,
                rays.near,
                rays.reach,
                np.uint32(mask),
                rays.tile,
                GLASS if rays.pass_glass else 0.0,
                (np.uint32(rays.mask), rays.own_row),
            ),
            tables,
            (hits.distance, hits.cosine, hits.brightness, hits.part),
        )


class EmbreeCaster:
    """Casts rays at instances of models; a `Caster`."""

    def __init__(self) -> None:
        """Make an empty tree over instances."""
        self._device = device()
        self._trees: dict[int, ModelTree] = {}
        self._transforms = np.zeros((1, 12), np.float32)
        self._geometries = np.zeros(1, np.int64)
        self._codes = np.zeros(1, np.uint32)
        self._visuals = 0
        self._masks: dict[tuple[int, int], int] = {}
        self._top = LIBRARY.rtcNewScene(self._device)
        LIBRARY.rtcSetSceneFlags(self._top, _DYNAMIC | _ROBUST)
        LIBRARY.rtcSetSceneBuildQuality(self._top, _LOW)
        self._changed = True
        self._packets = [Packet() for _ in range(PIECES * threads() if threads() > 1 else 1)]

    def attach(self, row: int, model: Model, mask: int, visual: bool = False) -> None:
        """Take in an instance, as in `Caster`."""
        if row >= len(self._geometries):
            size = 2 * (row + 1)
            self._geometries = np.resize(self._geometries, size)
            self._codes = np.append(self._codes, np.zeros(size - len(self._codes), np.uint32))
            self._transforms = np.zeros((size, 12), np.float32)
        tree = self._trees[row] = tree_of(model)  # kept, for the library reads its arrays
        if visual:  # a code that is no body's, so that its sensor alone need not see it
            self._visuals += 1
            mask = body_code(CODES - self._visuals)
        geometry = LIBRARY.rtcNewGeometry(self._device, _INSTANCE)
        LIBRARY.rtcSetGeometryInstancedScene(geometry, tree.scene)
        LIBRARY.rtcSetGeometryMask(geometry, mask)
        LIBRARY.rtcAttachGeometryByID(self._top, geometry, row)
        LIBRARY.rtcReleaseGeometry(geometry)  # the scene holds it
        self._geometries[row] = geometry
        self._codes[row] = mask
        self._masks.clear()
        self._changed = True

    def detach(self, row: int, model: Model) -> None:
        """Take out an instance, as in `Caster`."""
        del model, self._trees[row]
        LIBRARY.rtcDetachGeometry(self._top, row)
        self._codes[row] = 0
        self._masks.clear()
        self._changed = True

    def place(self, instances: Rows, moved: IntArray) -> None:
        """Take over poses, as in `Caster`."""
        if len(moved):
            _place_kernel(instances, moved, self._geometries, self._transforms)
            self._changed = True

    def cast(self, rays: Rays, tables: Tables, origin: FloatArray, hits: Hits) -> None:
        """Write what rays meet, as in `Caster`; many rays on several threads."""
        if self._changed:
            self._commit()
        mask = self._mask(rays.mask, rays.own_row, tables.instances)
        rays = narrowed(rays, packet_width())
        pieces = split(rays, len(self._packets))
        run_all(
            [
                partial(packet.cast, self._top, piece, mask, tables, origin, hits)
                for packet, piece in zip(self._packets, pieces, strict=False)
            ]
        )

    def _mask(self, mask: int, own: int, instances: Rows) -> int:
        """Return the mask with which the library leaves out what these rays do not see.

        Where the bits do not suffice to leave out just that, it leaves out less, and the rays are
        cast on from there.
        """
        key = (mask, own)
        if key not in self._masks:
            rows = np.flatnonzero(self._codes)
            codes, seen = self._codes[rows], (instances["mask"][rows] & np.uint64(mask)) > 0
            seen &= rows != own
            hidden = int(np.bitwise_or.reduce(codes[~seen], initial=0))
            exact = mask & ~hidden
            self._masks[key] = exact if (codes[seen] & np.uint32(exact)).all() else mask
        return self._masks[key]

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


@njit(inline="always")
def _turned(axis, vector):  # type: ignore[no-untyped-def]
    """Return a component of a vector of the world in the library's world."""
    return TURN[axis, 0] * vector[0] + TURN[axis, 1] * vector[1] + TURN[axis, 2] * vector[2]


@njit(cache=True, nogil=True)
def _place_kernel(
    instances: Rows, moved: IntArray, geometries: IntArray, transforms: Floats
) -> None:
    base = transforms.ctypes.data
    for k in moved:
        item = instances[k]
        for j in range(3):
            for i in range(3):
                transforms[k, 3 * j + i] = (
                    TURN[i, 0] * item.r[0, j]
                    + TURN[i, 1] * item.r[1, j]
                    + TURN[i, 2] * item.r[2, j]
                )
            transforms[k, 9 + j] = (
                TURN[j, 0] * item.t[0] + TURN[j, 1] * item.t[1] + TURN[j, 2] * item.t[2]
            )
        _set_transform(geometries[k], 0, 0x9234, base + 48 * k)
        _commit_geometry(geometries[k])


@njit(inline="always")
def _clear(hits, first, end):  # type: ignore[no-untyped-def]
    """Write into rows that nothing is met."""
    distance, cosine, brightness, part = hits
    distance[first:end] = np.inf
    cosine[first:end] = 0.0
    brightness[first:end] = 0.0
    part[first:end] = -1


@njit(cache=True, nogil=True, error_model="numpy")
def _cast_kernel(address, packet, grid, limits, tables, hits):  # type: ignore[no-untyped-def]
    """Cast packets of rays: tiles of the grid.

    Triangles around something round only tell that a ray comes near it. What it meets of that is
    computed, and the ray cast on: there may be something else before that, or behind where it
    passes by. A ray that passes glass, or what it does not see, is cast on likewise.
    """
    floats, ids, valid = packet
    directions, poses, origin = grid
    first, count, near, reach, mask, tile, glass, (sight, own) = limits
    instances, triangles, rounds, (surfaces, texels) = tables
    distance, cosine, brightness, part = hits
    _clear(hits, first, first + count)
    columns = directions.shape[1]
    high, wide = tile
    width = valid.size
    along = np.zeros((width, 3))
    start = np.zeros((width, 3))
    down, across = np.arange(width) // wide, np.arange(width) % wide
    for row0 in range(0, count, high):
        for column0 in range(0, columns, wide):
            for k in range(width):
                i = min(row0 + down[k], count - 1)
                j = min(column0 + across[k], columns - 1)
                p = poses[i] if poses.shape[0] > 1 else poses[0]
                d = directions[first + i, j]
                for axis in range(3):
                    a = 3 * axis
                    along[k, axis] = p[a] * d[0] + p[a + 1] * d[1] + p[a + 2] * d[2]
                    start[k, axis] = p[9 + axis] - origin[axis]
                for axis in range(3):
                    floats[axis * width + k] = _turned(axis, start[k])
                    floats[(4 + axis) * width + k] = _turned(axis, along[k])
                floats[3 * width + k] = near
                floats[7 * width + k] = 0.0
                floats[8 * width + k] = reach
                ids[9 * width + k] = mask
                ids[10 * width + k] = ids[11 * width + k] = 0
                valid[k] = -1
            again = True
            while again:
                ids[18 * width : 21 * width] = _NOTHING
                if width == 16:
                    _intersect16(address[2], address[0], address[1], address[3])
                else:
                    _intersect8(address[2], address[0], address[1], address[3])
                again = False
                for k in range(width):
                    if valid[k] == 0:
                        continue
                    valid[k] = 0
                    i, j = first + row0 + down[k], column0 + across[k]
                    if i >= first + count or j >= columns or ids[18 * width + k] == _NOTHING:
                        continue
                    row = np.int64(ids[19 * width + k])
                    item = instances[row]
                    face = triangles[item.first + ids[17 * width + k]]
                    o = (start[k, 0], start[k, 1], start[k, 2])
                    d3 = (along[k, 0], along[k, 1], along[k, 2])
                    found = np.float64(floats[8 * width + k])
                    flat = face.round < 0
                    if flat:
                        t, c = plane_hit(item, face.plane, o, d3, found)
                    else:
                        t, c = round_hit(item, rounds[face.round], o, d3, near)
                        t = t if t <= reach else np.inf
                    if face.opacity < glass or row == own or item.mask & sight == 0:
                        t = np.inf
                        flat = False
                    if not flat:
                        floats[3 * width + k] = BEHIND * found + 1e-6
                        floats[8 * width + k] = min(t, distance[i, j], reach)
                        if floats[3 * width + k] < floats[8 * width + k]:
                            valid[k] = -1
                            again = True
                    if t < distance[i, j]:
                        distance[i, j], cosine[i, j] = t, c
                        brightness[i, j] = brightness_at(face, item, o, d3, t, surfaces, texels)
                        if part.size > 0:
                            part[i, j] = face.part if face.part < -1 else row


def narrowed(rays: Rays, width: int) -> Rays:
    """Return rays whose tiles, which are for packets of 16, hold so many rays."""
    high, wide = rays.tile
    return rays._replace(tile=(max(high * width // 16, 1), wide))


def split(rays: Rays, parts: int) -> list[Rays]:
    """Return rays as at most so many pieces of whole tiles, each worth a task."""
    count, high = rays.rows, rays.tile[0]
    parts = max(1, min(parts, count * rays.directions.shape[1] // LEAST_RAYS))
    each = high * -(-count // (high * parts))
    pieces = []
    for k in range(0, max(count, 1), max(each, 1)):
        poses = rays.poses[k : k + each] if len(rays.poses) > 1 else rays.poses
        rows = min(each, count - k)
        pieces.append(rays._replace(poses=poses, first=rays.first + k, rows=rows))
    return pieces
