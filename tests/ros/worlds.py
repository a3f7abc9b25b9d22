# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Worlds for the tests of the bridge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from mvsim_ros2.simulation.simulation import Simulation

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
SENSORS = """
<sensor class="laser" name="scanner"><pose_3d>0.1 0 0.3 0 0 0</pose_3d><nrays>45</nrays>
  <sensor_period>0.1</sensor_period></sensor>
<sensor class="lidar3d" name="top"><pose_3d>0 0 0.6 0 0 0</pose_3d><vert_nrays>4</vert_nrays>
  <horz_nrays>60</horz_nrays><sensor_period>0.1</sensor_period></sensor>
<sensor class="camera" name="eye"><pose_3d>0.2 0 0.4 -90 0 -90</pose_3d>
  <ncols>64</ncols><nrows>48</nrows><cx>31.5</cx><cy>23.5</cy><fx>40</fx><fy>40</fy>
  <sensor_period>0.2</sensor_period></sensor>
<sensor class="rgbd_camera" name="depth cam"><pose_3d>0.25 0 0.4 0 0 0</pose_3d>
  <depth_ncols>40</depth_ncols><depth_nrows>30</depth_nrows><depth_cx>19.5</depth_cx>
  <depth_cy>14.5</depth_cy><depth_fx>30</depth_fx><depth_fy>30</depth_fy>
  <rgb_ncols>40</rgb_ncols><rgb_nrows>30</rgb_nrows><rgb_cx>19.5</rgb_cx><rgb_cy>14.5</rgb_cy>
  <rgb_fx>30</rgb_fx><rgb_fy>30</rgb_fy><sensor_period>0.2</sensor_period>
  <segmentation>true</segmentation></sensor>
<sensor class="stereo_camera" name="pair"><pose_3d>0.2 0 0.4 -90 0 -90</pose_3d>
  <ncols>32</ncols><nrows>24</nrows><fx>40</fx><fy>40</fy><baseline>0.1</baseline>
  <sensor_period>0.2</sensor_period></sensor>
<sensor class="imu" name="inertial"><pose_3d>0 0 0.1 0 0 0</pose_3d>
  <measure_orientation>true</measure_orientation><sensor_period>0.01</sensor_period></sensor>
<sensor class="gnss" name="antenna"><pose_3d>-0.1 0 0.5 0 0 0</pose_3d>
  <sensor_period>0.2</sensor_period></sensor>
<sensor class="wheel_encoders" name="odom"><sensor_period>0.05</sensor_period></sensor>
<sensor class="range" name="sonar"><pose_3d>0.25 0 0.3 0 0 0</pose_3d></sensor>
<sensor class="magnetometer" name="compass"><sensor_period>0.05</sensor_period></sensor>
<sensor class="bumper" name="bumper"><sectors>front left back right-hand</sectors></sensor>
"""
GEOREFERENCE = """
<georeference><latitude>36.8</latitude><longitude>-2.4</longitude><height>60</height>
</georeference>
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


def all_sensors(folder: Path) -> Path:
    """Write a georeferenced world: a robot with a sensor of each class, a wall, a car, a lidar."""
    wall = (
        '<block name="wall"><shape><pt>0 -4</pt><pt>0 4</pt><pt>0.2 4</pt><pt>0.2 -4</pt></shape>'
        "<static>true</static><zmin>0</zmin><zmax>3</zmax><init_pose>3 0 0</init_pose></block>"
    )
    return _write(
        folder,
        GEOREFERENCE
        + COURIER.format(sensors=SENSORS)
        + CAR
        + wall
        + LIDAR.format(name="mast", fov=90, rays=31, period=0.2)
        + '<vehicle name="r1" class="courier"><init_pose>0 0 0</init_pose></vehicle>'
        + '<vehicle name="car" class="car"><init_pose>-5 2 0</init_pose></vehicle>',
    )


def crowded(folder: Path) -> Path:
    """Write a mapped room with a robot that has a lidar, a car, and a crate."""
    write_map(folder)
    lidar = LIDAR.format(name="laser", fov=270, rays=91, period=0.1)
    crate = (
        '<block name="crate"><shape><pt>0 0</pt><pt>0 0.5</pt><pt>0.5 0.5</pt><pt>0.5 0</pt>'
        "</shape><mass>5</mass><zmin>0</zmin><zmax>0.5</zmax><init_pose>1 1 0</init_pose></block>"
    )
    return _write(
        folder,
        '<element class="occupancy_grid"><file>map.yaml</file></element>'
        + COURIER.format(sensors=lidar)
        + CAR
        + crate
        + '<vehicle name="r1" class="courier"><init_pose>-2 1 90</init_pose></vehicle>'
        + '<vehicle name="car" class="car"><init_pose>2 -1 0</init_pose></vehicle>',
    )


def surveyed_room(folder: Path) -> Path:
    """Write a mapped room whose x axis points 30 degrees north of east, and a robot in it.

    It has a lidar, a receiver of high precision, and an inertial unit that is mounted askew.
    """
    write_map(folder)
    sensors = LIDAR.format(name="laser", fov=270, rays=271, period=0.1).replace(
        " 30 0 0<", " 0 0 0<"
    )
    sensors += (
        '<sensor class="imu" name="inertial"><pose_3d>0 0 0.1 20 8 0</pose_3d>'
        "<measure_orientation>true</measure_orientation>"
        "<sensor_period>0.02</sensor_period></sensor>"
        '<sensor class="gnss" name="antenna"><pose_3d>-0.15 0.05 0.5 0 0 0</pose_3d>'
        "<horizontal_std_noise>0.05</horizontal_std_noise>"
        "<sensor_period>0.2</sensor_period></sensor>"
    )
    turned = "<world_to_enu_rotation_deg>30</world_to_enu_rotation_deg></georeference>"
    return _write(
        folder,
        GEOREFERENCE.replace("</georeference>", turned)
        + '<element class="occupancy_grid"><file>map.yaml</file></element>'
        + COURIER.format(sensors=sensors)
        + '<vehicle name="r1" class="courier"><init_pose>-2 1 90</init_pose></vehicle>',
    )


def three_robots(folder: Path) -> Path:
    """Write a mapped room with three robots that stop at once, each with lidar and IMU."""
    write_map(folder)
    pid = '"twist_pid"><KP>20</KP><KI>40</KI><max_torque>10</max_torque>'
    exact = COURIER.replace(pid, '"twist_ideal">')
    sensors = LIDAR.format(name="laser", fov=270, rays=91, period=0.1)
    sensors += '<sensor class="imu" name="inertial"><sensor_period>0.02</sensor_period></sensor>'
    poses = {"zeta": "-3 -2 0", "alpha": "2 1 90", "mid": "0 -2.5 180"}
    return _write(
        folder,
        '<element class="occupancy_grid"><file>map.yaml</file></element>'
        + exact.format(sensors=sensors)
        + "".join(
            f'<vehicle name="{name}" class="courier"><init_pose>{pose}</init_pose></vehicle>'
            for name, pose in poses.items()
        ),
    )


def _write(folder: Path, content: str) -> Path:
    path = folder / "test.world.xml"
    path.write_text(
        '<mvsim_world version="1.0"><simul_timestep>0.004</simul_timestep>'
        + content
        + "</mvsim_world>"
    )
    return path


def load_into(simulation: Simulation, uri: str, text: str) -> None:
    """Load another world as LoadWorld does, in one thread.

    Raises:
        RequestError: With the code of LoadWorld.
    """
    simulation.begin_load()
    try:
        world = simulation.read_world(uri, text)
    except BaseException:
        simulation.end_load(None)
        raise
    simulation.end_load(world)
