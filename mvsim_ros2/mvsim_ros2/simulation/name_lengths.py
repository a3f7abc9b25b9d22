# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Lengths of names, which topics are made of."""

from __future__ import annotations

from collections.abc import Iterable

from mvsim_core import BuildError, Problem
from mvsim_core.specs.sensor import SensorSpec
from mvsim_core.specs.vehicle import VehicleSpec

#: Longest name of a vehicle, a sensor or a namespace. rmw allows 247 characters for a topic: the
#: namespaces of node and vehicle, the sensor and the name of the topic itself together.
MOST_NAME = 80


def check_names(vehicles: Iterable[VehicleSpec], sensors: Iterable[SensorSpec] = ()) -> None:
    """Check that ROS can have topics of these names.

    Args:
        vehicles: Vehicles of a world.
        sensors: Sensors of the world itself.

    Raises:
        BuildError: Names are too long for topics.
    """
    named: list[tuple[str, VehicleSpec | SensorSpec]] = []
    for vehicle in vehicles:
        named += [("vehicle", vehicle), *(("sensor", sensor) for sensor in vehicle.sensors)]
    named += [("sensor", sensor) for sensor in sensors]
    text = "a name must have at most {} characters for a topic in ROS, got {} in {!r}"
    problems = [
        Problem.at(spec.where, kind, text.format(MOST_NAME, len(spec.name), spec.name[:40]))
        for kind, spec in named
        if len(spec.name) > MOST_NAME
    ]
    if problems:
        raise BuildError(*problems)
