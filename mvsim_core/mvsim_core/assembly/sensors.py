# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From sensor specs to sensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mvsim_core.assembly.guard import building
from mvsim_core.errors import BuildError, MvsimError, Problem
from mvsim_core.resources.remote_files import RemoteError
from mvsim_core.scene3d import Scene3d
from mvsim_core.sensors import SENSORS
from mvsim_core.sensors.base import SensorContext
from mvsim_core.sensors.earth import earth_of
from mvsim_core.sensors.laser3d import Laser3d, SweepingLaser
from mvsim_core.sensors.lidar2d import Lidar2d
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.specs.element import ElevationMapSpec, HorizontalPlaneSpec, PropertyRegionSpec
from mvsim_core.specs.sensor import LaserSpec, SensorSpec
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.world import WorldSpec

#: A mount that is tilted by less [rad] is level; 1 mm in 1 km.
LEVEL = 1e-6
#: Shapes of blocks on which vehicles drive up.
UNEVEN = ("ramp", "semi_cylinder_bump")


class SensorMaker:
    """Makes sensors; kinds that do not exist are named in a warning and left out.

    Args:
        world: Spec of the world around them.
        dt: Length of a tick [s].
        warn: Called with where, element and message; the same text about several sensors once.
    """

    def __init__(
        self,
        world: WorldSpec,
        dt: float,
        warn: Callable[[Any, str, str], None],
    ) -> None:
        """Keep what all sensors share."""
        self._gravity = world.gravity
        self._earth = earth_of(world.georeference)
        self._regions = tuple(e for e in world.elements if isinstance(e, PropertyRegionSpec))
        self._uneven = any(isinstance(e, ElevationMapSpec) for e in world.elements) or any(
            b.geometry is not None and b.geometry.type in UNEVEN for b in world.blocks
        )
        self._implied_floor = not any(
            isinstance(e, ElevationMapSpec | HorizontalPlaneSpec) for e in world.elements
        )
        self._dt = dt
        self._warn = warn
        self._reported: set[str] = set()

    def of_vehicle(self, spec: VehicleSpec, scene: PlaneScene, scene3d: Scene3d) -> list[Any]:
        """Return the sensors of a vehicle, in file order."""
        return self._make(spec.sensors, (scene, scene3d), spec.name)

    def standalone(
        self, specs: Sequence[SensorSpec], scene: PlaneScene, scene3d: Scene3d
    ) -> list[Any]:
        """Return the sensors that are fixed in the world, in file order."""
        return self._make(specs, (scene, scene3d), None)

    def _class_of(self, spec: SensorSpec) -> Any:
        """Return the class of a sensor; planar lidars have three."""
        if not isinstance(spec, LaserSpec):
            return SENSORS.get(spec.kind)
        if spec.motion_distortion:
            return SweepingLaser
        in_3d = spec.raytrace_3d
        if in_3d is None:
            tilted = max(abs(spec.pose.roll), abs(spec.pose.pitch)) > LEVEL
            in_3d = spec.generate_intensity or self._uneven or tilted
        return Laser3d if in_3d else Lidar2d

    def _make(
        self,
        specs: Sequence[SensorSpec],
        scenes: tuple[PlaneScene, Scene3d],
        parent: str | None,
    ) -> list[Any]:
        made = []
        for spec in specs:
            if spec.kind not in SENSORS:
                text = (
                    f"sensors of class {spec.kind!r} are not simulated yet: {spec.name!r} is off"
                )
                self._warn(spec.where, "sensor", text)
                continue
            context = SensorContext(
                scene=scenes[0],
                dt=self._dt,
                parent=parent,
                gravity=self._gravity,
                earth=self._earth,
                regions=self._regions,
                scene3d=scenes[1],
                implied_floor=self._implied_floor,
                warn=partial(self._warn, spec.where, "sensor"),
            )
            make = self._class_of(spec)
            try:
                with building(spec.where, "sensor", spec.name):
                    sensor = make(spec, context, delay=spec.delay, dropout=spec.dropout)
            except (BuildError, RemoteError) as error:
                problem = Problem.at(spec.where, "sensor", _message(error), quotes=True)
                raise BuildError(problem) from error
            for warning in sensor.warnings():
                if warning not in self._reported:
                    self._reported.add(warning)
                    self._warn(spec.where, "sensor", warning)
            made.append(sensor)
        return made


def _message(error: MvsimError) -> str:
    """Return the text of an error without the place that it may name."""
    problems = error.problems if isinstance(error, BuildError) else ()
    return "; ".join(problem.message for problem in problems) or str(error)
