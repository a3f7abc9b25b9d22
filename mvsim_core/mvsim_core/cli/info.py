# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim info`: list the contents of a world."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mvsim_core.cli.options import Var, World, variables

if TYPE_CHECKING:
    from rich.table import Table

    from mvsim_core.specs import SensorSpec, VehicleSpec, WorldSpec


def info(world: World, var: Var = None) -> None:
    """List the contents of a world: vehicles, sensors, blocks, elements."""
    from rich.console import Console

    from mvsim_core.cli.report import counted
    from mvsim_core.xmlfile import read_world

    spec, problems = read_world(world, variables=variables(var))
    # A file or pipe has no width, so lines are not wrapped.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    console.print(world.name, style="bold", markup=False)
    for line in _facts(spec):
        console.print(f"  {line}", markup=False, soft_wrap=True)
    if spec.vehicles:
        console.print(_vehicles(spec.vehicles))
    sensors = [(vehicle.name, own) for vehicle in spec.vehicles for own in vehicle.sensors]
    sensors += [("(world)", own) for own in spec.sensors]
    if sensors:
        console.print(_sensors(sensors))
    found = Counter(problem.severity for problem in problems)
    if found:
        counts = ", ".join(counted(number, severity) for severity, number in found.items())
        console.print(f"{counts}; mvsim check prints them")


def _facts(spec: WorldSpec) -> Iterable[str]:
    step = f"{spec.timestep * 1e3:g} ms" if spec.timestep else "automatic"
    yield f"time step {step}, gravity {spec.gravity:g} m/s²"
    for name, kinds in (
        ("elements", (str(getattr(element, "kind", "")) for element in spec.elements)),
        ("blocks", (block.class_name or "(no class)" for block in spec.blocks)),
        ("actors", (actor.class_name or "(no class)" for actor in spec.actors)),
        ("joints", (joint.type for joint in spec.joints)),
        ("walls", ("segments" for walls in spec.walls for _ in walls.segments)),
    ):
        counts = Counter(kinds)
        if counts:
            listed = ", ".join(f"{number} {kind}" for kind, number in counts.most_common())
            yield f"{name}: {listed}"
    place = spec.georeference.origin
    if place is not None:
        yield f"origin at latitude {place[0]:g}°, longitude {place[1]:g}°"


def _table(title: str, *columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _vehicles(vehicles: tuple[VehicleSpec, ...]) -> Table:
    from rich.markup import escape

    table = _table(
        "Vehicles", "name", "class", "dynamics", "controller", "friction", "mass [kg]", "pose"
    )
    for vehicle in vehicles:
        made = vehicle.dynamics
        mass = made.chassis.mass + sum(wheel.mass for wheel in made.wheels)
        pose = vehicle.init_pose
        cells = (
            vehicle.name,
            vehicle.class_name,
            made.kind,
            made.controller.kind,
            vehicle.friction.kind,
            f"{mass:g}",
            f"{pose.x:.2f} {pose.y:.2f} {math.degrees(pose.yaw):.0f}°",
        )
        table.add_row(*(escape(cell) for cell in cells))
    return table


def _sensors(sensors: list[tuple[str, SensorSpec]]) -> Table:
    from rich.markup import escape

    table = _table("Sensors", "vehicle", "name", "class", "rate [Hz]", "mount")
    for owner, sensor in sensors:
        pose = sensor.pose
        rate = f"{1 / sensor.period:g}" if sensor.period > 0.0 else "each step"
        mount = f"{pose.x:.2f} {pose.y:.2f} {pose.z:.2f}"
        cells = (owner, sensor.name, sensor.kind, rate, mount)
        table.add_row(*(escape(cell) for cell in cells))
    return table
