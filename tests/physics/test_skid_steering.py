# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Four wheels with a motor a side: how they turn, at each step, on each friction model."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.dynamics.wheels import wheels_scrub
from mvsim_core.specs.friction import EllipseSpec
from mvsim_core.specs.wheel import WheelSpec
from mvsim_core.state.arrays import FloatArray
from mvsim_core.state.plan_view import along_ground
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
PLACES = tuple(
    (x, y) for x in (0.1, 0.15, 0.2, 0.3, 0.4, 0.5) for y in (0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
)
TWISTS = ((0.0, 0.8), (0.3, 0.5), (0.6, 0.8))
CASES = tuple((place, twist) for place in PLACES for twist in TWISTS)
STEPS = (0.001, 0.005, 0.01)
#: Times at which motions are compared [s]: those of each step. The motors of all robots have
#: reached the limit before the mean of the last seconds is taken.
SAMPLE, EARLY, SECONDS, MEAN = 0.01, 5.0, 13.0, 4.0


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


@functools.cache
def driven(friction: str, dt: float) -> FloatArray:
    """Return yaw rate, velocity (vehicle frame) and pose at all times (samples, CASES, 6)."""
    w = load_world(
        text=world(
            *(
                robot(f"r{k}", place, friction, f"{30 * k} 0 0")
                for k, (place, _) in enumerate(CASES)
            ),
            dt=dt,
        )
    )
    for k, (_, (vx, wz)) in enumerate(CASES):
        w.vehicles[f"r{k}"].set_twist(vx, 0.0, wz)
    rows = [w.data.entities[f"r{k}"].row for k in range(len(CASES))]
    found = np.empty((round(SECONDS / SAMPLE), len(CASES), 6))
    for sample in found:
        w.run(SAMPLE)
        b = w.data.bodies[rows]  # at once: a handle for each robot would take most of the time
        c, s = np.cos(b["yaw"]), np.sin(b["yaw"])
        vx, vy = along_ground(b, c * b["vx"] + s * b["vy"], c * b["vy"] - s * b["vx"])
        sample[:] = np.stack([b["wz"], vx, vy, b["x"], b["y"], b["yaw"]], 1)
    found[:, :, 3] -= 30 * np.arange(len(CASES))
    found[:, :, 5] = np.unwrap(found[:, :, 5], axis=0)
    return found


def well_posed(friction: str) -> FloatArray:
    """Return the indices of CASES whose motion the model determines.

    Tyres of the class ellipse that spin on the spot, F_x y <= F_y x, leave the speed of the robot
    along them open (docs/physics.md).
    """
    tyre = EllipseSpec()
    along = tyre.c_s * tyre.slip_ratio_saturation * math.sqrt(1.0 - tyre.c_s_alpha)
    across = tyre.c_alpha * tyre.slip_angle_saturation * math.sqrt(1.0 - tyre.c_alpha_s)
    spins = [vx == 0.0 and along * y <= across * x for (x, y), (vx, _) in CASES]
    return np.flatnonzero(~np.array(spins) | ("ellipse" not in friction))


def deviations(friction: str) -> FloatArray:
    """Return by how much robots differ from those at 1 ms (n, 3): rate, velocity, early way.

    Rate and velocity are means of the last seconds, the way is that of the first ones, in which
    robots break away. Relative to their rate, but no less than 1 % of the commanded one, to the
    speed of their wheels and to the way that these roll.
    """
    last, early = round(MEAN / SAMPLE), round(EARLY / SAMPLE) - 1
    fine, *others = (driven(friction, dt) for dt in STEPS)
    settled = fine[-last:, :, :3].mean(0)
    rate = np.maximum(np.abs(settled[:, 0]), [0.01 * wz for _, (_, wz) in CASES])
    speed = np.array([max(vx, wz * place[1]) for place, (vx, wz) in CASES])
    worst = np.zeros((len(CASES), 3))
    for other in others:
        apart = other[-last:, :, :3].mean(0) - settled
        way = other[early, :, 3:5] - fine[early, :, 3:5]
        turn = np.abs(apart[:, 0]) / rate
        slide = np.hypot(apart[:, 1], apart[:, 2]) / speed
        worst = np.maximum(worst, np.stack([turn, slide, norm(way) / (EARLY * speed)], 1))
    return worst[well_posed(friction)]


def norm(way: FloatArray) -> FloatArray:
    """Return the lengths of vectors (n, 2)."""
    return np.hypot(way[:, 0], way[:, 1])


@pytest.mark.parametrize("friction", GROUNDS)
def test_skid_steering_is_the_same_at_each_step(friction: str) -> None:
    """Turns on the spot and arcs: yaw rate, drift and way within 1 % at 1, 5 and 10 ms."""
    assert deviations(GROUNDS[friction]).max() <= 0.01


def test_tyres_settle_at_the_same_rate_at_each_step() -> None:
    """Their slip angles are those at which their forces were found, before the body turns on."""
    assert deviations(GROUNDS["ellipse"])[:, 0].max() <= 0.003


@pytest.mark.parametrize(
    ("friction", "steps"), [("default", 2.0), ("circle", 1.5), ("ellipse", 2.5)]
)
def test_robots_break_away_some_steps_earlier(friction: str, steps: float) -> None:
    """On the spot, motors that reach the limit slowly: by what the speed loops lag."""
    spins = [k for k in well_posed(GROUNDS[friction]) if CASES[k][1][0] == 0.0]
    fine, *others = ([broke_away(driven(GROUNDS[friction], dt), k) for k in spins] for dt in STEPS)
    for dt, other in zip(STEPS[1:], others, strict=True):
        apart = np.subtract(other, fine)[np.isfinite(fine)]
        assert len(apart) > 9
        assert apart.max() <= 0.0
        assert apart.min() >= -steps * (dt - STEPS[0])


def broke_away(motion: FloatArray, k: int) -> float:
    """Return when a robot that stood until then has turned by 0.1 rad [s]; nan for never."""
    yaw = np.abs(motion[:, k, 5])
    if yaw[-1] < 1.0:
        return math.nan
    after = int(np.argmax(yaw >= 0.1))
    return SAMPLE * (after + (0.1 - yaw[after - 1]) / (yaw[after] - yaw[after - 1]))


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
