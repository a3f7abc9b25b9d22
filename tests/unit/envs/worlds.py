# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Environments that are tested, with the options of a few."""

from __future__ import annotations

from typing import Any

from mvsim_core.envs.tasks.base import laser_text
from mvsim_core.envs.tasks.navigation import robot_text

WALLS = """<walls><shape><pt>-4 -4</pt><pt>4 -4</pt><pt>4 -4</pt><pt>4 4</pt><pt>4 4</pt>
  <pt>-4 4</pt><pt>-4 4</pt><pt>-4 -4</pt></shape></walls>"""
WORLD = f"""<mvsim_world version="1.0"><simul_timestep>0.01</simul_timestep>{WALLS}
  {robot_text("r", 0.0, laser_text(16, 5.0, 0.01, 0.3))}</mvsim_world>"""
NAMES = ("Navigation", "Racing", "TrailerParking", "World")
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("Navigation", {"rays": 0}),
    ("Navigation", {"rays": 12, "obstacles": 6}),
    ("Racing", {}),
    ("Racing", {"rays": 8}),
    ("TrailerParking", {}),
    ("TrailerParking", {"rays": 8}),
    ("World", {"world": WORLD, "start": (1.0, 1.0, 3.0)}),
]
IDS = [f"{name}-{'-'.join(f'{k}' for k in options)}" for name, options in OPTIONS]
