# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scans of the lidars of many copies are equal to those of single worlds."""

from __future__ import annotations

import numpy as np

from mvsim_core import load_world
from mvsim_core.sensors.lidar_scans import LidarScans
from tests.physics.worlds import block, cart, twist_pid, world

LASER = """<sensor class="laser" name="eye"><nrays>41</nrays><fov_degrees>360</fov_degrees>
  <sensor_period>0.05</sensor_period><range_std_noise>0.02</range_std_noise>
  <angle_std_noise_deg>0.3</angle_std_noise_deg><pose_3d>0 0 0.3 0 0 0</pose_3d></sensor>"""
TEXT = world(
    cart(controller=twist_pid(60, 30, 80), extra=LASER),
    block("b", "2.5 0.4 0", mass=3),
    block("c", "-1.5 -1.2 0.3"),
)
COUNT = 150  # more than are cast together


def test_scans_of_copies_equal_those_of_single_worlds() -> None:
    base = load_world(text=TEXT)
    sensor, row = base.vehicles["r1"].sensors["eye"], base.data.entities["r1"].row
    base.remove_sensors()
    batch = base.replicate(COUNT)
    copies = np.arange(COUNT)
    rows = row + len(base.data.bodies) * copies
    scans = LidarScans(sensor, batch.runtime.scene, rows, copies)
    poses = np.column_stack((0.005 * copies, 0.3 - 0.002 * copies, 0.1 * copies))
    batch.place(["r1"], copies, poses[:, None])
    # one tick of every world is compared, at which its lidar is due
    seeds = (7 + copies).astype(np.uint64)
    due = np.array([149, 3, 70])
    single = {}
    for k in due.tolist():
        alone = load_world(text=TEXT, seed=7 + k)
        alone.vehicles["r1"].teleport(*poses[k])
        alone.run(0.05)
        single[k] = alone.vehicles["r1"].sensors["eye"].last
    batch.run(0.05)
    ticks = np.full(COUNT, single[3].tick)
    scans.measure(batch.data.bodies, due, seeds[due], ticks[due])
    for k in due.tolist():
        assert scans.ranges[k].tobytes() == single[k].ranges.tobytes()
    assert np.isinf(scans.ranges[0]).all()  # it was not due
    some = scans.ranges[due].copy()
    scans.measure(batch.data.bodies, copies, seeds, ticks)
    assert scans.ranges[due].tobytes() == some.tobytes()
    assert len({row.tobytes() for row in scans.ranges}) == COUNT


def test_noise_can_differ_from_lidar_to_lidar() -> None:
    base = load_world(text=TEXT.replace("noise_deg>0.3<", "noise_deg>0<"))
    sensor, row = base.vehicles["r1"].sensors["eye"], base.data.entities["r1"].row
    base.remove_sensors()
    batch = base.replicate(2)
    copies = np.arange(2)
    scans = LidarScans(sensor, batch.runtime.scene, row + len(base.data.bodies) * copies, copies)
    scans.range_sigma[:] = 0.0, 0.1
    seeds = np.zeros(2, np.uint64)
    scans.measure(batch.data.bodies, copies, seeds, copies * 0)
    again = scans.ranges.copy()
    scans.measure(batch.data.bodies, copies, seeds, copies * 0 + 1)
    seen = np.isfinite(again).all(axis=0) & np.isfinite(scans.ranges).all(axis=0)
    assert seen.sum() > 5
    assert (scans.ranges[0] == again[0]).all()
    assert 0.02 < np.std(scans.ranges[1, seen] - again[1, seen]) < 0.4
