# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The sky behind the scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: Colours of the sky above and at the horizon.
ZENITH, HORIZON = (150, 185, 225), (226, 234, 242)
#: Height of its picture [pixel].
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
