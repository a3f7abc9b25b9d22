# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Batches call kernels by address, in threads, and list what is near copy by copy.

All of it is equal to the byte to steps phase by phase that list everything again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mvsim_core import StepError, load_world, threads
from mvsim_core.solver import solve
from mvsim_core.world import ticks
from mvsim_core.world.batch import Batch
from mvsim_core.world.data import TABLES, differences
from mvsim_core.world.ticks import Ticks
from tests.physics.worlds import block, car, cart, twist_pid, world

PID = twist_pid(20, 10, 30)
STEERING = (
    '<controller class="twist_front_steer_pid"><KP>300</KP><KI>90</KI>'
    "<max_torque>500</max_torque></controller>"
)
STATIC = "<static>true</static>"
THINGS = (
    cart("a", controller=PID),
    cart("b", "0 2 0", controller=PID, ground='<friction class="ellipse"/>'),
    car("c", "0 9 0", controller=STEERING),
    block("loose", "1.6 0.3 5", mass=4, mu=0.3),
    block("box", "3 1 30", extra=STATIC),
    block("post", "3 9 30", extra=STATIC),
)
IMU = """<sensor class="imu" name="imu"><sensor_period>0.05</sensor_period></sensor>"""
COPIES = 12
TRAILER = """<joint type="revolute" body_a="a" body_b="loose" anchor_a="0.8 0" anchor_b="-0.8 0"
  kp="4" kd="2" target_angle_deg="50"/>"""


class Phases:
    """In the place of `Ticks`: steps go phase by phase, one by one."""

    def step(self, *parts: Any) -> bool:
        return False

    def advance(self, *parts: Any) -> int:
        return 0


def batch_of(*things: str, plain: bool, count: int = COPIES) -> Batch:
    batch = load_world(text=world(*things)).replicate(count)
    batch._compiled = Phases() if plain else Ticks(5)  # type: ignore[assignment]
    batch.data.contacts.scratch.by_copy = not plain
    return batch


def same(batches: list[Batch]) -> None:
    """Compare tables, contacts, clocks and sensors."""
    one, other = (batch.data for batch in batches)
    for name in TABLES:
        assert differences(getattr(one, name), getattr(other, name), name) == []
    assert one.contacts.contacts.tobytes() == other.contacts.contacts.tobytes()
    assert one.clock.tobytes() == other.clock.tobytes()
    for a, b in zip(*batches, strict=True):
        assert differences(a.data.sensors, b.data.sensors, "sensors") == []


@pytest.mark.filterwarnings("ignore:.*cannot turn")
@pytest.mark.parametrize("more", [(), (TRAILER,)], ids=["free", "joined"])
@pytest.mark.parametrize("cores", [1, 3])
def test_commands_resets_and_placing(
    monkeypatch: pytest.MonkeyPatch, cores: int, more: tuple[str, ...]
) -> None:
    monkeypatch.setattr(threads, "usable_cores", lambda: cores)
    monkeypatch.setattr(ticks, "LEAST_TILES", 1)
    renewed, renew = [], solve.renew_kernel
    monkeypatch.setattr(solve, "renew_kernel", lambda *given: renewed.append(1) or renew(*given))
    batches = [batch_of(*THINGS, *more, plain=plain) for plain in (False, True)]
    rng = np.random.default_rng(0)
    touched = 0
    for n in range(14):
        twists = rng.uniform(-1.0, 1.0, (COPIES, 3, 2))
        chosen = rng.choice(COPIES, int(rng.integers(1, 4)), replace=False)
        poses = np.add(rng.uniform(-1.0, 1.0, (len(chosen), 2, 3)), [[0, -3, 0], [3, 1, 0]])
        for batch in batches:
            if n % 3 == 1:
                batch.reset_copies(chosen)
            if n % 3 == 2:
                batch.place(["b", "box"], chosen, poses)
            for copy, of_copy in zip(batch, twists.tolist(), strict=True):
                for name, (vx, wz) in zip("abc", of_copy, strict=True):
                    copy.vehicles[name].set_twist(vx, 0.0, wz)
            for _ in range(30):
                batch.step()
        touched += len(batches[0].data.contacts.contacts)
        same(batches)
    assert touched > 5
    assert len(renewed) > 20 or not more
    tables = batches[0]._compiled._used
    assert len(tables) == (1 if more else COPIES)  # joined rows go together


def test_a_box_that_is_put_beside_a_standing_robot_is_near_it() -> None:
    """Of that copy what is near is listed again, though the robot has not moved."""
    batch = batch_of(cart("a"), block("box", "9 0 0", extra=STATIC), plain=False, count=3)
    for _ in range(5):
        batch.step()
    poses = np.array([[[0.9, 0.0, 0.0]]])
    assert batch[1].vehicles["a"].pose.x == 0.0
    batch.place(["box"], np.array([1]), poses)
    batch.step()
    assert [copy.vehicles["a"].in_collision for copy in batch] == [False, True, False]
    batch.reset_copies(np.array([1]))
    batch.step()
    assert not batch[1].vehicles["a"].in_collision


def test_runs_with_sensors_equal_single_steps() -> None:
    things = (cart("a", controller=PID, extra=IMU), cart("b", "0 3 0", controller=PID))
    batches = [batch_of(*things, plain=plain, count=3) for plain in (False, True)]
    single = 0
    for batch in batches:
        for k, copy in enumerate(batch):
            copy.vehicles["a"].set_twist(0.2 * k, 0.0, 0.3)
        batch.run(0.3)
        batch[1].reset()  # its sensors are due at other ticks from now on
        batch.run(0.33)
    same(batches)
    left = 100
    while left > 0:
        left -= batches[0].advance(left)
        single += 1
    assert single < 40


def test_a_part_that_is_not_finite_is_named() -> None:
    texts = []
    for plain in (False, True):
        batch = batch_of(*THINGS, plain=plain)
        for _ in range(3):
            batch.step()
        batch.data.wheels["omega"][40] = np.nan
        with pytest.raises(StepError, match="omega is nan") as found:
            batch.step()
        texts.append(str(found.value))
    assert texts[0] == texts[1]
