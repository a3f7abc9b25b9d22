# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Joints of the contact solver against closed forms."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from mvsim_core.state.arrays import STATIC, FloatArray
from tests.unit.solver.scenes import DT, Scene, box


def anchor(scene: Scene, row: int, x: float, y: float) -> FloatArray:
    """Return a point of a body in the world [m]."""
    b = scene.bodies[row]
    c, s = math.cos(b["yaw"]), math.sin(b["yaw"])
    return np.array([b["x"] + c * x - s * y, b["y"] + s * x + c * y])


def test_pivot_to_a_static_body_turns_on_its_circle() -> None:
    """A body pinned at a distance r keeps its angular momentum about the pin, r and its speed."""
    r, speed = 1.5, 2.0
    scene = Scene()
    pin = scene.body(None, kind=STATIC)
    arm = scene.body(box(0.4, 0.2), (r, 0, 0), (0, speed, speed / r), mass=2, inertia=0.1)
    scene.joint("revolute", pin, arm, anchor_b=(-r, 0.0))
    energy = scene.energy()
    for _ in range(400):
        scene.step()
        assert np.hypot(*anchor(scene, arm, -r, 0.0)) < 1e-4
    angle = float(scene.bodies["yaw"][arm])
    assert angle == pytest.approx(speed / r * 400 * DT, rel=5e-3)
    assert energy * 0.99 < scene.energy() <= energy * (1 + 1e-12)


def test_pivot_keeps_momentum_and_anchors() -> None:
    """Two free bodies on a pivot keep momentum and angular momentum."""
    scene = Scene()
    a = scene.body(box(1, 1), (0, 0, 0), (0, 1, 0), mass=2)
    b = scene.body(box(1, 1), (2, 0, 0), mass=3)
    scene.joint("revolute", a, b, anchor_a=(1.0, 0.0), anchor_b=(-1.0, 0.0))
    before = scene.momentum()
    for _ in range(600):
        scene.step()
        gap = anchor(scene, a, 1, 0) - anchor(scene, b, -1, 0)
        assert np.hypot(*gap) < 1e-4
    assert scene.momentum()[:2] == pytest.approx(before[:2], abs=1e-9)
    # pushing the anchors together moves masses of 2 N s at 1 m/s a little without momentum
    assert scene.momentum()[2] == pytest.approx(before[2], abs=2e-3)


def test_revolute_limits() -> None:
    """The angle stays between its limits, and both are reached."""
    scene = Scene()
    a = scene.body(box(1, 1), kind=STATIC)
    b = scene.body(box(0.5, 0.1), (0.0, 0, 0.2), (0, 0, 2.0))
    scene.joint("revolute", a, b, angle=0.2, angles=(-0.5, 0.7))
    seen = []
    for k in range(800):
        if k == 400:
            scene.bodies["wz"][b] = -2.0
        scene.step()
        seen.append(float(scene.bodies["yaw"][b]) - 0.2)
    assert max(seen) == pytest.approx(0.7, abs=1e-6)
    assert min(seen) == pytest.approx(-0.5, abs=1e-6)


@pytest.mark.parametrize(("hertz", "m1", "m2"), [(1.0, 1, 1), (2.0, 1, 5), (0.5, 3, 2)])
@pytest.mark.parametrize("off", [0.0, 0.3])
def test_spring_frequency(hertz: float, m1: float, m2: float, off: float) -> None:
    """It swings at sqrt(k/m) / 2 pi, m the reduced mass; anchors off the centre do not matter.

    With the anchors beside the centres the bodies are too heavy to turn.
    """
    scene = Scene()
    inertia = 1e9 if off else 1.0
    a = scene.body(None, (0, 0, 0), mass=m1, inertia=inertia)
    b = scene.body(None, (2.1, 0, 0), mass=m2, inertia=inertia)
    scene.joint(
        "distance", a, b, anchor_a=(0.0, off), anchor_b=(0.0, off), lengths=(0.0, 2.0), hertz=hertz
    )
    stretch, times = [], []
    for k in range(round(6 / hertz / DT)):
        scene.step()
        stretch.append(float(scene.bodies["x"][b] - scene.bodies["x"][a]) - 2.0)
        if k and stretch[-2] < 0.0 <= stretch[-1]:
            times.append((k + 1 - stretch[-1] / (stretch[-1] - stretch[-2])) * DT)
    periods = np.diff(times)
    assert len(periods) >= 3
    assert 1 / periods.mean() == pytest.approx(hertz, rel=5e-3)
    assert min(stretch) > -0.1 - 1e-9


def test_damped_spring_decays() -> None:
    """Amplitudes shrink by exp(-2 pi z / sqrt(1 - z²)) a period, integration included to 10 %."""
    z, hertz = 0.1, 1.0
    scene = Scene()
    a = scene.body(None, kind=STATIC)
    b = scene.body(None, (1.2, 0, 0))
    scene.joint("distance", a, b, lengths=(0.0, 1.0), hertz=hertz, damping_ratio=z)
    peak = 0.0
    for k in range(round(1.25 / hertz / DT)):
        scene.step()
        if k * DT > 0.75:
            peak = max(peak, float(scene.bodies["x"][b]) - 1.0)
    want = 0.2 * math.exp(-2 * math.pi * z / math.sqrt(1 - z * z))
    assert peak == pytest.approx(want, rel=0.1)


def test_rope_is_slack_then_taut() -> None:
    """No bit changes within the length; then both go on with the common momentum."""
    scene = Scene()
    a = scene.body(None, (0, 0, 0), (-1, 0, 0), mass=2)
    b = scene.body(None, (2, 0, 0), mass=1)
    scene.joint("distance", a, b, lengths=(0.0, 3.0))
    scene.step(199)
    assert scene.bodies["cvx"].tolist() == [-1.0, 0.0]
    scene.step(100)
    assert scene.bodies["x"][b] - scene.bodies["x"][a] == pytest.approx(3.0, abs=1e-9)
    assert scene.bodies["cvx"] == pytest.approx([-2 / 3, -2 / 3], abs=1e-9)
    for _ in range(200):  # pulled on, it holds its length
        scene.bodies["cvx"][a] -= 5.0 * DT
        scene.step()
    assert scene.bodies["x"][b] - scene.bodies["x"][a] == pytest.approx(3.0, abs=1e-6)


def test_rod_keeps_its_length() -> None:
    """A distance joint with equal limits is a rod."""
    scene = Scene()
    a = scene.body(None, (0, 0, 0), (0, 1, 0))
    b = scene.body(None, (2, 0, 0), (0, -1, 0))
    scene.joint("distance", a, b, lengths=(2.0, 2.0))
    for _ in range(400):
        scene.step()
        d = scene.bodies[["x", "y"]]
        assert math.dist(d[a].item(), d[b].item()) == pytest.approx(2.0, abs=1e-4)


@pytest.mark.parametrize("turn", [0.0, 0.6])
def test_prismatic_axis_and_limits(turn: float) -> None:
    """Along the axis free between the limits, across it and in angle rigid."""
    axis = (math.cos(turn), math.sin(turn))
    scene = Scene()
    a = scene.body(box(1, 1), kind=STATIC)
    b = scene.body(box(0.5, 0.5), (0, 0, 0), (1.0, 0.5, 0.8))
    scene.joint("prismatic", a, b, axis=axis, lengths=(-0.3, 0.8), limited=True)
    speed = 1.0 * axis[0] + 0.5 * axis[1]
    scene.step(60)
    x, y = float(scene.bodies["x"][b]), float(scene.bodies["y"][b])
    assert x * axis[0] + y * axis[1] == pytest.approx(speed * 60 * DT, abs=1e-6)
    for k in range(800):
        if k == 400:
            scene.bodies["cvx"][b], scene.bodies["cvy"][b] = -axis[0], -axis[1]
        scene.step()
        x, y = float(scene.bodies["x"][b]), float(scene.bodies["y"][b])
        assert abs(x * axis[1] - y * axis[0]) < 1e-6
        assert abs(scene.bodies["yaw"][b]) < 1e-6
        assert -0.3 - 1e-6 < x * axis[0] + y * axis[1] < 0.8 + 1e-6
        if k == 399:
            assert x * axis[0] + y * axis[1] == pytest.approx(0.8, abs=1e-6)
    assert x * axis[0] + y * axis[1] == pytest.approx(-0.3, abs=1e-6)


def test_weld_holds() -> None:
    """Two welded bodies turn about their common centre of mass."""
    scene = Scene()
    a = scene.body(box(1, 1), (0, 0, 0), (0, 1, 0), mass=10, inertia=10 / 6)
    b = scene.body(box(1, 1), (2, 0, 0), mass=10, inertia=10 / 6)
    scene.joint("weld", a, b, anchor_a=(1.0, 0.0), anchor_b=(-1.0, 0.0))
    scene.step(200)
    inertia = 2 * (10 / 6 + 10 * 1.0**2)
    assert scene.bodies["wz"] == pytest.approx([-10 / inertia] * 2, rel=1e-3)
    assert scene.bodies["yaw"][a] == pytest.approx(scene.bodies["yaw"][b], abs=1e-6)


def test_joined_bodies_do_not_collide_until_the_joint_goes() -> None:
    """Overlapping bodies on a pivot stay; without it they are pushed apart."""
    scene = Scene()
    a = scene.body(box(1, 1), (0, 0, 0))
    b = scene.body(box(1, 1), (0.5, 0, 0))
    joint = scene.joint("revolute", a, b, anchor_a=(0.25, 0.0), anchor_b=(-0.25, 0.0))
    scene.step(100)
    assert scene.bodies["x"].tolist() == [0.0, 0.5]
    scene.data.remove_joint(joint)
    with pytest.raises(KeyError):
        scene.data.remove_joint(joint)
    scene.step(400)
    assert scene.bodies["x"][b] - scene.bodies["x"][a] == pytest.approx(1.0, abs=1e-3)


def test_chain_of_trailers_follows() -> None:
    """A pulled chain of ten keeps its anchors together; removing one body frees the rest."""
    scene = Scene()
    rows = [scene.body(box(0.8, 0.4), (-k, 0, 0)) for k in range(10)]
    for a, b in pairwise(rows):
        scene.joint("revolute", a, b, anchor_a=(-0.5, 0.0), anchor_b=(0.5, 0.0))
    for k in range(600):
        scene.bodies["cvx"][0], scene.bodies["cvy"][0] = 1.0, 0.5 * math.sin(k * DT)
        scene.step()
        for a, b in pairwise(rows):
            gap = anchor(scene, a, -0.5, 0) - anchor(scene, b, 0.5, 0)
            assert np.hypot(*gap) < 2e-3
    scene.data.remove_body(4)
    assert len(scene.data.touches()) == 0
    scene.bodies["cvx"][:4] = scene.bodies["cvy"][:4] = scene.bodies["wz"][:4] = 0.0
    behind = scene.bodies["x"][5]
    scene.step(100)
    assert scene.bodies["x"][5] > behind + 0.1


def test_bad_joints_are_refused() -> None:
    """Unknown kinds, a body with itself, an axis without direction."""
    scene = Scene()
    a, b = scene.body(None), scene.body(None)
    with pytest.raises(ValueError, match="unknown kind of joint 'glue'"):
        scene.joint("glue", a, b)
    with pytest.raises(ValueError, match="two bodies"):
        scene.joint("weld", a, a)
    with pytest.raises(ValueError, match="no direction"):
        scene.joint("prismatic", a, b, axis=(0.0, 0.0))
