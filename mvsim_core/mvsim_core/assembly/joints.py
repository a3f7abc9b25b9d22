# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From joint specs to joints between bodies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mvsim_core.assembly.islands import moved
from mvsim_core.dynamics.drives import DRIVE
from mvsim_core.errors import BuildError, Problem, suggestion
from mvsim_core.solver.base import JointSettings
from mvsim_core.solver.box2d import Box2dSolver
from mvsim_core.specs.block import JointSpec
from mvsim_core.state.arrays import Rows
from mvsim_core.state.entities import Entity


def add_joints(
    specs: Sequence[JointSpec], entities: Sequence[Entity], solver: Box2dSolver
) -> None:
    """Join the bodies of a world.

    Raises:
        BuildError: A joint names something that does not exist or has no body.
    """
    bodies = {e.name: e for e in entities if _root(e).key >= 0}
    for spec in specs:
        if spec.type == "weld":
            continue  # its bodies are one, see `islands`
        a, b = (_body(spec, name, bodies) for name in (spec.body_a, spec.body_b))
        if _root(a) is _root(b):
            continue  # within one rigid island
        solver.add_joint(_root(a).key, _root(b).key, _settings(spec, a, b))


def drives_of(specs: Sequence[JointSpec], entities: Sequence[Entity]) -> tuple[Rows, list[str]]:
    """Return one row of DRIVE for each driven pivot whose bodies are there, and their names.

    Angles count from the poses that the bodies have in the file.
    """
    known = {e.name: e for e in entities}
    rows, names = [], []
    for i, spec in enumerate(specs):
        if spec.kp <= 0.0 or spec.body_a not in known or spec.body_b not in known:
            continue
        a, b = _root(known[spec.body_a]), _root(known[spec.body_b])
        zero = b.spec.init_pose.yaw - a.spec.init_pose.yaw
        limit = spec.max_torque or math.inf
        rows.append((a.row, b.row, zero, spec.target_angle, spec.kp, spec.kd, limit, 0.0))
        names.append(spec.name or f"joint_{i + 1}")
    return np.array(rows, DRIVE), names


def _body(spec: JointSpec, name: str, known: Mapping[str, Entity]) -> Entity:
    if name in known:
        return known[name]
    hint = suggestion(name, known, listed=True)
    text = f"there is no body called {name!r}{hint}"
    raise BuildError(Problem.at(spec.where, "joint", text))


def _settings(spec: JointSpec, a: Entity, b: Entity) -> JointSettings:
    """Return a joint as it is at the start: angles count from there."""
    mass = _reduced(a.inertia.mass, b.inertia.mass)
    pulsation = math.sqrt(spec.stiffness / mass) if mass > 0.0 else 0.0
    ratio = spec.damping / (2.0 * mass * pulsation) if pulsation > 0.0 else 0.0
    return JointSettings(
        kind=spec.type,
        anchor_a=_anchor(spec.anchor_a, a),
        anchor_b=_anchor(spec.anchor_b, b),
        axis=spec.axis,
        angle=float(_root(b).body["yaw"][0] - _root(a).body["yaw"][0]),
        angles=(spec.lower_angle, spec.upper_angle) if spec.enable_limit else None,
        lengths=(spec.min_length, spec.max_length),
        limited=spec.enable_limit,
        hertz=pulsation / (2.0 * math.pi),
        damping_ratio=ratio,
    )


def _root(entity: Entity) -> Entity:
    """Return the body that the solver knows: the leader of its island, or itself."""
    return entity if entity.leader is None else entity.leader


def _anchor(point: tuple[float, float], entity: Entity) -> tuple[float, float]:
    """Return a point of an entity's frame in the frame of its solver body [m]."""
    x, y = moved(np.array([point]), entity.offset)[0] if entity.leader is not None else point
    return float(x), float(y)


def _reduced(a: float, b: float) -> float:
    """Return the mass that a spring between two bodies moves; a mass of 0 does not move [kg]."""
    if a <= 0.0 or b <= 0.0:
        return a + b
    return a * b / (a + b)
