# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The world in a browser: 3D scene, controls and panels, served by the simulation's process."""

from __future__ import annotations

from mvsim_core.viewer.simulation import Simulation
from mvsim_core.viewer.time_bar import TimeBar
from mvsim_core.viewer.viewer import Viewer

__all__ = ["Simulation", "TimeBar", "Viewer"]
