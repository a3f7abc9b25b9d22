# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The world in three dimensions: models, where they are, and exact rays that meet them."""

from __future__ import annotations

from mvsim_core.sensors.scene3d.model import Material, Model
from mvsim_core.sensors.scene3d.scene import Lights, Part, Scene3d, hides
from mvsim_core.sensors.scene3d.tables import SEE_ALL, SEE_FIXED_ONLY, Hits, Rays

__all__ = [
    "SEE_ALL",
    "SEE_FIXED_ONLY",
    "Hits",
    "Lights",
    "Material",
    "Model",
    "Part",
    "Rays",
    "Scene3d",
    "hides",
]
