# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Odometry from wheel spins: the sum of chords of an arc, in closed form."""

from __future__ import annotations

import cmath
import math

import pytest

from mvsim_core import load_world
from tests.physics.worlds import cart, world


@pytest.mark.parametrize("dt", [0.005, 0.02])
@pytest.mark.parametrize(("v", "wz"), [(0.5, 0.4), (-0.3, 2.0), (1.0, -1.3)])
def test_odometry_steps_along_the_chords_of_the_arc(v: float, wz: float, dt: float) -> None:
    """With constant spins each step goes along the tangent at its middle, v dt long.

    From any step to the n-th after it that sums up to v dt sin(n ω dt / 2) / sin(ω dt / 2) in the
    direction yaw + n ω dt / 2, to rounding errors. A step along the tangent at its start would
    point ω dt / 2 beside it.
    """
    ideal = '<controller class="twist_ideal"/>'
    w = load_world(text=world(cart(pose="1 2 30", controller=ideal), dt=dt))
    robot = w.vehicles["r1"]
    robot.set_twist(v, 0.0, wz)
    for _ in range(3):  # wheels take the spin of the body's motion at the start of a step
        w.step()
    start = robot.odometry.pose
    for n in (1, 2, 137):
        before = w.ticks
        while w.ticks < before + n:
            w.step()
        end = robot.odometry.pose
        half = 0.5 * wz * dt
        chord = v * dt * math.sin(n * half) / math.sin(half)
        want = chord * cmath.exp(1j * (start.yaw + n * half))
        assert complex(end.x - start.x, end.y - start.y) == pytest.approx(want, abs=1e-12)
        assert end.yaw - start.yaw == pytest.approx(n * wz * dt, abs=1e-12)
        start = end


def test_odometry_multipliers_act_on_the_increments() -> None:
    """Scaled yaw bends the estimated path: it is the arc of the scaled rate."""
    scaled = cart(controller='<controller class="twist_ideal"/>').replace(
        'yaw_multiplier="1"', 'yaw_multiplier="1.5"'
    )
    w = load_world(text=world(scaled))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5, 0.0, 0.4)
    for _ in range(3):
        w.step()
    start = robot.odometry.pose
    w.run(2.0)
    end = robot.odometry.pose
    n, half = 400, 0.5 * 1.5 * 0.4 * w.dt
    chord = 0.5 * w.dt * math.sin(n * half) / math.sin(half)
    want = chord * cmath.exp(1j * (start.yaw + n * half))
    assert complex(end.x - start.x, end.y - start.y) == pytest.approx(want, abs=1e-12)
