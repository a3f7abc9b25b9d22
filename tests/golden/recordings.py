# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Recorded trajectories of the C++ original: reading them, and running the same cases here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mvsim_core import World, load_world

#: Thinned recordings that come with the tests, and worlds of our own with their parameters.
OWN = Path(__file__).parent / "recordings"


@dataclass
class Case:
    """One recorded run: its world and what was commanded."""

    name: str
    world: str
    seconds: float
    twist: tuple[float, float] | None = None
    torques: tuple[float, float] | None = None  # N m, + = forward, left and right
    later: list[tuple[float, float, float]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)  # of the world file


def read_cases(folder: Path) -> dict[str, Case]:
    """Read the table of cases."""
    cases = {}
    for line in (folder / "CASES.md").read_text().splitlines():
        match = re.match(r"\| (\w+) \| (\w+) \| `(.*)` \|", line)
        if match is None:
            continue
        title, world, command = match.groups()
        words = command.split()
        case = Case(title, world, 0.0)
        while words:
            option = words.pop(0)
            if option == "--time":
                case.seconds = float(words.pop(0))
            elif option == "--twist":
                case.twist = (float(words.pop(0)), float(words.pop(0)))
            elif option == "--torque":  # recorded with the original's sign
                case.torques = (-float(words.pop(0)), -float(words.pop(0)))
            elif option == "--cmd":
                case.later.append((float(words.pop(0)), float(words.pop(0)), float(words.pop(0))))
            elif option == "--var":  # numbers of a list are separated by commas
                name, _, value = words.pop(0).partition("=")
                case.variables[name] = value.replace(",", " ")
        cases[title] = case
    return cases


def read_rows(folder: Path, name: str) -> dict[str, np.ndarray[Any, Any]]:
    """Read the recorded rows, one array a column."""
    table = np.genfromtxt(folder / "csv" / f"{name}.csv", delimiter=",", names=True)
    assert table.dtype.names is not None
    return {column: table[column] for column in table.dtype.names}


def run_case(folder: Path, case: Case, times: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Run a case and return the same columns at the same times."""
    path = folder / "worlds" / f"{case.world}.world.xml"
    world = load_world(path, variables=case.variables)
    robot = world.vehicles["r1"]
    for wheel in robot.wheels:
        wheel.omega = 0.0  # the original starts with wheels at rest, whatever the speed
    if case.twist is not None:
        robot.set_twist(case.twist[0], 0.0, case.twist[1])
    if case.torques is not None:
        robot.set_wheel_torques(case.torques)
    rows: dict[str, list[float]] = {}
    _note(rows, world)
    for time in times[1:]:
        while world.time < time - 0.5 * world.dt:
            for due, vx, wz in case.later:
                if abs(world.time - due) < 0.5 * world.dt:
                    robot.set_twist(vx, 0.0, wz)
            world.step()
        _note(rows, world)
    return {name: np.array(values) for name, values in rows.items()}


def _note(rows: dict[str, list[float]], world: World) -> None:
    robot = world.vehicles["r1"]
    pose, twist = robot.pose, robot.twist
    values = {
        "t": world.time,
        "x": pose.x,
        "y": pose.y,
        "yaw": pose.yaw,
        "vx": twist.vx,
        "vy": twist.vy,
        "w": twist.wz,
    }
    for i, wheel in enumerate(robot.wheels):
        values[f"w{i}_omega"], values[f"w{i}_torque"] = wheel.omega, wheel.torque
        values[f"w{i}_yaw"] = wheel.steering
    for block in world.blocks.values():
        at = block.pose
        values.update(
            {f"{block.name}_x": at.x, f"{block.name}_y": at.y, f"{block.name}_yaw": at.yaw}
        )
    for name, value in values.items():
        rows.setdefault(name, []).append(value)
