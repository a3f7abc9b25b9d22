# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Handles for people: a name and a row of the world's arrays, no state of their own.

Frames: world = ENU-like world frame of the file; body = reference point, x forward, y left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_core.animation.waypoint_path import RUNNING_PART, WALKING
from mvsim_core.errors import CommandError, UnknownName
from mvsim_core.geometry.poses import Pose, Twist
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.state.entities import Entity

if TYPE_CHECKING:
    from mvsim_core.world.world import World


class Handle:
    """A body of a world, by name."""

    def __init__(self, world: World, entity: Entity) -> None:
        """Refer to one entity of a world."""
        self._world = world
        self._entity = entity

    @property
    def name(self) -> str:
        """Its name in the world."""
        return self._entity.name

    @property
    def spec(self) -> Any:
        """What the world file says of it."""
        return self._entity.spec

    @property
    def _body(self) -> Any:
        return self._world.state_arrays.bodies[self._entity.row]

    @property
    def pose(self) -> Pose:
        """Pose of the reference point, world frame [m, rad]; yaw is not wrapped."""
        b = self._body
        return Pose(*(float(b[k]) for k in ("x", "y", "z", "roll", "pitch", "yaw")))

    @property
    def twist(self) -> Twist:
        """Velocity of the reference point in its own frame, along the ground [m/s, rad/s]."""
        b = self._body
        c, s = math.cos(b["yaw"]), math.sin(b["yaw"])
        vx, vy = float(b["vx"]), float(b["vy"])
        along, across = (c * vx + s * vy) / b["cos_x"], (-s * vx + c * vy) / b["cos_y"]
        return Twist(float(along), float(across), float(b["wz"]))

    @property
    def acceleration(self) -> tuple[float, float, float]:
        """(ax, ay) of the reference point [m/s²], its own frame, and of yaw [rad/s²]."""
        b = self._body
        c, s = math.cos(b["yaw"]), math.sin(b["yaw"])
        ax, ay = float(b["ax"]), float(b["ay"])
        return (c * ax + s * ay, -s * ax + c * ay, float(b["az"]))

    @property
    def mass(self) -> float:
        """Mass of the whole body, wheels included [kg]."""
        return float(self._body["mass"])

    @property
    def in_collision(self) -> bool:
        """Whether it touches something now."""
        return bool(self._body["touching"])

    @property
    def polygons(self) -> list[FloatArray]:
        """Its collision polygons, each (n, 2), in its own frame [m]."""
        return [solid.points for solid in self._entity.solids]

    @property
    def z_range(self) -> tuple[float, float]:
        """Lowest and highest point above its reference point [m]."""
        return self._entity.z_range

    def teleport(self, x: float, y: float, yaw: float, z: float | None = None) -> None:
        """Put it at a pose of the world [m, m, rad], standing still on the ground.

        Args:
            x: Position [m].
            y: Position [m].
            yaw: Heading [rad].
            z: About where the ground is [m], if there are several floors; None: as now.

        Raises:
            CommandError: A value is not finite.
        """
        need_finite("teleport", x=x, y=y, yaw=yaw, z=0.0 if z is None else z)
        self._world.teleport(self._entity, x, y, yaw, z)

    def set_velocity(self, vx: float, vy: float, wz: float) -> None:
        """Let it move: velocity of its reference point along the ground, its own frame.

        Wheels roll along; the next steps decide what becomes of the motion.

        Args:
            vx: Forward [m/s].
            vy: To the left [m/s].
            wz: Yaw rate [rad/s].

        Raises:
            CommandError: A value is not finite.
        """
        need_finite("velocity", vx=vx, vy=vy, wz=wz)
        b, com = self._body, self._entity.inertia
        c, s = math.cos(b["yaw"]), math.sin(b["yaw"])
        vx, vy = vx * float(b["cos_x"]), vy * float(b["cos_y"])
        b["vx"], b["vy"], b["wz"] = c * vx - s * vy, s * vx + c * vy, wz
        along, across = vx - wz * com.com_y, vy + wz * com.com_x
        b["cvx"], b["cvy"] = c * along - s * across, s * along + c * across
        b["wz_before"] = wz
        start = self._entity.wheel0
        wheels = self._world.state_arrays.wheels[start : start + len(self._entity.wheels)]
        at_x, at_y = vx - wz * wheels["y"], vy + wz * wheels["x"]
        c, s = np.cos(wheels["yaw"]), np.sin(wheels["yaw"])
        rolling = c * at_x + s * at_y + (c * at_y - s * at_x) * wheels["tan_grip"]
        wheels["omega"] = rolling / wheels["radius"]

    def __repr__(self) -> str:
        """Return name and pose."""
        p = self.pose
        return f"<{type(self).__name__} {self.name!r} x={p.x:.3f} y={p.y:.3f} yaw={p.yaw:.3f}>"


class Block(Handle):
    """An obstacle."""


class Actor(Handle):
    """Somebody who walks along a path; the world moves it, and it pushes what is in its way."""

    @property
    def gait(self) -> str:
        """What it does now: "idle", "walk" or "run"."""
        speed = math.hypot(float(self._body["vx"]), float(self._body["vy"]))
        if speed > RUNNING_PART * self.spec.running_speed:
            return "run"
        return "walk" if speed > WALKING else "idle"


class Pivot:
    """A driven pivot between two bodies: seeks an angle with a limited torque."""

    def __init__(self, row: Rows, world: World) -> None:
        """Refer to one row of DRIVE."""
        self._row = row
        self._world = world

    @property
    def angle(self) -> float:
        """Angle of the second body to the first [rad], zero as in the file."""
        row = self._row[0]
        bodies = self._world.state_arrays.bodies
        return float(bodies[row["b"]]["yaw"] - bodies[row["a"]]["yaw"] - row["zero"])

    @property
    def torque(self) -> float:
        """Torque on the second body in the last step [N m]."""
        return float(self._row["torque"][0])

    @property
    def target(self) -> float:
        """The angle that is sought [rad]."""
        return float(self._row["target"][0])

    @target.setter
    def target(self, angle: float) -> None:
        need_finite("pivot", target=angle)
        self._row["target"] = angle


class Handles(Mapping[str, Any]):
    """Handles by name; an unknown name gets a suggestion."""

    def __init__(self, kind: str) -> None:
        """Start empty; `kind` is what the entries are called in messages."""
        self._kind = kind
        self._handles: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return the handle of that name.

        Raises:
            UnknownName: There is none.
        """
        try:
            return self._handles[name]
        except KeyError:
            raise UnknownName(self._kind, name, self._handles) from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, in file order."""
        return iter(self._handles)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._handles)


def need_finite(what: str, **values: float) -> None:
    """Refuse numbers that are not finite.

    Raises:
        CommandError: One is not; the message names it.
    """
    for name, value in values.items():
        if not math.isfinite(value):
            raise CommandError(f"{what}: {name} must be a finite number, got {value!r}")
