# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Joints between entities, and the driven pivots among them.

A joint connects two entities; the solver gets it between the leaders of their islands.
"""

from __future__ import annotations

import math

import numpy as np

from mvsim_core.errors import BuildError, Problem, suggestion
from mvsim_core.geometry.poses import moved
from mvsim_core.solver.base import JointSettings
from mvsim_core.specs.block import JointSpec
from mvsim_core.state.arrays import FREE, PIVOT
from mvsim_core.state.entities import Entity, new_token
from mvsim_core.world.data import Data, JointState


def add_joint(data: Data, spec: JointSpec, name: str) -> None:
    """Add a joint between two entities; angles are relative to their poses in the file.

    Args:
        data: The state.
        spec: Its spec from the world file.
        name: Name of the joint.

    Raises:
        BuildError: One of them does not exist or has no shape.
    """
    a, b = (_body(data, spec, body) for body in (spec.body_a, spec.body_b))
    reference = float(b.model.body["yaw"][0] - a.model.body["yaw"][0])
    target = np.zeros(1, PIVOT)
    target["target"] = spec.target_angle
    data.joints[name] = JointState(spec, new_token(), reference)
    for body in (a.name, b.name):
        data.joints_of[body] = (*data.joints_of.get(body, ()), name)
    connect(data, name, spec.target_angle)


def connect(data: Data, name: str, target: float, pivot: int = FREE) -> None:
    """Add a joint to the solver, and a driven pivot to PIVOT, for the current islands.

    `pivot` is its row of PIVOT if it has one already.
    """
    state = data.joints[name]
    spec: JointSpec = state.spec
    a, b = data.entities[spec.body_a], data.entities[spec.body_b]
    at_a, at_b = root_of(data, a), root_of(data, b)
    root_a, root_b = at_a[0], at_b[0]
    joint = -1
    if root_a != root_b:  # else it is within one rigid island
        turn = state.reference + at_a[3] - at_b[3]
        settings = _settings(data, spec, at_a, at_b, turn)
        joint = data.contacts.add_joint(root_a, root_b, settings)
        _count(data, spec, 1)
        if spec.kp > 0.0 and pivot == FREE:
            limit = spec.max_torque or math.inf
            row = (root_a, root_b, turn, target, spec.kp, spec.kd, limit, 0.0)
            pivot = data.insert("pivots", np.array([row], PIVOT))
    data.joints[name] = JointState(spec, state.token, state.reference, joint, pivot)


def disconnect(data: Data, name: str) -> float:
    """Remove a joint from the solver and PIVOT; return the target of its pivot [rad]."""
    state = data.joints[name]
    target = float(state.spec.target_angle)
    if state.joint >= 0:
        data.contacts.remove_joint(state.joint)
        _count(data, state.spec, -1)
    if state.pivot >= 0:
        target = float(data.pivots["target"][state.pivot])
        data.delete("pivots", state.pivot)
    data.joints[name] = JointState(state.spec, state.token, state.reference)
    return target


def _count(data: Data, spec: JointSpec, change: int) -> None:
    """Change the number of joints of the vehicles that one connects."""
    for name in (spec.body_a, spec.body_b):
        entity = data.entities.get(name)
        if entity is not None and entity.kind == "vehicle":
            data.vehicles["joints"][entity.vehicle_row] += change


def remove_joints(data: Data, entity: Entity) -> None:
    """Remove all joints of an entity."""
    for name in data.joints_of.pop(entity.name, ()):
        disconnect(data, name)
        spec = data.joints.pop(name).spec
        other = spec.body_b if spec.body_a == entity.name else spec.body_a
        if other in data.joints_of:
            data.joints_of[other] = tuple(n for n in data.joints_of[other] if n != name)


def root_of(data: Data, entity: Entity) -> tuple[int, float, float, float]:
    """Return the row that leads an entity's island, and the entity's x, y, yaw in its frame."""
    row = data.bodies[entity.row]
    leader = int(row["leader"])
    if leader < 0:
        return entity.row, 0.0, 0.0, 0.0
    return leader, float(row["off_x"]), float(row["off_y"]), float(row["off_yaw"])


def _body(data: Data, spec: JointSpec, name: str) -> Entity:
    entity = data.entities.get(name)
    if entity is not None and entity.model.solids:
        return entity
    known = [n for n, e in data.entities.items() if e.model.solids]
    text = f"there is no body called {name!r}{suggestion(name, known, listed=True)}"
    raise BuildError(Problem.at(spec.where, "joint", text))


def _settings(
    data: Data,
    spec: JointSpec,
    a: tuple[int, float, float, float],
    b: tuple[int, float, float, float],
    turn: float,
) -> JointSettings:
    mass = _reduced(float(data.bodies["mass"][a[0]]), float(data.bodies["mass"][b[0]]))
    pulsation = math.sqrt(spec.stiffness / mass) if mass > 0.0 else 0.0
    ratio = spec.damping / (2.0 * mass * pulsation) if pulsation > 0.0 else 0.0
    anchors = [
        tuple(moved(np.array([anchor]), (x, y, yaw))[0].tolist())
        for anchor, (_, x, y, yaw) in ((spec.anchor_a, a), (spec.anchor_b, b))
    ]
    axis = moved(np.array([spec.axis]), (0.0, 0.0, a[3]))[0].tolist()
    return JointSettings(
        kind=spec.type,
        anchor_a=anchors[0],
        anchor_b=anchors[1],
        axis=(axis[0], axis[1]),
        angle=turn,
        angles=(spec.lower_angle, spec.upper_angle) if spec.enable_limit else None,
        lengths=(spec.min_length, spec.max_length),
        limited=spec.enable_limit,
        hertz=pulsation / (2.0 * math.pi),
        damping_ratio=ratio,
    )


def _reduced(a: float, b: float) -> float:
    """Return the reduced mass of two bodies [kg]; a mass of 0 is immovable."""
    if a <= 0.0 or b <= 0.0:
        return a + b
    return a * b / (a + b)
