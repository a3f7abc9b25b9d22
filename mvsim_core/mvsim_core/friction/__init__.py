# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wheel-ground friction models."""

from mvsim_core.friction.base import FRICTION, Friction
from mvsim_core.friction.default import DefaultFriction

__all__ = ["FRICTION", "DefaultFriction", "Friction"]
