# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Gains for the speed loops of a vehicle, from a model of it and from its step responses."""

from mvsim_core.tuning.plant import NoGains, Plant, plant_of
from mvsim_core.tuning.proposal import Proposal, Row, tune_vehicle
from mvsim_core.tuning.response import Response, step_response

__all__ = [
    "NoGains",
    "Plant",
    "Proposal",
    "Response",
    "Row",
    "plant_of",
    "step_response",
    "tune_vehicle",
]
