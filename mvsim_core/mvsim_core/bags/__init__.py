# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Recordings in MCAP files with ROS 2 messages, written and read without ROS.

`record` writes what a world does, `Recording` reads it. Names of topics, frames and joints are
here too, because the node and recordings have the same ones. The names are imported on first use:
the node needs topics only, not the packages that files need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mvsim_core.bags.recorder import BagRecorder, record
    from mvsim_core.bags.recording import Recording
    from mvsim_core.bags.settings import StreamSettings

_HOMES = {
    "BagRecorder": "recorder",
    "record": "recorder",
    "Recording": "recording",
    "StreamSettings": "settings",
}

__all__ = ["BagRecorder", "Recording", "StreamSettings", "record"]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
