# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The parts that a world consists of: what `build` makes of specs, and where their rows are.

An entity keeps its rows while the arrays of the world are laid out anew (when something is added
or removed); handles find their rows through it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvsim_core.solver.base import Inertia, Material
from mvsim_core.state.arrays import BODY, DYNAMIC, FloatArray, Rows, State


@dataclass(frozen=True, slots=True)
class Solid:
    """A collision shape; it need not be convex.

    Args:
        points: (n, 2) corners of a simple polygon in the body frame, counter-clockwise [m].
        material: Its surface.
        z_range: Lower and upper end above the body's reference point [m].
    """

    points: FloatArray
    material: Material
    z_range: tuple[float, float]


@dataclass
class Entity:
    """Something with a body: a vehicle, a block, or a fixed part of the world.

    The rows are those to be put into the arrays of the world; `save` takes them back.
    """

    name: str
    spec: Any
    body: Rows
    inertia: Inertia
    solids: list[Solid] = field(default_factory=list)
    key: int = -1  # of the solver; -1: not in it
    leader: Entity | None = None  # of its rigid island
    led: bool = False  # whether it leads one
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)  # in the leader's frame
    row: int = -1  # in BODY
    wheels: Rows = field(default_factory=lambda: np.zeros(0, "i8"))
    wheel0: int = -1
    vehicle: Rows | None = None
    vehicle_row: int = -1
    pids: Rows = field(default_factory=lambda: np.zeros(0, "i8"))
    pid0: int = -1
    limits: Rows = field(default_factory=lambda: np.zeros(0, "i8"))  # at most one row
    limit0: int = -1
    kinematics: Any = None
    sensors: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Keep its own mass, which an island may add to."""
        self.own = self.inertia

    @property
    def moves(self) -> bool:
        """Whether the solver moves it."""
        return self.key >= 0 and int(self.body["kind"][0]) != 0

    @property
    def z_range(self) -> tuple[float, float]:
        """Lowest and highest point above its reference point [m]."""
        if not self.solids:
            return (0.0, 0.0)
        return (
            min(s.z_range[0] for s in self.solids),
            max(s.z_range[1] for s in self.solids),
        )

    def save(self, state: State) -> None:
        """Take the rows back from the arrays of the world."""
        if self.row < 0:
            return
        self.body = state.bodies[self.row : self.row + 1].copy()
        if self.vehicle is not None:
            self.wheels = state.wheels[self.wheel0 : self.wheel0 + len(self.wheels)].copy()
            self.vehicle = state.vehicles[self.vehicle_row : self.vehicle_row + 1].copy()
            self.pids = state.pids[self.pid0 : self.pid0 + len(self.pids)].copy()
            self.limits = state.limits[self.limit0 : self.limit0 + len(self.limits)].copy()


def body_row(
    pose: tuple[float, float, float, float, float, float],
    twist: tuple[float, float, float],
    inertia: Inertia,
    kind: int = DYNAMIC,
) -> Rows:
    """Return one row of BODY.

    Args:
        pose: x, y, z [m], roll, pitch, yaw [rad], world frame.
        twist: vx, vy [m/s] of the centre of mass in the body frame, wz [rad/s].
        inertia: Mass properties.
        kind: STATIC, DYNAMIC or KINEMATIC.
    """
    row = np.zeros(1, BODY)
    for name, value in zip(("x", "y", "z", "roll", "pitch", "yaw"), pose, strict=True):
        row[name] = value
    c, s = np.cos(pose[5]), np.sin(pose[5])
    row["cvx"] = c * twist[0] - s * twist[1]
    row["cvy"] = s * twist[0] + c * twist[1]
    row["wz"] = row["wz_before"] = twist[2]
    row["vx"] = row["cvx"] + twist[2] * (s * inertia.com_x + c * inertia.com_y)
    row["vy"] = row["cvy"] - twist[2] * (c * inertia.com_x - s * inertia.com_y)
    row["mass"], row["com_x"], row["com_y"], row["inertia"] = inertia
    row["cos_x"] = row["cos_y"] = 1.0
    row["kind"] = kind
    row["leader"] = -1
    return row
