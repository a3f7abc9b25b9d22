# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The public interface of a running world: names, commands, adding, removing, resetting."""

from __future__ import annotations

import gc
import math
import warnings
from weakref import ref

import pytest

from mvsim_core import (
    BuildError,
    CommandError,
    UnknownName,
    Vehicle,
    WorldFileError,
    load_world,
)
from mvsim_core.state.entities import EntityModel
from mvsim_core.world import base
from tests.physics.worlds import block, car, cart, twist_pid, world

PID = twist_pid()
IDEAL = '<controller class="twist_ideal"/>'
CLASS = cart("", controller=PID).replace('<vehicle name="">', '<vehicle:class name="small">')
CLASS = CLASS.replace("</vehicle>", "</vehicle:class>").replace("<init_pose>0 0 0</init_pose>", "")
LASER = (
    '<sensor class="laser" name="eye"><nrays>90</nrays><sensor_period>0.1</sensor_period></sensor>'
)


def test_unknown_names_get_a_suggestion() -> None:
    """A misspelt robot is named with the nearest one."""
    w = load_world(text=world(cart("robot1")))
    with pytest.raises(UnknownName, match=r"unknown vehicle 'robot2'. Did you mean 'robot1'"):
        w.vehicles["robot2"]
    assert "robot1" in w.vehicles
    assert list(w.vehicles) == ["robot1"]


def test_unnamed_vehicles_are_numbered() -> None:
    """veh1, veh2, … in file order."""
    text = world(CLASS, '<vehicle class="small"><init_pose>0 0 0</init_pose></vehicle>' * 2)
    text = text.replace("0 0 0</init_pose></vehicle><", "5 5 0</init_pose></vehicle><")
    assert list(load_world(text=text).vehicles) == ["veh1", "veh2"]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_commands_that_are_not_finite_are_refused(bad: float) -> None:
    """The message names the number; the command before stays."""
    w = load_world(text=world(cart(controller=PID), car("car", "5 0 0"), cart("raw", "9 0 0")))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5)
    with pytest.raises(CommandError, match="wz must be a finite number"):
        robot.set_twist(0.1, 0.0, bad)
    with pytest.raises(CommandError, match="wheel 1 must be a finite number"):
        w.vehicles["raw"].set_wheel_torques([0.0, bad])
    with pytest.raises(CommandError, match="x must be a finite number"):
        robot.teleport(bad, 0.0, 0.0)
    w.run(2.0)
    assert robot.twist.vx > 0.3


def test_commands_must_fit_the_controller() -> None:
    """Who takes what is said in the message and in `accepts`."""
    steer = '<controller class="twist_front_steer_pid"/>'
    w = load_world(
        text=world(
            cart(controller=PID), cart("raw", "9 0 0"), car("car", "5 0 0", controller=steer)
        )
    )
    assert w.vehicles["r1"].accepts == {"twist"}
    assert w.vehicles["raw"].accepts == {"torque"}
    assert w.vehicles["car"].accepts == {"twist", "ackermann"}
    with pytest.raises(CommandError, match="takes no ackermann command; it takes: twist"):
        w.vehicles["r1"].set_ackermann(1.0, 0.1)
    with pytest.raises(CommandError, match="takes no twist command; it takes: torque"):
        w.vehicles["raw"].set_twist(1.0)
    with pytest.raises(CommandError, match="expected 2 wheel torques"):
        w.vehicles["raw"].set_wheel_torques([1.0, 2.0, 3.0])


def test_sideways_speed_warns_once_and_the_rest_is_followed() -> None:
    """A differential robot cannot strafe."""
    w = load_world(text=world(cart(controller=PID)))
    robot = w.vehicles["r1"]
    with pytest.warns(UserWarning, match="cannot move sideways"):
        robot.set_twist(0.5, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.set_twist(0.5, 0.5)
    w.run(3.0)
    assert robot.twist.vx == pytest.approx(0.5, abs=0.1)
    assert robot.pose.y == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("vx", "wz", "text"),
    [
        (0.0, 0.5, "cannot turn on the spot: it stands, with its wheels turned"),
        (0.5, 0.5, r"cannot turn with a radius of 1 m: at the limit of its steering it is 2.25 m"),
        (-0.5, 0.5, "cannot turn with a radius of 1 m"),
    ],
)
def test_a_car_warns_once_of_circles_that_it_cannot_drive(vx: float, wz: float, text: str) -> None:
    """R = l / tan δ = 1.3 m / tan 30°."""
    w = load_world(text=world(car(controller='<controller class="twist_front_steer_pid"/>')))
    robot = w.vehicles["r1"]
    with pytest.warns(UserWarning, match=text) as caught:
        robot.set_twist(vx, 0.0, wz)
    assert caught[0].filename == __file__  # it shows the line that gave the command
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.set_twist(vx, 0.0, wz)
        robot.set_twist(2.26, 0.0, 1.0)
        robot.set_twist(0.0)


def test_a_car_warns_once_of_angles_beyond_its_limit() -> None:
    """30° are 0.524 rad."""
    w = load_world(text=world(car(controller='<controller class="twist_front_steer_pid"/>')))
    robot = w.vehicles["r1"]
    with pytest.warns(UserWarning, match=r"cannot steer by -0.6 rad: its limit is 0.524 rad"):
        robot.set_ackermann(1.0, -0.6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.set_ackermann(1.0, 0.7)
        robot.set_ackermann(1.0, 0.5236)
    w.run(0.1)
    assert robot.steering == pytest.approx(math.radians(30.0))


def test_an_ideal_car_turns_as_it_is_told_and_takes_steering_too() -> None:
    """Nothing holds it back, so nothing is to be warned of; ω = v tan δ / l."""
    w = load_world(text=world(car(controller=IDEAL)))
    robot = w.vehicles["r1"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.set_twist(0.0, 0.0, 0.5)
        w.run(0.1)
        assert robot.twist == pytest.approx((0.0, 0.0, 0.5))
        robot.set_ackermann(2.0, 0.3)
    w.run(0.1)
    assert robot.twist == pytest.approx((2.0, 0.0, 2.0 * math.tan(0.3) / 1.3))
    assert robot.steering == pytest.approx(0.3)


def test_commands_expire_after_the_time_out() -> None:
    """Without a new command the robot stops, and says so; a new one revives it."""
    w = load_world(text=world(cart(controller=IDEAL)))
    w.command_timeout = 0.5
    robot = w.vehicles["r1"]
    robot.set_twist(1.0)
    w.run(0.5)
    assert robot.pose.x == pytest.approx(0.5)
    w.run(2.0)
    assert robot.command_expired
    assert robot.pose.x == pytest.approx(0.5, abs=0.011)
    robot.set_twist(1.0)
    w.run(0.2)
    assert not robot.command_expired


def test_set_points_of_the_file_do_not_expire() -> None:
    """<V> and <W> hold without commands."""
    w = load_world(text=world(cart(controller=twist_pid(9, 9, 20, "<V>0.4</V>"))))
    w.command_timeout = 0.5
    w.run(6.0)
    assert w.vehicles["r1"].twist.vx == pytest.approx(0.4, abs=0.02)


def test_stop_ends_a_command() -> None:
    """stop() brings to rest."""
    w = load_world(text=world(cart(controller=IDEAL)))
    robot = w.vehicles["r1"]
    robot.set_twist(1.0)
    w.run(0.5)
    robot.stop()
    w.run(0.5)
    assert robot.pose.x == pytest.approx(0.5)


def test_spawn_and_remove_leave_the_others_alone() -> None:
    """Adding and removing does not change what the others do, to the last bit."""
    quiet = load_world(text=world(CLASS, cart(controller=PID)))
    busy = load_world(text=world(CLASS, cart(controller=PID)))
    for w in (quiet, busy):
        w.vehicles["r1"].set_twist(0.6, 0.0, 0.3)
        w.run(1.0)
    new = busy.add_vehicle('<vehicle class="small"/>', name="new", pose=(50.0, 0.0, 1.0))
    assert new.name == "new"
    assert new.pose.x == 50.0
    new.set_twist(0.3)
    quiet.run(1.0)
    busy.run(1.0)
    busy.remove("new")
    quiet.run(1.0)
    busy.run(1.0)
    assert list(busy.vehicles) == ["r1"]
    assert busy.vehicles["r1"].pose == quiet.vehicles["r1"].pose
    with pytest.raises(UnknownName, match="new"):
        busy.remove("new")


def test_spawned_vehicle_has_sensors_and_is_seen() -> None:
    """Lidars of old and new vehicles see each other."""
    w = load_world(text=world(CLASS, cart(controller=PID, extra=LASER)))
    w.run(0.2)
    before = w.vehicles["r1"].sensors["eye"].last.ranges.min()
    text = f'<vehicle class="small">{LASER}</vehicle>'
    w.add_vehicle(text, name="new", pose=(4.0, 0.0, math.pi))
    w.run(0.2)
    assert before == math.inf
    assert w.vehicles["r1"].sensors["eye"].last.ranges.min() == pytest.approx(3.5, abs=0.1)
    assert w.vehicles["new"].sensors["eye"].last.ranges.min() == pytest.approx(3.5, abs=0.1)
    w.remove("new")
    w.run(0.2)
    assert w.vehicles["r1"].sensors["eye"].last.ranges.min() == math.inf


def test_spawning_errors_are_named() -> None:
    """Taken names and broken XML change nothing."""
    w = load_world(text=world(CLASS, cart(controller=PID)))
    with pytest.raises((BuildError, WorldFileError), match="r1"):
        w.add_vehicle('<vehicle class="small"/>', name="r1", pose=(9.0, 0.0, 0.0))
    with pytest.raises(WorldFileError, match="smal"):
        w.add_vehicle('<vehicle class="smal"/>', name="x", pose=(9.0, 0.0, 0.0))
    assert list(w.vehicles) == ["r1"]
    w.run(0.1)


def test_reset_returns_to_the_file() -> None:
    """What was added goes, what was removed comes back, handles stay valid."""
    w = load_world(text=world(CLASS, cart(controller=PID, extra=LASER), block("b", "3 0 0")))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5)
    w.run(1.0)
    w.add_vehicle('<vehicle class="small"/>', name="new", pose=(9.0, 0.0, 0.0))
    w.remove("b")
    w.reset()
    assert list(w.vehicles) == ["r1"]
    assert list(w.blocks) == ["b"]
    assert (w.ticks, w.time) == (0, 0.0)
    assert robot.pose == (0.0,) * 6
    assert w.vehicles["r1"] is robot
    w.run(0.3)
    assert robot.pose.x == 0.0  # the command is gone too
    assert robot.sensors["eye"].last is not None


def test_reset_undoes_what_a_spawn_changed_in_the_state_of_the_file() -> None:
    """Classes, names and random numbers of texts start again after a reset."""
    noisy = CLASS.replace("<dynamics", "<log_path>$f{rand()}</log_path><dynamics", 1)
    w = load_world(text=world(noisy))
    before = w.file_state
    other = CLASS.replace('"small"', '"other"')
    spawn = f'{other}<vehicle class="small"><init_pose>0 0 0</init_pose></vehicle>'
    first = w.add_vehicle(spawn)
    assert (first.name, w.file_state != before) == ("veh1", True)
    assert w.add_vehicle('<vehicle class="other"/>', pose=(9.0, 0.0, 0.0)).name == "veh2"
    path = first._entity.spec.log_path
    w.reset()
    assert w.file_state == before
    with pytest.raises(WorldFileError, match="unknown vehicle class 'other'"):
        w.add_vehicle('<vehicle class="other"/>')
    again = w.add_vehicle(spawn)
    assert (again.name, again._entity.spec.log_path) == ("veh1", path)


def test_same_seed_same_noise_and_other_seed_other_noise() -> None:
    """Readings depend on seed and sensor name alone."""
    text = world(cart(extra=LASER), block("b", "3 0 0"))
    scans = []
    for seed in (1, 1, 2):
        w = load_world(text=text, seed=seed)
        w.run(0.2)
        scans.append(w.vehicles["r1"].sensors["eye"].last.ranges.tobytes())
    assert scans[0] == scans[1] != scans[2]
    more = text.replace(LASER, LASER.replace('"eye"', '"other"') + LASER)
    w = load_world(text=more, seed=1)
    w.run(0.2)
    assert w.vehicles["r1"].sensors["eye"].last.ranges.tobytes() == scans[0]


def test_contacts_have_names_point_normal_and_impulse() -> None:
    """Two blocks that collide: the impulse is the change of momentum."""
    w = load_world(text=world(block("a", "-2 0 0", "1 0 0", mass=4), block("b", "0 0 0", mass=4)))
    total = 0.0
    seen = set()
    for _ in range(300):
        w.step()
        for contact in w.contacts:
            seen.add((contact.a, contact.b))
            total += contact.impulse
            assert abs(contact.normal[0]) == pytest.approx(1.0, abs=1e-3)
            face = w.blocks["a"].pose.x + 0.5
            assert contact.point[0] == pytest.approx(face, abs=5e-3)  # of the step before
    assert seen <= {("a", "b"), ("b", "a")}
    assert total == pytest.approx(4 * 0.5, rel=0.05)


def test_profile_names_the_phases() -> None:
    """Wall time is measured by phase."""
    w = load_world(text=world(cart()))
    w.run(0.1)
    assert set(w.profile) >= {"commands", "controllers", "friction", "solver", "sensors"}
    assert all(seconds >= 0.0 for seconds in w.profile.values())


def test_blocks_and_vehicles_may_not_share_a_name() -> None:
    """One name, one thing."""
    with pytest.raises(WorldFileError, match="same"):
        load_world(text=world(cart("same"), block("same", "5 0 0")))


def test_worlds_far_from_the_origin_are_as_exact() -> None:
    """In UTM coordinates a robot drives and stops at a block as it does at the origin."""
    ends = []
    for x, y in ((0.0, 0.0), (548_000.0, 4_076_000.0)):
        w = load_world(
            text=world(
                cart(pose=f"{x} {y} 0", controller=IDEAL),
                block("b", f"{x + 3} {y} 0", mass=900, extra="<static>true</static>"),
            )
        )
        robot = w.vehicles["r1"]
        robot.set_twist(0.5)
        w.run(2.0)
        assert robot.pose.x - x == pytest.approx(1.0, abs=1e-6)
        w.run(6.0)
        assert robot.in_collision
        assert w.contacts[0].point[0] - x == pytest.approx(2.5, abs=0.05)
        ends.append(robot.pose.x - x)
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)


def test_sensors_of_removed_vehicles_are_kept_by_their_users_alone() -> None:
    """Each spawned and removed robot left its sensors behind, a megabyte with a large lidar."""
    text = world(cart("a", extra=LASER), block("b", pose="2 0 0"))
    w, other = load_world(text=text), load_world(text=text)
    start = w.state()
    gone = ref(w.vehicles["a"].sensors["eye"])
    w.remove("a")
    gc.collect()
    assert gone() is None
    w.restore(start)
    eye = w.vehicles["a"].sensors["eye"]
    for each in (w, other):
        each.run(0.3)
    assert eye.last.ranges.tolist() == other.vehicles["a"].sensors["eye"].last.ranges.tolist()
    w.remove("a")
    w.restore(start)
    assert w.vehicles["a"].sensors["eye"] is eye


def test_vehicles_that_come_and_go_leave_nothing() -> None:
    """Models of each text that was read, and a handle for each name, were kept."""

    def living() -> int:
        gc.collect()
        # not isinstance: it fails at proxies whose object is gone
        return sum(issubclass(type(o), EntityModel | Vehicle) for o in gc.get_objects())

    w = load_world(text=world(cart("a")))
    kept = w.vehicles["a"]

    def use(first: int, number: int) -> None:
        for k in range(first, first + number):
            w.add_vehicle(cart(f"v{k}", pose="3 0 0"), name=f"v{k}")
            w.step()
            w.remove(f"v{k}")

    use(0, 100)  # fills what is kept for the next one of a kind
    before = living()
    use(100, 40)
    assert living() == before
    assert w.vehicles["a"] is kept


def test_the_reason_of_a_removal_is_kept_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MOST_REASONS", 2)
    w = load_world(text=world(cart("a"), cart("b", pose="3 0 0"), cart("c", pose="6 0 0")))
    handles = [w.vehicles[name] for name in "abc"]
    for name in "abc":
        w.remove(name)
    reasons = "is not in this world", "was removed at 0 s", "was removed at 0 s"
    for handle, reason in zip(handles, reasons, strict=True):
        assert not handle.valid
        with pytest.raises(UnknownName, match=reason):
            _ = handle.pose
