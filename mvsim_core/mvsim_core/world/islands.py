# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rigid islands: entities joined by welds become one body with one centre of mass.

Source: the design of mecanum wheels and rigid islands, sections 1 and 4. Entities are nodes, welds
are edges; a flood fill finds the islands. The first vehicle of an island (else its first entity)
leads: its row has the mass of all, by the parallel-axis theorem, and is integrated; the shapes of
all are attached to it. The others, the followers, keep a row of their own that follows rigidly, so
that their pose, wheels and sensors work as before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import chain

import numpy as np

from mvsim_core.dynamics.followers import followers_kernel
from mvsim_core.dynamics.loads import add_load
from mvsim_core.errors import BuildError
from mvsim_core.geometry.polygons import convex_parts
from mvsim_core.geometry.poses import moved
from mvsim_core.solver.contact_data import ConvexShape, convex_shape
from mvsim_core.state.arrays import FloatArray
from mvsim_core.state.entities import Entity, Fixture, Inertia, Solid, kinds_of
from mvsim_core.terrain.ground import Ground
from mvsim_core.terrain.rates import keep_attitude
from mvsim_core.world.data import Data
from mvsim_core.world.joints import connect, disconnect

Offset = tuple[float, float, float]
NO_OFFSET: Offset = (0.0, 0.0, 0.0)
#: Fields of BODY of what rubs on the ground.
GROUND = ("ground_mu", "ground_r", "ground_x", "ground_y")
#: Fields of VEHICLE to which a payload adds.
CHASSIS = ("chassis_mass", "chassis_x", "chassis_y", "com_z")


def add_to_solver(data: Data, entities: Iterable[Entity]) -> None:
    """Add the shapes of entities that are in no island to the contact solver."""
    entities = list(entities)
    rows = [entity.row for entity in entities]
    parts: list[list[ConvexShape]] = [[]] * len(entities)
    moves = np.zeros(len(entities), bool)
    for places in kinds_of(entities):
        model = entities[places[0]].model
        shapes = _shapes(model.solids)
        for place in places.tolist():
            parts[place] = shapes
        moves[places] = model.movable
    for place in np.flatnonzero(moves):
        data.movers.add(rows[place])
    owners = np.repeat(np.array(rows, np.int64), list(map(len, parts)))
    data.contacts.add_to_bodies(owners, list(chain.from_iterable(parts)))


def add_fixture_to_solver(data: Data, owner: int, fixture: Fixture) -> None:
    """Add the shapes of a fixed part of the world to the contact solver."""
    data.contacts.add_shapes([(-1, owner, shape) for shape in _shapes(fixture.solids)])
    if fixture.boxes is not None:
        boxes = fixture.boxes
        data.contacts.add_boxes(owner, boxes.corners, boxes.material, boxes.z_range)


def remove_from_solver(data: Data, entity: Entity) -> None:
    """Remove an entity that is in no island from the contact solver."""
    data.contacts.remove_body(entity.row)
    data.movers.discard(entity.row)


def weld(data: Data, ground: Ground, gravity: float, a: str, b: str) -> bool:
    """Join two entities, and all that they are welded to, rigidly at their current poses.

    Args:
        data: The state.
        ground: The ground of the world.
        gravity: Acceleration of gravity [m/s²].
        a: Name of the first.
        b: Name of the second.

    Returns:
        Whether the wheels of the island, if it has any, balance its weight.

    Raises:
        BuildError: One of them cannot move freely or has no mass, or both are the same; nothing
            is changed then.
    """
    if a == b:
        raise BuildError(f"weld: expected two bodies, got {a!r} twice")
    if b in data.welds.get(a, ()):
        return True
    names = sorted({*component(data, a), *component(data, b)}, key=_order(data))
    _check(data, names)
    for one, other in ((a, b), (b, a)):
        data.welds[one] = (*data.welds.get(one, ()), other)
    return _form(data, ground, gravity, names)


def unweld(data: Data, ground: Ground, gravity: float, a: str, b: str) -> None:
    """Remove the weld of two entities, if there is one."""
    if b not in data.welds.get(a, ()):
        return
    names = component(data, a)
    for one, other in ((a, b), (b, a)):
        rest = tuple(n for n in data.welds[one] if n != other)
        if rest:
            data.welds[one] = rest
        else:
            del data.welds[one]
    _form(data, ground, gravity, names)


def unweld_all(data: Data, ground: Ground, gravity: float, name: str) -> None:
    """Remove all welds of an entity."""
    for other in data.welds.get(name, ()):
        unweld(data, ground, gravity, name, other)


def component(data: Data, start: str) -> list[str]:
    """Return the names that welds connect with one, in the order of adding."""
    found: set[str] = set()
    todo = [start]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [n for n in data.welds.get(name, ()) if n not in found]
    return sorted(found, key=_order(data))


def _order(data: Data) -> Callable[[str], int]:
    return lambda name: data.entities[name].order


def _check(data: Data, names: Iterable[str]) -> None:
    for name in names:
        model = data.entities[name].model
        if not model.dynamic:
            raise BuildError(
                f"weld: {name!r} has no body that moves freely; only such bodies make"
                f" an island ({', '.join(names)})"
            )
        if not model.inertia.mass > 0.0:
            raise BuildError(
                f"weld: {name!r} has no mass (must be > 0 [kg], got"
                f" {model.inertia.mass:g}); an island has the mass of all its bodies"
            )


def _form(data: Data, ground: Ground, gravity: float, names: list[str]) -> bool:
    """Form the islands of some entities again; return whether their wheels balance them."""
    balanced = True
    joints = dict.fromkeys(j for name in names for j in data.joints_of.get(name, ()))
    targets = {name: disconnect(data, name) for name in joints}
    followers = [name for name in names if data.bodies["leader"][data.entities[name].row] >= 0]
    for name in names:
        _release(data, ground, data.entities[name])
    left = dict.fromkeys(names)
    while left:
        island = [data.entities[n] for n in component(data, next(iter(left)))]
        for member in island:
            del left[member.name]
        if len(island) == 1:
            add_to_solver(data, island)
        else:
            leader = next((m for m in island if m.kind == "vehicle"), island[0])
            _gather(data, ground, leader, [m for m in island if m is not leader])
            _rest_on_ground(data, leader, island)
        balanced = _load_wheels(data, gravity, island) and balanced
    for name, target in targets.items():
        connect(data, name, target)
    for name in followers:
        if data.bodies["leader"][data.entities[name].row] < 0:
            ground.put_down(data.entities[name], data)
    return balanced


def _release(data: Data, ground: Ground, entity: Entity) -> None:
    """Restore the own mass of an entity and remove its shapes from the solver."""
    remove_from_solver(data, entity)
    body = data.bodies[entity.row]
    body["push_steps"] = 0
    if body["leader"] >= 0:
        body["leader"] = -1
        body["off_x"], body["off_y"], body["off_yaw"] = NO_OFFSET
        body["off_z"] = 0.0
        data.followers.discard(entity.row)
        ground.remove(entity)
        ground.add([entity], data)
    for field in GROUND:
        body[field] = entity.model.body[field][0]
    _set_mass(data, entity, entity.model.inertia)


def _rest_on_ground(data: Data, leader: Entity, island: list[Entity]) -> None:
    """Let an island without wheels rub with the friction of all its blocks, where they stand.

    Its two points give the force µ g m of all together, amid them, and the torque of all points
    about there while it turns.
    """
    if leader.kind == "vehicle":
        return
    weights, places = [], []
    for member in island:
        row = member.model.body
        weights += [0.5 * float(row["ground_mu"][0]) * member.model.inertia.mass] * 2
        r, x, y = (float(row[field][0]) for field in GROUND[1:])
        places.append(moved(np.array([[x + r, y], [x - r, y]]), _offset_of(data, member)))
    total, points = sum(weights), np.vstack(places)
    shares = np.array(weights) / total if total > 0.0 else np.full(len(points), 1 / len(points))
    middle = shares @ points
    arms = np.hypot(*(points - middle).T)
    body = data.bodies[leader.row]
    body["ground_mu"] = total / sum(member.model.inertia.mass for member in island)
    body["ground_r"] = shares @ arms
    body["ground_x"], body["ground_y"] = middle


def _gather(data: Data, ground: Ground, leader: Entity, others: list[Entity]) -> None:
    px, py, spin = _momentum(data, [leader, *others])
    parts = [(leader.model.inertia, NO_OFFSET)]
    _enter_shapes(data, leader, leader.row, NO_OFFSET, 0.0)
    for other in others:
        offset = _offset(data, leader, other)
        rise = _rise(data, leader, other, offset)
        parts.append((other.model.inertia, offset))
        _enter_shapes(data, other, leader.row, offset, rise)
        body = data.bodies[other.row]
        body["leader"] = leader.row
        body["off_x"], body["off_y"], body["off_yaw"] = offset
        body["off_z"] = rise
        data.followers.add(other.row)
        ground.remove(other)
        ground.add([other], data)
    data.movers.add(leader.row)
    _set_mass(data, leader, combined(parts))
    _set_momentum(data, leader, px, py, spin)
    followers_kernel(data.bodies, np.array([other.row for other in others]))
    for other in others:
        keep_attitude(data.bodies[other.row])


def _load_wheels(data: Data, gravity: float, island: list[Entity]) -> bool:
    """Let the wheels of an island carry what has no wheels, beside the chassis of their vehicles.

    The payload that a vehicle carries joins its chassis in VEHICLE, so that all that depends on
    the weight of the chassis counts it.

    Returns:
        Whether the wheels balance the payload.
    """
    vehicles = [member for member in island if member.kind == "vehicle"]
    for v in vehicles:
        assert v.model.vehicle is not None
        data.wheels["load"][v.wheel0 : v.wheel0 + v.n_wheels] = v.model.wheels["load"]
        for field in CHASSIS:
            data.vehicles[field][v.vehicle_row] = v.model.vehicle[field][0]
    payload = [member for member in island if member.kind != "vehicle"]
    if not vehicles or not payload:
        return True
    mass, x, y, _ = combined([(m.model.inertia, _offset_of(data, m)) for m in payload])
    height = sum(m.model.inertia.mass * _middle(data, m) for m in payload) / mass
    local = [np.column_stack((v.model.wheels["x"], v.model.wheels["y"])) for v in vehicles]
    wheels = [
        moved(points, _offset_of(data, v)) for v, points in zip(vehicles, local, strict=True)
    ]
    masses = [data.vehicles["chassis_mass"][v.vehicle_row] / v.n_wheels for v in vehicles]
    own = np.repeat(masses, [v.n_wheels for v in vehicles])
    carried, balanced = add_load(np.vstack(wheels), own, mass, (x, y))
    for v, points in zip(vehicles, local, strict=True):
        part, carried = carried[: v.n_wheels], carried[v.n_wheels :]
        data.wheels["load"][v.wheel0 : v.wheel0 + v.n_wheels] += part * gravity
        row, more = data.vehicles[v.vehicle_row], float(part.sum())
        own_mass = float(row["chassis_mass"])
        above = max(more, 0.0) * (height - float(data.bodies["off_z"][v.row]))
        moments = (*(part @ points).tolist(), above)
        if own_mass + more > 0.0:
            for field, moment in zip(CHASSIS[1:], moments, strict=True):
                row[field] = (own_mass * row[field] + moment) / (own_mass + more)
            row["chassis_mass"] = own_mass + more
    return balanced


def _middle(data: Data, entity: Entity) -> float:
    """Return the height of the middle of a body above the plane of its island's leader [m]."""
    return float(data.bodies["off_z"][entity.row]) + 0.5 * sum(entity.model.z_range)


def _offset_of(data: Data, entity: Entity) -> Offset:
    """Return x, y [m] and yaw [rad] of a member of an island in the frame of its leader."""
    x, y, yaw = (float(data.bodies[name][entity.row]) for name in ("off_x", "off_y", "off_yaw"))
    return x, y, yaw


def _enter_shapes(data: Data, entity: Entity, row: int, offset: Offset, rise: float) -> None:
    """Attach the shapes of an entity to a row of BODY, at an offset in its frame."""
    shapes = _shapes(entity.model.solids, offset, rise)
    data.contacts.add_shapes([(row, entity.row, shape) for shape in shapes])


def _shapes(
    solids: Iterable[Solid], offset: Offset = NO_OFFSET, rise: float = 0.0
) -> list[ConvexShape]:
    """Return the convex parts of solids at an offset and higher by `rise` [m]."""
    shapes = []
    for solid in solids:
        z_range = (solid.z_range[0] + rise, solid.z_range[1] + rise)
        for part in convex_parts(solid.points):
            points = part if offset is NO_OFFSET else moved(part, offset)
            shapes.append(convex_shape(points, solid.material, z_range))
    return shapes


def _momentum(data: Data, members: list[Entity]) -> tuple[float, float, float]:
    """Return the momentum of bodies [N s] and their angular momentum about the world's origin."""
    px = py = spin = 0.0
    for member in members:
        b, own = data.bodies[member.row], member.model.inertia
        x, y = moved(np.array([own[1:3]]), (b["x"], b["y"], b["yaw"]))[0]
        px += own.mass * float(b["cvx"])
        py += own.mass * float(b["cvy"])
        spin += own.about_com * float(b["wz"])
        spin += own.mass * float(x * b["cvy"] - y * b["cvx"])
    return px, py, spin


def _set_momentum(data: Data, leader: Entity, px: float, py: float, spin: float) -> None:
    """Give an island the velocity that keeps the momenta of its members."""
    b = data.bodies[leader.row]
    x, y = moved(np.array([[b["com_x"], b["com_y"]]]), (b["x"], b["y"], b["yaw"]))[0]
    b["wz"] = (spin - (x * py - y * px)) / b["inertia"]
    b["cvx"], b["cvy"] = px / b["mass"], py / b["mass"]
    rx, ry = x - b["x"], y - b["y"]
    b["vx"], b["vy"] = b["cvx"] + b["wz"] * ry, b["cvy"] - b["wz"] * rx


def _offset(data: Data, leader: Entity, other: Entity) -> Offset:
    a, b = data.bodies[leader.row], data.bodies[other.row]
    c, s = math.cos(a["yaw"]), math.sin(a["yaw"])
    dx, dy = float(b["x"] - a["x"]), float(b["y"] - a["y"])
    return c * dx + s * dy, -s * dx + c * dy, float(b["yaw"] - a["yaw"])


def _rise(data: Data, leader: Entity, other: Entity, offset: Offset) -> float:
    """Return the height of an entity above the plane on which the leader stands [m]."""
    a, b = data.bodies[leader.row], data.bodies[other.row]
    slope_x = math.tan(a["pitch"])
    slope_y = -math.tan(a["roll"]) / math.cos(a["pitch"])
    plane = float(a["z"]) - slope_x * offset[0] - slope_y * offset[1]
    return float(b["z"]) - plane


def combined(parts: list[tuple[Inertia, Offset]]) -> Inertia:
    """Return the mass properties of bodies at poses in one frame (parallel-axis theorem)."""
    mass = sum(i.mass for i, _ in parts)
    centres: list[FloatArray] = [
        moved(np.array([[i.com_x, i.com_y]]), pose)[0] for i, pose in parts
    ]
    weighted = [i.mass * centre for (i, _), centre in zip(parts, centres, strict=True)]
    x, y = np.sum(weighted, axis=0) / mass
    about = sum(
        i.about_com + i.mass * float((cx - x) ** 2 + (cy - y) ** 2)
        for (i, _), (cx, cy) in zip(parts, centres, strict=True)
    )
    return Inertia(mass, float(x), float(y), about)


def _set_mass(data: Data, entity: Entity, inertia: Inertia) -> None:
    """Change the mass of a body; the velocity of its reference point stays."""
    body = data.bodies[entity.row : entity.row + 1]
    body["mass"], body["com_x"], body["com_y"], body["inertia"] = inertia
    c, s = np.cos(body["yaw"]), np.sin(body["yaw"])
    body["cvx"] = body["vx"] - body["wz"] * (s * inertia.com_x + c * inertia.com_y)
    body["cvy"] = body["vy"] + body["wz"] * (c * inertia.com_x - s * inertia.com_y)


def tipping_text(a: str, b: str) -> str:
    """Return the warning of two entities whose weld makes an island that does not balance."""
    return (
        f"what {a!r} and {b!r} are welded to would tip over: the weight acts outside its wheels;"
        " all of them carry the same part of it"
    )
