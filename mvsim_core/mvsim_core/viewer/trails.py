# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Trajectories of vehicles as lines on the ground."""

from __future__ import annotations

import time as wall
from typing import Any

import numpy as np

from mvsim_core.state.arrays import FloatArray
from mvsim_core.viewer.lines import Lines
from mvsim_core.viewer.nodes import ROOT
from mvsim_core.world.world import World

COLOR = (30, 110, 220)
#: Distance between two points [m].
STEP = 0.05
#: A farther way from one picture to the next is no motion but a teleport [m].
JUMP = 2.0
#: Points of all vehicles together.
MOST = 20_000
#: Wall time between two drawings [s].
PERIOD = 0.2
LIFT = 0.02  # m


class Trails:
    """Where vehicles have been while this was shown.

    Attributes:
        shown: Whether they are drawn.
    """

    def __init__(self, server: Any, world: World, origin: FloatArray) -> None:
        """Start without points."""
        self._world = world
        self._origin = origin
        self.shown = False
        self._points: dict[int, list[FloatArray]] = {}
        self._lines = Lines(server, f"{ROOT}/trails", COLOR, 2.0)
        self._drawn = 0.0
        self._new = False
        self._ticks = 0

    @property
    def node(self) -> Any:
        """Its node; None before there was a trail."""
        return self._lines.node

    def clear(self) -> None:
        """Forget all points."""
        self._points.clear()
        self._lines.hide()

    def update(self) -> None:
        """Add where vehicles are now, and draw all from time to time."""
        if not self.shown:
            self.clear()
            return
        world = self._world
        if world.ticks < self._ticks:
            self.clear()
        self._ticks = world.ticks
        vehicles = [e for e in world.data.entities.values() if e.kind == "vehicle"]
        most = max(MOST // max(len(vehicles), 1), 50)
        for entity in vehicles:
            b = world.data.bodies[entity.row]
            place = np.array([b["x"], b["y"], b["z"] + LIFT]) - self._origin
            points = self._points.setdefault(entity.token, [])
            if points and np.abs(place - points[-1]).max() < STEP:
                continue
            points.append(place)
            self._new = True
            if len(points) > most:
                del points[: len(points) - most]
        now = wall.perf_counter()
        if self._new and now - self._drawn > PERIOD:
            self._drawn, self._new = now, False
            self._draw({entity.token for entity in vehicles})

    def _draw(self, present: set[int]) -> None:
        pieces = []
        for token in [*self._points]:
            if token not in present:
                del self._points[token]
                continue
            way = np.array(self._points[token])
            pairs = np.stack([way[:-1], way[1:]], axis=1)
            pieces.append(pairs[np.abs(pairs[:, 1] - pairs[:, 0]).max(axis=1) < JUMP])
        self._lines.set(np.concatenate(pieces) if pieces else np.zeros((0, 2, 3)))
