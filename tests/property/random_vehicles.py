# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random vehicles without motors, of each dynamics class and friction model, and their energy.

    python -m tests.property.random_vehicles 10000
    python -m tests.property.random_vehicles 1000 20
    python -m tests.property.random_vehicles 1000 crowd

runs so many worlds, on a slope of so many degrees, or among blocks, walls and another vehicle, and
prints the largest growth of energy in a step. It is relative to the energy of motion; on a slope,
that from a tenth of a metre above.
"""

from __future__ import annotations

import math
import re
import sys
import warnings

import numpy as np

from mvsim_core import World, load_world
from mvsim_core.state.arrays import DYNAMIC
from tests.physics.test_slopes import incline
from tests.physics.worlds import block

GRAVITY = 9.81
CLASSES = (
    "differential",
    "differential_3_wheels",
    "differential_4_wheels",
    "ackermann",
    "ackermann_drivetrain",
    "wheels",
    "mecanum",
)
MODELS = ("default", "circle", "wardiagnemma", "ward circle", "ellipse")
STEPS = 60
#: Energy of a vehicle that is as good as at rest [J].
REST = 1e-9


def sample(seed: int, slope: float = 0.0) -> str:
    """Return a random world, on a slope [degrees] up along x.

    Seeds that follow each other go through classes and models.
    """
    rng = np.random.default_rng(seed)
    kind = CLASSES[seed % len(CLASSES)]
    models = [m for m in MODELS if kind != "mecanum" or m != "ellipse"]
    model = models[seed // len(CLASSES) % len(models)]
    dt = float(rng.choice([0.001, 0.002, 0.005, 0.01, 0.02]))
    speed = 10.0 ** rng.uniform(-2.5, 0.7)
    vx, vy = speed * rng.normal(size=2)
    turn = math.degrees(speed * rng.normal() * 2.0)
    return f"""<mvsim_world version="1.0"><simul_timestep>{dt}</simul_timestep>
      <gravity>{GRAVITY}</gravity>{incline(slope) if slope else ""}
      <vehicle name="r1"><init_pose>0 0 {rng.uniform(-180, 180):.3f}</init_pose>
      <init_vel>{vx} {vy} {turn}</init_vel>
      {_dynamics(rng, kind, model)}{_friction(rng, model)}
      </vehicle></mvsim_world>"""


def crowd(seed: int) -> str:
    """Return the random world of a seed with one to five blocks, perhaps a vehicle and a wall."""
    rng = np.random.default_rng((seed, 1))
    text, things = sample(seed), ""
    if rng.integers(2):
        x, y = rng.uniform(-1.2, 1.2, 2)
        other = sample(seed + int(rng.integers(1, len(CLASSES))))
        other = other[other.index("<vehicle") : other.index("</mvsim_world>")]
        things = re.sub(r"<init_pose>\S+ \S+", f"<init_pose>{x} {y}", other.replace("r1", "r2"))
    for k in range(int(rng.integers(1, 6))):
        x, y, yaw = rng.uniform((-1.2, -1.2, -180), (1.2, 1.2, 180))
        speed = 10.0 ** rng.uniform(-2.0, 0.5)
        vx, vy, turn = speed * rng.normal(size=3)
        rubs = f"<lateral_friction>{rng.choice([0.0, 0.3, 1.0])}</lateral_friction>"
        things += block(
            f"b{k}",
            f"{x} {y} {yaw}",
            f"{vx} {vy} {math.degrees(turn)}",
            mass=10.0 ** rng.uniform(-0.5, 2.0),
            mu=float(rng.choice([0.0, 0.1, 0.5])),
            restitution=float(rng.choice([0.0, 0.3, 1.0])),
            size=float(rng.uniform(0.1, 0.6)),
        ).replace("<lateral_friction>0</lateral_friction>", rubs)
    if rng.integers(2):
        y0, y1 = rng.uniform(-1.5, 1.5, 2)
        things += f"""<element class="vertical_plane">
          <x0>-9</x0><y0>{y0}</y0><x1>9</x1><y1>{y1}</y1></element>"""
    return text.replace("</mvsim_world>", things + "</mvsim_world>")


def _dynamics(rng: np.random.Generator, kind: str, model: str) -> str:
    long, wide = rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.5)
    light = rng.uniform(0.05, 2.0)

    def wheel(tag: str, x: float, y: float, more: str = "") -> str:
        mass, diameter = light * rng.uniform(0.5, 2.0), rng.uniform(0.08, 0.4)
        return (
            f'<{tag} pos="{x} {y} {more and rng.uniform(-180, 180)}" mass="{mass}" width="0.05"'
            f' diameter="{diameter}" {more}/>'
        )

    if kind == "mecanum":
        wheels = ""
    elif kind == "wheels":
        known = ["standard"] if model == "ellipse" else ["standard", "omni", "mecanum"]
        types = [f'type="{rng.choice(known)}"' for _ in range(rng.integers(3, 7))]
        wheels = "".join(
            wheel("wheel", *rng.uniform(-0.5, 0.5, 2).tolist(), more=more) for more in types
        )
    elif kind.startswith("ackermann"):
        tags = (("rl", 0, wide), ("rr", 0, -wide), ("fl", long, wide), ("fr", long, -wide))
        wheels = "".join(wheel(f"{n}_wheel", x, y) for n, x, y in tags)
        wheels += f"<f_wheels_x>{2 * long}</f_wheels_x><f_wheels_d>{2 * wide}</f_wheels_d>"
    elif kind == "differential_4_wheels":
        tags = (
            ("lr", -long, wide),
            ("rr", -long, -wide),
            ("lf", long, wide),
            ("rf", long, -wide),
        )
        wheels = "".join(wheel(f"{n}_wheel", x, y) for n, x, y in tags)
    else:
        wheels = wheel("l_wheel", 0, wide) + wheel("r_wheel", 0, -wide)
        if kind == "differential_3_wheels":
            wheels += wheel("caster_wheel", -2 * long, 0)
    a, b = rng.uniform(0.05, 0.6), rng.uniform(0.05, 0.5)
    x, y = rng.uniform(-0.1, 0.1, 2)
    damping = rng.choice([0.0, 0.1])
    transfer = bool(rng.integers(2)) and kind not in ("differential", "wheels")
    return f"""<dynamics class="{kind}">{wheels}
      <weight_transfer>{str(transfer).lower()}</weight_transfer>
      <chassis mass="{rng.uniform(0.5, 60)}" zmin="0.05" zmax="0.4"
        linear_damping="{damping}" angular_damping="{damping}"><com>{x} {y}</com>
      <shape><pt>-{a} -{b}</pt><pt>-{a} {b}</pt><pt>{a} {b}</pt><pt>{a} -{b}</pt></shape></chassis>
      <controller class="raw"/></dynamics>"""


def _friction(rng: np.random.Generator, model: str) -> str:
    kind = {"circle": "default", "ward circle": "wardiagnemma"}.get(model, model)
    damping, rolling = rng.choice([0.0, 1e-4]), rng.choice([0.0, 0.01, 0.05])
    more = f"<C_damping>{damping}</C_damping><C_rr>{rolling}</C_rr>"
    if model != "ellipse":
        more += f"<mu>{rng.uniform(0.05, 1.0)}</mu>"
    if "circle" in model:
        more += "<friction_circle>true</friction_circle>"
    return f'<friction class="{kind}">{more}</friction>'


def energy(world: World, slope: float) -> tuple[float, float]:
    """Return energy of motion and of height [J] of r1 on a slope [degrees], wheels included.

    Casters spin along without energy. Speeds are those along the ground.
    """
    entity = world.data.entities["r1"]
    b = world.bodies[entity.row]
    wheels = world.data.wheels[entity.wheel0 : entity.wheel0 + entity.n_wheels]
    rise = math.tan(math.radians(slope))
    body = 0.5 * b["mass"] * (b["cvx"] ** 2 * (1.0 + rise * rise) + b["cvy"] ** 2)
    body += 0.5 * b["inertia"] * b["wz"] ** 2
    spins = wheels["inertia"] * wheels["omega"] ** 2 * (wheels["caster"] == 0)
    x = b["x"] + math.cos(b["yaw"]) * b["com_x"] - math.sin(b["yaw"]) * b["com_y"]
    return float(body + 0.5 * spins.sum()), float(b["mass"] * GRAVITY * x * rise)


def crowd_growth(seed: int) -> tuple[float, int]:
    """Return the largest growth of energy in a step of a crowd, and the contacts of all steps."""
    world = load_world(text=crowd(seed))
    last, worst, contacts = _crowd_energy(world), -math.inf, 0
    for _ in range(STEPS):
        world.step()
        now = _crowd_energy(world)
        worst = max(worst, (now - last) / max(last, REST))
        contacts += len(world.contacts)
        last = now
    return worst, contacts


def _crowd_energy(world: World) -> float:
    """Return the energy of motion of all bodies and wheels on level ground [J]."""
    b = world.data.bodies[world.data.bodies["kind"] == DYNAMIC]
    motion = b["mass"] * (b["cvx"] ** 2 + b["cvy"] ** 2) + b["inertia"] * b["wz"] ** 2
    w = world.data.wheels[(world.data.wheels["body"] >= 0) & (world.data.wheels["caster"] == 0)]
    return 0.5 * float(motion.sum() + (w["inertia"] * w["omega"] ** 2).sum())


def growth(seed: int, slope: float = 0.0) -> float:
    """Return the largest growth of energy in a step of a world, relative to its energy."""
    world = load_world(text=sample(seed, slope))
    last = energy(world, slope)
    worst = -math.inf
    above = REST if slope == 0.0 else 0.1 * world.vehicles["r1"].mass * GRAVITY
    for _ in range(STEPS):
        world.step()
        now = energy(world, slope)
        worst = max(worst, (sum(now) - sum(last)) / max(last[0], above))
        last = now
    return worst


def main(count: int, where: str = "0") -> None:
    """Print the worst worlds."""
    warnings.simplefilter("ignore")  # of wheels that lift, and of overlaps
    found = []
    for seed in range(count):
        worst = crowd_growth(seed)[0] if where == "crowd" else growth(seed, float(where))
        found.append((worst, seed))
    found.sort(reverse=True)
    grown = sum(worst > 1e-9 for worst, _ in found)
    print(f"{count} worlds, energy grows beyond 1e-9 in {grown}")  # noqa: T201
    for worst, seed in found[:12]:
        print(f"  seed {seed:5d} {CLASSES[seed % len(CLASSES)]:22s} {worst:+.2e}")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:3])
