# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models of actors, compiled from their specs."""

from __future__ import annotations

import math

import numpy as np

from mvsim_core.assembly.blocks import IMMOVABLE
from mvsim_core.specs.actor import ActorSpec
from mvsim_core.state.arrays import KINEMATIC, FloatArray
from mvsim_core.state.entities import EntityModel, Material, Solid, body_row

CLOTHES = Material(friction=0.5, restitution=0.01)
#: Corners of the polygon that replaces the circle of an actor.
CORNERS = 16


def build_actor(spec: ActorSpec) -> EntityModel:
    """Return the model of one actor at its first pose."""
    body = body_row(spec.init_pose, (0.0, 0.0, 0.0), IMMOVABLE, KINEMATIC)
    solid = Solid(circle(spec.collision_radius), CLOTHES, (0.0, spec.collision_height))
    return EntityModel(
        kind="actor",
        name=spec.name,
        spec=spec,
        body=body,
        inertia=IMMOVABLE,
        solids=(solid,),
        outline=solid.points,
        top=spec.collision_height,
        on_ground=follows_ground(spec),
    )


def circle(radius: float) -> FloatArray:
    """Return a regular polygon (16, 2) of the area of a circle [m]."""
    angle = 2.0 * math.pi * np.arange(CORNERS) / CORNERS
    out = radius * math.sqrt(2.0 * math.pi / (CORNERS * math.sin(2.0 * math.pi / CORNERS)))
    points: FloatArray = out * np.column_stack((np.cos(angle), np.sin(angle)))
    return points


def follows_ground(spec: ActorSpec) -> bool:
    """Return whether an actor's height follows from the ground: its path is level at 0."""
    waypoints = () if spec.path is None else spec.path.waypoints
    stated = any(pose.z != 0.0 for pose in (spec.init_pose, *(w.pose for w in waypoints)))
    return not (stated or spec.skip_elevation_adjust)
