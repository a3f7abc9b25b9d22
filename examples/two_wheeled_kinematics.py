# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Four ways to limit a two-wheeled robot, driving around one obstacle.

The experiment of "Two-wheeled kinematics" in the navground documentation, run in a world of ours:
wheel speeds alone are limited, accelerations too, motor torques too, or torques that motors reach
with a delay. Prints a table and draws what wheels and motors have to do:

    python examples/two_wheeled_kinematics.py docs/images

Needs matplotlib. Plans with navground's ORCA when navground is installed, otherwise with a planner
that aims past the obstacle.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mvsim_core import Pose, Twist, load_world
from mvsim_core.kinematics import TwoWheelsDiff, TwoWheelsDiffDyn
from mvsim_core.state.arrays import FloatArray

STEPS, DT = 140, 0.1
RADIUS, AXIS, MAX_SPEED = 1.0, 1.0, 1.0
OBSTACLE, OBSTACLE_RADIUS = (5.0, 0.1), 1.0
MARGIN = 0.05  # ORCA would graze the obstacle, which in a world of bodies is a collision
TARGET, TOLERANCE = (10.0, 0.0), 1.0

#: From pose and present twist to a commanded twist, all in SI; the twist in the vehicle frame.
Planner = Callable[[Pose, Twist], Twist]

DYNAMIC = "<max_acceleration>1</max_acceleration><moi>1</moi>"
ALTERNATIVES = {
    "wheel speeds": ("2WDiff", ""),
    "and accelerations": (
        "2WDiff",
        '<modulation class="LimitAcceleration"'
        ' max_acceleration="1" max_angular_acceleration="4"/>',
    ),
    "and motor torques": ("2WDiffDyn", DYNAMIC),
    "and motor controllers": (
        "2WDiffDyn",
        f'{DYNAMIC}<modulation class="MotorController" k="0.2"/>',
    ),
}
COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red")


def disc(radius: float, corners: int) -> str:
    """Return the <shape> of a disc."""
    angles = [math.tau * k / corners for k in range(corners)]
    points = (f"<pt>{radius * math.cos(a)} {radius * math.sin(a)}</pt>" for a in angles)
    return f"<shape>{''.join(points)}</shape>"


def world_text(kind: str, limits: str) -> str:
    """Return a world with one robot and one obstacle."""
    return f"""<mvsim_world version="1.0">
      <simul_timestep>{DT}</simul_timestep>
      <vehicle name="robot">
        <dynamics class="differential">
          <l_wheel pos="0 {AXIS / 2}"/><r_wheel pos="0 {-AXIS / 2}"/>
          <chassis mass="15" zmin="0.05" zmax="0.6">{disc(RADIUS, 24)}</chassis>
          <controller class="twist_ideal"/>
        </dynamics>
        <kinematics class="{kind}">
          <max_speed>{MAX_SPEED}</max_speed><axis>{AXIS}</axis>{limits}
        </kinematics>
        <init_pose>0 0 0</init_pose>
      </vehicle>
      <block name="obstacle">
        {disc(OBSTACLE_RADIUS, 24)}<static>true</static>
        <init_pose>{OBSTACLE[0]} {OBSTACLE[1]} 0</init_pose>
      </block>
    </mvsim_world>"""


def aim_past(pose: Pose, twist: Twist) -> Twist:
    """Plan: head for the target or, if the obstacle is in the way, for the nearer side of it."""
    dx, dy = TARGET[0] - pose.x, TARGET[1] - pose.y
    ox, oy = OBSTACLE[0] - pose.x, OBSTACLE[1] - pose.y
    distance, bearing = math.hypot(ox, oy), math.atan2(oy, ox)
    heading = math.atan2(dy, dx)
    clear = RADIUS + OBSTACLE_RADIUS + 0.15
    shadow = math.asin(min(clear / distance, 1.0))
    off = math.remainder(heading - bearing, math.tau)
    if math.hypot(dx, dy) > distance and abs(off) < shadow:
        heading = bearing + math.copysign(shadow, off)
    error = math.remainder(heading - pose.yaw, math.tau)
    return Twist(MAX_SPEED * max(math.cos(error), 0.0), 0.0, 1.5 * error)


def orca() -> Planner:
    """Return navground's ORCA for a robot with two wheels."""
    from navground import core

    kinematics = core.kinematics.TwoWheelsDifferentialDriveKinematics(
        max_speed=MAX_SPEED, wheel_axis=AXIS
    )
    behavior = core.behaviors.ORCABehavior(kinematics, RADIUS)
    behavior.optimal_speed = MAX_SPEED
    behavior.target = core.Target.Point(TARGET, tolerance=TOLERANCE)
    behavior.safety_margin = MARGIN
    state: Any = behavior.environment_state
    state.static_obstacles = [core.Disc(OBSTACLE, OBSTACLE_RADIUS)]

    def plan(pose: Pose, twist: Twist) -> Twist:
        behavior.pose = core.Pose2((pose.x, pose.y), pose.yaw)
        velocity = (twist.vx * math.cos(pose.yaw), twist.vx * math.sin(pose.yaw))
        behavior.twist = core.Twist2(velocity, twist.wz, frame=core.Frame.absolute)
        command = behavior.compute_cmd(DT, frame=core.Frame.relative)
        return Twist(float(command.velocity[0]), 0.0, float(command.angular_speed))

    return plan


def best_planner() -> tuple[str, Planner]:
    """Return the best planner that is installed, and its name."""
    if importlib.util.find_spec("navground"):
        return "navground's ORCA", orca()
    return "aiming past the obstacle", aim_past


class Run(NamedTuple):
    """What one robot did, one row a step; differences have one row less."""

    time: FloatArray
    at: FloatArray
    wheel_speeds: FloatArray
    acceleration: FloatArray
    forces: FloatArray
    collided: bool

    @property
    def arrival(self) -> float:
        """Time of the arrival [s], NaN if it did not arrive."""
        near = np.hypot(*(self.at - TARGET).T) < TOLERANCE
        return float(self.time[near][0]) if near.any() else math.nan


@dataclass
class _Recorder:
    time: list[float]
    at: list[tuple[float, float]]
    twists: list[Twist]
    collided: bool = False

    def run(self) -> Run:
        """Return the record as arrays, with what wheels and motors had to do."""
        wheels = TwoWheelsDiff(max_speed=MAX_SPEED, axis=AXIS)
        motors = TwoWheelsDiffDyn(max_speed=MAX_SPEED, axis=AXIS, max_acceleration=1.0, moi=1.0)
        speeds = [wheels.wheel_speeds(t) for t in self.twists[1:]]
        pairs = list(zip(self.twists[1:], self.twists, strict=False))
        return Run(
            np.array(self.time),
            np.array(self.at),
            np.array(speeds),
            np.array([((b.vx - a.vx) / DT, (b.wz - a.wz) / DT) for b, a in pairs]),
            np.array([motors.wheel_torques(b, a, DT) for b, a in pairs]),
            self.collided,
        )


def drive(kind: str, limits: str, plan: Planner) -> Run:
    """Drive one robot to the target and return what it did."""
    world = load_world(text=world_text(kind, limits))
    robot = world.vehicles["robot"]
    record = _Recorder([], [], [Twist()])
    for _ in range(STEPS):
        pose = robot.pose
        there = math.hypot(TARGET[0] - pose.x, TARGET[1] - pose.y) < TOLERANCE
        command = Twist() if there else plan(pose, robot.target)
        robot.set_twist(command.vx, 0.0, command.wz)
        world.step()
        record.time.append(world.time)
        record.at.append((robot.pose.x, robot.pose.y))
        record.twists.append(robot.target)
        record.collided = record.collided or robot.in_collision
    return record.run()


def experiment(planner: Callable[[], Planner] | None = None) -> dict[str, Run]:
    """Run all alternatives, each with a fresh planner; None takes the best one."""
    return {
        name: drive(kind, limits, planner() if planner else best_planner()[1])
        for name, (kind, limits) in ALTERNATIVES.items()
    }


def draw(runs: dict[str, Run], folder: Path) -> list[Path]:
    """Draw the comparison into PNG files and return them."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    figures: list[tuple[str, str, Callable[[Any, Run, dict[str, Any]], None]]] = [
        (
            "wheel_speeds",
            "wheel speed [m/s], left dashed",
            lambda ax, r, k: _pair(ax, r, r.wheel_speeds, k),
        ),
        (
            "linear_acceleration",
            "linear acceleration [m/s²]",
            lambda ax, r, k: ax.plot(r.time, r.acceleration[:, 0], **k),
        ),
        (
            "angular_acceleration",
            "angular acceleration [rad/s²]",
            lambda ax, r, k: ax.plot(r.time, r.acceleration[:, 1], **k),
        ),
        (
            "forces",
            "motor force 2 F / m [m/s²], left dashed",
            lambda ax, r, k: _pair(ax, r, r.forces, k),
        ),
    ]
    files = [_draw_trajectory(pyplot, runs, folder)]
    for stem, label, plot in figures:
        figure, axes = pyplot.subplots(len(runs), 1, figsize=(8, 8), sharex=True)
        for ax, (name, run), colour in zip(axes, runs.items(), COLOURS, strict=True):
            plot(ax, run, {"color": colour, "linewidth": 1.2})
            ax.set_title(name, loc="left", fontsize="small", color=colour)
            ax.grid(alpha=0.3)
            most = 4.0 if stem == "angular_acceleration" else 1.0
            ax.axhspan(-most, most, color="0.5", alpha=0.12, linewidth=0)
        axes[-1].set_xlabel("time [s]")
        figure.supylabel(label)
        files.append(_save(pyplot, figure, folder, stem))
    return files


def _pair(ax: Any, run: Run, values: FloatArray, style: dict[str, Any]) -> None:
    ax.plot(run.time, values[:, 0], linestyle="--", **style)
    ax.plot(run.time, values[:, 1], **style)


def _draw_trajectory(pyplot: Any, runs: dict[str, Run], folder: Path) -> Path:
    figure, ax = pyplot.subplots(figsize=(8, 3.2))
    ax.add_patch(pyplot.Circle(OBSTACLE, OBSTACLE_RADIUS, color="0.6"))
    ax.add_patch(pyplot.Circle(TARGET, TOLERANCE, fill=False, linestyle=":", color="0.4"))
    for (name, run), colour in zip(runs.items(), COLOURS, strict=True):
        ax.plot(*run.at.T, color=colour, linewidth=1.2, label=name)
    ax.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", xlim=(-0.5, 11.5), ylim=(-3.2, 1.6))
    ax.legend(fontsize="small", loc="lower right")
    ax.grid(alpha=0.3)
    return _save(pyplot, figure, folder, "trajectory")


def _save(pyplot: Any, figure: Any, folder: Path, stem: str) -> Path:
    file = folder / f"two_wheeled_{stem}.png"
    figure.tight_layout()
    figure.savefig(file, dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    return file


def main() -> None:
    """Run the experiment, print its table and draw its figures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "two_wheeled_kinematics")
    name, _ = best_planner()
    runs = experiment()
    print(f"planner: {name}\n{'limited are':24}{'arrival':>10}{'speed':>9}{'force':>9}")
    for label, run in runs.items():
        speed, force = np.abs(run.wheel_speeds).max(), np.abs(run.forces).max()
        print(f"{label:24}{run.arrival:8.1f} s{speed:5.2f} m/s{force:9.2f}")
    for file in draw(runs, folder):
        print(file)


if __name__ == "__main__":
    main()
