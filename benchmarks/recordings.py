# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Cost and size of recordings: `python -m benchmarks.recordings [SECONDS]`.

For each world the same run with and without a recording, stepped as fast as possible: processor
time of the stepping thread and of the whole process a simulated second, and the size of the file.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from mvsim_core import World, load_world
from mvsim_core.bags import Recording, record
from mvsim_core.heap import settle_heap

WORLDS = Path(__file__).parents[1] / "worlds"
CAMERA = """<sensor class="camera" name="camera"><pose_3d>0.2 0 0.4 -90 0 -90</pose_3d>
<ncols>{columns}</ncols><nrows>{rows}</nrows><cx>{cx}</cx><cy>{cy}</cy><fx>{fx}</fx><fy>{fx}</fy>
<sensor_period>0.1</sensor_period></sensor>"""


class Cost(NamedTuple):
    """Processor time a simulated second, of the stepping thread and of all [ms]; wall time [s]."""

    step: float
    process: float
    wall: float


def yard(robots: int) -> World:
    """Return couriers, each with a lidar of 360 rays at 10 Hz."""
    file = WORLDS / "multi_robot.world.xml"
    return load_world(file, variables={"ROBOTS": str(robots)})


def camera(columns: int, rows: int) -> World:
    """Return the warehouse's robot with a colour camera at 10 Hz too."""
    world = load_world(WORLDS / "warehouse.world.xml")
    sensor = CAMERA.format(
        columns=columns, rows=rows, cx=columns / 2, cy=rows / 2, fx=0.8 * columns
    )
    text = (WORLDS / "warehouse.world.xml").read_text()
    name = next(iter(world.vehicles))
    world.close()
    begin = text.index("<vehicle ")
    end = text.index(">", begin) + 1
    assert name in text[begin:end]
    text = text[:end] + sensor + text[end:]
    with tempfile.NamedTemporaryFile("w", suffix=".world.xml", dir=WORLDS) as file:
        file.write(text)
        file.flush()
        return load_world(file.name)


def measure(world: World, seconds: float, path: Path | None) -> Cost:
    """Run a world, recorded or not."""
    for vehicle in world.vehicles.values():
        vehicle.set_twist(0.4, 0.0, 0.2)
    world.run(0.5)
    settle_heap()
    context = nullcontext() if path is None else record(world, path)
    wall, process = time.perf_counter(), time.process_time()
    with context:
        thread = time.thread_time()
        world.run(seconds)
        thread = time.thread_time() - thread
    process = time.process_time() - process
    wall = time.perf_counter() - wall
    return Cost(1e3 * thread / seconds, 1e3 * process / seconds, wall)


CASES: Mapping[str, Callable[[], World]] = {
    "1 robot, lidar": lambda: yard(1),
    "25 robots, lidars": lambda: yard(25),
    "1 robot, lidar, camera 640 x 480": lambda: camera(640, 480),
}


def main() -> None:
    """Print a table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    print(f"{'':34} {'step ms/s':>22} {'process ms/s':>22} {'MB/s':>7} {'messages/s':>11}")
    for name, make in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.mcap"
            bare = measure(make(), seconds, None)
            cost = measure(make(), seconds, path)
            size = path.stat().st_size / 1e6 / seconds
            with Recording.open(path) as recording:
                count = recording.message_count / seconds
        step = f"{bare.step:8.1f} + {cost.step - bare.step:8.1f}"
        process = f"{bare.process:8.1f} + {cost.process - bare.process:8.1f}"
        print(f"{name:34} {step:>22} {process:>22} {size:7.2f} {count:11.0f}", flush=True)


if __name__ == "__main__":
    main()
