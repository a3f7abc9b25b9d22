# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of the browser's scene: many instances of a model, and what never moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mvsim_core.scene3d import Model, Part
from mvsim_core.scene3d.model import join
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.viewer.glb import glb_of

#: All of the world; the viewer shifts it to follow a vehicle.
ROOT = "/world"
#: Corners of the octahedron that stands for a point of a cloud.
_CORNERS = 6
POINT_SIZE = 0.05  # m


class Batch:
    """All instances of one model with one label, as one node.

    Attributes:
        rows: Rows of the instance table, in the order of the node.
        parts: The part of each of them.
    """

    def __init__(self, server: Any, name: str, model: Model, visible: bool) -> None:
        """Start without instances; `place` makes the node."""
        self.rows: IntArray = np.zeros(0, np.int64)
        self.parts: list[Part] = []
        self.name = name
        self._server = server
        self._glb = glb_of(model)
        self._visible = visible
        self._node: Any = None

    @property
    def node(self) -> Any:
        """Its node; None: nothing of it is seen."""
        return self._node

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = visible
        if self._node is not None:
            self._node.visible = visible

    def set_members(self, members: Sequence[tuple[int, Part]]) -> None:
        """Set which rows of the instance table it shows."""
        self.rows = np.array([row for row, _ in members], np.int64)
        self.parts = [part for _, part in members]

    def place(self, instances: Rows, origin: FloatArray) -> None:
        """Send where its instances are."""
        if self._glb is None or not len(self.rows):
            return
        own = instances[self.rows]
        places = (own["t"] - origin).astype(np.float32)
        turns = quaternions(own["r"]).astype(np.float32)
        if self._node is None or len(self._node.batched_positions) != len(places):
            self._make(places, turns)
            return
        self._node.batched_positions = places
        self._node.batched_wxyzs = turns

    def _make(self, places: Any, turns: Any) -> None:
        # Another number of instances is another node of the same name, which takes its place.
        self._node = self._server.scene.add_batched_glb(
            self.name, self._glb, turns, places, lod="off", visible=self._visible
        )

    def remove(self) -> None:
        """Take it out of the browsers."""
        if self._node is not None:
            self._node.remove()
            self._node = None


def quaternions(turns: FloatArray) -> FloatArray:
    """Return (n, 4) w, x, y, z of rotation matrices (n, 3, 3)."""
    m = turns
    trace = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    # Of 4w², 4x², 4y² and 4z² the largest one is exact enough to divide by.
    squares = np.stack(
        [
            1.0 + trace,
            1.0 + 2.0 * m[:, 0, 0] - trace,
            1.0 + 2.0 * m[:, 1, 1] - trace,
            1.0 + 2.0 * m[:, 2, 2] - trace,
        ],
        axis=1,
    )
    wx, wy, wz = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    xy, xz, yz = m[:, 1, 0] + m[:, 0, 1], m[:, 0, 2] + m[:, 2, 0], m[:, 2, 1] + m[:, 1, 2]
    s = squares.T
    choices = np.stack(
        [
            np.stack([s[0], wx, wy, wz], axis=1),
            np.stack([wx, s[1], xy, xz], axis=1),
            np.stack([wy, xy, s[2], yz], axis=1),
            np.stack([wz, xz, yz, s[3]], axis=1),
        ],
        axis=1,
    )
    best = choices[np.arange(len(m)), squares.argmax(axis=1)]
    unit: FloatArray = best / np.linalg.norm(best, axis=1, keepdims=True)
    return unit


def add_fixed(server: Any, name: str, parts: Sequence[Part], origin: FloatArray) -> Any:
    """Add parts that are fixed in the world as one node; None if nothing of them is seen.

    It is a batch of one: for all batches a browser compiles the same shaders. Ground throws no
    shadow: there would be as much of it on itself.
    """
    glb = glb_of(join([part.model.moved(np.eye(3), -origin) for part in parts]))
    if glb is None:
        return None
    turns, places = np.array([[1.0, 0.0, 0.0, 0.0]], np.float32), np.zeros((1, 3), np.float32)
    casts = parts[0].label != "ground"
    return server.scene.add_batched_glb(name, glb, turns, places, lod="off", cast_shadow=casts)


def add_points(server: Any, name: str, part: Part, origin: FloatArray) -> Any:
    """Add a cloud of points, of whose octahedra the middles are shown; None if it is empty."""
    model = part.model
    if not len(model.vertices):
        return None
    places = model.vertices.reshape(-1, _CORNERS, 3).mean(axis=1) - origin
    color = np.round(255.0 * np.array(model.materials[0].color[:3])).astype(np.uint8)
    return server.scene.add_point_cloud(
        name,
        places.astype(np.float32),
        tuple(color.tolist()),
        point_size=POINT_SIZE,
        point_shape="circle",
        precision="float32",
    )
