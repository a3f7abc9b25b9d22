# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A vehicle whose numbers are not finite is taken out; the world goes on without it."""

import numpy as np
import pytest

from mvsim_core import StepError, UnknownName, World, load_world
from tests.physics.test_slopes import incline
from tests.physics.worlds import block, cart, twist_pid, world

FRICTIONS = ("default", "wardiagnemma", "ellipse")


def watched(
    friction: str = "default", *parts: str, tile: int = 0
) -> tuple[World, list[StepError]]:
    """Return a world of three robots, and the faults that it will report.

    Args:
        friction: Class of friction.
        parts: What else is in the world file.
        tile: Number of vehicles that are stepped together; 0: all.
    """
    kind = f"<friction class='{friction}'><mu>0.8</mu></friction>"
    robots = [cart(f"r{i}", f"0 {5 * i} 0", ground=kind) for i in (1, 2)]
    robots.append(cart("r3", "0 15 0", ground=kind, controller=twist_pid(20, 10, 30)))
    made = load_world(text=world(*robots, *parts))
    if tile:
        made._runtime.tiles.size = tile
        assert len(made._runtime.tiles.of(made.model, made._runtime, made.data)) > 1
    faults: list[StepError] = []
    made.on_fault = faults.append
    return made, faults


def spoil_wheel(made: World) -> None:
    made.vehicles["r2"].set_wheel_torques([0.0, 1e300])


def spoil_body(made: World) -> None:
    made.bodies["cvx"][made.data.entities["r2"].row] = np.nan


@pytest.mark.parametrize("friction", FRICTIONS)
@pytest.mark.parametrize("spoil", [spoil_wheel, spoil_body])
@pytest.mark.parametrize("tile", [0, 1, 2])
@pytest.mark.parametrize("ground", ["", incline(2.0)], ids=["level", "slope"])
def test_the_others_go_on(friction, spoil, tile, ground) -> None:
    made, faults = watched(friction, ground, tile=tile)
    other, _ = watched(friction, ground)
    for each in (made, other):
        each.run(0.1)
        each.vehicles["r1"].set_wheel_torques([2.0, 2.2])
        each.vehicles["r3"].set_twist(0.3, wz=0.1)
        for name in ("r1", "r3"):
            each.vehicles[name].apply_force(3.0, 1.0, seconds=0.1)
    robot = made.vehicles["r2"]
    other.remove("r2")
    spoil(made)
    for each in (made, other):
        each.run(0.5)
    assert made.time == pytest.approx(0.6)
    assert [fault.entity for fault in faults] == ["r2"]
    assert str(faults[0]).startswith("r2: ")
    assert list(made.vehicles) == ["r1", "r3"]
    with pytest.raises(UnknownName, match="was removed"):
        _ = robot.pose
    for name in ("r1", "r3"):
        assert made.vehicles[name].pose == other.vehicles[name].pose
        assert made.vehicles[name].odometry == other.vehicles[name].odometry
        assert made.vehicles[name].pose.x > 0.01


@pytest.mark.parametrize("spoil", [spoil_wheel, spoil_body])
@pytest.mark.parametrize("welded", [False, True])
def test_what_it_touches_goes_on(spoil, welded) -> None:
    """Two robots push a block from both sides; without one of them the other moves it."""
    parts = [
        cart("r1", "0 0 0", controller=twist_pid(20, 10, 30)),
        cart("r2", "2 0 180"),
        block("between", "1 0 0", mass=2),
    ]
    made, other = (load_world(text=world(*parts)) for _ in range(2))
    made.on_fault = lambda fault: None
    for each in (made, other):
        if welded:
            each.weld("r1", "between")
        each.vehicles["r1"].set_twist(0.5)
        each.vehicles["r2"].set_wheel_torques([3.0, 3.0])
        each.run(1.5)
        assert each.vehicles["r2"].in_collision
    other.remove("r2")
    spoil(made)
    for each in (made, other):
        each.step()
        assert list(each.vehicles) == ["r1"]
        each.run(0.5)
    assert made.vehicles["r1"].pose == other.vehicles["r1"].pose
    assert made.blocks["between"].pose == other.blocks["between"].pose
    assert made.blocks["between"].pose.x > 1.05


def test_it_comes_back_with_a_reset_and_with_a_snapshot() -> None:
    made, faults = watched()
    made.run(0.1)
    before = made.state()
    spoil_wheel(made)
    made.run(0.1)
    assert "r2" not in made.vehicles
    made.restore(before)
    assert "r2" in made.vehicles
    made.run(0.1)
    made.reset()
    made.run(0.1)
    assert list(made.vehicles) == ["r1", "r2", "r3"]
    assert len(faults) == 1


def test_what_is_welded_to_it_is_left() -> None:
    made, faults = watched()
    made.vehicles["r3"].teleport(0.0, 11.0, 0.0)
    made.weld("r2", "r3")
    spoil_wheel(made)
    made.run(0.3)
    assert [fault.entity for fault in faults] == ["r2"]
    assert list(made.vehicles) == ["r1", "r3"]
    assert np.isfinite(made.vehicles["r3"].pose).all()


def test_without_a_listener_the_step_raises() -> None:
    made, _ = watched()
    made.on_fault = None
    spoil_wheel(made)
    with pytest.raises(StepError) as caught:
        made.run(0.1)
    assert caught.value.entity == "r2"
