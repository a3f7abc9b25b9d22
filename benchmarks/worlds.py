# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of other people, where they lie beside the checkout: do they load, how fast do they run.

`python -m benchmarks.worlds` prints two tables: the original's worlds, each run for ten seconds,
and the files of further projects with every warning; then the race of a car through a track.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from mvsim_core import MvsimError, World, WorldFileError, load_world, read_world, world_of
from mvsim_core.bench.timing import step_cost
from mvsim_core.specs import VehicleSpec, VerticalPlaneSpec, WorldSpec

SHARED = Path(os.environ.get("MVSIM_SHARED", Path(__file__).parents[2] / "shared"))
ORIGINALS = SHARED / "mvsim_worlds"
CASES_FOLDER = SHARED / "cases"
TRACKS = CASES_FOLDER / "racing_ackermann" / "src" / "base_system" / "rbsf_mvsim"
DEMO = ORIGINALS / "mvsim_tutorial" / "demo_many_robots.world.xml"
RUN = 10.0  # s, simulated
#: What the launch files of these projects set in the environment, with the values found there.
ENVIRONMENT = {
    **{name: "0.0" for name in ("MIN_ALT", "KD", "N", "N_F", "K_FF", "PAYLOAD_MASS")},
    **{name: "false" for name in ("ENABLE_ANTIWINDUP", "ENABLE_FEEDFORWARD")},
    **{"ENABLE_REFERENCEFILTER": "false", "USE_ADAPTATIVE_FRICTION": "false"},
    **{"MAX_ALT": "0.5", "KP": "100", "KI": "10", "MAX_TORQUE": "100", "mass": "10"},
    **{"TAU_FF": "0.1", "TAU_F": "0.1"},
}

#: What worlds define for the vehicles that they include.
VARIABLES = {"USE_ADAP_FRICTION": "0"}


def without_sensors(path: Path) -> dict[str, float]:
    """Time a world file without its sensors."""
    world = load_world(path)
    world.remove_sensors()
    return step_cost(world)


def with_sensors(path: Path) -> dict[str, float]:
    """Time a world file."""
    return step_cost(load_world(path))


STEPS: dict[str, Callable[[], dict[str, float]]] = (
    {
        "demo_many_robots": partial(with_sensors, DEMO),
        "demo_many_robots_no_sensors": partial(without_sensors, DEMO),
    }
    if DEMO.exists()
    else {}
)


# ---------------------------------------------------------------- tables


def row_of(path: Path) -> tuple[str, ...]:
    """Load and run one world; return its name, counts, CPU time to load and a step."""
    load_world(path)  # kernels are compiled or read from their cache once
    start = process_time()
    spec, problems = read_world(path)
    world = world_of(spec, warnings=problems)
    loaded = process_time() - start
    for robot in world.vehicles.values():
        if "twist" in robot.accepts:
            robot.set_twist(0.3, 0.0, 0.1)
    world.step()
    start, before = process_time(), world.ticks
    world.run(RUN)
    cost = (process_time() - start) / (world.ticks - before)
    sensors = sum(len(vehicle.sensors) for vehicle in spec.vehicles) + len(spec.sensors)
    return (
        path.name.removesuffix(".world.xml"),
        *(str(len(things)) for things in (spec.vehicles, spec.blocks, spec.elements)),
        str(sensors),
        str(len(world.warnings)),
        f"{loaded:.2f}",
        f"{cost * 1e6:.0f}",
        f"{world.dt / cost:.0f}",
    )


def originals() -> Iterator[str]:
    """Yield the table of the original's worlds."""
    yield from _head("world", "vehicles", "blocks", "elements", "sensors", "warnings",
                     "load [CPU s]", "step [CPU µs]", "times real time")  # fmt: skip
    for path in sorted(ORIGINALS.rglob("*.world.xml")):
        try:
            yield _row(*row_of(path))
        except MvsimError as error:
            yield _row(path.name, *[""] * 7, str(error).splitlines()[0])


def further() -> Iterator[str]:
    """Yield the table of further projects' worlds and vehicles with what they are warned of."""
    os.environ.update(ENVIRONMENT)
    yield from _head("file", "result", "problems")
    with tempfile.TemporaryDirectory() as folder:
        share = Path(folder, "share")
        share.mkdir()
        (share / "mvsim").symlink_to(ORIGINALS)
        marker = share / "ament_index" / "resource_index" / "packages"
        marker.mkdir(parents=True)
        (marker / "mvsim").touch()
        os.environ["AMENT_PREFIX_PATH"] = folder
        for path in sorted(CASES_FOLDER.rglob("*.xml")):
            if path.name.endswith(".world.xml"):
                yield _judged(path, partial(load_world, path))
            elif "<vehicle:class" in path.read_text(errors="replace"):
                yield _judged(path, partial(load_world, text=_around(path), variables=VARIABLES))


def _around(path: Path) -> str:
    text = path.read_text(errors="replace")
    name = text.partition("<vehicle:class")[2].partition('name="')[2].partition('"')[0]
    return (
        f'<mvsim_world><include file="{path}"/>'
        f'<vehicle name="r1" class="{name}"><init_pose>0 0 0</init_pose></vehicle></mvsim_world>'
    )


def _judged(path: Path, load: Callable[[], World]) -> str:
    name = str(path.relative_to(CASES_FOLDER)).split("/")
    try:
        world = load()
        world.run(1.0)
        result, problems = "loads and runs", [str(problem) for problem in world.warnings]
    except WorldFileError as error:
        result, problems = "error", [str(problem) for problem in error.problems]
    except MvsimError as error:
        result, problems = "error", [str(error)]
    return _row(f"{name[0]}/{name[-1]}", result, "<br>".join(problems))


def _head(*names: str) -> tuple[str, str]:
    return _row(*names), _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


# ---------------------------------------------------------------- race


def track(walls_of: str, more: bool = True) -> WorldSpec:
    """Return a track with one car at its start; with `more`, those of all others beside it."""
    path = TRACKS / "maps" / f"{walls_of}.world.xml"
    spec, _ = read_world(path)
    car, _ = read_world(text=_around(TRACKS / "definitions" / "traxxas-ford-st.vehicle.xml"))
    elements = list(spec.elements)
    for i, other in enumerate(sorted(path.parent.glob("*.world.xml")) if more else ()):
        if other != path:
            planes = read_world(other)[0].elements
            elements += [_moved(p, 300.0 * (i + 1)) for p in planes if _is_wall(p)]
    vehicles: tuple[VehicleSpec, ...] = car.vehicles
    return replace(spec, elements=tuple(elements), vehicles=vehicles)


def _is_wall(element: Any) -> bool:
    return isinstance(element, VerticalPlaneSpec)


def _moved(plane: Any, y: float) -> Any:
    return replace(plane, y0=plane.y0 + y, y1=plane.y1 + y)


def race(spec: WorldSpec, seconds: float = 10.0, speed: float = 2.0) -> dict[str, float]:
    """Drive along the middle of the track by the lidar alone; return what came of it.

    Returns:
        walls, way [m], mean speed [m/s], touches (ticks in contact), rate (simulated seconds
        a second of CPU).
    """
    world = world_of(spec)
    robot = world.vehicles["r1"]
    lidar = next(iter(robot.sensors.values()))
    robot.teleport(0.0, 0.0, _open_direction(world, robot, lidar))
    way, touches, reading, place = 0.0, 0, None, robot.pose
    start, begin = process_time(), world.time
    while world.time - begin < seconds:
        if lidar.last is not reading:
            reading = lidar.last
            robot.set_ackermann(speed=speed, steering=_steering(reading))
            way += math.dist(place[:2], robot.pose[:2])
            place = robot.pose
        world.step()
        touches += robot.in_collision
    return {
        "walls": sum(map(_is_wall, spec.elements)),
        "way": way,
        "speed": way / seconds,
        "touches": touches,
        "rate": seconds / (process_time() - start),
    }


def _open_direction(world: World, robot: Any, lidar: Any) -> float:
    world.run(0.1)
    ranges, angles = _rays(lidar.last)
    return float(robot.pose.yaw + angles[int(np.argmax(ranges))])


def _rays(reading: Any) -> tuple[Any, Any]:
    ranges = np.minimum(reading.ranges, reading.range_max)
    return ranges, np.linspace(reading.angle_min, reading.angle_max, len(ranges))


def _steering(reading: Any) -> float:
    """Return a steering angle [rad] towards the middle of what is open ahead."""
    ranges, angles = _rays(reading)
    ahead = np.abs(angles) < math.radians(80.0)
    weights = ranges[ahead] ** 2 * np.cos(angles[ahead])
    return float(np.clip(np.average(angles[ahead], weights=weights), -0.4, 0.4))


def main() -> int:
    """Print all."""
    what = sys.argv[1:] or ["originals", "further", "race"]
    for name, table in (("originals", originals), ("further", further)):
        if name in what:
            for line in table():
                print(line, flush=True)
            print()
    if "race" in what:
        for name in ("f1tenth_catalunya", "f1tenth_saopaulo", "f1tenth_yasmarina"):
            print(name, {key: round(value, 2) for key, value in race(track(name)).items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
