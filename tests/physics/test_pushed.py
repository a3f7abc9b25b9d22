# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is pushed with less than its grip stands; with more, it accelerates by the difference.

A frictionless block of 5 kg pushes with a force, so that all of it passes a contact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from mvsim_core import Vehicle, World, load_world
from mvsim_core.state.arrays import DYNAMIC
from tests.physics.test_slopes import incline
from tests.physics.test_stopping import VEHICLES, G, load, vehicle
from tests.physics.worlds import block, cart, twist_pid, world

PUSHER, MU = 5.0, 0.8
#: Where the pusher comes from: the direction of its push.
SIDES = {"behind": 0.0, "right": 0.5 * math.pi, "front": math.pi, "left": -0.5 * math.pi}
#: Time after which what is pushed has taken the push up, and end of a run [s].
SETTLED, END = 0.25, 0.45


@dataclass
class Push:
    """A robot r1 and a block p that pushes it."""

    world: World
    robot: Vehicle
    angle: float

    @property
    def body(self) -> np.void:
        """The row of BODY of the robot."""
        return self.world.data.bodies[self.world.data.entities["r1"].row]

    def step(self, force: float, seconds: float) -> None:
        """Push for some time."""
        row = self.world.data.entities["p"].row
        for _ in range(round(seconds / self.world.dt)):
            impulse = force * self.world.dt / PUSHER
            self.world.data.bodies["cvx"][row] += impulse * math.cos(self.angle)
            self.world.data.bodies["cvy"][row] += impulse * math.sin(self.angle)
            self.world.step()

    def slip(self) -> float:
        """Return the largest speed of a wheel across its heading [m/s]; casters swivel."""
        b, wheels = self.body, self.world.data.wheels
        fixed = (wheels["body"] == self.world.data.entities["r1"].row) & (wheels["caster"] == 0)
        vx = math.cos(b["yaw"]) * b["vx"] + math.sin(b["yaw"]) * b["vy"]
        vy = -math.sin(b["yaw"]) * b["vx"] + math.cos(b["yaw"]) * b["vy"]
        return max(
            abs(-w["yaw_s"] * (vx - b["wz"] * w["y"]) + w["yaw_c"] * (vy + b["wz"] * w["x"]))
            for w in wheels[fixed]
        )

    def speed(self) -> float:
        """Return the speed of the robot along the push [m/s]."""
        b = self.body
        return float(math.cos(self.angle) * b["cvx"] + math.sin(self.angle) * b["cvy"])

    def grip(self, lengthways: bool) -> float:
        """Return the largest force of the wheels that are locked [N], Coulomb's law for each."""
        total = 0.0
        for k, wheel in enumerate(self.robot.wheels):
            row = self.world.data.wheels[self.world.data.entities["r1"].wheel0 + k]
            most = 0.0 if row["caster"] else MU * (wheel.load + row["mass"] * G)
            brake = math.inf if self.body_braked else float(row["brake"])
            total += min(most, brake / row["radius"]) if lengthways else most
        return total

    @property
    def body_braked(self) -> bool:
        """Whether the parking brake is on."""
        return bool(self.world.data.vehicles["cmd_brake"][0])


def outline(kind: str) -> np.ndarray:
    """Return all corners of a vehicle, wheels included (n, 2) [m]."""
    w = load(vehicle(kind), 0.01)[0]
    return np.concatenate([solid.points for solid in w.data.entities["r1"].model.solids])


def pushed(kind: str, friction: str, side: str, dt: float) -> Push:
    """Return a vehicle with a wide pusher a millimetre from one of its sides."""
    points, angle = outline(kind), SIDES[side]
    far = float((points @ (-math.cos(angle), -math.sin(angle))).max()) + 0.501
    at = f"{-far * math.cos(angle)} {-far * math.sin(angle)} 0"
    w, r = load(vehicle(kind, friction, mu=MU), dt, block("p", at, mass=PUSHER))
    return Push(w, r, angle)


ROLLERS = ("mecanum", "omni")
FRICTION = ("default", "circle", "wardiagnemma")
DTS = (0.001, 0.005, 0.02)
#: Each kind of vehicle from all sides, held by its motors or parked, on different frictions.
CASES = [
    (kind, FRICTION[(k + n) % 3], side, (k + n) % 2 == 0, DTS[(k + 2 * n) % 3])
    for k, kind in enumerate(VEHICLES)
    for n, side in enumerate(SIDES)
]
CASES += [(kind, "ellipse", "right", False, 0.005) for kind in ("differential", "torsen_4wd")]
CASES += [(kind, "ellipse", "front", True, 0.02) for kind in ("rear drive", "wheels")]


@pytest.mark.parametrize(("kind", "friction", "side", "brake", "dt"), CASES)
def test_a_standing_vehicle_pushed_below_its_grip_stands(
    kind: str, friction: str, side: str, brake: bool, dt: float
) -> None:
    """At any step, without a creep: less than 10 nm in 0.2 s, and no speed."""
    push = pushed(kind, friction, side, dt)
    push.robot.set_brake(brake)
    push.world.step()
    # rollers give way in some directions: see the directions of their grips
    share = 0.4 if kind in ROLLERS else 0.7
    force = share * push.grip(lengthways=side in ("behind", "front"))
    push.step(force, SETTLED)
    before = np.array([push.body[name] for name in ("x", "y", "yaw")])
    push.step(force, END - SETTLED)
    after = np.array([push.body[name] for name in ("x", "y", "yaw")])
    assert np.abs(after - before).max() < 1e-8, dt
    assert abs(push.speed()) < 1e-9
    forces = np.array([(w.fx, w.fy) for w in push.robot.wheels]).sum(axis=0)
    assert np.hypot(*forces) == pytest.approx(force, rel=0.02)


#: The caster of the others grips too, or their grip depends on the direction.
BEYOND = [kind for kind in VEHICLES if kind not in (*ROLLERS, "differential_3_wheels")]


def beyond_grip(kind: str, side: str, dt: float) -> tuple[float, float, float]:
    """Push a vehicle with 1.3 of its grip.

    Returns its acceleration and what it should be [m/s²], and how far it turned [rad].
    """
    push = pushed(kind, "default", side, dt)
    push.world.step()
    lengthways = side == "behind"
    grip = push.grip(lengthways)
    push.step(1.3 * grip, SETTLED)
    before, yaw = push.speed(), float(push.body["yaw"])
    push.step(1.3 * grip, END - SETTLED)
    mass = float(push.body["mass"]) + PUSHER
    rows = push.world.data.wheels[push.world.data.wheels["body"] >= 0]
    if lengthways:
        free = rows[rows["brake"] == 0.0]
        mass += float((free["inertia"] / free["radius"] ** 2).sum())
    got = (push.speed() - before) / (END - SETTLED)
    return got, 0.3 * grip / mass, float(push.body["yaw"]) - yaw


@pytest.mark.parametrize("dt", [0.01])
@pytest.mark.parametrize("side", ["behind", "left"])
@pytest.mark.parametrize("kind", BEYOND)
def test_beyond_its_grip_it_accelerates_by_the_difference(kind: str, side: str, dt: float) -> None:
    """(F - grip) / (m + pusher); wheels that no motor holds turn along, with their inertia."""
    got, want, turned = beyond_grip(kind, side, dt)
    assert got == pytest.approx(want, rel=0.02)
    assert abs(turned) < 1e-6


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("kind", [k for k in VEHICLES if k not in ROLLERS])
def test_a_driving_vehicle_pushed_from_the_side_does_not_slip(kind: str, dt: float) -> None:
    """It rolls on, whatever the motors do: no wheel moves across its heading."""
    push = pushed(kind, "default", "right", dt)
    v = 0.3
    push.robot.set_twist(v)
    rows = [push.world.data.entities[name].row for name in ("r1", "p")]
    for field in ("vx", "cvx"):
        push.world.data.bodies[field][rows] = v
    for wheel in push.robot.wheels:
        wheel.omega = v / 0.1
    push.world.step()
    force = 0.5 * push.grip(lengthways=False)
    push.step(force, 0.2)
    for _ in range(5):
        push.step(force, dt)
        assert push.world.contacts
        assert push.robot.twist.vx > 0.2
        assert push.slip() < 1e-5  # F dt / m is 4 mm/s at the least


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01, 0.02])
@pytest.mark.parametrize("count", [1, 4])
def test_a_row_of_blocks_stands_below_its_friction_and_moves_beyond(count: int, dt: float) -> None:
    """Each of 10 kg with mu 0.3; the force passes all of them."""
    grip = count * 0.3 * 10.0 * G
    for share in (0.9, 1.3):
        blocks = "".join(block(f"b{k}", f"{k} 0 0", mu=0.3) for k in range(count))
        w = load_world(text=world(blocks, block("p", "-0.55 0 0", mass=PUSHER, size=0.1), dt=dt))
        row = w.data.entities["p"].row
        places = []
        for k in range(round(1.0 / dt)):
            w.data.bodies["cvx"][row] += share * grip / PUSHER * dt
            w.step()
            if k == round(0.1 / dt):
                start, places = (
                    float(w.data.bodies["cvx"][row]),
                    [b.pose.x for b in w.blocks.values()],
                )
        gain = (float(w.data.bodies["cvx"][row]) - start) / (1.0 - 0.1 - dt)
        if share < 1.0:
            # flush faces settle by micrometres once in a while; a creep is 10 mm/s and more
            assert np.abs(np.subtract([b.pose.x for b in w.blocks.values()], places)).max() < 1e-4
            assert np.abs(w.data.bodies["cvx"]).max() < 1e-5
        else:
            assert gain == pytest.approx(0.3 * grip / (10.0 * count + PUSHER), rel=0.02)


def test_a_robot_pushes_a_block_only_beyond_its_friction() -> None:
    """Motors of 40 N do not move 58.9 N, at any step; against the block they stand."""
    for dt in (0.001, 0.005, 0.02):
        w = load_world(text=world(cart(), block(pose="1.02 0 0", mass=20.0, mu=0.3), dt=dt))
        robot, other = w.vehicles["r1"], w.blocks["b1"]
        robot.set_wheel_torques([4, 4])
        w.run(1.0)
        before = other.pose.x, robot.pose.x
        w.run(1.0)
        assert (other.pose.x, robot.pose.x) == pytest.approx(before, abs=1e-9), dt
        robot.set_wheel_torques([8, 8])
        w.run(1.0)
        assert other.pose.x > before[0] + 0.1


def pushing() -> World:
    """Return a robot that pushes a held robot and a block, in the middle of it."""
    robots = cart("r1", controller=twist_pid()) + cart("r2", "1.05 0.1 90", controller=twist_pid())
    w = load_world(text=world(robots, block(pose="2.1 0 0", mass=20.0, mu=0.3)))
    w.vehicles["r1"].set_twist(0.5)
    w.run(0.5)
    assert w.contacts
    return w


def test_copies_of_a_push_go_on_to_the_byte() -> None:
    """Snapshot and restore, and the copies of a batch."""
    w = pushing()
    kept = w.state()
    batch = w.replicate(2)
    w.run(0.5)
    end = w.state()
    w.restore(kept)
    w.run(0.5)
    assert w.state() == end
    batch.run(0.5)
    for copy in batch:
        state = copy.state()
        assert state.bodies.tobytes() == end.bodies.tobytes()
        assert state.wheels.tobytes() == end.wheels.tobytes()


def test_welds_during_a_push() -> None:
    """A block that is welded to a parked robot while it is pushed stands with it, and after."""
    w = load_world(
        text=world(
            cart("r1", controller=twist_pid()),
            block("b1", "0 1.12 0", mass=10.0, mu=0.5),
            block("p", "0 2.13 0", mass=PUSHER),
        )
    )
    w.vehicles["r1"].set_brake(True)
    row = w.data.entities["p"].row
    for change in (lambda: None, lambda: w.weld("r1", "b1"), lambda: w.unweld("r1", "b1")):
        change()
        for k in range(100):
            w.data.bodies["cvy"][row] -= 100.0 / PUSHER * w.dt
            w.step()
            if k == 60:
                before = [(e.pose.x, e.pose.y) for e in (w.vehicles["r1"], w.blocks["b1"])]
        after = [(e.pose.x, e.pose.y) for e in (w.vehicles["r1"], w.blocks["b1"])]
        assert np.abs(np.subtract(after, before)).max() < 1e-8


@pytest.mark.parametrize("yaw", [0, 90, 37])
@pytest.mark.parametrize("degrees", [10, 25])
def test_a_block_slides_down_a_slope_by_the_difference(degrees: int, yaw: int) -> None:
    """At g (sin - mu cos) along the slope; below tan it stays; it leans as the ground does."""
    angle, dt, seconds = math.radians(degrees), 0.005, 1.0
    for share in (0.0, 0.5, 1.1):
        mu = share * math.tan(angle)
        text = world(incline(degrees), block(pose=f"0 0 {yaw}", mu=mu, size=0.4), dt=dt)
        w = load_world(text=text)
        b = w.data.bodies[w.data.entities["b1"].row]
        assert math.acos(math.cos(b["pitch"]) * math.cos(b["roll"])) == pytest.approx(angle)
        w.run(seconds)
        pull = max(0.0, G * (math.sin(angle) - mu * math.cos(angle))) * math.cos(angle)
        assert b["x"] == pytest.approx(-0.5 * pull * seconds**2, rel=1e-6, abs=1e-9)
        assert abs(b["y"]) < 1e-6
        assert b["z"] == pytest.approx(b["x"] * math.tan(angle), abs=1e-6)


def test_a_block_on_a_slope_is_pushed_up_beyond_weight_and_friction() -> None:
    """Up beyond m g (sin + mu cos), through a contact; below that it stays where it is."""
    angle, mu, dt = math.radians(10), 0.4, 0.005
    for share in (-0.9, 0.9, 1.3):
        # the pusher has no friction: it leans on the block with its own weight
        below = share > 0.0
        pusher = block("p", f"{-0.401 if below else 0.401} 0 0", mass=PUSHER, size=0.4)
        w = load_world(text=world(incline(10), block(mu=mu, size=0.4), pusher, dt=dt))
        row, b = w.data.entities["p"].row, w.data.bodies[w.data.entities["b1"].row]
        friction, weight = 10 * G * mu * math.cos(angle), 10 * G * math.sin(angle)
        own = PUSHER * G * math.sin(angle)
        force = share * (weight + friction) + own
        if not below:  # downhill: friction carries the weight
            force = -0.9 * (friction - weight) + own
        speeds = []
        for k in range(200):
            w.data.bodies["cvx"][row] += force / PUSHER * dt * math.cos(angle)
            w.step()
            if k in (99, 199):
                speeds.append((float(b["cvx"]), float(b["x"])))
        if share < 1.0:
            assert abs(speeds[1][1] - speeds[0][1]) < 1e-8
            continue
        gain = (speeds[1][0] - speeds[0][0]) / (100 * dt) / math.cos(angle)
        assert gain == pytest.approx(0.3 * (weight + friction) / (10 + PUSHER), rel=0.01)


def energy(w: World) -> float:
    """Return the kinetic energy of all bodies [J]."""
    b = w.data.bodies[w.data.bodies["kind"] == DYNAMIC]
    linear = b["mass"] * (b["cvx"] ** 2 + b["cvy"] ** 2)
    return float(0.5 * (linear + b["inertia"] * b["wz"] ** 2).sum())


@pytest.mark.parametrize("seed", range(8))
def test_energy_of_blocks_never_grows(seed: int) -> None:
    """Nine blocks that collide, rub and bounce: within 1e-9 a step, and most of it is lost."""
    rng = np.random.default_rng(seed)
    blocks = ""
    for k in range(9):
        x, y = k % 3 - 1, k // 3 - 1
        vx, vy = rng.normal(0, 0.7, 2) - 1.5 * np.array([x, y])
        blocks += block(
            f"b{k}",
            f"{x} {y} {rng.uniform(0, 90)}",
            f"{vx} {vy} {rng.normal(0, 90)}",
            mass=rng.uniform(1, 30),
            mu=rng.choice([0.02, 0.2, 0.8]),
            restitution=rng.choice([0.0, 0.5]),
            size=0.6,
        )
    w = load_world(text=world(blocks, dt=float(rng.choice([0.001, 0.005, 0.02]))))
    first = last = energy(w)
    touched = 0
    for _ in range(round(0.8 / w.dt)):
        w.step()
        now = energy(w)
        assert now <= last * (1.0 + 1e-9)
        touched += len(w.contacts)
        last = now
    assert touched > 0
    assert last < 0.7 * first


def collided(kind: str, aside: float, dt: float) -> np.ndarray:
    """Return the rows of BODY of two robots of a kind that hit front to front on ice.

    They came with 1.5 and -0.7 m/s, with flush faces, `aside` [m] of each other.
    """
    second = vehicle(kind, mu=0.0, pose=f"1.2 {aside} 180").replace('"r1"', '"r2"')
    w = load_world(text=world(vehicle(kind, mu=0.0), second, dt=dt))
    rows = [w.data.entities[name].row for name in ("r1", "r2")]
    for row, v in zip(rows, (1.5, -0.7), strict=True):
        w.data.bodies["vx"][row] = w.data.bodies["cvx"][row] = v
    hit = 0
    for _ in range(round(0.5 / dt)):
        w.step()
        hit += len(w.contacts)
    assert hit > 0
    return w.data.bodies[rows]


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("kind", ["differential", "rear drive", "mecanum", "omni"])
def test_robots_that_collide_on_ice_keep_their_momentum(kind: str, dt: float) -> None:
    """Front to front with flush faces, head-on and askew: 1e-5, and no spin from flush faces."""
    for aside in (0.0, 0.1):
        b = collided(kind, aside, dt)
        momentum = float(b["mass"][0]) * (1.5 - 0.7)
        assert (b["mass"] * b["cvx"]).sum() == pytest.approx(momentum, rel=1e-5)
        assert abs((b["mass"] * b["cvy"]).sum()) < 1e-5 * momentum
        # two points of flush faces carry the push wherever it passes between them
        spin = b["inertia"] * b["wz"]
        if aside == 0.0:
            assert np.abs(b["wz"]).max() < 1e-9
            assert b["cvx"] == pytest.approx(0.4, abs=0.02)
        x, y = b["x"], b["y"]
        c, s = np.cos(b["yaw"]), np.sin(b["yaw"])
        x, y = x + c * b["com_x"] - s * b["com_y"], y + s * b["com_x"] + c * b["com_y"]
        total = (spin + b["mass"] * (x * b["cvy"] - y * b["cvx"])).sum()
        assert total == pytest.approx(0.7 * aside * float(b["mass"][0]), abs=1e-5 * momentum)
