# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A physically honest simulator of ground vehicles in 2.5D, usable without ROS.

>>> from mvsim_core import load_world
>>> world = load_world("worlds/warehouse.world.xml")  # doctest: +SKIP
>>> world.vehicles["r1"].set_twist(0.5, 0.0, 0.3)  # doctest: +SKIP
>>> world.run(10.0)  # doctest: +SKIP

The names below are imported on first use, so that tools which only read files start quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mvsim_core.kernel_cache import choose_kernel_cache

__version__ = "0.1.0"

choose_kernel_cache()

if TYPE_CHECKING:
    from mvsim_core.assembly.load import load_world, world_of
    from mvsim_core.bags.recorder import record
    from mvsim_core.bags.recording import Recording
    from mvsim_core.controllers import CONTROLLERS
    from mvsim_core.dynamics import DYNAMICS
    from mvsim_core.errors import (
        ArgumentError,
        BuildError,
        CommandError,
        MvsimError,
        Problem,
        StepError,
        UnknownName,
        WorldFileError,
    )
    from mvsim_core.friction import FRICTION
    from mvsim_core.geometry.poses import Pose, Twist
    from mvsim_core.kinematics import KINEMATICS
    from mvsim_core.sensors import SENSORS
    from mvsim_core.viewer import Viewer
    from mvsim_core.world.contacts import Contact
    from mvsim_core.world.handles import Block
    from mvsim_core.world.vehicle import Vehicle, WheelView
    from mvsim_core.world.world import World
    from mvsim_core.xmlfile import dump_world, read_vehicle, read_world, read_world_file

_HOMES = {
    "load_world": "assembly.load",
    "world_of": "assembly.load",
    "read_vehicle": "xmlfile",
    "read_world": "xmlfile",
    "read_world_file": "xmlfile",
    "dump_world": "xmlfile",
    "record": "bags.recorder",
    "Recording": "bags.recording",
    "World": "world.world",
    "Vehicle": "world.vehicle",
    "Block": "world.handles",
    "WheelView": "world.vehicle",
    "Contact": "world.contacts",
    "Pose": "geometry.poses",
    "Twist": "geometry.poses",
    "MvsimError": "errors",
    "WorldFileError": "errors",
    "ArgumentError": "errors",
    "BuildError": "errors",
    "CommandError": "errors",
    "StepError": "errors",
    "UnknownName": "errors",
    "Problem": "errors",
    "CONTROLLERS": "controllers",
    "DYNAMICS": "dynamics",
    "FRICTION": "friction",
    "KINEMATICS": "kinematics",
    "SENSORS": "sensors",
    "Viewer": "viewer",
}

__all__ = [
    "CONTROLLERS",
    "DYNAMICS",
    "FRICTION",
    "KINEMATICS",
    "SENSORS",
    "ArgumentError",
    "Block",
    "BuildError",
    "CommandError",
    "Contact",
    "MvsimError",
    "Pose",
    "Problem",
    "Recording",
    "StepError",
    "Twist",
    "UnknownName",
    "Vehicle",
    "Viewer",
    "WheelView",
    "World",
    "WorldFileError",
    "dump_world",
    "load_world",
    "read_vehicle",
    "read_world",
    "read_world_file",
    "record",
    "world_of",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List the public names, those that are not imported yet too."""
    return sorted({*__all__, "__version__", "__doc__", "__all__", "__name__", "__path__"})
