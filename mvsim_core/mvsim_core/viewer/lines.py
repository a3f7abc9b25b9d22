# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of lines and arrows whose number changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mvsim_core.state.arrays import FloatArray, Rows

Color = tuple[int, int, int]


class Lines:
    """Line segments or arrows; nothing is sent while there are none.

    Args:
        server: Of viser.
        name: Of the node.
        color: Of all of them.
        thickness: Of a line [pixel], or of the shaft of an arrow [m].
        arrows: Whether they have heads.
    """

    def __init__(
        self, server: Any, name: str, color: Color, thickness: float, *, arrows: bool = False
    ) -> None:
        """Start without a node."""
        self._server = server
        self._name = name
        self._color = color
        self._thickness = thickness
        self._arrows = arrows
        self._node: Any = None

    @property
    def node(self) -> Any:
        """The node; None before there was a line."""
        return self._node

    def set(self, points: FloatArray) -> None:
        """Show (n, 2, 3) from where to where, in the frame of the parent node [m]."""
        if not len(points):
            self.hide()
            return
        sent = points.astype(np.float32)
        if self._node is None:
            self._node = self._make(sent)
            return
        self._node.points = sent
        self._node.visible = True

    def hide(self) -> None:
        """Show none."""
        if self._node is not None and self._node.visible:
            self._node.visible = False

    def _make(self, points: Any) -> Any:
        scene = self._server.scene
        if not self._arrows:
            return scene.add_line_segments(
                self._name,
                points,
                self._color,
                thickness=self._thickness,
                thickness_units="screen",
            )
        shaft = self._thickness
        return scene.add_arrows(
            self._name,
            points,
            self._color,
            shaft_radius=shaft,
            head_radius=2.5 * shaft,
            head_length=6.0 * shaft,
        )


def attitudes(rows: Rows) -> FloatArray:
    """Return (n, 3, 3) from the frames of rows of BODY to the world."""
    cr, sr = np.cos(rows["roll"]), np.sin(rows["roll"])
    cp, sp = np.cos(rows["pitch"]), np.sin(rows["pitch"])
    cy, sy = np.cos(rows["yaw"]), np.sin(rows["yaw"])
    out = np.empty((len(rows), 3, 3))
    out[:, 0, 0], out[:, 0, 1], out[:, 0, 2] = (
        cy * cp,
        cy * sp * sr - sy * cr,
        cy * sp * cr + sy * sr,
    )
    out[:, 1, 0], out[:, 1, 1], out[:, 1, 2] = (
        sy * cp,
        sy * sp * sr + cy * cr,
        sy * sp * cr - cy * sr,
    )
    out[:, 2, 0], out[:, 2, 1], out[:, 2, 2] = -sp, cp * sr, cp * cr
    return out


def places(rows: Rows) -> FloatArray:
    """Return (n, 3) where the reference points of rows of BODY are [m]."""
    return np.stack([rows["x"], rows["y"], rows["z"]], axis=1).astype(np.float64)
