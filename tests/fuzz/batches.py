# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random operations on the copies of a world, and the same on single worlds: all stays equal.

    python -m tests.fuzz.batches --minutes 10 [--first 0]

A world is loaded and changed at random: bodies are moved, welded, spawned, removed, or it runs.
Then it is replicated, and copies are driven, pushed, moved, reset and restored. Each copy must be
equal to the byte to a single world of the same seed to which the same is done. Pictures are not
compared: where surfaces coincide, they depend on the order in which these are drawn.
"""

import argparse
import random
import re
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mvsim_core import MvsimError, World, load_world
from mvsim_core.world.data import TABLES, differences
from tests.physics.worlds import block, cart, twist_pid, world

WORLDS = Path(__file__).resolve().parents[2] / "worlds"
PID = twist_pid(20, 10, 30)
LIDAR = """<sensor class="laser" name="laser"><nrays>9</nrays><sensor_period>0.04</sensor_period>
<motion_distortion>true</motion_distortion></sensor>"""
THINGS = (
    cart("a", controller=PID, extra=LIDAR),
    cart("b", "0 3 0", controller=PID, ground='<friction class="ellipse"/>'),
    block("loose", "1.3 0.2 5", mass=4, mu=0.3),
    block("post", "1.4 3.1 30", extra="<static>true</static>"),
)
JOINTS = (
    block("load", "-1.6 3 0", mass=2),
    block("tail", "-1.6 0 0", mass=2),
    '<joint type="distance" body_a="a" body_b="tail" max_length="1.8"/>',
    """<joint type="revolute" body_a="b" body_b="load" anchor_a="-0.8 0" anchor_b="0.8 0"
    kp="4" kd="2" target_angle_deg="20"/>""",
)
RAMPS = (
    """<block name="ramp"><geometry type="ramp" lx="2" ly="2" lz="0.5"/><static>true</static>
    <intangible>true</intangible><init_pose>2 -2 0</init_pose></block>""",
    """<block name="bump"><geometry type="semi_cylinder_bump" lx="2" ly="0.8" lz="0.1"/>
    <static>true</static><intangible>true</intangible><init_pose>-2 0 90</init_pose></block>""",
)
SOURCES: tuple[str | Path, ...] = (
    world(*THINGS),
    world(*THINGS, *JOINTS),
    world(*THINGS, *RAMPS),
    world(*THINGS, cart("c", "0 -3 0", controller='<controller class="twist_ideal"/>')),
    *(WORLDS / f"{name}.world.xml" for name in ("trailers", "mecanum", "two_robots")),
)
#: Operations on the world that is replicated, and on a copy and its single world.
BEFORE = ("teleport", "run", "run", "weld", "remove", "spawn", "drive")
AFTER = (
    *("drive", "drive", "velocity", "force", "brake", "target", "read", "keep", "keep"),
    *("teleport", "lift", "place", "reset", "reset several", "restore", "restore"),
)


#: Zeros that differ in their sign: copies are fitted to the ground if one of them has relief.
ZEROS = re.compile(r"\(-?0\.0\) and \S*\(-?0\.0\)$")


class DifferenceError(Exception):
    """A copy differs from its single world."""


class Pair:
    """Copies of a world, and single worlds of the same seeds."""

    def __init__(self, seed: int) -> None:
        """Load a world."""
        self.seed = seed
        self.rng = random.Random(seed)
        self.log: list[Any] = []
        self.source = self.rng.choice(SOURCES)
        self.base = self._load(seed)
        self.kept: list[Any] = []

    def begin(self) -> None:
        """Change the world, and replicate it."""
        for _ in range(self.rng.randint(0, 4)):
            self._change(self.base, self.rng.choice(BEFORE))
        self.state = self.base.state()
        self.count = self.rng.choice((2, 3, 5))
        self.batch = self.base.replicate(self.count)
        self.singles = [self._load(self.seed) for _ in range(self.count)]
        for k, single in enumerate(self.singles):
            self._return(single, self.state.seed + k)
        self.names = list(self.state.entities)

    def _load(self, seed: int) -> World:
        source = self.source
        if isinstance(source, Path):
            return load_world(source, seed=seed)
        return load_world(text=source, seed=seed)

    def _return(self, single: World, seed: int) -> None:
        """Return a single world to the state that was replicated."""
        single.restore(self.state)
        single.data.seed = seed
        single._runtime.sensors.set_seed(seed)

    def _pose(self) -> tuple[float, float, float]:
        x, y, yaw = (self.rng.uniform(-3.0, 3.0) for _ in range(3))
        return x, y, yaw

    def _change(self, base: World, what: str) -> None:
        """Change the world that is to be replicated, or leave it if that is refused."""
        rng, name = self.rng, self.rng.choice(list(base.data.entities))
        self.log.append((what, name))
        vehicle = rng.choice(list(base.vehicles.values()))
        try:
            if what == "teleport":
                base.teleport(name, *self._pose())
            elif what == "run":
                base.run(rng.choice((1, 13, 40)) * base.dt)
            elif what == "weld":
                base.weld(name, rng.choice(list(base.data.entities)))
            elif what == "remove" and len(base.vehicles) > 1:
                base.remove(name)
            elif what == "spawn":
                base.add_vehicle(vehicle.spec, name=f"new{len(self.log)}", pose=self._pose())
            elif what == "drive" and "twist" in vehicle.accepts:
                vehicle.set_twist(rng.uniform(-1.0, 2.0), 0.0, rng.uniform(-1.0, 1.0))
        except MvsimError as error:
            self.log.append(type(error).__name__)

    # ------------------------------------------------------------ operations
    def do(self, what: str) -> None:
        """Do something to some copies and to their single worlds."""
        rng, k = self.rng, self.rng.randrange(self.count)
        name, pose = rng.choice(self.names), self._pose()
        some = np.array(sorted(rng.sample(range(self.count), rng.randint(1, self.count))))
        self.log.append((what, k, name, some.tolist()))
        if what == "reset several":
            self.batch.reset_copies(some)
            for i in some.tolist():
                self._return(self.singles[i], self.singles[i].seed)
        elif what == "reset":
            self.batch[k].reset()
            self._return(self.singles[k], self.singles[k].seed)
        elif what == "keep":
            self.kept.append(self.batch[k].state())
        elif what == "restore":
            if self.kept:
                state = rng.choice(self.kept)
                self.batch[k].restore(state)
                self.singles[k].restore(state)
        elif what == "place":
            names = rng.sample(self.names, min(len(self.names), rng.randint(1, 3)))
            poses = np.array([[self._pose() for _ in names] for _ in some])
            self.batch.place(names, some, poses)
            for i, row in zip(some.tolist(), poses.tolist(), strict=True):
                for one, at in zip(names, row, strict=True):
                    self.singles[i].teleport(one, *at)
        else:
            values = [rng.uniform(-1.0, 1.0) for _ in range(4)]
            both = (self.batch[k], self.singles[k])
            outcomes = [
                _outcome(lambda one=one: _act(one, what, name, pose, values)) for one in both
            ]
            if outcomes[0] != outcomes[1]:
                raise DifferenceError(f"{what}: {outcomes}")

    def run(self) -> None:
        """Let all run for some ticks."""
        count = self.rng.choice((1, 2, 7, 40, 90))
        self.log.append(("run", count))
        self.batch.run(count * self.batch.dt)
        for single in self.singles:
            single.run(count * single.dt)

    def compare(self) -> None:
        """Raise DifferenceError if a copy is not as its single world."""
        for k, (copy, single) in enumerate(zip(self.batch, self.singles, strict=True)):
            state, data = copy.state(), single.data
            found = [
                line
                for name in TABLES
                for line in differences(getattr(state, name), getattr(data, name), name)
            ]
            readings = (dict(sorted(one.sensors.items())) for one in (state, data))
            found += differences(
                *({n: v for n, v in r.items() if "cam" not in n} for r in readings)
            )
            if copy.contacts != single.contacts:
                found.append("contacts")
            found = [line for line in found if not ZEROS.search(line)]
            if found:
                raise DifferenceError(f"copy {k}: {found[:3]}")


def _act(one: Any, what: str, name: str, pose: Any, values: list[float]) -> None:
    """Do something to a copy, or to a world."""
    body = one.vehicles.get(name) or one.blocks.get(name)
    along, aside, turn, high = values
    if what == "drive":
        for vehicle in one.vehicles.values():
            if "twist" in vehicle.accepts:
                vehicle.set_twist(2.0 * along, 0.0, turn)
            elif "ackermann" in vehicle.accepts:
                vehicle.set_ackermann(2.0 * along, 0.3 * turn)
    elif what == "velocity" and body is not None:
        body.set_velocity(along, aside, turn)
    elif what == "force" and body is not None:
        body.apply_force(50.0 * along, 50.0 * aside, turn, seconds=0.1 if high > 0.0 else None)
    elif what == "brake":
        for vehicle in one.vehicles.values():
            vehicle.set_brake(along > 0.0)
    elif what == "target":
        for pivot in one.pivots.values():
            pivot.target = along
    elif what == "read":
        one.contacts  # noqa: B018 (they are merged when they are read)
    elif what == "teleport":
        one.teleport(name, *pose)
    elif what == "lift":
        one.teleport(name, *pose, z=max(0.0, 3.0 * high))


def _outcome(act: Callable[[], None]) -> str:
    try:
        act()
    except MvsimError as error:
        return type(error).__name__
    return ""


def tried(seed: int) -> Pair:
    """Do random operations and compare after each run.

    Raises:
        DifferenceError: A copy differs from its single world; the message has all that was done.
    """
    pair = Pair(seed)
    try:
        pair.begin()
        for _ in range(pair.rng.randint(3, 8)):
            for _ in range(pair.rng.randint(0, 4)):
                pair.do(pair.rng.choice(AFTER))
            pair.run()
            pair.compare()
    except Exception as error:
        text = f"seed {seed}: {type(error).__name__}: {error}\n{pair.source}\n{pair.log}"
        raise DifferenceError(text) from error
    return pair


def main() -> None:
    """Try seeds until the time is over; print what differs."""
    parser = argparse.ArgumentParser(description="random operations on copies of worlds")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    seed, failed, end = given.first, 0, time.monotonic() + 60.0 * given.minutes
    while time.monotonic() < end:
        try:
            tried(seed)
        except DifferenceError as error:
            failed += 1
            sys.stdout.write(f"{error}\n")
            sys.stdout.flush()
        seed += 1
    sys.stdout.write(f"{seed - given.first} seeds, {failed} failed\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
