# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A table of how far the physics is from what it should be, over vehicles and steps.

    python -m tests.physics.deviations

takes a minute; the limits of these numbers are in the tests of this folder.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator

from mvsim_core import load_world
from tests.physics.test_pushed import ROLLERS, SIDES, pushed
from tests.physics.test_slopes import incline
from tests.physics.test_stopping import VEHICLES, G, load, vehicle
from tests.physics.worlds import block, world

STEPS = (0.001, 0.005, 0.01, 0.02)
FINE = STEPS[:3]
GRIPPING = [kind for kind in VEHICLES if kind not in ROLLERS]
#: What was tested, on what, at which steps, the worst deviation and where it was.
Row = tuple[str, str, tuple[float, ...], str, str]


def stopping() -> Row:
    """Way to the stop against that at 1 ms."""
    worst = (0.0, "")
    for kind in VEHICLES:
        ways = []
        for dt in FINE:
            w, r = load(vehicle(kind, kp=1.0, ki=1.0), dt)
            r.set_twist(0.5)
            w.run(4.0)
            x = r.pose.x
            r.set_twist(0.0)
            w.run(2.0)
            ways.append(r.pose.x - x)
        worst = max(worst, *((abs(way / ways[0] - 1.0), kind) for way in ways[1:]))
    return "way to a stop", "all kinds of vehicle", FINE, f"{worst[0]:.2%}", worst[1]


def sliding() -> Row:
    """Way of a sliding block against v²/(2 µ g)."""
    worst = 0.0
    for dt in STEPS:
        w = load_world(text=world(block(vel="1 0 0", mu=0.3), dt=dt))
        w.run(1.0)
        worst = max(worst, abs(w.blocks["b1"].pose.x * 0.6 * G - 1.0))
    return "way of a sliding block", "block", STEPS, f"{worst:.1e}", ""


def pushing(share: float) -> Row:
    """Speed of held vehicles pushed with a share of their grip, from all sides."""
    worst = (0.0, "")
    for kind in GRIPPING:
        for side in SIDES:
            for dt in (0.001, 0.02):
                push = pushed(kind, "default", side, dt)
                push.world.step()
                grip = push.grip(lengthways=side in ("behind", "front"))
                push.step(share * grip, 0.2)
                worst = max(worst, (abs(push.speed()), f"{kind}, {side}"))
    kinds = "vehicles without rollers, 4 sides"
    return (
        f"pushed with {share} of the grip",
        kinds,
        (0.001, 0.02),
        f"{worst[0]:.1e} m/s",
        worst[1],
    )


def holding() -> Row:
    """Way of held vehicles on 20 degrees in a second."""
    worst = (0.0, "")
    for kind in VEHICLES:
        for dt in STEPS:
            w, r = load(vehicle(kind, pose="0 0 37"), dt, incline(20))
            w.run(1.0)
            worst = max(worst, (math.hypot(r.pose.x, r.pose.y), kind))
    return "held on 20 degrees", "all kinds of vehicle", STEPS, f"{worst[0]:.1e} m", worst[1]


def spot_turns() -> Row:
    """Speed of cars that are commanded to turn on the spot."""
    worst = (0.0, "")
    for kind in ("rear drive", "front drive", "all drive", "open_rear", "torsen_4wd"):
        for dt in STEPS:
            w, r = load(vehicle(kind), dt)
            r.set_twist(0.0, 0.0, 1.0)
            w.run(2.0)
            worst = max(worst, (math.hypot(r.pose.x, r.pose.y), kind))
    return "a car turns on the spot", "cars", STEPS, f"{worst[0]:.1e} m", worst[1]


def skidding() -> Row:
    """Yaw rate of skid steering against that at 1 ms, with friction_circle."""
    rates = []
    for dt in FINE:
        w, r = load(vehicle("differential_4_wheels", "circle", kp=5.0, ki=10.0), dt)
        r.set_twist(0.0, 0.0, 0.8)
        w.run(6.0)
        rates.append(r.twist.wz)
    worst = max(abs(rate / rates[0] - 1.0) for rate in rates)
    return "yaw rate of skid steering", "differential_4_wheels", FINE, f"{worst:.2%}", ""


def rows() -> Iterator[Row]:
    """Yield the rows of the table."""
    yield stopping()
    yield sliding()
    yield pushing(0.7)
    yield holding()
    yield spot_turns()
    yield skidding()


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")  # of steps that are too long, and of turns on the spot
    for what, kinds, steps, worst, where in rows():
        times = ", ".join(f"{1e3 * dt:g}" for dt in steps)
        sys.stdout.write(f"{what:28s} {kinds:34s} {times:12s} ms  {worst:14s} {where}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
