# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the physics keeps from step to step, where it meets snapshots, copies and resets.

Each kind of vehicle on a hill, with command latency, loads that follow accelerations, a payload
that is welded on, sensors whose rates no step divides, a block that it pushes downhill.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator

import pytest

from mvsim_core import World, load_world
from mvsim_core.world.data import Data, differences
from tests.physics.test_slopes import incline
from tests.physics.test_stopping import FRICTIONS, VEHICLES, vehicle
from tests.physics.worlds import block, world

DT = 0.005
SENSORS = """<sensor class="imu" name="imu"><rate_hz>60</rate_hz><average>true</average></sensor>
<sensor class="laser" name="eye"><rate_hz>30</rate_hz><nrays>16</nrays></sensor>"""
EXTRAS = '<motor latency="0.042"/><weight_transfer>true</weight_transfer>'
#: Each kind of vehicle, and each friction model.
CASES = [
    *((kind, "default") for kind in VEHICLES),
    *(("differential_4_wheels", friction) for friction in FRICTIONS if friction != "default"),
]


@pytest.fixture(autouse=True)
def _may_lift() -> Iterator[None]:
    """A wheel may lift here, of which the world warns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "r1 (lifts|would tip)")
        yield


def hill(kind: str, friction: str) -> World:
    """Return a world with the vehicle, its payload and a block in its way."""
    text = vehicle(kind, friction, kp=7.0, ki=5.0, most=6.0)
    text = text.replace("</dynamics>", EXTRAS + "</dynamics>" + SENSORS)
    w = load_world(
        text=world(
            incline(8),
            text,
            block(
                "payload", "0 0 0", mass=4.0, size=0.1, extra="<zmin>0.5</zmin><zmax>0.7</zmax>"
            ),
            block("ahead", "0.85 0.05 0", mass=2.0, size=0.3, mu=0.3),
            dt=DT,
        ),
        seed=5,
    )
    w.weld("r1", "payload")
    return w


def drive(w: World, seconds: float) -> None:
    """Change the command every 0.1 s, so that some are always on their way."""
    for k in range(round(seconds / 0.1)):
        w.vehicles["r1"].set_twist(0.5 + 0.2 * (k % 3), 0.0, 0.3 * (k % 2))
        w.run(0.1)


def no_differences(a: Data, b: Data) -> None:
    assert differences(a, b) == []


@pytest.mark.parametrize(("kind", "friction"), CASES)
def test_a_restored_state_goes_on_to_the_byte(kind: str, friction: str) -> None:
    w = hill(kind, friction)
    drive(w, 0.3)
    w.vehicles["r1"].set_twist(0.9, 0.0, 0.1)
    w.run(0.02)  # this command is on its way
    kept = w.state()
    stored = pickle.dumps(kept)
    drive(w, 0.8)
    end = w.state()
    assert w.vehicles["r1"].pose.x > 0.1
    w.unweld("r1", "payload")
    w.vehicles["r1"].teleport(3.0, 2.0, 1.0)
    w.run(0.1)
    w.restore(kept)
    drive(w, 0.8)
    no_differences(w.state(), end)
    other = hill(kind, friction)
    other.restore(pickle.loads(stored))
    drive(other, 0.8)
    no_differences(other.state(), end)
    w.reset()
    fresh = hill(kind, friction)
    fresh.unweld("r1", "payload")
    w.run(0.05)
    fresh.reset()
    fresh.run(0.05)
    no_differences(w.state(), fresh.state())


@pytest.mark.parametrize("kind", VEHICLES)
def test_copies_go_on_like_the_world(kind: str) -> None:
    """Two copies are driven like the world; the third stops and changes nothing of them."""
    w = hill(kind, "default")
    drive(w, 0.3)
    batch = w.replicate(3)
    assert batch[0].vehicles["r1"].pose == w.vehicles["r1"].pose
    batch[1].vehicles["r1"].set_twist(0.0)
    for k in range(6):
        for it in (w, batch[0], batch[2]):
            it.vehicles["r1"].set_twist(0.5 + 0.2 * (k % 3), 0.0, 0.3 * (k % 2))
        w.run(0.1)
        batch.run(0.1)
    for copy in (batch[0], batch[2]):
        for name in ("r1", "payload", "ahead"):
            it = {**copy.vehicles, **copy.blocks}[name]
            alone = {**w.vehicles, **w.blocks}[name]
            assert tuple(it.pose) == pytest.approx(tuple(alone.pose), abs=1e-6)
    assert abs(batch[1].vehicles["r1"].pose.x - w.vehicles["r1"].pose.x) > 0.05
    assert batch[0].vehicles["r1"].sensors["imu"].last.tick == (
        w.vehicles["r1"].sensors["imu"].last.tick
    )
