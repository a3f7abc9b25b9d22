# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Handles of entities: a name and a token, no state of their own.

Frames: world = ENU-like world frame of the file; body = reference point, x forward, y left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_core.animation.waypoint_path import RUNNING_PART, WALKING
from mvsim_core.dynamics.followers import followers_kernel
from mvsim_core.errors import CommandError, UnknownName
from mvsim_core.geometry.poses import Pose, Twist
from mvsim_core.state.arrays import DYNAMIC, FOREVER, STATIC, FloatArray
from mvsim_core.state.entities import Entity
from mvsim_core.state.plan_view import along_ground

if TYPE_CHECKING:
    from mvsim_core.world.base import Entities


class Handle:
    """A handle of a body; it is valid until the body is removed and never refers to another one.

    Its use after that raises UnknownName with the reason.
    """

    def __init__(self, world: Entities, entity: Entity) -> None:
        """Refer to one entity of a world."""
        self._world = world
        self._name = entity.name
        self._token = entity.token
        self._kind = entity.kind

    @property
    def name(self) -> str:
        """Its name in the world."""
        return self._name

    @property
    def valid(self) -> bool:
        """Whether its entity is in its world now."""
        entity = self._world.data.entities.get(self._name)
        return entity is not None and entity.token == self._token

    def check(self, world: Entities) -> None:
        """Check that this is a valid handle of a world.

        Raises:
            UnknownName: It is not valid; the message says why.
        """
        if world is not self._world:
            raise UnknownName(self._kind, self._name, reason="belongs to another world")
        _ = self._entity

    @property
    def _entity(self) -> Entity:
        entity = self._world.data.entities.get(self._name)
        if entity is None or entity.token != self._token:
            reason = self._world.removal_reason(self._token)
            raise UnknownName(self._kind, self._name, reason=reason)
        return entity

    @property
    def spec(self) -> Any:
        """Its spec from the world file."""
        return self._entity.spec

    @property
    def _body(self) -> Any:
        entity = self._entity
        return self._world.data.bodies[entity.row]

    @property
    def pose(self) -> Pose:
        """Pose of the reference point, world frame [m, rad]; yaw is not wrapped."""
        b = self._body
        return Pose(*(float(b[k]) for k in ("x", "y", "z", "roll", "pitch", "yaw")))

    @property
    def twist(self) -> Twist:
        """Velocity of the reference point along the ground, body frame [m/s, rad/s]."""
        b = self._body
        c, s = math.cos(b["yaw"]), math.sin(b["yaw"])
        vx_w, vy_w = float(b["vx"]), float(b["vy"])
        vx, vy = along_ground(b, c * vx_w + s * vy_w, -s * vx_w + c * vy_w)
        return Twist(float(vx), float(vy), float(b["wz"]))

    @property
    def acceleration(self) -> tuple[float, float, float]:
        """(ax, ay) of the reference point in the body frame [m/s²], and of yaw [rad/s²]."""
        b = self._body
        c, s = math.cos(b["yaw"]), math.sin(b["yaw"])
        ax_w, ay_w = float(b["ax"]), float(b["ay"])
        return (c * ax_w + s * ay_w, -s * ax_w + c * ay_w, float(b["az"]))

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
        """Its collision polygons, each (n, 2), body frame [m]."""
        return [solid.points for solid in self._entity.model.solids]

    @property
    def z_range(self) -> tuple[float, float]:
        """Lowest and highest point above its reference point [m]."""
        return self._entity.model.z_range

    def teleport(self, x: float, y: float, yaw: float, z: float | None = None) -> None:
        """Move it, and what it is welded to, to a pose in the world, at rest on the ground.

        A warning in the next step names what it was put into.

        Args:
            x: Position [m].
            y: Position [m].
            yaw: Heading [rad].
            z: Approximate height [m] that chooses among several floors: the highest ground below
                the middle of the body counts; None: as now.

        Raises:
            CommandError: A value is not finite.
        """
        require_finite("teleport", x=x, y=y, yaw=yaw, z=0.0 if z is None else z)
        self._world.teleport(self, x, y, yaw, z)

    def set_velocity(self, vx: float, vy: float, wz: float) -> None:
        """Set the velocity of its reference point along the ground, body frame.

        What it is welded to moves with it. Wheels get the spin of rolling without slip. The next
        step starts from this velocity.

        Args:
            vx: Forward [m/s].
            vy: To the left [m/s].
            wz: Yaw rate [rad/s].

        Raises:
            CommandError: A value is not finite, or it is a fixed body and one is not 0.
        """
        require_finite("velocity", vx=vx, vy=vy, wz=wz)
        entity, b = self._entity, self._body
        if b["kind"] == STATIC and any((vx, vy, wz)):
            raise CommandError(f"{self.name} is fixed and cannot have a velocity")
        bodies = self._world.data.bodies
        lead = bodies[b["leader"]] if b["leader"] >= 0 else b
        c, s = math.cos(b["yaw"]), math.sin(b["yaw"])
        vx_v = float(b["plan_xx"] * vx + b["plan_xy"] * vy)  # plan view
        vy_v = float(b["plan_yy"] * vy)
        vx_w, vy_w = c * vx_v - s * vy_v, s * vx_v + c * vy_v  # world frame
        vx_w, vy_w = vx_w + wz * (b["y"] - lead["y"]), vy_w - wz * (b["x"] - lead["x"])
        lead["vx"], lead["vy"], lead["wz"], lead["wz_before"] = vx_w, vy_w, wz, wz
        c, s = math.cos(lead["yaw"]), math.sin(lead["yaw"])
        com_x, com_y = float(lead["com_x"]), float(lead["com_y"])
        lead["cvx"] = vx_w - wz * (s * com_x + c * com_y)
        lead["cvy"] = vy_w + wz * (c * com_x - s * com_y)
        members = self._world.island_of(entity)
        if len(members) > 1:
            followers_kernel(bodies, np.array([member.row for member in members[1:]]))
        for member in members:
            twist = (vx, vy, wz) if member is entity else Handle(self._world, member).twist
            self._roll(member, *twist)

    def _roll(self, member: Entity, vx: float, vy: float, wz: float) -> None:
        """Let the wheels of an entity roll without slip at its velocity."""
        wheels = self._world.data.wheels[member.wheel0 : member.wheel0 + member.n_wheels]
        wheel_vx_v, wheel_vy_v = vx - wz * wheels["y"], vy + wz * wheels["x"]
        c, s = np.cos(wheels["yaw"]), np.sin(wheels["yaw"])
        vx_wheel, vy_wheel = c * wheel_vx_v + s * wheel_vy_v, c * wheel_vy_v - s * wheel_vx_v
        wheels["omega"] = (vx_wheel + vy_wheel * wheels["tan_grip"]) / wheels["radius"]

    def apply_force(
        self,
        fx: float,
        fy: float,
        torque: float = 0.0,
        *,
        at: tuple[float, float] | None = None,
        seconds: float | None = None,
    ) -> None:
        """Let a force act on it, and on what it is welded to, instead of any applied before.

        It is constant in the world frame and ends when the body is welded, unwelded or teleported.

        Args:
            fx: Force along x of the world [N].
            fy: Force along y of the world [N].
            torque: Torque about the vertical [N m], positive to the left.
            at: Where the force acts, body frame [m]; None: at the centre of mass of all that
                moves with it.
            seconds: For how long; None: in the next step only; inf: until it is replaced.

        Raises:
            CommandError: A value is not finite, or the body does not move by forces: a fixed or
                animated one, or a vehicle with an ideal controller.
        """
        require_finite("force", fx=fx, fy=fy, torque=torque, **_named(at))
        if seconds is not None and not seconds >= 0.0:
            raise CommandError(f"force: expected seconds >= 0 [s], got {seconds}")
        member = self._body
        bodies = self._world.data.bodies
        b = bodies[member["leader"]] if member["leader"] >= 0 else member
        if b["kind"] != DYNAMIC or b["ideal"] or not b["mass"] > 0.0:
            raise CommandError(f"{self.name}: forces do not move it")
        steps = 1 if seconds is None else seconds / self._world.dt
        x, y = (float(b["com_x"]), float(b["com_y"])) if at is None else at
        if at is not None and member["leader"] >= 0:
            c, s = math.cos(member["off_yaw"]), math.sin(member["off_yaw"])
            x, y = member["off_x"] + c * x - s * y, member["off_y"] + s * x + c * y
        b["push_x"], b["push_y"], b["push_turn"] = fx, fy, torque
        b["push_at_x"], b["push_at_y"] = x, y
        b["push_steps"] = round(min(steps, FOREVER))

    def __repr__(self) -> str:
        """Return name and pose."""
        p = self.pose
        return f"<{type(self).__name__} {self.name!r} x={p.x:.3f} y={p.y:.3f} yaw={p.yaw:.3f}>"


class Block(Handle):
    """A handle of a block: an obstacle."""


class Actor(Handle):
    """A handle of an actor: it follows a path and pushes bodies in its way."""

    @property
    def gait(self) -> str:
        """Current gait: "idle", "walk" or "run"."""
        speed = math.hypot(float(self._body["vx"]), float(self._body["vy"]))
        if speed > RUNNING_PART * self.spec.running_speed:
            return "run"
        return "walk" if speed > WALKING else "idle"


class Pivot:
    """A handle of a driven pivot between two bodies: holds an angle with a limited torque."""

    def __init__(self, world: Entities, name: str, token: int) -> None:
        """Refer to one joint of a world."""
        self._world = world
        self._name = name
        self._token = token

    @property
    def name(self) -> str:
        """Name of the joint."""
        return self._name

    @property
    def _row(self) -> Any:
        data = self._world.data
        joint = data.joints.get(self._name)
        if joint is None or joint.token != self._token:
            raise UnknownName("pivot", self._name, reason="one of its bodies is gone")
        if joint.pivot < 0:
            raise UnknownName("pivot", self._name, reason="its bodies are welded")
        return data.pivots[joint.pivot]

    @property
    def angle(self) -> float:
        """Angle of the second body to the first [rad], zero as in the file."""
        row = self._row
        bodies = self._world.data.bodies
        return float(bodies[row["b"]]["yaw"] - bodies[row["a"]]["yaw"] - row["zero"])

    @property
    def torque(self) -> float:
        """Torque on the second body in the last step [N m]."""
        return float(self._row["torque"])

    @property
    def target(self) -> float:
        """Target angle [rad]."""
        return float(self._row["target"])

    @target.setter
    def target(self, angle: float) -> None:
        require_finite("pivot", target=angle)
        self._row["target"] = angle


class ByName(dict[str, Any]):
    """Things of one kind by name; UnknownName, which is a KeyError, suggests a similar name."""

    def __init__(self, kind: str, items: Iterable[tuple[str, Any]]) -> None:
        """Hold (name, thing) pairs; `kind` is for the message."""
        super().__init__(items)
        self._kind = kind

    def __missing__(self, name: str) -> Any:
        """Say which names there are."""
        raise UnknownName(self._kind, name, self)


class Handles(Mapping[str, Any]):
    """Handles of one kind by name; UnknownName suggests a similar name."""

    def __init__(self, world: Entities, kind: str, cls: type[Any]) -> None:
        """Give access to the entities of one kind in a world."""
        self._world = world
        self._kind = kind
        self._cls = cls
        self._handles: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return the handle of that name.

        Raises:
            UnknownName: There is none.
        """
        entity = self._world.data.entities.get(name)
        if entity is None or entity.kind != self._kind:
            raise UnknownName(self._kind, name, self)
        handle = self._handles.get(name)
        if handle is None or handle._token != entity.token:
            handle = self._handles[name] = self._cls(self._world, entity)
        return handle

    def forget(self, name: str) -> None:
        """Give up the handle of an entity that is gone; users may hold it further."""
        self._handles.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, in the order of adding."""
        entities = self._world.data.entities.values()
        return iter([entity.name for entity in entities if entity.kind == self._kind])

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(e.kind == self._kind for e in self._world.data.entities.values())

    def __contains__(self, name: object) -> bool:
        """Return whether there is one of that name."""
        entities = self._world.data.entities
        return isinstance(name, str) and name in entities and entities[name].kind == self._kind


class PivotHandles(Mapping[str, Pivot]):
    """Handles of the driven pivots by name of the joint."""

    def __init__(self, world: Entities) -> None:
        """Give access to the driven pivots of a world."""
        self._world = world
        self._handles: dict[str, Pivot] = {}

    def __getitem__(self, name: str) -> Pivot:
        """Return the handle of that name.

        Raises:
            UnknownName: There is none.
        """
        joint = self._world.data.joints.get(name)
        if joint is None or joint.spec.kp <= 0.0:
            raise UnknownName("pivot", name, self)
        handle = self._handles.get(name)
        if handle is None or handle._token != joint.token:
            handle = self._handles[name] = Pivot(self._world, name, joint.token)
        return handle

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        joints = self._world.data.joints.items()
        return iter([name for name, joint in joints if joint.spec.kp > 0.0])

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(1 for _ in self)


def _named(at: tuple[float, float] | None) -> dict[str, float]:
    return {} if at is None else {"at x": at[0], "at y": at[1]}


def require_finite(what: str, **values: float) -> None:
    """Check that numbers are finite.

    Raises:
        CommandError: One is not; the message names it.
    """
    for name, value in values.items():
        try:
            finite = math.isfinite(value)
        except TypeError:
            finite = False
        if not finite:
            raise CommandError(f"{what}: {name} must be a finite number, got {value!r}")
