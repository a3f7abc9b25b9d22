# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Forces as arrows: of the ground on wheels, of contacts on bodies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from mvsim_core.state.arrays import FloatArray
from mvsim_core.viewer.lines import Lines, attitudes, places
from mvsim_core.viewer.nodes import ROOT
from mvsim_core.world.world import World

#: Forces smaller than this are not drawn [N].
LEAST = 0.05
#: Arrows are drawn so far above the ground [m].
LIFT = 0.02
#: Radius of the shaft of an arrow [m].
SHAFT = 0.012


class Forces(ABC):
    """Forces of the last step as arrows.

    Attributes:
        shown: Whether they are drawn.
        scale: Length of an arrow [m/N].
    """

    #: Name of the node, and colour of the arrows.
    name: ClassVar[str]
    color: ClassVar[tuple[int, int, int]]

    def __init__(self, server: Any, world: World, origin: FloatArray, shown: bool) -> None:
        """Start without arrows."""
        self._world = world
        self._origin = origin
        self.shown = shown
        self.scale = world.spec.gui.force_scale
        self._lines = Lines(server, f"{ROOT}/{self.name}", self.color, SHAFT, arrows=True)

    @property
    def node(self) -> Any:
        """Its node; None before there was a force."""
        return self._lines.node

    @abstractmethod
    def update(self) -> None:
        """Draw the forces of the last step."""


class WheelForces(Forces):
    """The horizontal forces of the ground on all wheels."""

    name = "wheel_forces"
    color = (220, 60, 30)

    def update(self) -> None:
        """Draw the forces of the last step."""
        if not self.shown:
            self._lines.hide()
            return
        data = self._world.data
        wheels = data.wheels[data.wheels["body"] >= 0]
        wheels = wheels[np.hypot(wheels["fx"], wheels["fy"]) > LEAST]
        bodies = data.bodies[wheels["body"]]
        turns = attitudes(bodies)
        local = np.stack([wheels["x"], wheels["y"], np.full(len(wheels), LIFT)], axis=1)
        force = np.stack([wheels["fx"], wheels["fy"], np.zeros(len(wheels))], axis=1)
        start = places(bodies) - self._origin + np.einsum("nij,nj->ni", turns, local)
        end = start + self.scale * np.einsum("nij,nj->ni", turns, force)
        self._lines.set(np.stack([start, end], axis=1))


class ContactForces(Forces):
    """The forces of contacts, each as two arrows away from the point of contact."""

    name = "contact_forces"
    color = (240, 160, 0)

    def update(self) -> None:
        """Draw the forces of the last step."""
        if not self.shown or not self._world.data.bodies["touching"].any():
            self._lines.hide()
            return
        world = self._world
        scale = self.scale / world.dt
        arrows = []
        for contact in world.contacts:
            if contact.impulse / world.dt < LEAST:
                continue
            point = np.array([*contact.point, self._height(contact.a, contact.b)]) - self._origin
            along = scale * contact.impulse * np.array([*contact.normal, 0.0])
            arrows += [(point, point + along), (point, point - along)]
        self._lines.set(np.array(arrows).reshape(-1, 2, 3))

    def _height(self, *names: str) -> float:
        """Return the middle of the heights that both bodies have."""
        low, high = -np.inf, np.inf
        for name in names:
            entity = self._world.data.entities.get(name)
            if entity is not None:
                z = float(self._world.data.bodies["z"][entity.row])
                bottom, top = entity.model.z_range
                low, high = max(low, z + bottom), min(high, z + top)
        middle = 0.5 * (low + high)
        return middle if np.isfinite(middle) else LIFT
