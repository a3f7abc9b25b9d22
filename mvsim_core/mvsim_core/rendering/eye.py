# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a renderer is asked for: from where a picture is taken, and how carefully."""

from __future__ import annotations

from typing import NamedTuple

from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.state.arrays import FloatArray

#: Pixels of pictures above which shadows are drawn more finely.
LARGE = 800 * 600


class Quality(NamedTuple):
    """How carefully pictures are drawn.

    Attributes:
        samples: Samples a pixel at edges.
        smooth: Whether edges are smoothed afterwards.
        shadow_pixels: Pixels along a side of each shadow map.
    """

    samples: int = 1
    smooth: bool = False
    shadow_pixels: int = 512

    @classmethod
    def of(cls, antialiasing: str, camera: Pinhole) -> Quality:
        """Return that of a camera; `antialiasing` is one of `specs.sensor_base.ANTIALIASING`."""
        pixels = 512 if camera.width * camera.height <= LARGE else 1024
        return cls(4 if antialiasing == "samples" else 1, antialiasing == "edges", pixels)


class Eye(NamedTuple):
    """From where a picture is taken.

    Attributes:
        camera: The pinhole.
        pose: (12,) rotation row by row and origin [m] of its optical frame, world frame.
        limits: Nothing nearer and nothing farther along the optical axis is seen [m].
        hidden: Row of an instance that is not drawn; -1: none.
    """

    camera: Pinhole
    pose: FloatArray
    limits: tuple[float, float]
    hidden: int = -1

    @property
    def turn(self) -> FloatArray:
        """(3, 3) from the optical frame to the world."""
        return self.pose[:9].reshape(3, 3)


#: As fast as can be, edges are jagged.
PLAIN = Quality()
