# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Small worlds for the contact solver: bodies, shapes and steps without anything else."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import numpy as np

from mvsim_core.solver.base import JointSettings, Material
from mvsim_core.solver.contact_data import ContactData
from mvsim_core.solver.contact_types import GRIP, NO_GRIPS, NO_WALLS
from mvsim_core.solver.solve import solve
from mvsim_core.state.arrays import BODY, DYNAMIC, STATIC, FloatArray, Rows

SMOOTH = Material(0.0, 0.0)
ANY_HEIGHT = (-math.inf, math.inf)
DT = 0.005


def box(width: float, height: float, x: float = 0.0, y: float = 0.0) -> FloatArray:
    """Corners of a box about (x, y)."""
    w, h = 0.5 * width, 0.5 * height
    return np.array([(x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h)])


def ngon(count: int, radius: float, turn: float = 0.0) -> FloatArray:
    """Corners of a regular polygon about the origin."""
    angles = turn + 2 * math.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


class Scene:
    """Bodies with shapes that are stepped."""

    def __init__(self) -> None:
        self.bodies: Rows = np.zeros(0, BODY)
        self.data = ContactData()
        self.walls: Rows = NO_WALLS
        self.grips: Rows = NO_GRIPS

    def body(
        self,
        shape: FloatArray | Sequence[FloatArray] | None,
        pose: tuple[float, float, float] = (0.0, 0.0, 0.0),
        velocity: tuple[float, float, float] = (0.0, 0.0, 0.0),
        *,
        mass: float = 1.0,
        inertia: float | None = None,
        com: tuple[float, float] = (0.0, 0.0),
        kind: int = DYNAMIC,
        material: Material = SMOOTH,
        height: tuple[float, float] = ANY_HEIGHT,
        copy: int = 0,
    ) -> int:
        """Add a body; the velocity is that of its centre of mass. Returns its row."""
        row = np.zeros(1, BODY)
        row["x"], row["y"], row["yaw"] = pose
        row["cvx"], row["cvy"], row["wz"] = velocity
        row["mass"], row["kind"], row["copy"] = mass, kind, copy
        row["inertia"] = mass / 6.0 if inertia is None else inertia
        row["com_x"], row["com_y"] = com
        self.bodies = np.concatenate([self.bodies, row])
        number = len(self.bodies) - 1
        shapes = [] if shape is None else [shape] if isinstance(shape, np.ndarray) else shape
        for points in shapes:
            self.data.add_shape(number, number, points, material, height)
        return number

    def fixed(
        self,
        points: FloatArray,
        material: Material = SMOOTH,
        height: tuple[float, float] = ANY_HEIGHT,
        owner: int = -1,
    ) -> int:
        """Add a shape that is fixed in the world and return its number."""
        return self.data.add_shape(-1, owner, points, material, height)

    def joint(self, kind: str, a: int, b: int, **settings: object) -> int:
        """Add a joint; what is not given is zero or free."""
        values: dict[str, object] = {
            "anchor_a": (0.0, 0.0),
            "anchor_b": (0.0, 0.0),
            "axis": (1.0, 0.0),
            "angle": 0.0,
            "angles": None,
            "lengths": (0.0, 0.0),
            "limited": False,
            "hertz": 0.0,
            "damping_ratio": 0.0,
        }
        return self.data.add_joint(a, b, JointSettings(kind=kind, **{**values, **settings}))  # type: ignore[arg-type]

    def grip(
        self, body: int, force: float, x: float = 0.0, y: float = 0.0, **fields: float
    ) -> None:
        """Add friction of the ground, in all directions if nothing else is said."""
        row = np.zeros(1, GRIP)
        row["body"], row["x"], row["y"], row["round"] = body, x, y, 1
        row["limit_x"] = row["limit_y"] = force
        for name, value in fields.items():
            row[name] = value
        self.grips = np.concatenate([self.grips, row])

    def step(self, count: int = 1, dt: float = DT) -> None:
        """Advance."""
        movers = np.flatnonzero(self.bodies["kind"] != STATIC)
        for _ in range(count):
            grips = lambda _: self.grips  # noqa: E731
            assert solve(self.bodies, movers, self.data, dt, self.walls, grips) == -1

    def copy(self) -> Scene:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def momentum(self) -> FloatArray:
        """Momentum [N s] and angular momentum about the origin [N m s]."""
        b = self.bodies
        px, py = b["mass"] * b["cvx"], b["mass"] * b["cvy"]
        x, y = self.centres()
        spin = b["inertia"] * b["wz"] + x * py - y * px
        return np.array([px.sum(), py.sum(), spin.sum()])

    def centres(self) -> tuple[FloatArray, FloatArray]:
        """Return the places of the centres of mass [m]."""
        b = self.bodies
        c, s = np.cos(b["yaw"]), np.sin(b["yaw"])
        return (
            b["x"] + c * b["com_x"] - s * b["com_y"],
            b["y"] + s * b["com_x"] + c * b["com_y"],
        )

    def energy(self) -> float:
        """Kinetic energy of what moves [J]."""
        b = self.bodies[self.bodies["kind"] == DYNAMIC]
        linear = b["mass"] * (b["cvx"] ** 2 + b["cvy"] ** 2)
        return float(0.5 * (linear + b["inertia"] * b["wz"] ** 2).sum())
