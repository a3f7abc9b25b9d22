# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Exposure: how bright pictures come out. Levels are square roots of the light (a gamma of 2)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]

#: Mean light that an automatic exposure aims at (1: white), and its largest factor either way.
MEDIUM, WIDEST = 0.2, 16.0
#: Every so many pixels are metered.
EACH = 4


def exposed(rgb: Picture, exposure: float, gain: float = 1.0) -> Picture:
    """Return a picture with its light multiplied by a fixed and an automatic factor."""
    factor = math.sqrt(exposure * gain)
    if factor == 1.0:
        return rgb
    levels = np.minimum(np.rint(np.arange(256) * factor), 255.0).astype(np.uint8)
    picture: Picture = levels[rgb]
    return picture


def metered(rgb: Picture) -> float:
    """Return the factor that gives a picture a medium mean."""
    sample = rgb[::EACH, ::EACH].astype(np.float64) / 255.0
    mean = float((sample * sample).mean())
    return min(max(MEDIUM / max(mean, 1e-9), 1.0 / WIDEST), WIDEST)
