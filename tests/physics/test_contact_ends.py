# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Two bodies that touch with several shapes: what is reported is what still touches."""

from __future__ import annotations

import cmath

import pytest

from mvsim_core import World, load_world
from tests.physics.worlds import world

WALL = """<element class="vertical_plane"><x0>2.1</x0><y0>-6</y0><x1>2.1</x1><y1>6</y1>
  <thickness>0.2</thickness></element>"""
#: A bar 4 m long with two short feet at y = ±0.5 that point to +x: 1 m apart, which is less than
#: its radius of gyration, so that it rocks from one foot to the other.
FEET = [
    *((-0.1, -2), (0.1, -2), (0.1, -0.55), (0.25, -0.55), (0.25, -0.45), (0.1, -0.45)),
    *((0.1, 0.45), (0.25, 0.45), (0.25, 0.55), (0.1, 0.55), (0.1, 2), (-0.1, 2)),
]
SPEED = 0.5
#: Gap up to which a contact is one [m].
NEAR = 1e-3


def rocking(tilt_deg: float) -> World:
    """Return a world in which the bar moves towards the wall at x = 2, tilted."""
    shape = "".join(f"<pt>{x} {y}</pt>" for x, y in FEET)
    return load_world(
        text=world(
            WALL,
            f"""<block name="bar"><shape>{shape}</shape><mass>12</mass>
            <ground_friction>0</ground_friction><restitution>0</restitution>
            <lateral_friction>0</lateral_friction>
            <linear_damping>0</linear_damping><angular_damping>0</angular_damping>
            <zmin>0</zmin><zmax>1</zmax><init_pose>1.4 0 {tilt_deg}</init_pose>
            <init_vel>{SPEED} 0 0</init_vel></block>""",
            dt=0.002,
        )
    )


def feet(w: World) -> list[complex]:
    """Return where the tips of the feet are in the world [m], right one (y < 0) first."""
    p = w.blocks["bar"].pose
    return [complex(p.x, p.y) + cmath.exp(1j * p.yaw) * complex(0.25, y) for y in (-0.5, 0.5)]


def corner_gaps(w: World) -> list[tuple[float, float]]:
    """Return distance from the wall and y of each corner [m], the nearest first."""
    p = w.blocks["bar"].pose
    places = [complex(p.x, p.y) + cmath.exp(1j * p.yaw) * complex(*corner) for corner in FEET]
    return sorted((2.0 - place.real, place.imag) for place in places)


@pytest.mark.parametrize("tilt_deg", [3.0, -3.0])
def test_when_the_first_foot_leaves_the_second_is_reported(tilt_deg: float) -> None:
    """The bar lands on one foot, rocks onto the other, and the first one lifts off."""
    w = rocking(tilt_deg)
    first, second = (0, 1) if tilt_deg > 0 else (1, 0)
    landed = checked = 0
    while w.time < 1.5:
        w.step()
        gaps = [2.0 - tip.real for tip in feet(w)]
        points = [c.point for c in w.contacts]
        if points and gaps[second] > 0.03:
            landed += 1
            assert all(abs(y - feet(w)[first].imag) < 0.06 for _, y in points)
        if landed and gaps[first] > 2.0 * NEAR and gaps[second] < NEAR:
            checked += len(points)
            assert all(abs(y - feet(w)[second].imag) < 0.06 for _, y in points)
    assert landed
    assert checked


@pytest.mark.parametrize("tilt_deg", [3.0, -3.0, 0.2])
def test_the_nearest_corner_is_reported_and_nothing_before_it_touches(tilt_deg: float) -> None:
    """One point a pair: of all shapes that touch the one that pushes most, then the nearest."""
    w = rocking(tilt_deg)
    touched = both = 0
    while w.time < 1.5:
        w.step()
        (gap, y), *others = corner_gaps(w)
        if gap > 2.0 * NEAR:
            assert w.contacts == []
            assert w.blocks["bar"].in_collision is False
        for contact in w.contacts:
            touched += 1
            other = min(distance for distance, place in others if abs(place - y) > 0.2)
            if other > gap + 2e-4:  # clearly farther
                assert contact.point[1] == pytest.approx(y, abs=0.01)
                both += other < NEAR
    assert touched
    assert both, "two feet touch at the same time"


def test_when_the_whole_bar_has_left_nothing_is_reported() -> None:
    """Once all corners are away from the wall the table of contacts is empty."""
    w = rocking(3.0)
    touched, gap = False, 0.0
    while w.time < 12.0 and not (touched and gap > 0.05):
        w.step()
        touched = touched or bool(w.contacts)
        p = w.blocks["bar"].pose
        turn = cmath.exp(1j * p.yaw)
        gap = min(2.0 - p.x - (turn * complex(*corner)).real for corner in FEET)
    assert touched
    assert gap > 0.05
    assert w.contacts == []
