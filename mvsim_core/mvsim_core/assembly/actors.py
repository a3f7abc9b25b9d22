# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From specs of actors to entities that walk."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvsim_core.animation.waypoint_path import Walk, Walker
from mvsim_core.assembly.blocks import IMMOVABLE
from mvsim_core.assembly.terrain import Ground
from mvsim_core.solver.base import Material
from mvsim_core.specs.actor import ActorSpec
from mvsim_core.state.arrays import KINEMATIC, FloatArray
from mvsim_core.state.entities import Entity, Solid, body_row

CLOTHES = Material(friction=0.5, restitution=0.01)
#: Corners of the polygon that stands for the circle of an actor.
CORNERS = 16


def build_actor(spec: ActorSpec, ground: Ground) -> Entity:
    """Return the entity of one actor where it begins."""
    pose = spec.init_pose
    if _on_ground(spec):
        above = 0.5 * spec.collision_height
        pose = pose._replace(z=ground.height(pose.x, pose.y, pose.z + above))
    body = body_row(pose, (0.0, 0.0, 0.0), IMMOVABLE, KINEMATIC)
    solid = Solid(circle(spec.collision_radius), CLOTHES, (0.0, spec.collision_height))
    return Entity(name=spec.name, spec=spec, body=body, inertia=IMMOVABLE, solids=[solid])


def build_walker(entity: Entity, solver: Any) -> Walker | None:
    """Return what moves an actor along its path; None if it has none."""
    spec: ActorSpec = entity.spec
    if spec.path is None or not spec.path.waypoints:
        return None
    walk = Walk(
        spec.init_pose,
        spec.path.waypoints,
        loop=spec.path.loop,
        speeds=(spec.walking_speed, spec.running_speed),
    )
    return Walker(entity, walk, solver, on_ground=_on_ground(spec))


def circle(radius: float) -> FloatArray:
    """Return a regular polygon (16, 2) of the area of a circle [m]."""
    angle = 2.0 * math.pi * np.arange(CORNERS) / CORNERS
    out = radius * math.sqrt(2.0 * math.pi / (CORNERS * math.sin(2.0 * math.pi / CORNERS)))
    points: FloatArray = out * np.column_stack((np.cos(angle), np.sin(angle)))
    return points


def _on_ground(spec: ActorSpec) -> bool:
    waypoints = () if spec.path is None else spec.path.waypoints
    stated = any(pose.z != 0.0 for pose in (spec.init_pose, *(w.pose for w in waypoints)))
    return not (stated or spec.skip_elevation_adjust)
