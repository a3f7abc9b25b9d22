# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A table of how far the physics is from what it should be, over vehicles and steps.

    python -m tests.physics.deviations

takes a few minutes; the limits of these numbers are in the tests of this folder.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator

from mvsim_core import load_world
from tests.physics.test_free_wheels import slid_along_a_wall
from tests.physics.test_islands import pulled, tracked_off
from tests.physics.test_odometry import turned
from tests.physics.test_pushed import BEYOND, ROLLERS, SIDES, beyond_grip, collided, pushed
from tests.physics.test_skid_steering import GROUNDS
from tests.physics.test_skid_steering import deviations as scrubbed
from tests.physics.test_slopes import incline
from tests.physics.test_stopping import VEHICLES, WALL, G, load, vehicle, way_to_a_stop
from tests.physics.worlds import block, world

STEPS = (0.001, 0.005, 0.01, 0.02)
FINE = STEPS[:3]
#: Gains of motors beyond the grip, whose wheels slip while they brake; those of an engine that
#: drives two wheels are lower, since the slipping loop allows no step of 10 ms with more.
STRONG, STRONG_ENGINE = (8.0, 8.0, 8.0), (4.0, 4.0, 2.0)
GRIPPING = [kind for kind in VEHICLES if kind not in ROLLERS]
#: What was tested, on what, at which steps, the worst deviation and where it was.
Row = tuple[str, str, tuple[float, ...], str, str]


def stopping() -> Iterator[Row]:
    """Way to the stop from 0.5 m/s against that at 1 ms, with and without slip."""
    within = ((1.0, 1.0, 8.0), (1.0, 1.0, 0.4))
    for what, friction, slip in (
        ("way to a stop", "default", False),
        ("the same, wheels slip", "default", True),
        ("the same, ellipse", "ellipse", False),
        ("ellipse, wheels slip", "ellipse", True),
    ):
        worst = (0.0, "")
        for kind in VEHICLES if friction == "default" else GRIPPING:
            strong = STRONG_ENGINE if kind == "open_rear" else STRONG
            for gains in (strong,) if slip else within:
                ways = [way_to_a_stop(kind, friction, gains, dt) for dt in FINE]
                deviation = max(abs(way / ways[0] - 1.0) for way in ways[1:])
                worst = max(worst, (deviation, f"{kind}, KP {gains[0]:g}"))
        kinds = "all kinds of vehicle" if friction == "default" else "vehicles without rollers"
        yield what, kinds, FINE, *percent(worst)


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


def skidding() -> Iterator[Row]:
    """Yaw rate, drift and way of skid steering on the spot and in arcs against those at 1 ms."""
    for friction, ground in GROUNDS.items():
        found = scrubbed(ground)
        kinds = f"{len(found)} robots and commands"
        yield f"skid steering, {friction}", kinds, FINE, f"{found.max():.2%}", ""


def pushing_over() -> Row:
    """Acceleration of held vehicles pushed with 1.3 of their grip."""
    worst, steps = (0.0, ""), (0.001, 0.01, 0.02)
    for kind in BEYOND:
        for side in ("behind", "left"):
            for dt in steps:
                got, want, _ = beyond_grip(kind, side, dt)
                worst = max(worst, (abs(got / want - 1.0), f"{kind}, {side}"))
    return "pushed with 1.3 of the grip", "vehicles without rollers", steps, *percent(worst)


def winding_up() -> Row:
    """Time until a robot reverses after 20 s against a wall."""
    worst, steps = (0.0, ""), (0.005, 0.01)
    for kind in VEHICLES:
        most = 2.0 if kind == "front drive" else 8.0  # it measures wheels that do not slip
        for dt in steps:
            w, r = load(vehicle(kind, kp=4.0, ki=60.0, most=most), dt, WALL)
            r.set_twist(0.5)
            w.run(22.0)
            r.set_twist(-0.5)
            start = w.time
            while r.twist.vx > -0.05 and w.time < start + 10.0:
                w.step()
            worst = max(worst, (w.time - start, kind))
    return "reverses after a wall", "all kinds of vehicle", steps, f"{worst[0]:.3f} s", worst[1]


def odometry() -> Row:
    """Error of place of the odometry in a curve without slip, axle off the origin."""
    worst, steps = (0.0, ""), (0.001, 0.005)
    for kind in ("differential", "rear drive", "front drive", "all drive", "open_rear", "mecanum"):
        text = vehicle(kind, kp=4.0, ki=8.0)
        if kind == "differential":
            text = text.replace('pos="0 ', 'pos="-0.2 ')
        elif kind == "mecanum":
            text = text.replace('pos="-0.2 ', 'pos="-0.5 ').replace('pos="0.2 ', 'pos="-0.1 ')
        for dt in steps:
            worst = max(worst, (turned(text, dt)[0] / 2.4, kind))
    return "odometry off the axle", "kinds with an axle", steps, *percent(worst)


def trailers() -> Iterator[Row]:
    """Radii of trailers in a steady turn, and speed after a start uphill."""
    worst = max((abs(part - 1.0), "") for dt in (0.001, 0.01) for part in tracked_off(dt))
    yield "radius of two trailers", "two wheels each", (0.001, 0.01), *percent(worst)
    worst = max(
        (abs(pulled(degrees, hold, dt) - 1.0), f"{degrees:g} degrees")
        for degrees in (0.1, 1.0, 5.0)
        for hold in (False, True)
        for dt in STEPS
    )
    yield "start uphill with a trailer", "two wheels each", STEPS, *percent(worst)


def rollers() -> Row:
    """Loss of speed along a wall that mecanum wheels slide along."""
    worst = max((abs(slid_along_a_wall("mecanum", dt) - 0.5), "") for dt in STEPS)
    return "slide along a wall", "mecanum", STEPS, f"{worst[0]:.1e} m/s", ""


def collisions() -> Iterator[Row]:
    """Momentum of two robots that collide, and the spin that flush faces give."""
    momenta, spins = (0.0, ""), (0.0, "")
    for kind in VEHICLES:
        for dt in STEPS:
            for aside in (0.0, 0.1):
                b = collided(kind, aside, dt)
                momentum = 0.8 * float(b["mass"][0])
                change = abs(float((b["mass"] * b["cvx"]).sum()) / momentum - 1.0)
                momenta = max(momenta, (change, kind))
                if aside == 0.0:
                    spins = max(spins, (float(abs(b["wz"]).max()), kind))
    yield "momentum of a collision", "all kinds of vehicle", STEPS, f"{momenta[0]:.1e}", momenta[1]
    yield "spin by flush faces", "all kinds of vehicle", STEPS, f"{spins[0]:.1e} rad/s", spins[1]


def percent(worst: tuple[float, str]) -> tuple[str, str]:
    """Return the last two columns of a relative deviation."""
    return f"{worst[0]:.2%}", worst[1]


def rows() -> Iterator[Row]:
    """Yield the rows of the table."""
    yield from stopping()
    yield sliding()
    yield pushing(0.7)
    yield holding()
    yield spot_turns()
    yield from skidding()
    yield pushing_over()
    yield winding_up()
    yield odometry()
    yield from trailers()
    yield rollers()
    yield from collisions()


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")  # of steps that are too long, and of turns on the spot
    for what, kinds, steps, worst, where in rows():
        times = ", ".join(f"{1e3 * dt:g}" for dt in steps)
        sys.stdout.write(f"{what:28s} {kinds:34s} {times:14s} ms  {worst:14s} {where}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
