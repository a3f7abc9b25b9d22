# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rigid islands: one mass, one motion, no drift."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from mvsim_core import BuildError, World, WorldFileError, load_world, read_world, world_of
from mvsim_core.state.entities import Inertia
from mvsim_core.world.data import differences
from mvsim_core.world.handles import Handle
from mvsim_core.world.islands import combined, component
from tests.physics.test_joints import RIGID
from tests.physics.test_slopes import incline
from tests.physics.worlds import block, cart, friction, twist_pid, world

PID = twist_pid(60, 30, 80)


def weld(a: str, b: str) -> str:
    """Return a weld joint."""
    return f'<joint type="weld" body_a="{a}" body_b="{b}"/>'


def relative(a: Handle, b: Handle) -> tuple[float, float, float]:
    """Return the pose of b in the frame of a."""
    pa, pb = a.pose, b.pose
    d = complex(pb.x - pa.x, pb.y - pa.y) * complex(math.cos(pa.yaw), -math.sin(pa.yaw))
    return d.real, d.imag, pb.yaw - pa.yaw


def test_flood_fill_goes_through_welds_only() -> None:
    """Chains and stars are one island each; the rest is alone."""
    names = ["a", "b", "c", "d", "e", "f"]
    blocks = [block(name, f"{2 * i} 0 0") for i, name in enumerate(names)]
    w = load_world(text=world(*blocks, weld("a", "b"), weld("c", "b"), weld("e", "f")))
    islands = {name: component(w.data, name) for name in names}
    assert islands["a"] == islands["b"] == islands["c"] == ["a", "b", "c"]
    assert islands["d"] == ["d"]
    assert islands["e"] == islands["f"] == ["e", "f"]


def test_parallel_axis_theorem() -> None:
    """Two equal masses at ±1 m: I = 2 (I0 + m)."""
    part = Inertia(3.0, 0.0, 0.0, 0.5)
    got = combined([(part, (0.0, 0.0, 0.0)), (part, (2.0, 0.0, 1.0))])
    assert got == pytest.approx((6.0, 1.0, 0.0, 2 * (0.5 + 3.0)))


def test_welded_blocks_are_one_body() -> None:
    """A push on one turns both about the common centre of mass, without any drift."""
    w = load_world(text=world(block("a", "0 0 0"), block("b", "2 0 30"), weld("a", "b")))
    a, b = w.blocks["a"], w.blocks["b"]
    assert float(w.bodies[0]["mass"]) == 20.0
    start = relative(a, b)
    w.bodies[0]["cvx"], w.bodies[0]["wz"] = 0.5, 0.8
    w.run(5.0)
    assert relative(a, b) == pytest.approx(start, abs=1e-9)
    assert a.twist.wz == b.twist.wz == pytest.approx(0.8)


def test_a_wall_hit_leaves_the_island_in_sync() -> None:
    """Relative drift of the bodies stays below 1e-6 in and after a collision."""
    wall = """<element class="vertical_plane"><x0>3</x0><y0>-3</y0><x1>3</x1><y1>3</y1>
      <thickness>0.2</thickness></element>"""
    w = load_world(
        text=world(
            wall, cart(controller=PID, ground=friction(mu=0.9)),
            block("load", "1.2 0.3 10", mass=6), weld("r1", "load"),
        )
    )  # fmt: skip
    robot, load = w.vehicles["r1"], w.blocks["load"]
    start = relative(robot, load)
    robot.set_twist(0.8)
    touched = False
    for _ in range(800):
        w.step()
        touched = touched or robot.in_collision
        assert relative(robot, load) == pytest.approx(start, abs=1e-6)
    assert touched
    assert load.pose.x < 3.0 - 0.1 - 0.4  # the load's corner stopped it


def test_payload_slows_the_robot_down() -> None:
    """The same torque accelerates more mass less."""
    ends = []
    for mass in (1.0, 40.0):
        load = block("load", "0 0 0", mass=mass, size=0.2)
        w = load_world(text=world(cart(ground=friction(mu=0.9)), load, weld("r1", "load")))
        w.vehicles["r1"].set_wheel_torques([2.0, 2.0])
        w.run(1.0)
        ends.append(w.vehicles["r1"].twist.vx)
        effective = 23 + mass + 2 * 0.08 / 0.04
        assert ends[-1] == pytest.approx(20.0 / effective, rel=5e-3)
    assert ends[0] > 1.5 * ends[1]


def test_two_vehicles_welded_drive_as_one() -> None:
    """Wheels of both carry the island; both odometries see the motion."""
    w = load_world(
        text=world(
            cart("left", "0 0.7 0", controller=PID), cart("right", "0 -0.7 0", controller=PID),
            weld("left", "right"),
        )
    )  # fmt: skip
    left, right = w.vehicles["left"], w.vehicles["right"]
    for robot in (left, right):
        robot.set_twist(0.5)
    w.run(4.0)
    assert left.twist.vx == pytest.approx(0.5, abs=0.02)
    assert relative(left, right) == pytest.approx((0.0, -1.4, 0.0), abs=1e-9)
    assert right.odometry.pose.x == pytest.approx(right.pose.x, abs=0.02)


def test_welds_made_and_taken_away_at_run_time() -> None:
    """The masses follow; apart again they go on with the velocity they had."""
    w = load_world(text=world(block("a", "0 0 0", "1 0 0"), block("b", "2 0 0", "1 0 0")))
    a, b = w.blocks["a"], w.blocks["b"]
    w.run(0.5)
    w.weld("a", "b")
    assert a.mass == 20.0
    w.run(0.5)
    assert relative(a, b) == pytest.approx((2.0, 0.0, 0.0), abs=1e-9)
    w.unweld("a", "b")
    assert a.mass == b.mass == 10.0
    w.run(0.5)
    assert (a.twist.vx, b.twist.vx) == pytest.approx((1.0, 1.0))
    w.weld("a", "b")
    w.remove("b")
    w.run(0.5)
    assert a.mass == 10.0
    assert a.pose.x == pytest.approx(2.0)


def test_followers_move_rigidly_from_the_weld_on() -> None:
    """In the step of the weld, too, each member has the velocity of its place in the island."""
    w = load_world(
        text=world(block("a", "0 0 20", vel="1 0.5 80"), block("b", "1.2 0.4 0", vel="-0.3 0 0"))
    )
    w.run(0.1)
    w.weld("a", "b")
    for _ in range(4):
        lead, other = w.data.bodies[0], w.data.bodies[1]
        rx, ry = other["x"] - lead["x"], other["y"] - lead["y"]
        assert other["wz"] == lead["wz"] != 0.0
        assert other["vx"] == pytest.approx(lead["vx"] - lead["wz"] * ry, abs=1e-12)
        assert other["vy"] == pytest.approx(lead["vy"] + lead["wz"] * rx, abs=1e-12)
        w.step()


def test_reset_restores_the_islands_of_the_file() -> None:
    """Welds of the file come back, those of the run go."""
    w = load_world(
        text=world(block("a"), block("b", "2 0 0"), block("c", "4 0 0"), weld("a", "b"))
    )
    w.unweld("a", "b")
    w.weld("b", "c")
    w.reset()
    assert [w.blocks[n].mass for n in "abc"] == [20.0, 10.0, 10.0]


def test_pivot_on_a_member_holds() -> None:
    """A trailer hangs on the body that is welded to the tractor."""
    pivot = (
        '<joint type="revolute" body_a="hitch" body_b="trailer" anchor_a="-0.2 0" anchor_b="1 0"/>'
    )
    w = load_world(
        text=world(
            cart("tractor", controller=PID, ground=friction(mu=0.9)),
            block("hitch", "-0.8 0 0", mass=2, size=0.2),
            cart("trailer", "-2 0 0", ground=friction(mu=0.9)),
            weld("tractor", "hitch"), pivot,
        )
    )  # fmt: skip
    w.vehicles["tractor"].set_twist(0.8, 0.0, 0.3)
    for _ in range(1000):
        w.step()
        hitch, trailer = w.blocks["hitch"].pose, w.vehicles["trailer"].pose
        tip = complex(hitch.x, hitch.y) - 0.2 * complex(math.cos(hitch.yaw), math.sin(hitch.yaw))
        eye = complex(trailer.x, trailer.y) + complex(math.cos(trailer.yaw), math.sin(trailer.yaw))
        assert abs(tip - eye) < RIGID


def test_fixed_things_make_no_island() -> None:
    """A weld to a static block is an error that says so."""
    with pytest.raises(BuildError, match="'s' has no body that moves freely"):
        load_world(
            text=world(
                block("s", extra="<static>true</static>"), block("b", "2 0 0"), weld("s", "b")
            )
        )


def test_massless_things_make_no_island() -> None:
    """A file is refused where it says so; a spec made in Python where the island is formed."""
    text = world(block("a", mass=0), block("b", "2 0 0"), weld("a", "b"))
    with pytest.raises(WorldFileError, match=r"<block>: mass must be > 0 \[kg\], got '0'"):
        load_world(text=text)
    spec, _ = read_world(text=world(block("a"), block("b", "2 0 0"), weld("a", "b")))
    massless = replace(spec, blocks=(replace(spec.blocks[0], mass=0.0), spec.blocks[1]))
    with pytest.raises(BuildError, match=r"'a' has no mass \(must be > 0 \[kg\], got 0\)"):
        world_of(massless)


def test_a_hit_keeps_the_momenta_of_island_and_hitter() -> None:
    """A block hits one end of two that are welded: impulse and spin of all stay what they were."""
    w = load_world(
        text=world(
            block("a", "0 0 0"), block("b", "0 1.5 0"), weld("a", "b"),
            block("hitter", "-2 -0.2 0", vel="1.5 0 0"),
        )
    )  # fmt: skip

    def momenta() -> tuple[float, float, float]:
        px = py = spin = 0.0
        for b in w.bodies:
            if b["leader"] >= 0:
                continue
            c, s = math.cos(b["yaw"]), math.sin(b["yaw"])
            x = b["x"] + c * b["com_x"] - s * b["com_y"]
            y = b["y"] + s * b["com_x"] + c * b["com_y"]
            px += b["mass"] * b["cvx"]
            py += b["mass"] * b["cvy"]
            spin += b["inertia"] * b["wz"] + b["mass"] * (x * b["cvy"] - y * b["cvx"])
        return float(px), float(py), float(spin)

    before, start = momenta(), relative(w.blocks["a"], w.blocks["b"])
    w.run(2.0)
    assert abs(w.blocks["a"].twist.wz) > 0.1
    after = momenta()
    # of 15 N s, if the solver rounds to single precision; the spin has the arm of 1 m in it too
    assert after[:2] == pytest.approx(before[:2], abs=1e-5)
    assert after[2] == pytest.approx(before[2], abs=1e-3)
    assert relative(w.blocks["a"], w.blocks["b"]) == pytest.approx(start, abs=1e-6)


@pytest.mark.parametrize("twist", [(0.8, 0.0), (0.0, 0.8), (0.5, 0.5)])
def test_a_mecanum_robot_with_a_load_hits_a_wall_and_stays_in_sync(
    twist: tuple[float, float],
) -> None:
    """Rollers push every way, and the island's bodies never move apart by 1e-6."""
    wall = """<element class="vertical_plane"><x0>{0}</x0><y0>{1}</y0><x1>{2}</x1><y1>{3}</y1>
      <thickness>0.2</thickness></element>"""
    robot = f"""<vehicle name="r1"><dynamics class="mecanum"><chassis mass="20"/>{PID}</dynamics>
      {friction(mu=0.9)}<init_pose>0 0 0</init_pose></vehicle>"""
    w = load_world(
        text=world(
            wall.format(3, -9, 3, 9), wall.format(-9, 3, 9, 3), robot,
            block("load", "0.9 0.9 10", mass=6), weld("r1", "load"), dt=0.002,
        )
    )  # fmt: skip
    r1, load = w.vehicles["r1"], w.blocks["load"]
    start = relative(r1, load)
    r1.set_twist(*twist)
    touched = 0
    for _ in range(2500):
        w.step()
        touched += r1.in_collision
        assert relative(r1, load) == pytest.approx(start, abs=1e-6)
    assert touched > 100


def arm(more: str) -> str:
    """Return a heavy base and an arm on a driven pivot, on ice."""
    return world(
        block("base", "0 0 0", mass=50),
        block("arm", "1.2 0 0", mass=5, size=0.8),
        '<joint type="revolute" name="elbow" body_a="base" body_b="arm" anchor_a="0.6 0"'
        f' anchor_b="-0.6 0" {more}/>',
    )


def test_driven_pivot_reaches_its_angle() -> None:
    """The motor turns the arm to 60° and holds it; the base turns against it."""
    w = load_world(text=arm('kp="40" kd="20" target_angle_deg="60"'))
    elbow = w.pivots["elbow"]
    w.run(6.0)
    assert elbow.angle == pytest.approx(math.radians(60), abs=1e-4)
    assert w.blocks["base"].pose.yaw < -0.05
    elbow.target = math.radians(-20)
    w.run(6.0)
    assert elbow.angle == pytest.approx(math.radians(-20), abs=1e-4)


def test_torques_of_a_pivot_are_equal_and_opposite_and_limited() -> None:
    """Angular momentum stays zero; the torque keeps its limit."""
    w = load_world(text=arm('kp="400" kd="5" target_angle_deg="90" max_torque="3"'))
    for _ in range(400):
        w.step()
        assert abs(w.pivots["elbow"].torque) <= 3.0
        spin = sum(
            float(
                b["inertia"] * b["wz"]
                + b["mass"] * ((b["x"] - 0.0) * b["cvy"] - (b["y"] - 0.0) * b["cvx"])
            )
            for b in w.bodies
        )
        # joint impulses act at the anchors of the start of a substep: an error of first order
        assert abs(spin) < 0.9 * w.dt


TRAIN = world(
    cart("tractor", controller=PID, ground=friction(mu=0.9)),
    cart("first", "-2.2 0 0", ground=friction(mu=0.9)),
    cart("second", "-4.4 0 0", ground=friction(mu=0.9)),
    '<joint type="revolute" body_a="tractor" body_b="first" anchor_a="-1 0" anchor_b="1.2 0"/>',
    '<joint type="revolute" body_a="first" body_b="second" anchor_a="-1 0" anchor_b="1.2 0"/>',
)


def tracked_off(dt: float) -> list[float]:
    """Return the radii of two trailers' ways in a steady turn, each over that of its formula."""
    text = TRAIN.replace("<simul_timestep>0.005<", f"<simul_timestep>{dt}<")
    w = load_world(text=text)
    w.vehicles["tractor"].set_twist(0.8, 0.0, 0.2)
    w.run(60.0)
    radii = [
        w.vehicles[name].twist.vx / w.vehicles[name].twist.wz
        for name in ("tractor", "first", "second")
    ]
    return [behind / math.sqrt(ahead**2 + 1.0**2 - 1.2**2) for ahead, behind in pairwise(radii)]


def test_two_trailers_track_off_by_the_formula() -> None:
    """Steady turn: R1² = R0² + 1.0² - 1.2² and again for the second trailer."""
    assert tracked_off(0.005) == pytest.approx([1.0, 1.0], rel=0.01)


def pulled(degrees: float, hold: bool, dt: float) -> float:
    """Return the speed of a tractor with a trailer after 1 s uphill, over that of its formula.

    (m + i) dv/dt = F - m g sin - c m v, i being the inertia of all wheels as a mass and c the
    damping of bodies; whether the trailer's own file says that it holds on slopes must not matter.
    """
    more = f"<slope_hold>{int(hold)}</slope_hold></friction>"
    trailer = cart("first", "-2.2 0 0", ground=friction(mu=0.8).replace("</friction>", more))
    parts = [
        text.replace('linear_damping="0.0"', 'linear_damping="0.1"')
        for text in (cart("tractor", ground=friction(mu=0.8)), trailer)
    ]
    joint = TRAIN[TRAIN.index("<joint") : TRAIN.index("/>", TRAIN.index("<joint")) + 2]
    w = load_world(text=world(incline(degrees), *parts, joint, dt=dt))
    tractor = w.vehicles["tractor"]
    tractor.set_wheel_torques([15.0, 15.0])
    w.run(1.0)
    mass = sum(vehicle.mass for vehicle in w.vehicles.values())
    rolling = float((w.data.wheels["inertia"] / w.data.wheels["radius"] ** 2)[:4].sum())
    force = 2.0 * 15.0 / 0.2 - mass * 9.81 * math.sin(math.radians(degrees))
    rate = 0.1 * mass / (mass + rolling)
    return tractor.twist.vx / (force / (0.1 * mass) * (1.0 - math.exp(-rate)))


@pytest.mark.parametrize("degrees", [0.1, 5.0])
@pytest.mark.parametrize("hold", [False, True])
def test_a_tractor_starts_uphill_with_a_trailer(degrees: float, hold: bool) -> None:
    """A trailer without a motor has no brake; its weight and inertia count."""
    assert pulled(degrees, hold, 0.005) == pytest.approx(1.0, rel=2e-3)


def test_reversing_jack_knifes() -> None:
    """Backward a small angle grows; forward it shrinks."""
    angles = []
    for speed in (0.5, -0.5):
        w = load_world(text=TRAIN.replace("<init_pose>-2.2 0 0", "<init_pose>-2.19 0.05 2"))
        w.vehicles["tractor"].set_twist(speed)
        w.run(9.0)
        yaws = [w.vehicles[name].pose.yaw for name in ("tractor", "first")]
        angles.append(abs(math.remainder(yaws[0] - yaws[1], 2 * math.pi)))
    assert angles[0] < math.radians(1)
    assert angles[1] > math.radians(30)


@pytest.mark.parametrize("speed", [0.4, -0.4])
def test_a_trailer_angle_shrinks_or_grows_as_its_formula_says(speed: float) -> None:
    """Behind a straight way x of the tractor tan(θ/2) falls by exp(-x / b), b from pivot to axle.

    Forward that is the trailer coming into line, backward the jack-knife.
    """
    b, start = 1.2, math.radians(10)
    trailer = f"{-1 - b * math.cos(start)} {-b * math.sin(start)} {math.degrees(start)}"
    w = load_world(
        text=world(
            cart("tractor", controller='<controller class="twist_ideal"/>'),
            cart("trailer", trailer, ground=friction(mu=0.9)),
            '<joint type="revolute" body_a="tractor" body_b="trailer" anchor_a="-1 0"'
            f' anchor_b="{b} 0"/>',
            dt=0.002,
        )
    )  # fmt: skip
    tractor, towed = w.vehicles["tractor"], w.vehicles["trailer"]
    tractor.set_twist(speed)
    for _ in range(3):
        w.run(1.0)
        way = tractor.pose.x
        angle = towed.pose.yaw - tractor.pose.yaw
        want = 2 * math.atan(math.tan(0.5 * start) * math.exp(-way / b))
        assert angle == pytest.approx(want, rel=0.015)
    assert abs(angle) < 0.5 * start if speed > 0 else abs(angle) > 2 * start


def test_restore_brings_back_the_targets_of_driven_pivots() -> None:
    """From a snapshot the arm seeks the angle that it sought then, and takes the same way."""
    w = load_world(text=arm('kp="40" kd="20" target_angle_deg="60"'))
    elbow = w.pivots["elbow"]
    elbow.target = math.radians(35)
    w.run(0.4)
    snapshot = w.state()
    way = []
    for _ in range(100):
        w.step()
        way.append((elbow.angle, elbow.torque))
    elbow.target = math.radians(-80)
    w.run(0.4)
    w.restore(snapshot)
    elbow = w.pivots["elbow"]
    assert elbow.target == math.radians(35)
    again = []
    for _ in range(100):
        w.step()
        again.append((elbow.angle, elbow.torque))
    assert again == way


def two_blocks(mu: tuple[float, float], vel: str = "0 0 0", dt: float = 0.005) -> World:
    """Return an island of blocks of 10 and 30 kg, 1 m apart, which both move at first."""
    blocks = block("a", "0 0 0", vel, mass=10.0, mu=mu[0], size=0.4)
    blocks += block("b", "1 0.3 0", vel, mass=30.0, mu=mu[1], size=0.4)
    w = load_world(text=world(blocks, dt=dt))
    w.weld("a", "b")
    return w


@pytest.mark.parametrize("dt", [0.001, 0.01])
def test_an_island_of_blocks_slides_straight(dt: float) -> None:
    """Of one friction: v²/(2 µ g) without a turn, whichever block leads."""
    w = two_blocks((0.3, 0.3), "1 0.5 0", dt)
    w.run(1.0)
    p = w.blocks["a"].pose
    way = math.hypot(1.0, 0.5) / (2.0 * 0.3 * 9.81)
    assert (p.x, p.y, p.yaw) == pytest.approx((way, 0.5 * way, 0.0), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("dt", [0.001, 0.01])
def test_each_block_of_an_island_has_its_own_friction(dt: float) -> None:
    """Pushed amid the friction of both with 0.95 of it the island stands, with 1.05 it moves."""
    w = two_blocks((0.5, 0.1), dt=dt)
    a = w.blocks["a"]
    grip = (0.5 * 10.0 + 0.1 * 30.0) * 9.81
    place = (0.1 * 30.0 * 1.0 / 8.0, 0.1 * 30.0 * 0.3 / 8.0)
    a.apply_force(0.95 * grip, 0.0, at=place, seconds=0.5)
    w.run(0.5)
    assert (a.pose.x, a.pose.yaw) == (0.0, 0.0)
    state = w.state()
    a.apply_force(1.05 * grip, 0.0, at=place, seconds=0.1)
    w.run(0.1)
    moved = a.pose.x
    assert moved == pytest.approx(0.5 * 0.05 * grip / 40.0 * 0.01, rel=0.3)
    w.restore(state)
    batch = w.replicate(2)
    batch[1].blocks["a"].apply_force(1.05 * grip, 0.0, at=place, seconds=0.1)
    batch.run(0.1)
    assert [copy.blocks["a"].pose.x for copy in batch] == pytest.approx([0.0, moved])
    w.unweld("a", "b")
    own = w.data.entities["a"].model.body
    for field in ("ground_mu", "ground_r", "ground_x", "ground_y"):
        assert w.data.bodies[field][w.data.entities["a"].row] == own[field][0]


def test_a_body_is_not_welded_to_itself() -> None:
    w = load_world(text=world(block("a"), block("b", "3 0 0")))
    with pytest.raises(BuildError, match="expected two bodies, got 'a' twice"):
        w.weld("a", "a")
    w.weld("a", "b")
    w.remove("a")
    w.run(0.1)
    assert w.blocks["b"].mass == 10.0


def welded_pair(name: str, y: float, turn: float) -> tuple[str, ...]:
    """Return two carts side by side, at an angle, so that their wheels work against each other."""
    pid = twist_pid(20, 10, 30)
    return (
        cart(f"{name}1", f"0 {y} 0", controller=pid),
        cart(f"{name}2", f"3 {y} {turn}", controller=pid),
        f'<joint type="weld" body_a="{name}1" body_b="{name}2"/>',
    )


@pytest.mark.parametrize("brake", [False, True], ids=["coupled", "held"])
def test_no_island_depends_on_others_that_go_through_a_step_with_it(brake: bool) -> None:
    """Forces are found again until they no longer change: for each island by itself."""
    pid = twist_pid(20, 10, 30)
    own = (cart("c1", "0 80 0", controller=pid), *welded_pair("a", 0.0, 20.0))
    far = (*welded_pair("b", 40.0, 70.0), cart("c2", "0 120 0", controller=pid))
    alone, together = (load_world(text=world(*own, *more)) for more in ((), far))
    free = load_world(text=world(own[0]))
    for w in (alone, together, free):
        for vehicle in w.vehicles.values():
            vehicle.set_velocity(1.0, 0.4, 0.3)
            vehicle.set_brake(brake)
            if not brake:
                vehicle.set_twist(1.0, 0.0, 0.5)
        for _ in range(60):
            w.step()
    for table in ("bodies", "wheels", "vehicles"):
        rows = [getattr(w.data, table) for w in (free, alone, together)]
        for few, many in pairwise(rows):
            assert differences(few, many[: len(few)], table) == []


@pytest.mark.parametrize("how", ["teleport", "remove"])
def test_members_of_an_island_stand_together_where_the_ground_below_was_changed(how: str) -> None:
    """Before any step, and at rest: in the next one none of them moves."""
    ramp = """<block name="ramp"><geometry type="ramp" lx="8" ly="8" lz="1.6"/>
    <static>true</static><intangible>true</intangible></block>"""
    carts = (cart("a", "3 0 0"), cart("b", "5 0 0"))
    weld = '<joint type="weld" body_a="a" body_b="b"/>'
    w = load_world(text=world(ramp, *carts, weld))
    w.run(0.5)
    assert [v.pose.z for v in w.vehicles.values()] == pytest.approx([0.6, 1.0], abs=0.05)
    if how == "teleport":
        w.teleport("ramp", 0.0, 100.0, 0.0)
    else:
        w.remove("ramp")
    for _ in range(2):
        for vehicle in w.vehicles.values():
            assert (vehicle.pose.z, vehicle.pose.pitch) == pytest.approx((0.0, 0.0), abs=1e-12)
        for field in ("vz", "pitch_rate"):
            assert w.bodies[field] == pytest.approx(0.0, abs=1e-9)
        w.step()


@pytest.mark.parametrize("name", ["a", "b", "load"])
def test_the_velocity_of_a_member_is_that_of_its_island(name: str) -> None:
    """Whichever of them it is set of: all move as one, and no wheel slips in the first step."""
    ice = friction(mu=0.0)
    carts = cart("a", "0 0 0", ground=ice), cart("b", "3 1 40", ground=ice)
    parts = (*carts, block("load", "0 3 -20", mass=5))
    welds = [f'<joint type="weld" body_a="a" body_b="{other}"/>' for other in ("b", "load")]
    w = load_world(text=world(*parts, *welds))
    things = {**w.vehicles, **w.blocks}
    one = things[name]
    one.set_velocity(0.3, -0.2, 0.5)
    assert one.twist == pytest.approx((0.3, -0.2, 0.5))
    x, y, angle = one.pose.x, one.pose.y, one.pose.yaw
    vx = 0.3 * math.cos(angle) + 0.2 * math.sin(angle)
    vy = 0.3 * math.sin(angle) - 0.2 * math.cos(angle)
    for other in things.values():
        c, s = math.cos(other.pose.yaw), math.sin(other.pose.yaw)
        to_x, to_y = vx - 0.5 * (other.pose.y - y), vy + 0.5 * (other.pose.x - x)
        want = c * to_x + s * to_y, c * to_y - s * to_x, 0.5
        assert other.twist == pytest.approx(want), other.name
    for vehicle in w.vehicles.values():
        left, right = vehicle.wheels
        assert left.omega * 0.2 == pytest.approx(vehicle.twist.vx - 0.5 * 0.5)
        assert right.omega * 0.2 == pytest.approx(vehicle.twist.vx + 0.5 * 0.5)
    w.run(w.dt)
    assert (one.pose.x - x, one.pose.y - y) == pytest.approx((vx * w.dt, vy * w.dt), abs=1e-5)
