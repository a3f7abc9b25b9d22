# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Actors on waypoint paths: the pose at a time, and the motion of the body to it.

The path is a function of time alone, so resets and snapshots need no state of it and it does not
depend on the step. Actors do not avoid obstacles: they push bodies in their way.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from mvsim_core.animation.keyframes import move_to
from mvsim_core.geometry.poses import Pose
from mvsim_core.state.arrays import State
from mvsim_core.state.entities import Entity
from mvsim_core.terrain.ground import Ground, GroundState

#: Fractions of a leg in which the yaw turns to the direction of motion and away from it.
TURN_IN, TURN_OUT = 0.1, 0.2
#: Legs shorter than this are walked without turning into their direction [m].
SHORT_LEG = 0.1
#: Legs shorter than this are skipped [m].
NO_LEG = 1e-3
#: A speed above this part of the running speed is running, above WALKING [m/s] walking.
RUNNING_PART, WALKING = 0.8, 0.1


class PathState(NamedTuple):
    """Actor at a time: x, y, z [m], yaw [rad], speed along the path [m/s], next waypoint."""

    x: float
    y: float
    z: float
    yaw: float
    speed: float
    waypoint: int


class _Leg(NamedTuple):
    """A straight part of the path, or a pause at its end (speed 0)."""

    start: Pose
    end: Pose
    speed: float
    duration: float
    waypoint: int


class WaypointPath:
    """A path along waypoints.

    A waypoint is approached at the speed of its own `animation`; one with `idle` is approached at
    walking speed, as it could not be reached at speed 0. Then its pause passes.

    Args:
        start: First pose.
        waypoints: Specs with pose, pause and animation, in order.
        loop: Whether the first follows the last.
        speeds: Of walking and of running [m/s].
    """

    def __init__(
        self,
        start: Pose,
        waypoints: Sequence[Any],
        *,
        loop: bool,
        speeds: tuple[float, float],
    ) -> None:
        """Compute the legs."""
        self._speeds = speeds
        self._start = start
        self._first = self._legs(start, waypoints)
        last = waypoints[-1].pose if waypoints else start
        self._round = self._legs(last, waypoints) if loop else []
        self._first_ends = _ends(self._first)
        self._round_ends = _ends(self._round)

    def at(self, time: float) -> PathState:
        """Return the state at a time since the start [s]."""
        once = self._first_ends[-1] if self._first_ends else 0.0
        if time < once:
            return _state_at(self._first, self._first_ends, time)
        around = self._round_ends[-1] if self._round_ends else 0.0
        if around > 0.0:
            return _state_at(self._round, self._round_ends, (time - once) % around)
        end = self._first[-1].end if self._first else self._start
        return PathState(end.x, end.y, end.z, end.yaw, 0.0, max(len(self._first) // 2 - 1, 0))

    def _legs(self, start: Pose, waypoints: Sequence[Any]) -> list[_Leg]:
        legs = []
        for i, waypoint in enumerate(waypoints):
            end = waypoint.pose
            speed = self._speeds[1 if waypoint.animation == "run" else 0]
            length = math.dist(start[:3], end[:3])
            duration = length / speed if length >= NO_LEG else 0.0
            legs.append(_Leg(start, end, speed, duration, i))
            legs.append(_Leg(end, end, 0.0, waypoint.pause, i))
            start = end
        return legs


def _ends(legs: list[_Leg]) -> list[float]:
    ends, total = [], 0.0
    for leg in legs:
        total += leg.duration
        ends.append(total)
    return ends


def _state_at(legs: list[_Leg], ends: list[float], time: float) -> PathState:
    """Return the state at a time within the legs."""
    i = min(bisect.bisect_right(ends, time), len(legs) - 1)
    leg = legs[i]
    if leg.duration <= 0.0:
        part = 1.0
    else:
        part = min(max(1.0 - (ends[i] - time) / leg.duration, 0.0), 1.0)
    a, b = leg.start, leg.end
    x, y, z = (p + part * (q - p) for p, q in zip(a[:3], b[:3], strict=True))
    return PathState(x, y, z, _yaw(leg, part), leg.speed, leg.waypoint)


def _yaw(leg: _Leg, part: float) -> float:
    a, b = leg.start, leg.end
    dx, dy = b.x - a.x, b.y - a.y
    if math.hypot(dx, dy) <= SHORT_LEG:
        return _between(a.yaw, b.yaw, part)
    heading = math.atan2(dy, dx)
    if part < TURN_IN:
        return _between(a.yaw, heading, part / TURN_IN)
    if part > 1.0 - TURN_OUT:
        return _between(heading, b.yaw, (part - 1.0 + TURN_OUT) / TURN_OUT)
    return heading


def _between(a: float, b: float, part: float) -> float:
    """Interpolate from angle a to b along the shorter way [rad]."""
    return a + part * math.remainder(b - a, 2.0 * math.pi)


class PathFollower:
    """Moves the body of one actor along its path, on the ground.

    A path that states heights is followed in space; one that is level at 0 follows the ground.

    Args:
        entity: The actor.
        path: Its path.
        ground: The ground; None: the path states heights.
    """

    def __init__(self, entity: Entity, path: WaypointPath, ground: Ground | None) -> None:
        """Take the actor and its path."""
        self.entity = entity
        self.path = path
        self._ground = ground

    def begin(self, state: State) -> None:
        """Do nothing: the body starts at its first pose."""

    def apply(self, state: GroundState, time: float, dt: float) -> None:
        """Give the body the velocity that takes it to its place at `time` within dt."""
        body = state.bodies[self.entity.row]
        x, y, z, yaw, *_ = self.path.at(time)
        if self._ground is not None:
            z = float(body["z"])
            if state.relief:
                below = z + 0.5 * self.entity.model.z_range[1]
                z = self._ground.height(x, y, below, int(body["copy"]))
        move_to(self.entity, body, (x, y, z, yaw), dt)
