# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Worlds for the tests of the bridge."""

from pathlib import Path

import numpy as np
from PIL import Image

COURIER = """
<vehicle:class name="courier">
  <dynamics class="differential">
    <l_wheel pos="0 0.2" mass="1" width="0.05" diameter="0.2"/>
    <r_wheel pos="0 -0.2" mass="1" width="0.05" diameter="0.2"/>
    <chassis mass="15" zmin="0.05" zmax="0.4">
      <shape><pt>-0.2 -0.15</pt><pt>-0.2 0.15</pt><pt>0.25 0.1</pt><pt>0.25 -0.1</pt></shape>
    </chassis>
    <controller class="twist_pid"><KP>20</KP><KI>40</KI><max_torque>10</max_torque></controller>
  </dynamics>
  <friction class="default"><mu>0.8</mu></friction>
  {sensors}
</vehicle:class>
"""
LIDAR = """
<sensor class="laser" name="{name}">
  <pose_3d>0.1 0 0.3 30 0 0</pose_3d> <fov_degrees>{fov}</fov_degrees> <nrays>{rays}</nrays>
  <max_range>8</max_range> <sensor_period>{period}</sensor_period>
</sensor>
"""
CAR = """
<vehicle:class name="car">
  <dynamics class="ackermann">
    <rl_wheel pos="-0.4 0.3" mass="4" width="0.1" diameter="0.4"/>
    <rr_wheel pos="-0.4 -0.3" mass="4" width="0.1" diameter="0.4"/>
    <fl_wheel mass="4" width="0.1" diameter="0.4"/> <fr_wheel mass="4" width="0.1" diameter="0.4"/>
    <f_wheels_x>0.4</f_wheels_x> <f_wheels_d>0.6</f_wheels_d>
    <max_steer_ang_deg>35</max_steer_ang_deg>
    <chassis mass="60" zmin="0.1" zmax="0.6">
      <shape><pt>-0.6 -0.3</pt><pt>-0.6 0.3</pt><pt>0.6 0.3</pt><pt>0.6 -0.3</pt></shape>
    </chassis>
    <controller class="twist_front_steer_pid">
      <KP>60</KP><KI>60</KI><max_torque>60</max_torque>
    </controller>
  </dynamics>
  <friction class="default"><mu>0.8</mu></friction>
</vehicle:class>
"""
MAP_YAML = """\
image: map.png
resolution: 0.1
origin: [-5.0, -4.0, 0.0]
negate: 0
occupied_thresh: 0.65
free_thresh: 0.196
"""


def write_map(folder: Path) -> None:
    """Write a map of a walled room, 10 m by 8 m."""
    cells = np.full((80, 100), 254, np.uint8)
    cells[[0, -1], :] = cells[:, [0, -1]] = 0
    Image.fromarray(cells).save(folder / "map.png")
    (folder / "map.yaml").write_text(MAP_YAML)


def one_robot(folder: Path) -> Path:
    """Write a world with one robot that has one lidar, away from the origin, in a mapped room."""
    write_map(folder)
    lidar = LIDAR.format(name="front laser", fov=270, rays=271, period=0.1)
    return _write(
        folder,
        '<element class="occupancy_grid"><file>map.yaml</file></element>'
        + COURIER.format(sensors=lidar)
        + '<vehicle name="r1" class="courier"><init_pose>-2 1 90</init_pose></vehicle>',
    )


def two_robots(folder: Path, fans: list[tuple[int, float]]) -> Path:
    """Write a world with a car and a robot with a lidar for each (rays, fov in degrees)."""
    lidars = "".join(
        LIDAR.format(name=f"laser{i}", fov=fov, rays=rays, period=0.2)
        for i, (rays, fov) in enumerate(fans)
    )
    return _write(
        folder,
        COURIER.format(sensors=lidars)
        + CAR
        + '<vehicle name="zoe" class="courier"><init_pose>0 0 0</init_pose></vehicle>'
        + '<vehicle name="anna" class="car"><init_pose>4 3 0</init_pose></vehicle>',
    )


def _write(folder: Path, content: str) -> Path:
    path = folder / "test.world.xml"
    path.write_text(
        '<mvsim_world version="1.0"><simul_timestep>0.004</simul_timestep>'
        + content
        + "</mvsim_world>"
    )
    return path
