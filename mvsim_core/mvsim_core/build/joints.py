# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From joint specs to joints between bodies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from mvsim_core.entities import Entity
from mvsim_core.errors import BuildError, suggestion
from mvsim_core.solver.base import JointSettings
from mvsim_core.solver.box2d import Box2dSolver
from mvsim_core.specs.block import JointSpec


def add_joints(
    specs: Sequence[JointSpec], entities: Sequence[Entity], solver: Box2dSolver
) -> None:
    """Join the bodies of a world.

    Raises:
        BuildError: A joint names something that does not exist or has no body.
    """
    for spec in specs:
        a, b = (_body(spec, name, entities) for name in (spec.body_a, spec.body_b))
        solver.add_joint(a.key, b.key, _settings(spec, a, b))


def _body(spec: JointSpec, name: str, entities: Sequence[Entity]) -> Entity:
    known = {e.name: e for e in entities if e.key >= 0}
    if name in known:
        return known[name]
    place = f"{Path(spec.where.file).name or 'world'}:{spec.where.line}"
    hint = suggestion(name, known, listed=True)
    raise BuildError(f"{place}: <joint>: there is no body called {name!r}{hint}")


def _settings(spec: JointSpec, a: Entity, b: Entity) -> JointSettings:
    """Return a joint as it is at the start: angles count from there."""
    mass = _reduced(a.inertia.mass, b.inertia.mass)
    pulsation = math.sqrt(spec.stiffness / mass) if mass > 0.0 else 0.0
    ratio = spec.damping / (2.0 * mass * pulsation) if pulsation > 0.0 else 0.0
    return JointSettings(
        kind=spec.type,
        anchor_a=spec.anchor_a,
        anchor_b=spec.anchor_b,
        axis=spec.axis,
        angle=float(b.body["yaw"][0] - a.body["yaw"][0]),
        angles=(spec.lower_angle, spec.upper_angle) if spec.enable_limit else None,
        lengths=(spec.min_length, spec.max_length),
        limited=spec.enable_limit,
        hertz=pulsation / (2.0 * math.pi),
        damping_ratio=ratio,
    )


def _reduced(a: float, b: float) -> float:
    """Return the mass that a spring between two bodies moves; a mass of 0 does not move [kg]."""
    if a <= 0.0 or b <= 0.0:
        return a + b
    return a * b / (a + b)
