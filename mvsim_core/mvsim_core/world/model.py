# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`Model`: a world compiled from its specs, which never changes while it runs.

After MuJoCo's mjModel. Everything that changes is in `Data`; what is derived from both is in
`Runtime` and can be rebuilt at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.scene3d import Lights, Part, Scene3d
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.state.entities import Entity, EntityModel, Fixture
from mvsim_core.terrain.regions import Regions

if TYPE_CHECKING:
    from mvsim_core.errors import Problem


class Assembler(Protocol):
    """The interface to the assembly that a world uses after loading, for spawns and sensors."""

    warnings: list[Problem]

    def vehicle(
        self, file: Any, source: Any, name: str | None, pose: Any, taken: Collection[str]
    ) -> tuple[EntityModel, Any]:
        """Compile a vehicle from a VehicleSpec or the text of one; see `World.add_vehicle`.

        Returns:
            The vehicle, and the state of the world file after it.
        """

    def sensors(self, model: EntityModel | None, scene: PlaneScene, scene3d: Scene3d) -> list[Any]:
        """Return the sensors of a vehicle, or (None) those that are fixed in the world."""

    def parts(self, entity: Entity) -> Iterable[Part]:
        """Return the parts of an entity for the 3D scene."""

    def show_fixed(self, model: Model, scene: Scene3d) -> None:
        """Add the fixed parts of the world to a 3D scene."""


@dataclass(frozen=True, eq=False)
class Model:
    """A world compiled from its spec.

    Args:
        spec: Spec of the world from its file.
        dt: Length of a tick [s].
        gravity: Acceleration of gravity [m/s²].
        entities: Moving planes, blocks, vehicles and actors, in the order in which they are added.
        fixtures: Walls, planes and grid maps.
        grids: Occupancy grids.
        maps: Elevation maps: a row of MAP and the samples of each.
        planes: Specs of horizontal planes that do not move.
        regions: Property regions, in which friction differs.
        lights: Sun and sky.
        assembler: Compiles vehicles that are added later.
        renderers: The renderers that all cameras of the model share.
    """

    spec: WorldSpec
    dt: float
    gravity: float
    entities: tuple[EntityModel, ...]
    fixtures: tuple[Fixture, ...]
    grids: tuple[GridMap, ...]
    maps: tuple[tuple[Rows, FloatArray], ...]
    planes: tuple[Any, ...]
    regions: Regions
    lights: Lights
    assembler: Assembler
    renderers: dict[str, Any]
