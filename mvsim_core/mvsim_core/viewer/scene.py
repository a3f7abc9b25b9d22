# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The things of a world as nodes in the browser: parts as cameras see them, where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mvsim_core.scene3d import Model, Part
from mvsim_core.scene3d.tables import INSTANCE, place_kernel
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.viewer.decimation import decimated
from mvsim_core.viewer.nodes import ROOT, Batch, add_fixed, add_points
from mvsim_core.world.world import World

#: Kinds of parts, as `Part.label` has them, and what they are called in the panel.
LABELS = {
    "ground": "Ground",
    "wall": "Walls",
    "map": "Maps",
    "points": "Point clouds",
    "block": "Blocks",
    "actor": "Actors",
    "vehicle": "Vehicles",
    "sensor": "Sensors",
}
#: Worlds farther from the origin than this [m] are shown about their own middle, since browsers
#: work in single precision.
FAR = 1000.0
_NO_SHIFT = np.zeros(3)


class SceneNodes:
    """Nodes of all parts of a world.

    Args:
        server: Of viser.
        world: What is shown.
        on_pick: Called, in a thread of the server, with the name of a thing that is clicked.

    Attributes:
        origin: Place in the world that is the origin of the browser's scene [m].
        messages: Number of nodes that were sent so far.
    """

    def __init__(self, server: Any, world: World, on_pick: Callable[[str], None]) -> None:
        """Make all nodes."""
        self._server = server
        self._world = world
        self._on_pick = on_pick
        self._version = -1
        self._instances: Rows = np.zeros(0, INSTANCE)
        self._batch_of: IntArray = np.zeros(0, np.int64)
        self._moved: IntArray = np.zeros(0, np.int64)
        self._batches: dict[tuple[str, Model], Batch] = {}
        self._order: list[Batch] = []
        self._fixed: dict[str, tuple[list[Part], list[Any]]] = {}
        self._hidden: set[str] = set()
        self._made = 0
        self.messages = 0
        self.origin = _origin(world)
        self.update()

    # ------------------------------------------------------------ each picture
    def update(self, *, everything: bool = False) -> bool:
        """Send what has come, gone or moved; return whether there was any.

        Args:
            everything: Also what has not moved.
        """
        scene, data = self._world.scene3d, self._world.data
        changed = scene.version != self._version
        if changed:
            self._version = scene.version
            self._sort(scene.parts())
        if everything:
            self._instances["known"] = np.nan
        count = place_kernel(self._instances, data.bodies, data.wheels, _NO_SHIFT, self._moved)
        if not count:
            return changed
        for k in np.unique(self._batch_of[self._moved[:count]]).tolist():
            batch = self._order[k]
            new = batch.node
            batch.place(self._instances, self.origin)
            if batch.node is not new:
                self._listen(batch)
            self.messages += 1
        return True

    def show(self, label: str, shown: bool) -> None:
        """Show or hide all parts of a kind."""
        (self._hidden.discard if shown else self._hidden.add)(label)
        for (of_batch, _), batch in self._batches.items():
            if of_batch == label:
                batch.visible = shown
        for node in self._fixed.get(label, ([], []))[1]:
            node.visible = shown

    def shows(self, label: str) -> bool:
        """Return whether parts of a kind are shown."""
        return label not in self._hidden

    @property
    def labels(self) -> list[str]:
        """The kinds of parts that there are."""
        present = {label for label, _ in self._batches} | set(self._fixed)
        return [label for label in LABELS if label in present]

    @property
    def batches(self) -> list[Batch]:
        """What moves, or could."""
        return list(self._order)

    @property
    def fixed(self) -> dict[str, list[Any]]:
        """Nodes of what never moves, by kind."""
        return {label: nodes for label, (_, nodes) in self._fixed.items()}

    def remove(self) -> None:
        """Take all nodes out of the browsers."""
        for batch in self._batches.values():
            batch.remove()
        for _, nodes in self._fixed.values():
            for node in nodes:
                node.remove()
        self._batches, self._order, self._fixed = {}, [], {}

    # ------------------------------------------------------------ what comes and goes
    def _sort(self, entities: Any) -> None:
        """Sort all parts into batches and fixed nodes; keep what is the same."""
        fixed: dict[str, list[Part]] = {}
        members: dict[tuple[str, Model], list[tuple[int, Part]]] = {}
        frames: list[tuple[int, int]] = []
        for parts in entities.values():
            for part in parts:
                if part.body < 0:
                    fixed.setdefault(part.label, []).append(part)
                    continue
                key = (part.label, part.model)
                members.setdefault(key, []).append((len(frames), part))
                frames.append((part.body, part.wheel))
        self._set_fixed(fixed)
        self._set_instances(frames)
        for key in [key for key in self._batches if key not in members]:
            self._batches.pop(key).remove()
        self._order = []
        for key, rows in members.items():
            batch = self._batches.get(key) or self._new_batch(key)
            batch.set_members(rows)
            self._batch_of[batch.rows] = len(self._order)
            self._order.append(batch)

    def _set_instances(self, frames: list[tuple[int, int]]) -> None:
        rows = np.zeros(len(frames), INSTANCE)
        if frames:
            rows["body"], rows["wheel"] = np.array(frames).T
        rows["r"], rows["known"] = np.eye(3), np.nan
        self._instances = rows
        self._batch_of = np.zeros(len(frames), np.int64)
        self._moved = np.zeros(len(frames), np.int64)

    def _new_batch(self, key: tuple[str, Model]) -> Batch:
        label, model = key
        self._made += 1
        name = f"{ROOT}/{label}/{self._made}"
        batch = Batch(self._server, name, model, label not in self._hidden)
        self._batches[key] = batch
        return batch

    def _listen(self, batch: Batch) -> None:
        if batch.node is None or batch.parts[0].label not in ("vehicle", "block"):
            return
        parts = list(batch.parts)

        def picked(event: Any) -> None:
            number = event.instance_index or 0
            if number < len(parts):
                self._on_pick(parts[number].name)

        batch.node.on_click(picked)

    def _set_fixed(self, fixed: dict[str, list[Part]]) -> None:
        for label in [*self._fixed]:
            if self._fixed[label][0] != fixed.get(label):
                for node in self._fixed.pop(label)[1]:
                    node.remove()
        for label, parts in fixed.items():
            if label not in self._fixed:
                self._fixed[label] = (parts, self._make_fixed(label, parts))

    def _make_fixed(self, label: str, parts: list[Part]) -> list[Any]:
        name = f"{ROOT}/{label}/fixed"
        if label == "points":
            nodes = [
                add_points(self._server, f"{name}_{k}", part, self.origin)
                for k, part in enumerate(parts)
            ]
        else:
            if label == "ground":
                parts = [part._replace(model=decimated(part.model)) for part in parts]
            nodes = [add_fixed(self._server, name, parts, self.origin)]
        shown = [node for node in nodes if node is not None]
        for node in shown:
            node.visible = label not in self._hidden
        return shown


def _origin(world: World) -> FloatArray:
    """Return the middle of a world that is far from its origin, else the origin."""
    view = world.whole_view()
    middle = np.round(np.array([view.at[0], view.at[1], 0.0]))
    return middle if np.abs(middle).max() > FAR else np.zeros(3)
