# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Throughput of vector environments, in agent steps a second.

`python -m benchmarks.envs [--cores N] [--json]` prints the table of docs/performance.md: random
actions, episodes of 20 s simulated that end by collisions, arrivals or time, resets included. The
column with a camera has no episodes: each robot among 20 boxes drives a circle and takes a picture
of 64 x 48 pixels after 20 physics steps, by OpenGL in software if there is no graphics card.

`--speedup` compares one thread with two, in turns within one process, and with what this machine
gives at most: two threads that share no data and never wait. Virtual cores are often two threads
of one core, which together do not do twice the work.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numba
import numpy as np

from mvsim_core.threads import run_all

COPIES = (1, 10, 100, 1000)
SECONDS = 1.0  # of measuring
EPISODE = 4000  # physics steps
#: Rays, boxes and physics steps of an agent step.
KINDS = {
    "no lidar": (0, 0, 1),
    "64 rays, 20 boxes": (64, 20, 1),
    "64 rays, 20 boxes, 20 physics steps": (64, 20, 20),
}
#: Case of pictures, and the camera that replaces the lidar.
CAMERA = "camera of 64 x 48, 20 boxes, 20 physics steps"
CAMERA_TEXT = """<sensor class="camera" name="camera"><ncols>64</ncols><nrows>48</nrows>
<fov_degrees>70</fov_degrees><sensor_period>0.1</sensor_period><pose_3d>0.1 0 0.3 0 0 0</pose_3d>
</sensor>"""
ALL_KINDS = (*KINDS, CAMERA)


def measure_camera(copies: int, seconds: float = SECONDS) -> dict[str, float]:
    """Return what `measure` does, of robots with a camera."""
    from mvsim_core.envs.tasks import Navigation

    task = Navigation(rays=0, obstacles=20)
    task._laser = CAMERA_TEXT
    world = task.load()
    world.vehicles["robot"].set_twist(0.5, wz=0.5)
    batch = world.replicate(copies)
    cameras = [copy.vehicles["robot"].sensors["camera"] for copy in batch]
    batch.run(0.1)
    steps = 0
    wall, used = perf_counter(), process_time()
    while perf_counter() - wall < seconds:
        batch.run(0.1)
        steps += 1
    wall, used = perf_counter() - wall, process_time() - used
    if any(camera.last.rgb.shape != (48, 64, 3) for camera in cameras):
        raise RuntimeError("a camera took no picture")
    return {"wall": steps * copies / wall, "processor": steps * copies / used, "resets": 0.0}


def measure(kind: str, copies: int, seconds: float = SECONDS) -> dict[str, float]:
    """Return agent steps a second of wall time and of processor time, and resets a step."""
    if kind == CAMERA:
        return measure_camera(copies, seconds)
    import gymnasium

    import mvsim_core.envs  # noqa: F401 (registers)

    rays, boxes, skip = KINDS[kind]
    options: dict[str, Any] = {"rays": rays, "obstacles": boxes, "frame_skip": skip}
    envs = gymnasium.make_vec(
        "mvsim/Navigation-v0", copies, max_episode_steps=EPISODE // skip, **options
    )
    envs.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1.0, 1.0, (64, copies, 2)).astype(np.float32)
    for k in range(20):
        envs.step(actions[k])
    steps = resets = 0
    wall, used = perf_counter(), process_time()
    while perf_counter() - wall < seconds:
        # an action lasts for 0.1 s, as robots are driven
        _, _, ended, cut, _ = envs.step(actions[steps * skip // 20 % len(actions)])
        resets += int(np.count_nonzero(ended | cut))
        steps += 1
    wall, used = perf_counter() - wall, process_time() - used
    done = steps * copies
    return {"wall": done / wall, "processor": done / used, "resets": resets / done}


@numba.njit(nogil=True)
def busy_kernel(values: Any, rounds: int) -> None:
    """Pass time with arithmetic on values that stay in the first cache."""
    for _ in range(rounds):
        for i in range(values.size):
            values[i] = values[i] * 0.999 + math.sqrt(values[i] + 1.0)


def ceiling() -> float:
    """Return how many times the work of one thread two threads do in the same time."""
    rows = np.ones((2, 512))
    busy_kernel(rows[0], 1)
    begin = perf_counter()
    busy_kernel(rows[0], 100_000)
    middle = perf_counter()
    run_all([partial(busy_kernel, row, 100_000) for row in rows])
    return 2.0 * (middle - begin) / (perf_counter() - middle)


def speedup(kind: str, copies: int, rounds: int = 7) -> dict[str, float]:
    """Return how many times as fast two threads step as one, and the ceiling: medians."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("--speedup: expected two usable cores, got one")
    ratios, ceilings = [], []
    for _ in range(rounds):
        os.sched_setaffinity(0, cores[:1])  # the calling thread's: `threads()` goes by it
        one = measure(kind, copies)["wall"]
        os.sched_setaffinity(0, cores)
        ratios.append(measure(kind, copies)["wall"] / one)
        ceilings.append(ceiling())
    return {"speedup": float(np.median(ratios)), "ceiling": float(np.median(ceilings))}


def _microseconds(kind: str, copies: int) -> dict[str, float]:
    return {"agent step": 1e6 / measure(kind, copies)["wall"]}


STEPS: dict[str, Callable[[], dict[str, float]]] = {
    f"envs_{kind.replace(',', '').replace(' ', '_')}_{copies}": partial(
        _microseconds, kind, copies
    )
    for kind in ALL_KINDS
    for copies in COPIES
    if kind != CAMERA or copies < COPIES[-1]
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="agent steps a second of vector environments")
    parser.add_argument("--cores", type=int, default=1, help="processor cores to use")
    parser.add_argument("--copies", type=int, nargs="*", default=COPIES)
    parser.add_argument("--speedup", action="store_true", help="two threads against one")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    given = parser.parse_args()
    if given.speedup:
        for kind in KINDS:
            r = speedup(kind, given.copies[-1])
            print(f"{kind}: {r['speedup']:.2f} times as fast, at most {r['ceiling']:.2f} here")
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.cores])
    results = {kind: {n: measure(kind, n) for n in given.copies} for kind in ALL_KINDS}
    if given.json:
        print(json.dumps({"cores": given.cores, "agent_steps_per_second": results}, indent=1))
        return
    print(f"agent steps a second on {given.cores} core(s): by wall time (by processor time)\n")
    print("| copies | " + " | ".join(ALL_KINDS) + " |")
    print("|---:|" + "---:|" * len(ALL_KINDS))
    for n in given.copies:
        cells = [f"{r[n]['wall']:,.0f} ({r[n]['processor']:,.0f})" for r in results.values()]
        print(f"| {n:,} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
