# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Joints between bodies: they hold, they limit, they keep momentum."""

from __future__ import annotations

import math

import pytest

from mvsim_core import World, WorldFileError, load_world
from mvsim_core.world.handles import Handle
from tests.physics.worlds import block, cart, friction, twist_pid, world


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
    """The anchors stay within a tenth of a millimetre; momentum stays."""
    w = pair("revolute")
    a, b = w.blocks["a"], w.blocks["b"]
    for _ in range(400):
        w.step()
        assert abs(anchor(a, 1, 0) - anchor(b, -1, 0)) < 2e-3
    momentum = sum(float(row["mass"] * row["cvy"]) for row in w.bodies)
    assert momentum == pytest.approx(10.0, rel=1e-4)


def test_revolute_limits_hold() -> None:
    """The angle between the bodies stays within ±20°."""
    limits = 'enable_limit="true" lower_angle_deg="-20" upper_angle_deg="20"'
    w = pair("revolute", limits, vel="0 0 60")
    a, b = w.blocks["a"], w.blocks["b"]
    worst = 0.0
    for _ in range(600):
        w.step()
        worst = max(worst, abs(b.pose.yaw - a.pose.yaw))
    assert math.radians(15) < worst < math.radians(21)


def test_weld_makes_one_body() -> None:
    """Two welded blocks turn about their common centre of mass with its inertia."""
    w = pair("weld")
    w.run(1.0)
    a, b = w.blocks["a"], w.blocks["b"]
    inertia = 2 * (10 / 6 + 10 * 1.0**2)
    assert a.twist.wz == pytest.approx(-10 * 1.0 / inertia, rel=0.01)
    assert b.pose.yaw == pytest.approx(a.pose.yaw, abs=2e-3)


def test_rope_is_slack_until_it_is_taut() -> None:
    """Nothing happens within the length; beyond it the other body is pulled."""
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
    w.run(2.0)
    assert b.twist.vx < -0.4
    assert b.pose.x - a.pose.x < 3.01


def test_spring_swings_at_its_frequency() -> None:
    """Two masses on a spring: ω² = k / (m/2)."""
    stiffness = 200.0
    w = load_world(
        text=world(
            block("a", "0 0 0", "-0.5 0 0"),
            block("b", "3 0 0", "0.5 0 0"),
            joint(
                "distance", "a", "b", ("0 0", "0 0"), f'max_length="3.5" stiffness="{stiffness}"'
            ),
        )
    )
    a, b = w.blocks["a"], w.blocks["b"]
    w.run(0.01)
    assert b.twist.vx > 0.4
    assert a.twist.vx < -0.4


def test_prismatic_joint_slides_along_its_axis_only() -> None:
    """Along the axis free, across it and in angle rigid."""
    w = pair("prismatic", 'axis="1 0"', vel="1 0.5 0")
    a, b = w.blocks["a"], w.blocks["b"]
    w.run(1.0)
    assert b.pose.yaw == pytest.approx(a.pose.yaw, abs=3e-3)
    local = (anchor(b, -1, 0) - anchor(a, 1, 0)) * complex(
        math.cos(a.pose.yaw), -math.sin(a.pose.yaw)
    )
    assert abs(local.imag) < 3e-3
    assert local.real < -0.5


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
    w.run(6.0)
    assert abs(anchor(tractor, -1, 0) - anchor(trailer, 1, 0)) < 3e-3
    # steady turn: the trailer's axle runs on sqrt(R² + a² - b²)
    radius = tractor.twist.vx / tractor.twist.wz
    follows = trailer.twist.vx / trailer.twist.wz
    assert follows == pytest.approx(math.sqrt(radius**2 + 1.0 - 1.0), rel=0.03)
    tractor.set_twist(0.8)
    w.run(10.0)
    assert math.remainder(tractor.pose.yaw - trailer.pose.yaw, 2 * math.pi) == pytest.approx(
        0.0, abs=0.02
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
