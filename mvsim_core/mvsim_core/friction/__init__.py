# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wheel-ground friction models."""

from mvsim_core.friction.base import FRICTION, Friction
from mvsim_core.friction.contact import contact_kernel
from mvsim_core.friction.coupled import coupled_kernel
from mvsim_core.friction.default import DefaultFriction, WardIagnemma
from mvsim_core.friction.ellipse import Ellipse
from mvsim_core.friction.hold import hold_kernel
from mvsim_core.friction.per_wheel import PerWheelFriction, WheelContact

__all__ = [
    "FRICTION",
    "DefaultFriction",
    "Ellipse",
    "Friction",
    "PerWheelFriction",
    "WardIagnemma",
    "WheelContact",
    "contact_kernel",
    "coupled_kernel",
    "hold_kernel",
]
