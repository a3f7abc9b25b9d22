# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rigid islands: bodies joined by welds become one body with one centre of mass.

Source: the design of mecanum wheels and rigid islands, sections 1 and 4. Bodies are nodes, welds
are edges; a flood fill finds the islands. The first vehicle of an island (else its first body)
leads: it gets the solids and the mass of all, by the parallel-axis theorem, and its row is
integrated. The others keep a row of their own that follows rigidly, so that their pose, wheels and
sensors go on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from mvsim_core.errors import BuildError
from mvsim_core.geometry.polygons import convex_parts
from mvsim_core.solver.base import Inertia
from mvsim_core.solver.box2d import Box2dSolver
from mvsim_core.state.arrays import DYNAMIC, STATIC, FloatArray
from mvsim_core.state.entities import Entity, Solid

Welds = Iterable[tuple[str, str]]


def find_islands(names: Iterable[str], welds: Welds) -> list[list[str]]:
    """Return the groups of two and more names that welds connect, in the order of `names`."""
    order = list(names)
    rank = {name: i for i, name in enumerate(order)}
    near: dict[str, set[str]] = {name: set() for name in order}
    for a, b in welds:
        if a in near and b in near:
            near[a].add(b)
            near[b].add(a)
    seen: set[str] = set()
    islands = []
    for start in order:
        if start in seen:
            continue
        found, todo = set(), [start]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += near[name] - found
        seen |= found
        if len(found) > 1:
            islands.append(sorted(found, key=rank.__getitem__))
    return islands


def form(entities: list[Entity], welds: Welds, solver: Box2dSolver) -> None:
    """Make one body of each island; whoever is in none stays or becomes its own.

    Raises:
        BuildError: A weld holds something that cannot move to something that can.
    """
    by_name = {e.name: e for e in entities}
    for entity in entities:
        _free(entity, solver)
    for names in find_islands(by_name, welds):
        members = [by_name[name] for name in names]
        for member in members:
            if int(member.body["kind"][0]) != DYNAMIC or member.key < 0:
                raise BuildError(
                    f"weld: {member.name!r} has no body that moves freely; only such bodies make"
                    f" an island ({', '.join(names)})"
                )
            if not member.own.mass > 0.0:
                raise BuildError(
                    f"weld: {member.name!r} has no mass (must be > 0 [kg], got"
                    f" {member.own.mass:g}); an island has the mass of all its bodies"
                )
        leader = next((m for m in members if m.vehicle is not None), members[0])
        _gather(leader, [m for m in members if m is not leader], solver)


def _free(entity: Entity, solver: Box2dSolver) -> None:
    """Give a member of a former island its own body and mass back."""
    if entity.leader is None and not entity.led:
        return
    if entity.key >= 0:
        solver.remove_body(entity.key)
    entity.leader, entity.led, entity.key = None, False, -1
    _set_mass(entity, entity.own)
    enter(solver, entity)


def _gather(leader: Entity, others: list[Entity], solver: Box2dSolver) -> None:
    leader.led = True
    px, py, spin = _momentum([leader, *others])
    parts = [(leader.own, (0.0, 0.0, 0.0))]
    solids = list(leader.solids)
    base = float(leader.body["z"][0])
    for other in others:
        solver.remove_body(other.key)
        other.key, other.leader = -1, leader
        other.offset = _offset(leader, other)
        parts.append((other.own, other.offset))
        rise = float(other.body["z"][0]) - base
        for s in other.solids:
            z_range = (s.z_range[0] + rise, s.z_range[1] + rise)
            solids.append(Solid(moved(s.points, other.offset), s.material, z_range))
    _set_mass(leader, combined(parts))
    _set_momentum(leader, px, py, spin)
    solver.remove_body(leader.key)
    enter(solver, leader, solids)


def _momentum(members: list[Entity]) -> tuple[float, float, float]:
    """Return the momentum of bodies [N s] and their angular momentum about the world's origin."""
    px = py = spin = 0.0
    for member in members:
        b, mass = member.body[0], member.own.mass
        x, y = moved(np.array([member.own[1:3]]), (b["x"], b["y"], b["yaw"]))[0]
        px += mass * float(b["cvx"])
        py += mass * float(b["cvy"])
        spin += member.own.about_com * float(b["wz"])
        spin += mass * float(x * b["cvy"] - y * b["cvx"])
    return px, py, spin


def _set_momentum(leader: Entity, px: float, py: float, spin: float) -> None:
    """Give an island the velocity that keeps the momenta of its members."""
    b, inertia = leader.body[0], leader.inertia
    x, y = moved(np.array([inertia[1:3]]), (b["x"], b["y"], b["yaw"]))[0]
    b["wz"] = (spin - (x * py - y * px)) / inertia.about_com
    b["cvx"], b["cvy"] = px / inertia.mass, py / inertia.mass
    rx, ry = x - b["x"], y - b["y"]
    b["vx"], b["vy"] = b["cvx"] + b["wz"] * ry, b["cvy"] - b["wz"] * rx


def _offset(leader: Entity, other: Entity) -> tuple[float, float, float]:
    a, b = leader.body[0], other.body[0]
    c, s = math.cos(a["yaw"]), math.sin(a["yaw"])
    dx, dy = float(b["x"] - a["x"]), float(b["y"] - a["y"])
    return c * dx + s * dy, -s * dx + c * dy, float(b["yaw"] - a["yaw"])


def moved(points: FloatArray, pose: tuple[float, float, float]) -> FloatArray:
    """Return points (n, 2) of a frame at x, y, yaw in its parent frame."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    result: FloatArray = points @ np.array([[c, s], [-s, c]]) + [pose[0], pose[1]]
    return result


def combined(parts: list[tuple[Inertia, tuple[float, float, float]]]) -> Inertia:
    """Return the mass properties of bodies at poses in one frame (parallel-axis theorem)."""
    mass = sum(i.mass for i, _ in parts)
    centres = [moved(np.array([[i.com_x, i.com_y]]), pose)[0] for i, pose in parts]
    weighted = [i.mass * centre for (i, _), centre in zip(parts, centres, strict=True)]
    x, y = np.sum(weighted, axis=0) / mass
    about = sum(
        i.about_com + i.mass * float((cx - x) ** 2 + (cy - y) ** 2)
        for (i, _), (cx, cy) in zip(parts, centres, strict=True)
    )
    return Inertia(mass, float(x), float(y), about)


def _set_mass(entity: Entity, inertia: Inertia) -> None:
    """Change the mass of an entity; the velocity of its reference point stays."""
    entity.inertia = inertia
    body = entity.body
    body["mass"], body["com_x"], body["com_y"], body["inertia"] = inertia
    c, s = np.cos(body["yaw"]), np.sin(body["yaw"])
    body["cvx"] = body["vx"] - body["wz"] * (s * inertia.com_x + c * inertia.com_y)
    body["cvy"] = body["vy"] + body["wz"] * (c * inertia.com_x - s * inertia.com_y)


def enter(solver: Box2dSolver, entity: Entity, solids: list[Solid] | None = None) -> None:
    """Give an entity's solids, or those of its island, to the solver."""
    solids = entity.solids if solids is None else solids
    if not solids:
        return
    body = entity.body[0]
    kind = int(body["kind"])
    pose = (float(body["x"]), float(body["y"]), float(body["yaw"]))
    entity.key = solver.add_body(kind, pose, entity.inertia)
    base = float(body["z"])
    if kind != STATIC:
        solver.set_height(entity.key, base)  # it may climb
        base = 0.0
    for solid in solids:
        low, high = solid.z_range
        for part in convex_parts(solid.points):
            solver.add_polygon(entity.key, part, solid.material, (base + low, base + high))
