# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random rows of the state's arrays, every field that a kernel reads different from all others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvsim_core.state.arrays import BODY, DYNAMIC, VEHICLE, WHEEL
from mvsim_core.world.data import Data

GRAVITY, DT = 9.81, 0.01


def random_state(seed: int, vehicles: int = 3, wheels_each: int = 4) -> Data:
    """Return vehicles on slopes of up to 20°, turned anyhow, their wheels in any motion."""
    rng = np.random.default_rng(seed)
    count = vehicles * wheels_each
    state = Data()
    state.insert("bodies", np.zeros(vehicles, BODY))
    state.insert("wheels", np.zeros(count, WHEEL))
    state.insert("vehicles", np.zeros(vehicles, VEHICLE))
    bodies, wheels, rows = state.bodies, state.wheels, state.vehicles
    for name in ("x", "y", "yaw", "vx", "vy", "wz", "cvx", "cvy"):
        bodies[name] = rng.normal(0.0, 2.0, vehicles)
    for name in ("com_x", "com_y"):
        bodies[name] = rng.uniform(-0.3, 0.3, vehicles)
    for name in ("mass", "inertia"):
        bodies[name] = rng.uniform(5.0, 50.0, vehicles)
    for name in ("damp_lin", "damp_ang"):
        bodies[name] = rng.uniform(0.0, 2.0, vehicles)
    bodies["kind"], bodies["leader"] = DYNAMIC, -1
    roll, pitch = rng.uniform(-0.35, 0.35, (2, vehicles))
    bodies["roll"], bodies["pitch"] = roll, pitch
    bodies["slope_x"], bodies["slope_y"] = np.sin(pitch), -np.cos(pitch) * np.sin(roll)
    bodies["plan_xx"], bodies["plan_yy"] = np.cos(pitch), np.cos(roll)
    bodies["plan_xy"] = np.sin(pitch) * np.sin(roll)
    wheels["body"] = np.repeat(np.arange(vehicles), wheels_each)
    for name in ("x", "y"):
        wheels[name] = rng.uniform(-1.0, 1.0, count)
    wheels["yaw"] = rng.uniform(-math.pi, math.pi, count)
    wheels["yaw_c"], wheels["yaw_s"] = np.cos(wheels["yaw"]), np.sin(wheels["yaw"])
    for name in ("radius", "mass", "inertia"):
        wheels[name] = rng.uniform(0.1, 2.0, count)
    for name in ("load", "fx", "fy"):
        wheels[name] = rng.uniform(20.0, 90.0, count)
    for name in ("omega", "torque", "tan_grip", "gravity_x", "gravity_y", "phi"):
        wheels[name] = rng.normal(0.0, 3.0, count)
    for name in ("odo_vx", "odo_vy", "odo_wz", "grip_c"):
        wheels[name] = rng.normal(0.0, 1.0, count)
    wheels["region_mu"] = wheels["region_c_rr"] = math.nan
    rows["body"] = np.arange(vehicles)
    rows["wheel0"], rows["n_wheels"] = np.arange(vehicles) * wheels_each, wheels_each
    rows["odo_left"], rows["odo_right"] = rows["wheel0"], rows["wheel0"] + 2
    rows["track"] = wheels["y"][rows["odo_left"]] - wheels["y"][rows["odo_right"]]
    for name in ("chassis_mass", "com_z"):
        rows[name] = rng.uniform(0.3, 20.0, vehicles)
    for name in ("chassis_x", "chassis_y", "odo_x", "odo_y", "odo_yaw"):
        rows[name] = rng.uniform(-0.3, 0.3, vehicles)
    for name in ("odo_kx", "odo_ky", "odo_kyaw"):
        rows[name] = rng.uniform(0.8, 1.2, vehicles)
    return state


def axes_in_plan_view(b: Any) -> np.ndarray[Any, Any]:
    """Return the 2 × 2 matrix whose columns are the axes of a row of BODY in plan view."""
    return np.array([[b["plan_xx"], b["plan_xy"]], [0.0, b["plan_yy"]]])


def turn(angle: float) -> np.ndarray[Any, Any]:
    """Return the 2 × 2 matrix that turns by an angle [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])
