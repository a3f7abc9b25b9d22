# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the gallery of docs/sensors3d.md: python docs/make_gallery.py.

Each world of `worlds/` as a whole, and from behind its first vehicle.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from mvsim_core import load_world

WORLDS = Path(__file__).parents[1] / "worlds"
IMAGES = Path(__file__).parent / "images"
SIZE = (420, 280)
#: Each picture is drawn so much larger and shrunk.
FINER = 2


def draw(file: Path) -> None:
    """Draw one world."""
    world = load_world(file)
    large = (FINER * SIZE[0], FINER * SIZE[1])
    views = (world.whole_view(large), world.view_of(next(iter(world.vehicles))))
    pictures = [Image.fromarray(world.picture(view, large)).resize(SIZE) for view in views]
    both = Image.fromarray(np.hstack([np.asarray(picture) for picture in pictures]))
    both.save(IMAGES / f"world_{file.name.partition('.')[0]}.jpg", quality=85)


if __name__ == "__main__":
    for path in sorted(WORLDS.glob("*.world.xml")):
        draw(path)
