# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""MVSim and other simulators at the same work, in one run on one core.

    python -m benchmarks.peers [--robots 1 10 100 1000] [--json FILE] [--only NAME ...]

Each robot has two wheels and drives a circle (0.5 m/s, 0.5 rad/s; in navground a straight line at
that speed) beside a pillar of its own, with or without a planar lidar of 64 rays and 6 m that is
read at 10 Hz of simulated time. Measured is the processor time of stepping, after some steps that
are not counted. Simulators that make many steps in one call do so: 200, or up to the next scan.
What a step computes differs, and the table says so: `wheels` have torques, friction
and contacts, `kinematic` ones follow their command, `rigid bodies in 3D` have all joints.
A simulator that is not installed is named and left out; each runs in a process of its
own. gymnasium's CartPole has no robots: it shows what an environment of a few numbers costs.

    pip install navground ir-sim mujoco vmas gymnasium   # those that you want to compare
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mvsim_core import World

ROBOTS = (1, 10, 100, 1000)
SPEED, TURN = 0.5, 0.5  # m/s, rad/s
SPACING, PILLAR = 4.0, (1.6, 0.3)  # m: between robots; x from the start and radius of a pillar
RAYS, RANGE, PERIOD = 64, 6.0, 0.1  # of the lidar: number, m, s
RUNS, SECONDS = 4, 0.25  # measurements, and processor time of each at least [s]
ROUND = 200  # steps in one call without a lidar
PATIENCE = 8.0  # expected processor time of 0.1 s simulated above which a size is left out [s]
FINE, COARSE = 0.005, 0.1  # s, steps

#: Makes a number of steps.
Advance = Callable[[int], object]


class Case(NamedTuple):
    """One kind of simulation: what moves the robots, and the time step [s]."""

    physics: str
    dt: float
    make: Callable[[int, int, float], Advance]  # robots, rays, step [s]


def imported(name: str) -> Any:
    """Return a module that need not be installed."""
    return importlib.import_module(name)


def places(robots: int) -> Iterator[tuple[float, float]]:
    """Yield where robots start [m]."""
    side = math.ceil(math.sqrt(robots))
    for k in range(robots):
        yield SPACING * (k % side), SPACING * (k // side)


# ------------------------------------------------------------ MVSim
@dataclass(frozen=True)
class Mvsim:
    """A world of MVSim that makes steps of a length [s]."""

    world: World
    dt: float

    def __call__(self, steps: int) -> None:
        """Make a number of steps."""
        self.world.run(steps * self.dt)


def mvsim(controller: str) -> Callable[[int, int, float], Advance]:
    """Return what makes a world of differential robots with a controller."""

    def make(robots: int, rays: int, dt: float) -> Advance:
        from mvsim_core import load_world

        laser = f"""<sensor class="laser" name="lidar"><fov_degrees>360</fov_degrees>
          <nrays>{rays}</nrays><max_range>{RANGE}</max_range><sensor_period>{PERIOD}</sensor_period>
          <pose_3d>0 0 0.3 0 0 0</pose_3d></sensor>"""
        offset, radius = PILLAR
        parts = [
            f"""<vehicle:class name="robot"><dynamics class="differential">
            <l_wheel pos="0 0.18" mass="0.5" width="0.05" diameter="0.2"/>
            <r_wheel pos="0 -0.18" mass="0.5" width="0.05" diameter="0.2"/>
            <chassis mass="10" zmin="0.05" zmax="0.4"/>{controller}</dynamics>
            {laser if rays else ""}</vehicle:class>"""
        ]
        for x, y in places(robots):
            parts.append(
                f"""<vehicle class="robot"><init_pose>{x} {y} 0</init_pose></vehicle>
                <block><static>true</static><init_pose>{x + offset} {y} 0</init_pose>
                <geometry type="cylinder" radius="{radius}" length="1"/></block>"""
            )
        text = f"<simul_timestep>{dt}</simul_timestep>{''.join(parts)}"
        world = load_world(text=f"<mvsim_world>{text}</mvsim_world>")
        for vehicle in world.vehicles.values():
            vehicle.set_twist(SPEED, wz=TURN)
        return Mvsim(world, dt)

    return make


PID = '<controller class="twist_pid"><KP>5</KP><KI>20</KI><max_torque>8</max_torque></controller>'
IDEAL = '<controller class="twist_ideal"/>'


# ------------------------------------------------------------ others
def each(step: Callable[[], object]) -> Advance:
    """Return what calls a function for each step."""

    def advance(steps: int) -> None:
        for _ in range(steps):
            step()

    return advance


def navground(robots: int, rays: int, dt: float) -> Advance:
    """Discs with the kinematics of two wheels, straight past the pillars, control at 10 Hz."""
    core, sim = imported("navground.core"), imported("navground.sim")
    world = sim.World()
    sensors = []
    for x, y in places(robots):
        kinematics = core.kinematics.TwoWheelsDifferentialDriveKinematics(1.0, 0.36)
        behavior = core.behaviors.DummyBehavior(kinematics, 0.2)
        behavior.optimal_speed = SPEED
        agent = sim.Agent(0.2, behavior, kinematics, None, [], PERIOD)
        agent.position, agent.orientation = (x, y), 0.5 * math.pi
        behavior.target = core.Target.Direction((0.0, 1.0))
        world.add_agent(agent)
        world.add_obstacle(sim.Obstacle((x + PILLAR[0], y), PILLAR[1]))
        if rays:  # this behaviour asks for no sensor: it is read from outside
            lidar = sim.state_estimations.LidarStateEstimation(RANGE, resolution=rays)
            sensors.append((lidar, agent, core.SensingState()))
    world.update(0.0)
    for lidar, agent, state in sensors:
        lidar.prepare(agent, world)
        lidar.prepare_state(state)

    def advance(steps: int) -> None:
        world.run(steps, dt)
        for lidar, agent, state in sensors:
            lidar.update(agent, world, state)

    return advance


def ir_sim(robots: int, rays: int, dt: float) -> Advance:
    """Discs with the kinematics of two wheels; the lidar is cast in each step."""
    irsim = imported("irsim")
    starts = list(places(robots))
    robot: dict[str, Any] = {
        "number": robots,
        "distribution": {"name": "manual"},
        "kinematics": {"name": "diff"},
        "shape": {"name": "circle", "radius": 0.2},
        "state": [[x, y, 0.0] for x, y in starts],
        "vel_max": [1.0, 2.0],
        "vel_min": [-1.0, -2.0],
    }
    if rays:
        lidar = {"name": "lidar2d", "range_max": RANGE, "angle_range": 6.28, "number": rays}
        robot["sensors"] = [lidar]
    obstacle = {
        "number": robots,
        "distribution": {"name": "manual"},
        "shape": {"name": "circle", "radius": PILLAR[1]},
        "state": [[x + PILLAR[0], y, 0.0] for x, y in starts],
    }
    size = SPACING * (math.ceil(math.sqrt(robots)) + 2)
    world = {
        "world": {
            "height": size,
            "width": size,
            "offset": [-SPACING, -SPACING],
            "step_time": dt,
            "sample_time": dt,
        },
        "robot": [robot],
        "obstacle": [obstacle],
    }
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as file:
        file.write(json.dumps(world))  # which is YAML too
    env = irsim.make(file.name, display=False, log_level="ERROR")
    os.unlink(file.name)
    actions = [np.array([[SPEED], [TURN]]) for _ in range(robots)]
    numbers = list(range(robots))
    return each(lambda: env.step(actions, numbers))


MUJOCO_ROBOT = """<body pos="{x} {y} 0.1"><freejoint/>
<geom type="box" size="0.2 0.15 0.1" pos="0 0 0.05" mass="10"/>
<geom type="sphere" size="0.05" pos="0.15 0 -0.05" mass="0.1" condim="1" priority="1"/>
<geom type="sphere" size="0.05" pos="-0.15 0 -0.05" mass="0.1" condim="1" priority="1"/>
<body pos="0 0.18 0"><joint name="l{k}" type="hinge" axis="0 1 0"/>
<geom type="cylinder" size="0.1 0.025" euler="90 0 0" mass="0.5"/></body>
<body pos="0 -0.18 0"><joint name="r{k}" type="hinge" axis="0 1 0"/>
<geom type="cylinder" size="0.1 0.025" euler="90 0 0" mass="0.5"/></body></body>
<geom type="cylinder" size="{radius} 0.5" pos="{px} {y} 0.5"/>"""


def mujoco(robots: int, rays: int, dt: float) -> Advance:
    """Rigid bodies in 3D with wheels on hinges, driven by velocity servos."""
    mj = imported("mujoco")
    offset, radius = PILLAR
    bodies = "".join(
        MUJOCO_ROBOT.format(x=x, y=y, k=k, px=x + offset, radius=radius)
        for k, (x, y) in enumerate(places(robots))
    )
    motors = "".join(
        f'<velocity joint="{side}{k}" kv="1"/>' for k in range(robots) for side in "lr"
    )
    model = mj.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{dt}" integrator="implicitfast"/><worldbody>
        <geom type="plane" size="0 0 1"/>{bodies}</worldbody>
        <actuator>{motors}</actuator></mujoco>"""
    )
    data = mj.MjData(model)
    left, right = ((SPEED + side * 0.18 * TURN) / 0.1 for side in (-1.0, 1.0))
    data.ctrl[:] = np.tile([left, right], robots)
    angle = 2.0 * math.pi * np.arange(max(rays, 1)) / max(rays, 1)
    around = np.column_stack((np.cos(angle), np.sin(angle), np.zeros(len(angle))))
    found, far = np.zeros(rays, np.int32), np.zeros(rays)
    own = [1 + 3 * k for k in range(robots)]

    def advance(steps: int) -> None:
        mj.mj_step(model, data, steps)
        for body in own if rays else ():
            way = (around @ data.xmat[body].reshape(3, 3).T).ravel()
            place = data.xpos[body] + (0.0, 0.0, 0.2)
            mj.mj_multiRay(model, data, place, way, None, 1, body, found, far, None, rays, RANGE)

    return advance


def vmas(robots: int, rays: int, dt: float) -> Advance:
    """As many environments of one disc, in one batch of tensors; its lidar is cast each step."""
    torch, core = imported("torch"), imported("vmas.simulator.core")
    diff_drive = imported("vmas.simulator.dynamics.diff_drive").DiffDrive
    lidar = imported("vmas.simulator.sensors").Lidar
    torch.set_num_threads(1)

    class Circles(imported("vmas.simulator.scenario").BaseScenario):  # type: ignore[misc]
        def make_world(self, batch_dim: int, device: Any, **_: Any) -> Any:
            world = core.World(batch_dim, device, dt=dt)
            lidars = [lidar(world, n_rays=rays, max_range=RANGE)] if rays else []
            shape, drive = core.Sphere(0.2), diff_drive(world)
            world.add_agent(core.Agent("robot", shape=shape, dynamics=drive, sensors=lidars))
            world.add_landmark(core.Landmark("pillar", shape=core.Sphere(PILLAR[1])))
            return world

        def reset_world_at(self, env_index: int | None = None) -> None:
            place = torch.tensor([PILLAR[0], 0.0])
            self.world.landmarks[0].set_pos(place, batch_index=env_index)

        def reward(self, agent: Any) -> Any:
            return torch.zeros(self.world.batch_dim)

        def observation(self, agent: Any) -> Any:
            parts = [agent.state.pos, agent.state.rot, *(s.measure() for s in agent.sensors)]
            return torch.cat(parts, dim=-1)

    env = imported("vmas").make_env(
        Circles(), num_envs=robots, device="cpu", continuous_actions=True
    )
    actions = [torch.tensor([SPEED, TURN]).repeat(robots, 1)]
    return each(lambda: env.step(actions))


def cart_poles(robots: int, rays: int, dt: float) -> Advance:
    """CartPole, vectorised by gymnasium; no robots and no sensors."""
    import gymnasium

    envs = gymnasium.make_vec(
        "CartPole-v1", num_envs=robots, vectorization_mode="vector_entry_point"
    )
    envs.reset(seed=0)
    actions = np.zeros(robots, np.int64)
    return each(lambda: envs.step(actions))


#: Package -> cases.
PEERS: dict[str, tuple[Case, ...]] = {
    "mvsim_core": (
        Case("wheels", FINE, mvsim(PID)),
        Case("kinematic", FINE, mvsim(IDEAL)),
        Case("kinematic", COARSE, mvsim(IDEAL)),
    ),
    "navground": (Case("kinematic", FINE, navground), Case("kinematic", COARSE, navground)),
    "ir-sim": (Case("kinematic", FINE, ir_sim), Case("kinematic", COARSE, ir_sim)),
    "mujoco": (Case("rigid bodies in 3D", FINE, mujoco),),
    "vmas": (Case("kinematic, batch", COARSE, vmas),),
    "gymnasium": (Case("cart and pole", 0.02, cart_poles),),
}
#: Those without a lidar, and those that cast it in each step.
WITHOUT_LIDAR, EACH_STEP = ("gymnasium",), ("ir-sim", "vmas")


def measure(
    make: Callable[[int, int, float], Advance], robots: int, rays: int, dt: float
) -> float:
    """Return the processor time of a step [s]: the best of some runs, as others may disturb."""
    advance = make(robots, rays, dt)
    round_ = max(1, round(PERIOD / dt)) if rays else 1  # steps from one scan to the next
    advance(round_)
    if not rays:
        start = process_time()
        advance(1)
        round_ = ROUND if process_time() - start < SECONDS / ROUND else 1
    best = math.inf
    for _ in range(RUNS):
        steps, start = 0, process_time()
        while process_time() - start < SECONDS:
            advance(round_)
            steps += round_
        best = min(best, (process_time() - start) / steps)
    return best


def rows_of(peer: str, counts: list[int]) -> list[dict[str, Any]]:
    """Measure one simulator."""
    rows: list[dict[str, Any]] = []
    for case in PEERS[peer]:
        for rays in (0,) if peer in WITHOUT_LIDAR else (0, RAYS):
            if rays and peer in EACH_STEP and case.dt < PERIOD:
                continue  # it would be cast at another rate than that of the others
            cost, before = 0.0, 1
            for robots in counts:
                if cost * (robots / before) ** 2 * PERIOD / case.dt > PATIENCE:
                    break
                cost, before = measure(case.make, robots, rays, case.dt), robots
                rows.append(
                    {
                        "package": peer,
                        "version": version(peer),
                        "physics": case.physics,
                        "dt": case.dt,
                        "rays": rays,
                        "robots": robots,
                        "microseconds_per_step": 1e6 * cost,
                        "processor_seconds_per_simulated_second": cost / case.dt,
                        "robot_steps_per_second": robots / cost,
                    }
                )
    return rows


def in_process(peer: str, counts: list[int]) -> list[dict[str, Any]]:
    """Measure one simulator in a process of its own; say why there is no result."""
    try:
        found = version(peer)
    except PackageNotFoundError:
        print(f"{peer}: not installed, left out", file=sys.stderr)
        return []
    print(f"{peer} {found}: measuring", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.json"
        command = [sys.executable, "-m", "benchmarks.peers", "--in-process", peer]
        command += ["--json", str(file), "--robots", *map(str, counts)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode or not file.exists():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            print(f"{peer} {found}: failed: {last}", file=sys.stderr)
            return []
        rows: list[dict[str, Any]] = json.loads(file.read_text())["rows"]
        return rows


def table(rows: list[dict[str, Any]], rays: int) -> str:
    """Return processor seconds a simulated second as a table of Markdown."""
    counts = sorted({row["robots"] for row in rows})
    kinds: dict[tuple[str, str, str, float], dict[int, float]] = {}
    for row in rows:
        if row["rays"] == rays:
            key = (row["package"], row["version"], row["physics"], row["dt"])
            cost = row["processor_seconds_per_simulated_second"]
            kinds.setdefault(key, {})[row["robots"]] = cost
    lines = [
        "| simulator | what moves | step [ms] | " + " | ".join(f"{n:,}" for n in counts) + " |"
    ]
    lines.append("|---|---|---:|" + "---:|" * len(counts))
    for (package, number, physics, dt), costs in kinds.items():
        cells = [f"{costs[n]:.2g}" if n in costs else "" for n in counts]
        head = f"| {package} {number} | {physics} | {1e3 * dt:g} | "
        lines.append(head + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print tables, write JSON."""
    parser = argparse.ArgumentParser(description="simulators at the same work")
    parser.add_argument("--robots", type=int, nargs="+", default=list(ROBOTS))
    parser.add_argument("--only", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--in-process", choices=list(PEERS), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    if given.in_process:
        rows = rows_of(given.in_process, given.robots)
    else:
        rows = [row for peer in given.only for row in in_process(peer, given.robots)]
        print(f"{platform.processor() or platform.machine()}, one core, Python", end=" ")
        print(f"{platform.python_version()}: processor seconds a simulated second\n")
        for rays in (0, RAYS):
            print(f"{f'{rays} rays at 10 Hz' if rays else 'no lidar'}, by number of robots:\n")
            print(table(rows, rays) + "\n")
    if given.json is not None:
        given.json.write_text(json.dumps({"machine": platform.platform(), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
