# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Names of vehicles and actors above them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mvsim_core.state.arrays import FloatArray
from mvsim_core.viewer.nodes import ROOT
from mvsim_core.world.world import World

#: A name is moved when what it belongs to has moved by this [m].
STEP = 0.01
#: Height of a name above the highest point [m].
ABOVE = 0.15


class Names:
    """Labels of vehicles and actors.

    Attributes:
        shown: Whether they are drawn.
    """

    def __init__(self, server: Any, world: World, origin: FloatArray, shown: bool) -> None:
        """Start without labels."""
        self._server = server
        self._world = world
        self._origin = origin
        self.shown = shown
        self._labels: dict[int, tuple[Any, FloatArray]] = {}

    @property
    def texts(self) -> list[str]:
        """The names that are drawn."""
        return [label.text for label, _ in self._labels.values()]

    def update(self) -> None:
        """Put labels where their owners are."""
        entities = self._world.data.entities.values() if self.shown else ()
        named = {e.token: e for e in entities if e.kind in ("vehicle", "actor")}
        for token in [token for token in self._labels if token not in named]:
            self._labels.pop(token)[0].remove()
        bodies = self._world.data.bodies
        for token, entity in named.items():
            b = bodies[entity.row]
            place = np.array([b["x"], b["y"], b["z"] + entity.model.z_range[1] + ABOVE])
            place -= self._origin
            known = self._labels.get(token)
            if known is None:
                label = self._server.scene.add_label(
                    f"{ROOT}/names/{token}",
                    entity.name,
                    position=tuple(place.tolist()),
                    anchor="bottom-center",
                    font_screen_scale=0.8,
                )
                self._labels[token] = (label, place)
            elif np.abs(place - known[1]).max() > STEP:
                known[0].position = tuple(place.tolist())
                self._labels[token] = (known[0], place)
