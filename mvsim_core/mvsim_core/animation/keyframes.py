# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Key-frame animation: a block follows poses over time and pushes bodies in its way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvsim_core.state.arrays import Row, State
from mvsim_core.state.entities import Entity

#: x, y, z [m] and yaw [rad] in the world.
Place = tuple[float, float, float, float]

#: Above this speed a block is teleported to its next pose instead of moved [m/s].
CUT = 50.0
#: Likewise for turns, in one step [rad].
TURN_CUT = 1.0


class KeyframeAnimation:
    """Moves one kinematic body along its key frames, in a loop.

    The pose is a function of time alone, so there is no state.

    Args:
        entity: The animated entity; its pose at the start is the frame of the key frames.
        frames: (time [s], Pose) in order.
    """

    def __init__(self, entity: Entity, frames: tuple[Any, ...]) -> None:
        """Keep the key frames as arrays."""
        self.entity = entity
        self._times = np.array([t for t, _ in frames])
        self._poses = np.array([tuple(pose) for _, pose in frames])
        self._poses[:, 3:] = np.unwrap(self._poses[:, 3:], axis=0)
        body = entity.model.body[0]
        self._origin = tuple(float(body[k]) for k in ("x", "y", "z", "yaw"))

    def at(self, time: float) -> Place:
        """Return x, y, z [m] and yaw [rad] in the world at a time [s]."""
        phase = time % self._times[-1] if self._times[-1] > 0.0 else 0.0
        dx, dy, dz, _, _, dyaw = (
            float(np.interp(phase, self._times, self._poses[:, k])) for k in range(6)
        )
        x, y, z, yaw = self._origin
        c, s = math.cos(yaw), math.sin(yaw)
        return x + c * dx - s * dy, y + s * dx + c * dy, z + dz, yaw + dyaw

    def begin(self, state: State) -> None:
        """Put the body at its pose at time 0."""
        body = state.bodies[self.entity.row]
        body["x"], body["y"], body["z"], body["yaw"] = self.at(0.0)

    def apply(self, state: State, time: float, dt: float) -> None:
        """Give the body the velocity that takes it to its pose at `time` within dt."""
        move_to(self.entity, state.bodies[self.entity.row], self.at(time), dt)


def move_to(entity: Entity, body: Row, place: Place, dt: float) -> None:
    """Give a kinematic body the velocity that takes it to a place within dt.

    A body without a shape, or one that would be too fast, is teleported.

    Args:
        entity: Its entity.
        body: Its row of BODY.
        place: x, y, z [m] and yaw [rad] in the world.
        dt: Length of the step [s].
    """
    x, y, z, yaw = place
    turn = math.remainder(yaw - float(body["yaw"]), 2.0 * math.pi)
    vx, vy = (x - float(body["x"])) / dt, (y - float(body["y"])) / dt
    body["z"] = z
    if not entity.model.movable or math.hypot(vx, vy) > CUT or abs(turn) > TURN_CUT:
        vx = vy = turn = 0.0
        body["x"], body["y"], body["yaw"] = x, y, yaw
    body["cvx"], body["cvy"], body["wz"] = vx, vy, turn / dt
