# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The sky behind the scene, and light from it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

#: Colours of the sky above and at the horizon.
ZENITH, HORIZON = (150, 185, 225), (226, 234, 242)
#: Intensities of the light of the sun, of the sky, and of the sky per ambient light of the file.
SUN, SKY, AMBIENT = 2.0, 2.6, 1.6
#: Height of the picture of the sky [pixel].
_PIXELS = 256


def set_sky(server: Any) -> None:
    """Show a plain sky, and no other light than what is added later.

    By default a page decodes a picture of a warehouse for its light, hides the scene until then,
    and compiles all shaders a second time for it.
    """
    scene = server.scene
    scene.configure_environment_map(hdri=None)
    scene.configure_default_lights(enabled=False)
    scene.set_background_image(sky(), format="png")


def sky() -> npt.NDArray[np.uint8]:
    """Return the picture of a plain sky, brighter towards the horizon."""
    share = np.linspace(0.0, 1.0, _PIXELS)[:, None, None]
    shade = (1.0 - share) * np.array(ZENITH) + share * np.array(HORIZON)
    picture: npt.NDArray[np.uint8] = np.round(np.repeat(shade, 4, axis=1)).astype(np.uint8)
    return picture


def add_lights(
    server: Any,
    *,
    azimuth: float = math.radians(45.0),
    elevation: float = math.radians(70.0),
    color: tuple[float, float, float] = (1.0, 1.0, 1.0),
    ambient: float = 0.5,
    shadows: bool = True,
) -> None:
    """Light the scene as cameras see it: sun and sky; arguments are those of `Lights`."""
    level = math.cos(elevation)
    sun = (level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation))
    scene = server.scene
    scene.add_light_directional(
        "/lights/sun",
        color=bytes_of(color),
        intensity=SUN,
        cast_shadow=shadows,
        position=tuple(50.0 * part for part in sun),
    )
    scene.add_light_hemisphere(
        "/lights/sky",
        sky_color=(235, 242, 255),
        ground_color=(170, 165, 160),
        intensity=SKY + AMBIENT * min(ambient, 1.0),
    )


def bytes_of(color: Any) -> tuple[int, int, int]:
    """Return red, green and blue, 0 to 1, as bytes."""
    r, g, b = (round(255 * min(max(float(c), 0.0), 1.0)) for c in tuple(color)[:3])
    return r, g, b
