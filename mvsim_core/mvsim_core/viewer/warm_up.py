# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a page shows before there is a world: light, and a speck that keeps its shaders ready."""

from __future__ import annotations

from typing import Any

import numpy as np

from mvsim_core.viewer.glb import speck
from mvsim_core.viewer.sky import add_lights

#: Node of the speck. It stays: a browser drops shaders that nothing is drawn with.
NAME = "/speck"


def warm_up(server: Any) -> None:
    """Let browsers compile the shaders of models and shadows while the world is loaded.

    Shaders depend on the number of lights and on the attributes of a model; what is drawn here has
    those of most worlds.
    """
    add_lights(server)
    turn, place = np.array([[1.0, 0.0, 0.0, 0.0]], np.float32), np.zeros((1, 3), np.float32)
    server.scene.add_batched_glb(NAME, speck(), turn, place, lod="off")
