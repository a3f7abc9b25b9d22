# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Four wheels with a motor a side: how they turn, at each step, on each friction model."""

from __future__ import annotations

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.dynamics.wheels import wheels_scrub
from mvsim_core.specs.wheel import WheelSpec
from mvsim_core.state.arrays import FloatArray
from tests.physics.test_slopes import incline
from tests.physics.worlds import block, world

CIRCLE = "<friction_circle>true</friction_circle>"
GROUNDS = {
    "default": '<friction class="default"><mu>0.7</mu></friction>',
    "circle": f'<friction class="default"><mu>0.7</mu>{CIRCLE}</friction>',
    "wardiagnemma": '<friction class="wardiagnemma"><mu>0.7</mu></friction>',
    "ellipse": '<friction class="ellipse"/>',
}
#: Wheels at (±x, ±y) [m], and twists (vx [m/s], wz [rad/s]).
PLACES = ((0.1, 0.25), (0.2, 0.4), (0.3, 0.4), (0.5, 0.25))
TWISTS = ((0.0, 0.8), (0.3, 0.5), (0.6, 0.8))
STEPS = (0.001, 0.005, 0.01)


def robot(name: str, place: tuple[float, float], friction: str, pose: str = "0 0 0") -> str:
    """Return a skid-steered robot of 48 kg whose loops are stable at 10 ms."""
    x, y = place
    wheels = "".join(
        f'<{n}_wheel pos="{a} {b}" mass="2" width="0.08" diameter="0.2"/>'
        for n, a, b in (("lr", -x, y), ("rr", -x, -y), ("lf", x, y), ("rf", x, -y))
    )
    a, b = x + 0.1, y
    return f"""<vehicle name="{name}"><init_pose>{pose}</init_pose>
      <dynamics class="differential_4_wheels">{wheels}
      <chassis mass="40" zmin="0.05" zmax="0.5"><shape><pt>-{a} -{b}</pt><pt>-{a} {b}</pt>
      <pt>{a} {b}</pt><pt>{a} -{b}</pt></shape></chassis>
      <controller class="twist_pid"><KP>5</KP><KI>10</KI><max_torque>20</max_torque>
      </controller></dynamics>{friction}</vehicle>"""


def driven(friction: str, dt: float, seconds: float = 5.0) -> FloatArray:
    """Return yaw rate, velocity (vehicle frame) and place after some seconds (n, 5).

    One row for each of PLACES and TWISTS; rate and velocity are means of the last second.
    """
    cases = [(place, twist) for place in PLACES for twist in TWISTS]
    w = load_world(
        text=world(
            *(
                robot(f"r{k}", place, friction, f"{30 * k} 0 0")
                for k, (place, _) in enumerate(cases)
            ),
            dt=dt,
        )
    )
    robots = [w.vehicles[f"r{k}"] for k in range(len(cases))]
    for one, (_, (vx, wz)) in zip(robots, cases, strict=True):
        one.set_twist(vx, 0.0, wz)
    w.run(seconds - 1.0)
    last = round(1.0 / dt)
    motion = np.zeros((len(cases), 3))
    for _ in range(last):
        w.step()
        motion += [(one.twist.wz, one.twist.vx, one.twist.vy) for one in robots]
    places = [(one.pose.x - 30 * k, one.pose.y) for k, one in enumerate(robots)]
    return np.hstack([motion / last, places])


def deviations(friction: str) -> FloatArray:
    """Return by how much robots differ from those at 1 ms (n, 3): rate, velocity, way.

    Relative to their rate, but no less than 1 % of the commanded one, to the speed of their wheels
    and to the way that these roll.
    """
    fine, *others = (driven(friction, dt) for dt in STEPS)
    rows = [(place, twist) for place in PLACES for twist in TWISTS]
    rate = np.maximum(np.abs(fine[:, 0]), [0.01 * wz for _, (_, wz) in rows])
    speed = np.array([max(vx, wz * place[1]) for place, (vx, wz) in rows])
    worst = np.zeros((len(rows), 3))
    for other in others:
        apart = other - fine
        turn = np.abs(apart[:, 0]) / rate
        slide = np.hypot(apart[:, 1], apart[:, 2]) / speed
        way = np.hypot(apart[:, 3], apart[:, 4]) / (5.0 * speed)
        worst = np.maximum(worst, np.stack([turn, slide, way], 1))
    return worst


@pytest.mark.parametrize("friction", GROUNDS)
def test_skid_steering_is_the_same_at_each_step(friction: str) -> None:
    """Turns on the spot and arcs: yaw rate, drift and way within 1 % at 1, 5 and 10 ms."""
    assert deviations(GROUNDS[friction]).max() <= 0.01


@pytest.mark.parametrize("friction", GROUNDS)
@pytest.mark.parametrize("place", [(0.1, 0.25), (0.5, 0.25)])
def test_a_turn_on_the_spot_does_not_drift(place: tuple[float, float], friction: str) -> None:
    """A symmetric robot that spins its wheels against each other stays where it is."""
    w = load_world(text=world(robot("r1", place, GROUNDS[friction]), dt=0.005))
    w.vehicles["r1"].set_twist(0.0, 0.0, 0.8)
    w.run(3.0)
    assert np.hypot(w.vehicles["r1"].pose.x, w.vehicles["r1"].pose.y) < 1e-6


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01, 0.02])
def test_a_robot_longer_than_wide_creeps_round_by_the_time_of_its_grip(dt: float) -> None:
    """μ N y of each motor against N v_y x / (g T): ω = μ g T y / x², at any step."""
    w = load_world(text=world(robot("r1", (0.3, 0.15), GROUNDS["default"]), dt=dt))
    w.vehicles["r1"].set_twist(0.0, 0.0, 3.0)
    w.run(12.0)
    rate = 0.7 * 9.81 * 0.005 * 0.15 / 0.3**2
    damping = 1.0 + 0.1 * 0.005  # the chassis is damped by 0.1 1/s, wheels are not
    assert w.vehicles["r1"].twist.wz * damping == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize("friction", ["default", "circle", "ellipse"])
@pytest.mark.parametrize("welded", [False, True])
def test_the_way_across_a_slope_is_the_same_at_each_step(friction: str, welded: bool) -> None:
    """Skid steering, weight along the axles and a payload: the same arc but for v dt."""
    ends = []
    steps = np.array([0.001, 0.005, 0.01, 0.02])
    payload = block("load", "0 0 90", mass=5.0, size=0.1, extra="<zmin>0.6</zmin><zmax>0.7</zmax>")
    one = robot("r1", (0.15, 0.3), GROUNDS[friction], "0 0 90")
    for dt in steps:
        w = load_world(text=world(incline(8), one, payload, dt=dt))
        if welded:
            w.weld("load", "r1")
        w.vehicles["r1"].set_twist(0.4, 0.0, 0.3)
        w.run(3.0)
        pose = w.vehicles["r1"].pose
        ends.append((pose.x, pose.y, pose.yaw))
    apart = np.abs(np.array(ends[1:]) - ends[0])
    assert np.all(apart.max(axis=1) <= steps[1:])  # of a way of 1.2 m, and of 0.9 rad


@pytest.mark.parametrize(
    ("places", "scrub"),
    [
        (((0.0, 0.2, 0.0), (0.0, -0.2, 0.0)), False),
        (((0.2, 0.2, 0.0), (-0.2, -0.2, 0.0)), True),
        (((0.0, 0.2, 0.0), (0.3, 0.0, 1.5707963267948966)), False),  # their axles meet
        (((0.0, 0.2, 0.0),), False),
    ],
)
def test_wheels_scrub_whose_axles_do_not_meet(
    places: tuple[tuple[float, float, float], ...], scrub: bool
) -> None:
    wheels = tuple(WheelSpec(x=x, y=y, yaw=yaw) for x, y, yaw in places)
    assert wheels_scrub(wheels) == scrub
