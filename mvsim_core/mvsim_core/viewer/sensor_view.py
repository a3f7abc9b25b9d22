# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the drawings of all kinds of readings have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.state.arrays import FloatArray, Row


class SensorView(ABC):
    """The newest reading of a sensor as nodes, where it was taken.

    Points and lines are sent in the frame of the scene: a browser that is slow shows them late,
    and never where they were not.

    Attributes:
        sensor: The sensor.
        layers: The layers that have something of it.
    """

    layers: ClassVar[tuple[str, ...]] = ()

    def __init__(self, server: Any, name: str, sensor: Any) -> None:
        """Start without nodes."""
        self.sensor = sensor
        self._scene = server.scene
        self._name = name
        self._mount: Pose = self.mount_of(sensor)
        self._reading: Any = None
        server.scene.add_frame(name, show_axes=False)

    def mount_of(self, sensor: Any) -> Pose:
        """Return the frame of the readings in that of the vehicle."""
        mount: Pose = sensor.mount
        return mount

    @property
    @abstractmethod
    def nodes(self) -> list[Any]:
        """The nodes so far."""

    def frame(self, body: Row | None) -> FloatArray:
        """Return (3, 4) rotation and place [m] of the readings' frame now; `body`: of BODY."""
        turn, shift = rotation(self._mount), np.array(self._mount[:3])
        if body is not None:
            base = Pose(*(float(body[k]) for k in ("x", "y", "z", "roll", "pitch", "yaw")))
            whole = rotation(base)
            turn, shift = whole @ turn, whole @ shift + np.array(base[:3])
        return np.column_stack([turn, shift])

    def is_drawn(self, reading: Any) -> bool:
        """Return whether a reading is what is drawn now."""
        return reading is self._reading

    def draw(self, reading: Any, pose: FloatArray, shown: dict[str, bool]) -> None:
        """Draw a reading that was taken at a pose (3, 4) of the scene; `shown`: layers."""
        self._reading = reading
        self._fill(reading, pose, shown)

    @abstractmethod
    def _fill(self, reading: Any, pose: FloatArray, shown: dict[str, bool]) -> None:
        """Make or update the nodes."""

    def forget(self) -> None:
        """Draw again, even if there is no new reading."""
        self._reading = None

    def hide(self) -> None:
        """Hide all of it."""
        self._reading = None
        for node in self.nodes:
            if node.visible:
                node.visible = False

    def remove(self) -> None:
        """Take it out of the browsers."""
        self._scene.remove_by_name(self._name)


def to_scene(points: FloatArray, pose: FloatArray) -> FloatArray:
    """Return points (..., 3) of a frame at a pose (3, 4) in the scene."""
    return points @ pose[:, :3].T + pose[:, 3]


class Points:
    """A node of points whose number changes."""

    def __init__(self, scene: Any, name: str, size: float) -> None:
        """Start without a node; `size` of a point [m]."""
        self._scene = scene
        self._name = name
        self._size = size
        self._node: Any = None

    @property
    def node(self) -> Any:
        """The node; None before there was a point."""
        return self._node

    def set(self, points: FloatArray, colors: npt.NDArray[np.uint8]) -> None:
        """Show points (n, 3) [m] with colours (n, 3)."""
        if self._node is None:
            if not len(points):
                return
            self._node = self._scene.add_point_cloud(
                self._name,
                points.astype(np.float32),
                colors,
                point_size=self._size,
                point_shape="circle",
                point_shading="flat",
                precision="float32",
            )
            return
        self._node.points = points.astype(np.float32)
        self._node.colors = colors
        self._node.visible = True

    def hide(self) -> None:
        """Show none."""
        if self._node is not None and self._node.visible:
            self._node.visible = False


#: Colours from low to high.
_SCALE = np.array(
    [(70, 60, 160), (50, 120, 220), (30, 180, 170), (110, 200, 60), (240, 190, 40), (220, 60, 30)]
)


def shades(values: FloatArray, low: float, high: float) -> npt.NDArray[np.uint8]:
    """Return colours (n, 3) for values between two limits."""
    share = np.clip((values - low) / max(high - low, 1e-9), 0.0, 1.0) * (len(_SCALE) - 1)
    steps = np.arange(len(_SCALE))
    channels = [np.interp(share, steps, _SCALE[:, k]) for k in range(3)]
    return np.stack(channels, axis=1).astype(np.uint8)
