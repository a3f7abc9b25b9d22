# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models of the 3D scene as binary glTF, with the normals and groups that cameras draw."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mvsim_core.rendering.vertex_buffers import Buffers, Stretch
    from mvsim_core.scene3d import Model

#: Longest side of a texture in the browser [pixel].
LARGEST_TEXTURE = 2048
JPEG_QUALITY = 88
SPECK = 1e-4  # m
#: Component types and targets of glTF.
_FLOAT, _UINT16, _UINT32 = 5126, 5123, 5125
_VERTICES, _INDICES = 34962, 34963
_MAGIC, _JSON, _BINARY = 0x46546C67, 0x4E4F534A, 0x004E4942


def glb_of(model: Model) -> bytes | None:
    """Return a model as binary glTF; None if nothing of it is drawn."""
    from mvsim_core.rendering.vertex_buffers import buffers_of

    return _Writer().write(buffers_of(model)) if len(model.triangles) else None


def speck() -> bytes:
    """Return a triangle too small to be seen, of the material that most models have."""
    vertices = np.zeros((3, 12), np.float32)
    vertices[1:, :2] = SPECK * np.eye(2)
    vertices[:, 5] = 1.0
    whole = SimpleNamespace(
        texture="", cull_face="NONE", opacity=1.0, clear=False, first=0, corners=3
    )
    buffers: Any = SimpleNamespace(vertices=vertices, indices=np.arange(3), stretches=[whole])
    glb = _Writer().write(buffers)
    assert glb is not None
    return glb


def linear(colors: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return sRGB colours, 0 to 1, as linear ones."""
    c = np.clip(np.asarray(colors, np.float64), 0.0, 1.0)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


class _Writer:
    """Collects the binary part and its description."""

    def __init__(self) -> None:
        self._binary = bytearray()
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []
        self._materials: list[dict[str, Any]] = []
        self._images: dict[str, int] = {}

    def write(self, buffers: Buffers) -> bytes | None:
        """Return all stretches that are seen as one file."""
        primitives = [self._primitive(buffers, s) for s in buffers.stretches if _is_seen(s)]
        if not primitives:
            return None
        document: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": primitives}],
            "materials": self._materials,
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._binary)}],
        }
        if self._images:
            views = self._images.values()
            document["images"] = [{"bufferView": v, "mimeType": "image/jpeg"} for v in views]
            document["textures"] = [{"source": k} for k in range(len(self._images))]
        return _packed(document, self._binary)

    def _primitive(self, buffers: Buffers, stretch: Stretch) -> dict[str, Any]:
        indices = buffers.indices[stretch.first : stretch.first + stretch.corners]
        used, local = np.unique(indices, return_inverse=True)
        rows = buffers.vertices[used]
        triangles = local.reshape(-1, 3).astype(np.uint32)
        if stretch.cull_face == "FRONT":  # glTF hides back sides only
            triangles = triangles[:, ::-1]
        uv = rows[:, 6:8] * np.array([1.0, -1.0]) + np.array([0.0, 1.0])
        colors = np.ones((len(rows), 4))
        colors[:, :3] = linear(rows[:, 8:11])
        shades = np.round(colors * 65535.0).astype(np.uint16)
        return {
            "attributes": {
                "POSITION": self._accessor(rows[:, 0:3], "VEC3", _FLOAT, limits=True),
                "NORMAL": self._accessor(_unit(rows[:, 3:6]), "VEC3", _FLOAT),
                "TEXCOORD_0": self._accessor(uv.astype(np.float32), "VEC2", _FLOAT),
                "COLOR_0": self._accessor(shades, "VEC4", _UINT16, normalized=True),
            },
            "indices": self._accessor(
                triangles.reshape(-1, 1), "SCALAR", _UINT32, target=_INDICES
            ),
            "material": self._material(stretch),
        }

    def _material(self, stretch: Stretch) -> int:
        surface: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": 0.9}
        material: dict[str, Any] = {"pbrMetallicRoughness": surface}
        material["doubleSided"] = stretch.cull_face == "NONE"
        if stretch.clear:
            surface["baseColorFactor"] = [1.0, 1.0, 1.0, stretch.opacity]
            material["alphaMode"] = "BLEND"
        if stretch.texture:
            image = self._image(stretch.texture)
            if image >= 0:
                surface["baseColorTexture"] = {"index": image}
        self._materials.append(material)
        return len(self._materials) - 1

    def _image(self, texture: str) -> int:
        if texture not in self._images:
            from mvsim_core.scene3d.textures import pixels_of

            pixels = pixels_of(texture, LARGEST_TEXTURE)
            if pixels is None:
                return -1
            self._images[texture] = self._view(jpeg(pixels))
        return list(self._images).index(texture)

    def _view(self, data: bytes, target: int = 0) -> int:
        self._binary.extend(bytes(-len(self._binary) % 4))
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": len(data)}
        if target:
            view["target"] = target
        self._views.append(view)
        self._binary.extend(data)
        return len(self._views) - 1

    def _accessor(
        self,
        array: npt.NDArray[Any],
        kind: str,
        component: int,
        *,
        limits: bool = False,
        normalized: bool = False,
        target: int = _VERTICES,
    ) -> int:
        data = np.ascontiguousarray(array)
        accessor: dict[str, Any] = {
            "bufferView": self._view(data.tobytes(), target),
            "componentType": component,
            "count": len(data),
            "type": kind,
        }
        if normalized:
            accessor["normalized"] = True
        if limits:
            accessor["min"] = data.min(axis=0).tolist()
            accessor["max"] = data.max(axis=0).tolist()
        self._accessors.append(accessor)
        return len(self._accessors) - 1


def jpeg(pixels: npt.NDArray[np.uint8], quality: int = JPEG_QUALITY) -> bytes:
    """Return a picture (height, width, 3) as a JPEG file."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(stream, "JPEG", quality=quality)
    return stream.getvalue()


def _is_seen(stretch: Stretch) -> bool:
    return stretch.cull_face != "BOTH" and stretch.opacity > 0.0


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = (vectors / np.maximum(length, 1e-12)).astype(np.float32)
    return unit


def _packed(document: dict[str, Any], binary: bytearray) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data = bytes(binary) + bytes(-len(binary) % 4)
    chunks = ((_JSON, text), (_BINARY, data))
    body = b"".join(np.array([len(c), kind], "<u4").tobytes() + c for kind, c in chunks)
    return np.array([_MAGIC, 2, 12 + len(body)], "<u4").tobytes() + body
