# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of docs/physics.md from the models themselves: python docs/make_figures.py.

Every curve is the output of the code that the simulator runs; formulas are drawn only beside it.
Needs matplotlib.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mvsim_core import load_world
from mvsim_core.dynamics.drivetrain import split_torque
from mvsim_core.friction import FRICTION
from mvsim_core.friction.contact import rolling_torque
from mvsim_core.friction.default import ground_drag
from mvsim_core.friction.ellipse import PARAMS, capacities
from mvsim_core.specs import DefaultFrictionSpec, EllipseSpec, WardIagnemmaSpec
from mvsim_core.state.arrays import BODY, Rows
from mvsim_core.world.data import Data

IMAGES = Path(__file__).parent / "images"
MASS, RADIUS, G, DT = 6.0, 0.2, 9.81, 0.005
WEIGHT = MASS * G


def wheel_force(
    spec: Any, vx: float, vy: float, omega: float, torque: float
) -> tuple[float, float]:
    """Return the force on one wheel (6 kg on it, radius 0.2 m) after one call of its model [N]."""
    state = Data()
    state.insert("bodies", np.zeros(1, BODY))
    # the row of a real wheel: what it has besides what is set below belongs to the model
    state.insert("wheels", _wheel_row())
    wheel = state.wheels[0]
    wheel["radius"], wheel["mass"], wheel["inertia"] = RADIUS, 1.0, 0.02
    wheel["carried"], wheel["normal"] = MASS, WEIGHT
    wheel["vx"], wheel["vy"], wheel["omega"], wheel["torque"] = vx, vy, omega, torque
    wheel["region_mu"] = wheel["region_c_rr"] = math.nan
    FRICTION.get(spec.kind)([spec], np.zeros(1, np.int64)).apply(state, G, DT)
    return float(wheel["fx"]), float(wheel["fy"])


@cache
def _wheel_row() -> Rows:
    """Return (1,) the wheel of a robot that stands at the origin."""
    (robot,) = load_world(text=_robot('<friction class="default"/>', "")).model.entities
    row: Rows = robot.wheels[:1].copy()
    row["body"] = 0
    return row


def default_friction() -> Figure:
    """Draw the Coulomb limits and the rolling resistance of the default model."""
    figure = Figure(figsize=(12.0, 3.8), layout="constrained")
    along, across, rolling = figure.subplots(1, 3)
    torques = np.linspace(-20.0, 20.0, 201)
    speeds = np.linspace(-0.06, 0.06, 241)
    for mu in (0.2, 0.5, 0.8):
        spec = DefaultFrictionSpec(mu=mu, c_damping=0.0)
        along.plot(torques, [wheel_force(spec, 1.0, 0.0, 5.0, t)[0] for t in torques])
        across.plot(
            speeds, [wheel_force(spec, 1.0, v, 5.0, 0.0)[1] for v in speeds], label=f"mu = {mu}"
        )
    _axes(along, "Driving and braking", "motor torque [N m]", "force along the wheel [N]")
    _axes(across, "Side slip, dt = 5 ms", "speed to the left [m/s]", "force to the left [N]")
    omegas = np.linspace(-0.1, 0.1, 201)
    for c_rr in (0.01, 0.02, 0.03):
        torque = [rolling_torque(c_rr, WEIGHT, RADIUS, w) for w in omegas]
        rolling.plot(omegas, torque, label=f"C_rr = {c_rr}")
    _axes(rolling, "Rolling resistance", "spin [rad/s]", "T_rr [N m]")
    return figure


def ward_iagnemma() -> Figure:
    """Draw the drag of the ground, and a coast-down against the integrated formula."""
    figure = Figure(figsize=(12.0, 3.8), layout="constrained")
    drag, smooth, coast = figure.subplots(1, 3)
    for axis, speeds in ((drag, np.linspace(-3, 3, 301)), (smooth, np.linspace(-0.2, 0.2, 301))):
        for r1, r2, a in ((0.0075, 0.02, 50.0), (0.03, 0.0, 50.0), (0.03, 0.0, 10.0)):
            force = [ground_drag(v, WEIGHT, r1, r2, a) for v in speeds]
            axis.plot(speeds, force, label=f"R1 = {r1}, R2 = {r2}, A = {a:g}")
        _axes(axis, "Drag of the ground", "speed [m/s]", "F_rr [N]")
    for r1, r2 in ((0.0075, 0.02), (0.03, 0.05)):
        times, speeds, formula = coast_down(r1, r2)
        coast.plot(times, speeds, label=f"R1 = {r1}, R2 = {r2}")
        coast.plot(times, formula, "k:", lw=2.0, label="formula" if r1 == 0.03 else None)
    _axes(coast, "Coast-down from 2 m/s", "time [s]", "speed [m/s]")
    return figure


def coast_down(r1: float, r2: float) -> tuple[Any, Any, Any]:
    """Return times, simulated speeds, and those of the formula, of a robot that rolls out."""
    ground = WardIagnemmaSpec(r1=r1, r2=r2)
    text = _robot(
        f"""<friction class="wardiagnemma"><mu>0.8</mu><C_damping>0</C_damping>
        <R1>{r1}</R1><R2>{r2}</R2></friction>""",
        "<init_vel>2 0 0</init_vel>",
    )
    world = load_world(text=text)
    robot = world.vehicles["r1"]
    effective = 1.0 + 2 * 0.5 * 4.0 / 23.0  # wheels of 4 kg under 23 kg
    times, speeds, formula, v = [], [], [], 2.0
    for _ in range(int(8.0 / world.dt)):
        world.step()
        v += ground_drag(v, G, ground.r1, ground.r2, ground.a_roll) / effective * world.dt
        times.append(world.time)
        speeds.append(robot.twist.vx)
        formula.append(v)
    return times, speeds, formula


def ellipse() -> Figure:
    """Draw the capacities over slip, and the set of forces that they span."""
    figure = Figure(figsize=(12.0, 3.8), layout="constrained")
    along, across, both = figure.subplots(1, 3)
    spec = EllipseSpec()
    row = np.zeros(1, PARAMS)[0]
    row["c_alpha"], row["c_s"] = spec.c_alpha, spec.c_s
    row["alpha_sat"], row["s_sat"] = spec.slip_angle_saturation, spec.slip_ratio_saturation
    row["c_alpha_s"], row["c_s_alpha"] = spec.c_alpha_s, spec.c_s_alpha
    slips = np.linspace(-0.25, 0.25, 301)
    for other in (0.0, 0.05, 0.1):
        fx = [math.copysign(capacities(row, WEIGHT, other, s)[0], s) for s in slips]
        fy = [math.copysign(capacities(row, WEIGHT, a, other)[1], a) for a in slips]
        along.plot(slips, fx, label=f"slip angle {other} rad")
        across.plot(slips, fy, label=f"slip ratio {other}")
    _axes(along, "Longitudinal capacity", "slip ratio [1]", "F_x max [N]")
    _axes(across, "Lateral capacity", "slip angle [rad]", "F_y max [N]")
    for part in (0.25, 0.5, 1.0):
        angles = np.linspace(0.0, 2.0 * math.pi, 361)
        points = [
            capacities(row, WEIGHT, 0.1 * part * math.sin(t), 0.1 * part * math.cos(t))
            for t in angles
        ]
        x = [math.copysign(p[0], math.cos(t)) for p, t in zip(points, angles, strict=True)]
        y = [math.copysign(p[1], math.sin(t)) for p, t in zip(points, angles, strict=True)]
        both.plot(x, y, label=f"{part:g} of saturation")
    both.set_aspect("equal", adjustable="datalim")
    _axes(both, "Combined slip", "F_x max [N]", "F_y max [N]")
    return figure


def torsen() -> Figure:
    """Draw the share of one shaft over the ratio of speeds."""
    figure = Figure(figsize=(8.0, 3.8), layout="constrained")
    even, uneven = figure.subplots(1, 2)
    speeds = np.linspace(0.0, 30.0, 601)
    for axis, split in ((even, 0.5), (uneven, 0.3)):
        for bias in (0.0, 1.5, 3.0):
            share = [split_torque(w, 10.0, bias, split) for w in speeds]
            axis.plot(speeds, share, label=f"bias {bias:g}" if bias else "open")
        _axes(axis, f"Split {split}, other shaft at 10 rad/s", "shaft speed [rad/s]", "share [1]")
    return figure


def slopes() -> Figure:
    """Draw how robots without torque accelerate on slopes, and the formulas."""
    figure = Figure(figsize=(8.0, 3.8), layout="constrained")
    held, free = figure.subplots(1, 2)
    angles = np.arange(2.0, 46.0, 4.0)
    for mu in (0.3, 0.6):
        measured = [downhill(math.radians(a), mu, hold=True) for a in angles]
        (line,) = held.plot(angles, measured, "o", ms=4, label=f"mu = {mu}")
        fine = np.radians(np.linspace(0, 45, 200))
        formula = np.maximum(G * (np.sin(fine) - mu * np.cos(fine)), 0.0)
        held.plot(np.degrees(fine), formula, color=line.get_color(), lw=0.8)
    measured = [downhill(math.radians(a), 1.5, hold=False) for a in angles]
    free.plot(angles, measured, "o", ms=4, label="simulated")
    fine = np.linspace(0, 45, 200)
    free.plot(fine, G * np.sin(np.radians(fine)) / (1.0 + 4.0 / 23.0), lw=0.8, label="formula")
    _axes(held, "slope_hold: stands, then slides", "slope [deg]", "acceleration [m/s²]")
    _axes(free, "without: wheels roll", "slope [deg]", "acceleration [m/s²]")
    return figure


def downhill(angle: float, mu: float, *, hold: bool) -> float:
    """Return the acceleration along a slope of a robot that is let go [m/s²]."""
    rise = 100.0 * math.tan(angle)
    ground = f"""<element class="elevation_map"><resolution>200</resolution>
      <elevation_data_matrix>[{-rise} {-rise}; {rise} {rise}]</elevation_data_matrix></element>"""
    friction = f"""<friction class="default"><mu>{mu}</mu><C_damping>0</C_damping>
      <slope_hold>{str(hold).lower()}</slope_hold></friction>"""
    world = load_world(text=_robot(friction, "", ground))
    world.run(1.0)
    return -world.vehicles["r1"].twist.vx


def _robot(friction: str, more: str, ground: str = "") -> str:
    return f"""<mvsim_world><simul_timestep>0.002</simul_timestep>{ground}<vehicle name="r1">
      <init_pose>0 0 0</init_pose><dynamics class="differential">
      <l_wheel pos="0 0.5" mass="4" width="0.1" diameter="0.4"/>
      <r_wheel pos="0 -0.5" mass="4" width="0.1" diameter="0.4"/>
      <chassis mass="15" linear_damping="0" angular_damping="0"><shape><pt>-0.5 -0.4</pt>
      <pt>-0.5 0.4</pt><pt>0.5 0.4</pt><pt>0.5 -0.4</pt></shape></chassis></dynamics>
      {friction}{more}</vehicle></mvsim_world>"""


def _axes(axis: Any, title: str, x: str, y: str) -> None:
    axis.set_title(title, fontsize=10)
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=8)


FIGURES: dict[str, Callable[[], Figure]] = {
    "friction_default.png": default_friction,
    "friction_wardiagnemma.png": ward_iagnemma,
    "friction_ellipse.png": ellipse,
    "torsen.png": torsen,
    "slopes.png": slopes,
}


def main(folder: Path = IMAGES) -> None:
    """Draw all figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        draw().savefig(folder / name, dpi=80)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:]))
