# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Timed cases of 3D lidars and cameras: `CASES` maps names to seconds a reading.

The scene is that of a small world with walls, columns and a robot; the shared worlds give the
same lidars and cameras among the original's own models.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.sensors import best_of
from mvsim_core import World, load_world
from mvsim_core.rendering.eye import Quality

#: The original's own worlds, where they lie beside the checkout.
SHARED = Path(os.environ.get("MVSIM_SHARED", Path(__file__).parents[2] / "shared"))

VLP16 = """<sensor class="lidar3d" name="s"><pose_3d>0 0 0.5 0 0 0</pose_3d>
  <vert_fov_degrees>30</vert_fov_degrees><vert_nrays>16</vert_nrays><horz_nrays>1800</horz_nrays>
  <max_range>80</max_range><range_std_noise>0.005</range_std_noise></sensor>"""
OS1 = """<sensor class="lidar3d" name="s"><pose_3d>0 0 0.5 0 0 0</pose_3d>
  <vert_fov_degrees>22.5</vert_fov_degrees><vert_nrays>128</vert_nrays>
  <horz_nrays>1024</horz_nrays><range_std_noise>0.005</range_std_noise></sensor>"""
RGB = """<sensor class="camera" name="s"><pose_3d>0.2 0 0.5 -90 0 -90</pose_3d>
  <fx>400</fx><fy>400</fy></sensor>"""
DEPTH = """<sensor class="rgbd_camera" name="s"><pose_3d>0.2 0 0.5 0 0 0</pose_3d>
  <sense_rgb>false</sense_rgb><depth_fx>400</depth_fx><depth_fy>400</depth_fy>
  <depth_noise_sigma>0.01</depth_noise_sigma></sensor>"""
PLAIN_RGB = RGB.replace("<fx>", "<antialiasing>none</antialiasing><fx>")
EXACT_DEPTH = DEPTH.replace("<sense_rgb>", "<exact_depth>true</exact_depth><sense_rgb>")
RGBD = DEPTH.replace("<sense_rgb>false</sense_rgb>", "")

VEHICLE = """<vehicle name="r{k}"><init_pose>{x} {y} {yaw}</init_pose>
  <dynamics class="differential_4_wheels"><chassis mass="15" zmin="0.05" zmax="0.4"/>
  <controller class="twist_ideal"/></dynamics>{sensors}</vehicle>"""


def scene(sensors: str, robots: int = 1, shadows: bool = False) -> str:
    """Return a world of 40 m by 40 m with columns and robots, all of them with these sensors."""
    walls = "".join(
        f'<element class="vertical_plane"><x0>{a}</x0><y0>{b}</y0><x1>{c}</x1><y1>{d}</y1>'
        "<thickness>0.2</thickness></element>"
        for a, b, c, d in (
            (20, -20, 20, 20),
            (20, 20, -20, 20),
            (-20, 20, -20, -20),
            (-20, -20, 20, -20),
        )
    )
    columns = "".join(
        f'<block name="c{i}_{j}"><static>true</static><zmax>2</zmax><shape_from_visual/>'
        '<geometry type="cylinder" radius="0.4" length="2" vertex_count="16"/>'
        f"<init_pose>{4 * i - 14} {4 * j - 14} 0</init_pose></block>"
        for i in range(8)
        for j in range(8)
    )
    side = 10
    vehicles = "".join(
        VEHICLE.format(
            k=k, x=4 * (k % side) - 16, y=4 * (k // side) - 16, yaw=37 * k, sensors=sensors
        )
        for k in range(robots)
    )
    return (
        '<mvsim_world version="1.0"><simul_timestep>0.005</simul_timestep>'
        f"<lights><enable_shadows>{str(shadows).lower()}</enable_shadows></lights>"
        '<element class="horizontal_plane"><x_min>-20</x_min><x_max>20</x_max><y_min>-20</y_min>'
        f"<y_max>20</y_max></element>{walls}{columns}{vehicles}</mvsim_world>"
    )


def reading_of(world: World) -> float:
    """Time one whole reading of a world's first 3D sensor, noise included."""
    vehicle: Any = next(iter(world.vehicles.values()))
    sensor = next(iter(vehicle.sensors.values()))
    return best_of(lambda: sensor.measure(world.data, 0, 0.0), 0.05)


def reading(sensors: str, shadows: bool = False) -> float:
    """Time one reading in our own scene."""
    return reading_of(load_world(text=scene(sensors, shadows=shadows)))


def shared(name: str, antialiasing: str = "", shadows: bool = False) -> float:
    """Time one reading in a world of the original; NaN where that is absent."""
    folder = SHARED / "reference" / "perf_worlds"
    path = folder / f"{name}.world.xml"
    if not path.exists():
        return float("nan")
    text = path.read_text().replace("../definitions", str(folder.parent / "definitions"))
    if shadows:
        text = text.replace("<enable_shadows>false", "<enable_shadows>true")
    world = load_world(text=text)
    if antialiasing:
        sensor: Any = next(iter(next(iter(world.vehicles.values())).sensors.values()))
        sensor._renderer.__dict__["_quality"] = Quality.of(antialiasing, sensor.camera)
    return reading_of(world)


def moving(robots: int, sensors: str) -> float:
    """Time a step [s] of a world in which robots drive and sweep."""
    world = load_world(text=scene(sensors, robots))
    for robot in world.vehicles.values():
        robot.set_twist(0.5, 0.0, 0.5)
    world.run(0.1)
    return best_of(lambda: world.run(0.1), 0.1) / 20


CASES: dict[str, Callable[[], float]] = {
    "lidar3d_vlp16_28800_rays": partial(reading, VLP16),
    "lidar3d_os1_128x1024": partial(reading, OS1),
    "depth_640x480": partial(reading, DEPTH),
    "depth_640x480_exact": partial(reading, EXACT_DEPTH),
    "rgb_640x480_jagged": partial(reading, PLAIN_RGB),
    "rgb_640x480": partial(reading, RGB),
    "rgb_640x480_shadows": partial(reading, RGB, True),
    "rgbd_640x480": partial(reading, RGBD),
    "original_vlp16": partial(shared, "12_gl_vlp16"),
    "original_helios32": partial(shared, "12_gl_helios32"),
    "original_ouster_os1": partial(shared, "12_gl_ouster_os1"),
    "original_depth": partial(shared, "12_gl_depth_only"),
    "original_rgb_jagged": partial(shared, "12_gl_rgb", "none"),
    "original_rgb": partial(shared, "12_gl_rgb"),
    "original_rgb_shadows": partial(shared, "12_gl_rgb", "edges", True),
    "original_rgbd": partial(shared, "12_gl_rgbd"),
    "step_with_1_vlp16": partial(moving, 1, VLP16),
    "step_with_10_vlp16": partial(moving, 10, VLP16),
    "step_with_100_vlp16": partial(moving, 100, VLP16),
}
