# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""Actors: people who walk along paths."""

from __future__ import annotations

from dataclasses import dataclass

from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.converters import POSE2D
from mvsim_core.specs.params import NOT_NEGATIVE, POSITIVE, Spec, one_of, param, section
from mvsim_core.specs.simulable import SimulableSpec
from mvsim_core.specs.visual import VisualSpec

_LIMBS = "the mesh of an actor is not animated"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WaypointSpec(Spec):
    """A point of a path: pose in the world frame, pause there [s], gait on the way to it."""

    pose: Pose = param(Pose(), form="text", conv=POSE2D, unit="m, rad", required=True)
    pause: float = param(
        0.0, unit="s", check=NOT_NEGATIVE, attribute=True, help="time to wait there"
    )
    animation: str = param(
        "walk", check=one_of("walk", "run", "idle"), attribute=True, help="gait on the way to it"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PathSpec(Spec):
    """Waypoints in order; with `loop` the first one follows the last."""

    type: str = param("", attribute=True, no_effect="the original ignores it too")
    loop: bool = param(True, attribute=True)
    waypoints: tuple[WaypointSpec, ...] = section((), "waypoint", WaypointSpec, many=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ActorSpec(SimulableSpec):
    """A person as a vertical cylinder, with a mesh and the names of its animation clips."""

    name: str = param("", attribute=True, help="default: actor001, actor002, ...")
    class_name: str = param(
        "", xml="class", attribute=True, help="name of the actor:class with its common content"
    )
    walking_speed: float = param(
        1.4, unit="m/s", check=POSITIVE, help="to waypoints with the animation walk"
    )
    running_speed: float = param(
        3.5, unit="m/s", check=POSITIVE, help="to waypoints with the animation run"
    )
    height: float = param(
        1.75,
        unit="m",
        check=POSITIVE,
        no_effect="the original ignores it too; see collision_height",
    )
    collision_radius: float = param(0.3, unit="m", check=POSITIVE, help="of the cylinder")
    collision_height: float = param(1.7, unit="m", check=POSITIVE, help="of the cylinder")
    animation_idle: str = param("idle", no_effect=_LIMBS)
    animation_walk: str = param("walk", no_effect=_LIMBS)
    animation_run: str = param("run", no_effect=_LIMBS)
    visuals: tuple[VisualSpec, ...] = section((), "visual", VisualSpec, many=True)
    path: PathSpec | None = section(None, "path", PathSpec)
