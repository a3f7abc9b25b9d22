# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Drive a robot without ROS or a window: `python examples/headless.py`."""

from pathlib import Path

from mvsim_core import load_world

world = load_world(Path(__file__).parents[1] / "worlds" / "warehouse.world.xml", seed=0)
robot = next(iter(world.vehicles.values()))
robot.set_twist(vx=0.5, wz=0.2)  # m/s, rad/s
world.run(10.0)  # s
print(f"t = {world.time:.1f} s: {robot.pose}, {robot.twist}")
for sensor in robot.sensors.values():
    print(f"{sensor.name}: last read at {sensor.last.time:.3f} s" if sensor.last else sensor.name)
