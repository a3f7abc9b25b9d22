# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks that follow key frames: exactly, through contacts, without inventing energy."""

from __future__ import annotations

import math

import pytest

from mvsim_core import load_world
from tests.physics.worlds import block, world

SLIDE = """<animation type="keyframes"><time_pose>0 0 0 0</time_pose>
  <time_pose>2 1 0 0</time_pose><time_pose>4 0 0 0</time_pose></animation>"""
TURN = """<animation type="keyframes"><time_pose>0 0 0 0</time_pose>
  <time_pose>2 0 0 90</time_pose><time_pose>4 0 0 180</time_pose></animation>"""
CUT = """<animation type="keyframes"><time_pose>0 0 0 0</time_pose>
  <time_pose>1 3 0 0</time_pose></animation>"""


def test_block_is_where_its_key_frames_say() -> None:
    """Pose and velocity are those of the film, also in later rounds."""
    w = load_world(text=world(block("m", "1 2 90", extra=SLIDE)))
    m = w.blocks["m"]
    for seconds, at in ((1.0, 0.5), (1.0, 1.0), (1.0, 0.5), (1.5, 0.25)):
        w.run(seconds)
        assert (m.pose.x, m.pose.y) == pytest.approx((1.0, 2.0 + at), abs=1e-9)
    assert m.twist.vx == pytest.approx(0.5, abs=1e-9)


def test_block_turns() -> None:
    """Yaw is interpolated."""
    w = load_world(text=world(block("m", extra=TURN)))
    w.run(1.0)
    assert w.blocks["m"].pose.yaw == pytest.approx(math.radians(45), abs=1e-9)


def test_moving_block_pushes_and_does_not_shoot() -> None:
    """A block in the way ends with the pusher's speed at most (restitution 0), on ice."""
    w = load_world(text=world(block("m", "0 0 0", extra=SLIDE), block("free", "1.2 0 0", mass=5)))
    free = w.blocks["free"]
    fastest = 0.0
    for _ in range(400):
        w.step()
        fastest = max(fastest, free.twist.vx)
    assert free.pose.x > 1.9
    assert fastest == pytest.approx(0.5, rel=0.05)
    energy = 0.5 * 5 * fastest**2
    w.run(6.0)  # the pusher goes away and comes back; nothing else adds energy
    assert 0.5 * 5 * free.twist.vx**2 <= energy * 1.01


def test_cut_in_the_film_moves_without_velocity() -> None:
    """Where the last frame is not the first one the block jumps, and hits nothing on the way."""
    w = load_world(text=world(block("m", extra=CUT), block("free", "1.5 3 0", mass=5)))
    w.run(3.5)
    assert w.blocks["m"].pose.x == pytest.approx(1.5, abs=1e-6)
    assert w.blocks["free"].pose.x == pytest.approx(1.5, abs=1e-9)


def test_reset_begins_the_film_anew() -> None:
    """After a reset the block is where it was at the start."""
    w = load_world(text=world(block("m", "1 2 90", extra=SLIDE)))
    w.run(1.7)
    w.reset()
    assert w.blocks["m"].pose[:2] == (1.0, 2.0)
    w.run(1.0)
    assert w.blocks["m"].pose.y == pytest.approx(2.5)
