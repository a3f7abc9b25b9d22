# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is around the things of a world: sky, light, grid, regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mvsim_core.specs.element import GroundGridSpec, PropertyRegionSpec
from mvsim_core.state.arrays import FloatArray
from mvsim_core.viewer.nodes import ROOT
from mvsim_core.viewer.sky import add_lights, bytes_of, set_sky
from mvsim_core.world.world import World

#: Colours of regions by property.
REGION_COLORS = {
    "friction_mu": (40, 120, 220),
    "friction_C_rr": (150, 90, 30),
    "gps_no_coverage": (200, 40, 160),
}
_OTHER = (120, 120, 120)
REGION_OPACITY = 0.25
#: Above the ground, so that regions and grids are not within it [m].
LIFT = 0.01


class Backdrop:
    """Sky, light, grid and regions of a world.

    Attributes:
        grid: Node of the grid; None: there is none.
        regions: Nodes of the regions, two a region.
    """

    def __init__(self, server: Any, world: World, origin: FloatArray) -> None:
        """Make the nodes."""
        self._server = server
        set_sky(server)
        lights = world.scene3d.lights
        add_lights(
            server,
            azimuth=lights.azimuth,
            elevation=lights.elevation,
            color=lights.color,
            ambient=lights.ambient,
            shadows=lights.shadows,
        )
        self.grid = self._add_grid(world, origin)
        self.regions: list[Any] = []
        specs = [e for e in world.spec.elements if isinstance(e, PropertyRegionSpec)]
        for number, spec in enumerate(specs):
            self.regions.extend(self._add_region(f"{ROOT}/regions/{number}", spec, origin))

    @property
    def regions_shown(self) -> bool:
        """Whether there are regions and they are shown."""
        return any(node.visible for node in self.regions)

    def show_regions(self, shown: bool) -> None:
        """Show or hide the regions."""
        for node in self.regions:
            node.visible = shown

    def _add_grid(self, world: World, origin: FloatArray) -> Any:
        grids = [e for e in world.spec.elements if isinstance(e, GroundGridSpec)]
        if grids:
            spec = grids[-1]
            color = bytes_of(spec.color)
            middle = (0.5 * (spec.x_min + spec.x_max), 0.5 * (spec.y_min + spec.y_max), LIFT)
            return self._server.scene.add_grid(
                f"{ROOT}/grid",
                width=spec.x_max - spec.x_min,
                height=spec.y_max - spec.y_min,
                cell_size=spec.interval,
                section_size=spec.interval,
                cell_color=color,
                section_color=color,
                cell_thickness=spec.line_width,
                section_thickness=spec.line_width,
                fade_strength=0.0,
                shadow_opacity=0.0,
                position=tuple(np.subtract(middle, origin).tolist()),
            )
        parts = (part for parts in world.scene3d.parts().values() for part in parts)
        if any(part.label == "ground" for part in parts):
            return None
        return self._server.scene.add_grid(  # the level floor that worlds without ground have
            f"{ROOT}/grid",
            infinite_grid=True,
            cell_size=1.0,
            section_size=5.0,
            cell_color=(190, 194, 198),
            section_color=(165, 170, 176),
            plane_color=(214, 217, 220),
            plane_opacity=1.0,
            fade_distance=300.0,
        )

    def _add_region(self, name: str, spec: PropertyRegionSpec, origin: FloatArray) -> list[Any]:
        """Add the rectangle of a region on the ground, and its name."""
        color = REGION_COLORS.get(spec.property_name, _OTHER)
        z = max(spec.z_min, 0.0) + LIFT
        corners = np.array(
            [(x, y, z) for x in (spec.x_min, spec.x_max) for y in (spec.y_min, spec.y_max)]
        )
        mesh = self._server.scene.add_mesh_simple(
            f"{name}/area",
            (corners - origin).astype(np.float32),
            np.array([(0, 2, 3), (0, 3, 1)]),
            color=color,
            opacity=REGION_OPACITY,
            side="double",
            cast_shadow=False,
        )
        value = spec.value
        text = f"{value:g}" if isinstance(value, float) else str(value)
        label = self._server.scene.add_label(
            f"{name}/label",
            f"{spec.property_name}: {text}",
            position=tuple((corners[0] - origin).tolist()),
        )
        return [mesh, label]
