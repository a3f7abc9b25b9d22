# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The world in a browser: 3D scene, controls and panels, served by the simulation's process.

The names are imported on first use: a server shows its page before the rest is imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mvsim_core.viewer.server import Server
    from mvsim_core.viewer.simulation import Simulation
    from mvsim_core.viewer.time_bar import TimeBar
    from mvsim_core.viewer.viewer import Viewer

_HOMES = {
    "Server": "server",
    "Simulation": "simulation",
    "TimeBar": "time_bar",
    "Viewer": "viewer",
}

__all__ = ["Server", "Simulation", "TimeBar", "Viewer"]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
