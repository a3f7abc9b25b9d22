# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Joints between bodies: they hold, they limit, they keep momentum."""

from __future__ import annotations

import math

import pytest

from mvsim_core import World, WorldFileError, load_world
from mvsim_core.world.handles import Handle
from tests.physics.worlds import block, cart, friction, twist_pid, world

#: How far the anchors of a rigid joint may be apart [m]. A solver that works on velocities drifts
#: by (ω dt)² r / 2 in a step, here 2 µm at 0.4 rad/s, 5 ms and 1 m, and pulls that back within
#: some ten steps.
RIGID = 1e-4


def joint(kind: str, a: str, b: str, anchors: tuple[str, str], more: str = "") -> str:
    """Return a joint element."""
    return (
        f'<joint type="{kind}" body_a="{a}" body_b="{b}"'
        f' anchor_a="{anchors[0]}" anchor_b="{anchors[1]}" {more}/>'
    )


def anchor(body: Handle, x: float, y: float) -> complex:
    """Return a point of a body in the world."""
    p = body.pose
    turn = complex(math.cos(p.yaw), math.sin(p.yaw))
    return complex(p.x, p.y) + turn * complex(x, y)


def pair(kind: str, more: str = "", vel: str = "0 1 0") -> World:
    """Return two blocks on ice, 2 m apart, joined in the middle."""
    return load_world(
        text=world(
            block("a", "0 0 0", vel),
            block("b", "2 0 0"),
            joint(kind, "a", "b", ("1 0", "-1 0"), more),
        )
    )


def test_revolute_joint_keeps_the_anchors_together() -> None:
    """The anchors stay within a tenth of a millimetre."""
    w = pair("revolute")
    a, b = w.blocks["a"], w.blocks["b"]
    for _ in range(400):
        w.step()
        assert abs(anchor(a, 1, 0) - anchor(b, -1, 0)) < RIGID


def test_revolute_joint_keeps_the_momentum() -> None:
    """The joint's impulses are internal: the sum of both momenta is that of the start."""
    w = pair("revolute")
    w.run(2.0)
    along, across = (
        sum(float(row["mass"] * row[name]) for row in w.bodies) for name in ("cvx", "cvy")
    )
    # 400 steps of impulses, each rounded to single precision at worst (6e-8 of it)
    assert (along, across) == pytest.approx((0.0, 10.0), abs=10.0 * 400 * 6e-8)
    assert abs(w.blocks["a"].twist.wz) > 0.1


def test_revolute_limits_hold() -> None:
    """The angle between the bodies reaches ±20° and passes it by less than a step's turn."""
    limits = 'enable_limit="true" lower_angle_deg="-20" upper_angle_deg="20"'
    w = pair("revolute", limits, vel="0 0 60")
    a, b = w.blocks["a"], w.blocks["b"]
    worst = 0.0
    for _ in range(600):
        w.step()
        worst = max(worst, abs(b.pose.yaw - a.pose.yaw))
    assert math.radians(19.9) < worst < math.radians(20.0 + 60.0 * w.dt)


def test_weld_makes_one_body() -> None:
    """Two welded blocks turn about their common centre of mass with its inertia."""
    w = pair("weld")
    w.run(1.0)
    a, b = w.blocks["a"], w.blocks["b"]
    inertia = 2 * (10 / 6 + 10 * 1.0**2)
    assert a.twist.wz == pytest.approx(-10 * 1.0 / inertia, rel=1e-12)  # one body, no joint
    assert b.pose.yaw == pytest.approx(a.pose.yaw, abs=1e-12)


def test_rope_is_slack_until_it_is_taut() -> None:
    """Nothing happens within the length; then both go on with their common momentum.

    Taut, the rope takes the whole difference of 1 m/s: (10 · -1 + 10 · 0) / 20 = -0.5 m/s. It is
    noticed at the end of the step in which it becomes taut, after at most 1 m/s · dt too much.
    """
    w = load_world(
        text=world(
            block("a", "0 0 0", "-1 0 0"),
            block("b", "2 0 0"),
            joint("rope", "a", "b", ("0 0", "0 0"), 'max_length="3"'),
        )
    )
    a, b = w.blocks["a"], w.blocks["b"]
    w.run(0.9)
    assert b.twist.vx == 0.0
    longest = 0.0
    for _ in range(400):
        w.step()
        longest = max(longest, b.pose.x - a.pose.x)
    assert (a.twist.vx, b.twist.vx) == pytest.approx((-0.5, -0.5), abs=1e-3)
    assert longest < 3.0 + 1.0 * w.dt
    assert b.pose.x - a.pose.x == pytest.approx(3.0, abs=RIGID)


@pytest.mark.parametrize("ratio", [0.0, 0.2])
@pytest.mark.parametrize("dt", [0.005, 0.001])
def test_spring_swings_at_its_frequency(ratio: float, dt: float) -> None:
    """Two masses pushed together from the spring's rest length: half a swing by the formula.

    The distance is L - v / ω_d · exp(-ζ ω t) sin(ω_d t) with ω² = k / m, m the reduced mass. At
    the end of the half swing the rest length is the longest that the joint allows.

    A first-order integrator is off by ω dt / 2 of the amplitude a radian, and half a swing has π
    radians, the second half of which makes up for the first: ω dt of the amplitude, 3 % at 5 ms,
    covers it.
    """
    stiffness, reduced, speed, rest = 200.0, 5.0, 1.0, 3.0
    omega = math.sqrt(stiffness / reduced)
    damping = 2.0 * ratio * math.sqrt(stiffness * reduced)
    spring = f'max_length="{rest}" stiffness="{stiffness}" damping="{damping}"'
    w = load_world(
        text=world(
            block("a", "0 0 0", f"{0.5 * speed} 0 0"),
            block("b", f"{rest} 0 0", f"{-0.5 * speed} 0 0"),
            joint("distance", "a", "b", ("0 0", "0 0"), spring),
            dt=dt,
        )
    )
    a, b = w.blocks["a"], w.blocks["b"]
    damped = omega * math.sqrt(1.0 - ratio**2)
    while w.time < math.pi / damped - dt:
        w.step()
        swing = math.exp(-ratio * omega * w.time) * math.sin(damped * w.time) / damped
        distance = b.pose.x - a.pose.x
        assert distance == pytest.approx(rest - speed * swing, abs=speed / omega * (omega * dt))
    left = speed * math.exp(-ratio * math.pi / math.sqrt(1.0 - ratio**2))
    assert b.twist.vx - a.twist.vx == pytest.approx(left, abs=2.0 * omega * dt * speed)


def test_prismatic_joint_holds_across_its_axis() -> None:
    """Across the axis and in angle it is rigid."""
    w = pair("prismatic", 'axis="1 0"', vel="1 0.5 0")
    a, b = w.blocks["a"], w.blocks["b"]
    for _ in range(200):
        w.step()
        assert b.pose.yaw == pytest.approx(a.pose.yaw, abs=RIGID)
        local = (anchor(b, -1, 0) - anchor(a, 1, 0)) * complex(
            math.cos(a.pose.yaw), -math.sin(a.pose.yaw)
        )
        assert abs(local.imag) < RIGID
    assert local.real < -0.5


def test_prismatic_joint_is_free_along_its_axis() -> None:
    """Pushed along the axis one body slides and the other feels nothing."""
    w = pair("prismatic", 'axis="1 0"', vel="1 0 0")
    w.run(1.0)
    assert w.blocks["a"].pose.x == pytest.approx(1.0, abs=1e-9)
    assert w.blocks["b"].pose.x == pytest.approx(2.0, abs=1e-9)


def test_trailer_follows() -> None:
    """A cart pulls another by a pivot: driving straight they end in line."""
    pid = twist_pid(60, 30, 80)
    w = load_world(
        text=world(
            cart("tractor", "0 0 0", controller=pid, ground=friction(mu=0.9)),
            cart("trailer", "-2 0 0", ground=friction(mu=0.9)),
            joint("revolute", "tractor", "trailer", ("-1 0", "1 0")),
        )
    )
    tractor, trailer = w.vehicles["tractor"], w.vehicles["trailer"]
    tractor.set_twist(0.8, 0.0, 0.4)
    for _ in range(2400):
        w.step()
        assert abs(anchor(tractor, -1, 0) - anchor(trailer, 1, 0)) < RIGID
    # steady turn: the trailer's axle runs on sqrt(R² + a² - b²)
    radius = tractor.twist.vx / tractor.twist.wz
    follows = trailer.twist.vx / trailer.twist.wz
    # 9.6 m on, the start is forgotten to exp(-9.6); what is left is the tyres' side slip
    assert follows == pytest.approx(math.sqrt(radius**2 + 1.0 - 1.0), rel=2e-3)
    tractor.set_twist(0.8)
    w.run(10.0)
    assert math.remainder(tractor.pose.yaw - trailer.pose.yaw, 2 * math.pi) == pytest.approx(
        0.0,
        abs=2e-3,  # θ0 exp(-8 m / 1 m) = 3e-4, and what the swing out of the turn adds
    )


def test_unknown_body_is_named() -> None:
    """The message has the line, the name and the nearest one."""
    with pytest.raises(WorldFileError, match=r"block 'trailr'. Did you mean 'trailer'"):
        load_world(
            text=world(
                cart("tractor"),
                cart("trailer", "-2 0 0"),
                joint("revolute", "tractor", "trailr", ("0 0", "0 0")),
            )
        )
