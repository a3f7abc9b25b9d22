# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures on surfaces: image files, and those that are kept within mesh files."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_core.resources.remote_files import RemoteError, local_copy
from mvsim_core.scene3d.model import BRIGHTNESS, Material, Rgba

Image = npt.NDArray[np.uint8]

#: Most pixels of a texture.
MOST_PIXELS = 64_000_000
#: Longest side of a picture as lidars see it [pixel].
FINEST = 1024
#: Begins the names of pictures that are in no file of their own.
_EMBEDDED = "embedded:"
#: By name, that is by content: reading a mesh file again keeps no more of them.
_embedded: dict[str, Any] = {}


def texture_of(color: Rgba, texture: str) -> tuple[Material, str]:
    """Return a material with the picture of a file, and what is wrong with that, or ""."""
    if not texture:
        return Material(color), ""
    try:
        path = str(local_copy(texture))
    except RemoteError as error:
        return Material(color), str(error)
    mean = _mean_color(path, _stamp(path))
    if mean is None:
        most = f"or has more than {MOST_PIXELS // 1_000_000} million pixels"
        return Material(color), f"{texture}: the texture cannot be read as an image, {most}"
    return Material(color, path, mean), ""


def keep_picture(material: Material, picture: Any) -> Material:
    """Return a material with a picture (of Pillow) from within a mesh file; None: without."""
    if picture is None:
        return material
    colored = picture.convert("RGB")
    digest = hashlib.sha1(colored.tobytes(), usedforsecurity=False).hexdigest()
    name = f"{_EMBEDDED}{colored.width}x{colored.height}:{digest}"
    _embedded.setdefault(name, colored)
    return material._replace(texture=name, texture_color=_mean(colored))


def pixels_of(texture: str, largest: int) -> Image | None:
    """Return a texture (height, width, 3), no side longer than `largest`; None: unreadable."""
    from PIL import Image as Pictures

    if texture in _embedded:
        return _limited(_embedded[texture].copy(), largest)
    try:
        with Pictures.open(local_copy(texture)) as picture:
            return None if _is_huge(picture) else _limited(picture.convert("RGB"), largest)
    except (OSError, ValueError, RemoteError, Pictures.DecompressionBombError):
        return None


def brightness_of(material: Material) -> Image | None:
    """Return (height, width) how bright a material with its picture is; None: unreadable.

    The weights are those of `Material.reflectivity`; the picture is made smaller where that is
    finer than the spots of lidars.
    """
    texture = material.texture
    return _brightness(texture, _stamp(texture), material.color[:3])


@lru_cache(maxsize=64)
def _brightness(texture: str, stamp: int, color: tuple[float, ...]) -> Image | None:
    del stamp  # only a part of the key
    pixels = pixels_of(texture, FINEST)
    if pixels is None:
        return None
    weights = np.array(BRIGHTNESS) * color
    return np.rint(np.clip(pixels @ weights, 0.0, 255.0)).astype(np.uint8)


def _limited(picture: Any, largest: int) -> Image:
    picture.thumbnail((largest, largest))
    return np.asarray(picture)


def _is_huge(picture: Any) -> bool:
    return bool(picture.width * picture.height > MOST_PIXELS)


def _stamp(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=256)
def _mean_color(path: str, stamp: int) -> tuple[float, float, float] | None:
    from PIL import Image as Pictures

    del stamp  # only a part of the key
    try:
        with Pictures.open(path) as image:
            return None if _is_huge(image) else _mean(image.convert("RGB"))
    except (OSError, ValueError, Pictures.DecompressionBombError):
        return None


def _mean(picture: Any) -> tuple[float, float, float]:
    r, g, b = (np.asarray(picture.resize((1, 1)))[0, 0] / 255).tolist()
    return r, g, b
