# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The world in three dimensions: models, where they are, and exact rays that meet them."""

from __future__ import annotations

from mvsim_core.scene3d.layout import Layout, Part
from mvsim_core.scene3d.model import Material, Model
from mvsim_core.scene3d.scene import EVERY_COPY, Lights, Scene3d, copy_of, hides
from mvsim_core.scene3d.tables import SEE_ALL, SEE_FIXED_ONLY, Hits, Rays

__all__ = [
    "EVERY_COPY",
    "SEE_ALL",
    "SEE_FIXED_ONLY",
    "Hits",
    "Layout",
    "Lights",
    "Material",
    "Model",
    "Part",
    "Rays",
    "Scene3d",
    "copy_of",
    "hides",
]
