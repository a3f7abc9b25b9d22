# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From sensor specs to sensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mvsim_core.sensors import SENSORS
from mvsim_core.sensors.base import SensorContext
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.specs.sensor import SensorSpec
from mvsim_core.specs.vehicle import VehicleSpec


class SensorMaker:
    """Makes sensors; kinds that do not exist are named in a warning and left out.

    Args:
        seed: Seed of the world.
        dt: Length of a tick [s].
        warn: Called with where, element and message.
    """

    def __init__(self, seed: int, dt: float, warn: Callable[[Any, str, str], None]) -> None:
        """Keep what all sensors share."""
        self._seed = seed
        self._dt = dt
        self._warn = warn

    def of_vehicle(self, spec: VehicleSpec, scene: PlaneScene) -> list[Any]:
        """Return the sensors of a vehicle, in file order."""
        return self._make(spec.sensors, scene, spec.name)

    def standalone(self, specs: Sequence[SensorSpec], scene: PlaneScene) -> list[Any]:
        """Return the sensors that are fixed in the world, in file order."""
        return self._make(specs, scene, None)

    def _make(
        self, specs: Sequence[SensorSpec], scene: PlaneScene, parent: str | None
    ) -> list[Any]:
        made = []
        for spec in specs:
            if spec.kind not in SENSORS:
                text = (
                    f"sensors of class {spec.kind!r} are not simulated yet: {spec.name!r} is off"
                )
                self._warn(spec.where, "sensor", text)
                continue
            context = SensorContext(scene=scene, dt=self._dt, seed=self._seed, parent=parent)
            sensor = SENSORS.get(spec.kind)(spec, context)
            for doubt in sensor.doubts():
                self._warn(spec.where, "sensor", doubt)
            made.append(sensor)
        return made
