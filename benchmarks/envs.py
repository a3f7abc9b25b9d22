# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Throughput of vector environments, in agent steps a second.

`python -m benchmarks.envs [--cores N] [--json]` prints the table of docs/performance.md: random
actions, episodes of 20 s simulated that end by collisions, arrivals or time, resets included. The
column with a camera has no episodes: each robot among 20 boxes drives a circle and takes a picture
of 64 x 48 pixels after 20 physics steps, by OpenGL in software if there is no graphics card.

`--speedup` compares one thread with two, and with two processes that step half of the copies
each: what the machine gives to threads that share nothing and never wait. Virtual cores are often
two threads of one core, which together do not do twice the work. The three take turns of a quarter
of a second, as other guests of a machine make its cores faster and slower by the minute.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from functools import partial
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter, process_time
from typing import Any

import numpy as np

COPIES = (1, 10, 100, 1000)
SECONDS = 1.0  # of measuring
TURN, TURNS = 0.25, 40  # of `--speedup`: seconds, and how many
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
    return measure_camera(copies, seconds) if kind == CAMERA else stepper(kind, copies)(seconds)


def stepper(kind: str, copies: int) -> Callable[[float], dict[str, float]]:
    """Return what steps copies for some seconds, and returns what `measure` does."""
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
    numbers = count()

    def run(seconds: float) -> dict[str, float]:
        steps = resets = 0
        wall, used = perf_counter(), process_time()
        while perf_counter() - wall < seconds:
            # an action lasts for 0.1 s, as robots are driven
            _, _, ended, cut, _ = envs.step(actions[next(numbers) * skip // 20 % len(actions)])
            resets += int(np.count_nonzero(ended | cut))
            steps += 1
        wall, used = perf_counter() - wall, process_time() - used
        done = steps * copies
        return {"wall": done / wall, "processor": done / used, "resets": resets / done}

    return run


def _beside(kind: str, copies: int, core: int, pipe: Connection) -> None:
    """Step copies in a process of its own whenever asked: for how many seconds; 0 ends it."""
    os.sched_setaffinity(0, [core])
    run = stepper(kind, copies)
    pipe.send(0.0)
    while seconds := pipe.recv():
        pipe.send(run(seconds)["wall"])


def speedup(kind: str, copies: int) -> dict[str, float]:
    """Return medians of how many times as fast as one thread two are, and two processes."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("--speedup: expected two usable cores, got one")
    context = get_context("spawn")
    pipe, other = context.Pipe()
    process = context.Process(target=_beside, args=(kind, copies // 2, cores[1], other))
    process.start()
    whole, half = stepper(kind, copies), stepper(kind, copies // 2)
    pipe.recv()
    ratios = []
    for _ in range(TURNS):
        os.sched_setaffinity(0, cores[:1])  # the calling thread's: `threads()` goes by it
        one = whole(TURN)["wall"]
        pipe.send(TURN)
        both = half(TURN)["wall"] + pipe.recv()
        os.sched_setaffinity(0, cores)
        ratios.append((whole(TURN)["wall"] / one, both / one))
    pipe.send(0.0)
    process.join()
    threads, processes = np.median(ratios, axis=0).tolist()
    share = float(np.median([one / other for one, other in ratios]))
    return {"threads": threads, "processes": processes, "share": share}


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
            print(
                f"{kind}: two threads {r['threads']:.2f} times as fast as one, two processes"
                f" {r['processes']:.2f}; threads against processes {r['share']:.2f}"
            )
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
