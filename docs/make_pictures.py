# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what 3D sensors see of a world: python docs/make_pictures.py WORLD PNG [X Y YAW_DEG].

Above a picture and a depth image, below the coloured cloud of both and the cloud of a VLP-16, all
of an observer at that place of the world (by default where its first vehicle stands).
Needs matplotlib.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.image import imsave

from mvsim_core import load_world
from mvsim_core.geometry.poses import Pose, rotation

WIDTH, HEIGHT, FOCAL = 480, 360, 300.0
DARK = 20
#: From the axes of an optical frame (x right, y down, z forward) to x forward, z up.
FORWARD = np.array([(0.0, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0)])
Picture = npt.NDArray[np.uint8]
Points = npt.NDArray[np.float64]

OBSERVER = f"""
<vehicle name="observer">
  <dynamics class="differential">
    <l_wheel pos="0 0.2" mass="1" width="0.05" diameter="0.2"/>
    <r_wheel pos="0 -0.2" mass="1" width="0.05" diameter="0.2"/>
    <chassis mass="10" zmin="0.05" zmax="0.3"/><controller class="twist_ideal"/>
  </dynamics>
  <sensor class="rgbd_camera" name="camera"><pose_3d>0.3 0 1.2 0 0 0</pose_3d>
    <depth_ncols>{WIDTH}</depth_ncols><depth_nrows>{HEIGHT}</depth_nrows>
    <depth_cx>{WIDTH / 2}</depth_cx><depth_cy>{HEIGHT / 2}</depth_cy>
    <depth_fx>{FOCAL}</depth_fx><depth_fy>{FOCAL}</depth_fy><depth_clip_max>40</depth_clip_max>
    <rgb_ncols>{WIDTH}</rgb_ncols><rgb_nrows>{HEIGHT}</rgb_nrows>
    <rgb_cx>{WIDTH / 2}</rgb_cx><rgb_cy>{HEIGHT / 2}</rgb_cy>
    <rgb_fx>{FOCAL}</rgb_fx><rgb_fy>{FOCAL}</rgb_fy>
  </sensor>
  <sensor class="lidar3d" name="lidar"><pose_3d>0 0 1.4 0 0 0</pose_3d>
    <horz_nrays>1800</horz_nrays><vert_nrays>16</vert_nrays>
    <vert_fov_degrees>30</vert_fov_degrees><max_range>100</max_range>
    <ignore_parent_body>true</ignore_parent_body>
  </sensor>
</vehicle>"""


def in_colors(values: Points, low: float, high: float) -> Picture:
    """Return values of any shape as colours from blue to red, those that are NaN dark."""
    share = np.clip((values - low) / (high - low), 0.0, 1.0)
    colors = np.rint(255 * mpl.colormaps["turbo"](np.nan_to_num(share))[..., :3])
    return np.where(np.isnan(values)[..., None], DARK, colors).astype(np.uint8)


def from_behind(points: Points, colors: Picture, eye: Pose) -> Picture:
    """Return a picture of (n, 3) points [m] as a camera at `eye` (x forward) would take it."""
    seen = (points - np.array(eye[:3])) @ rotation(eye) @ FORWARD
    seen, colors = seen[seen[:, 2] > 0.1], colors[seen[:, 2] > 0.1]
    order = np.argsort(-seen[:, 2])  # what is near is painted last
    pixel = np.rint(FOCAL * seen[order, :2] / seen[order, 2:] + (WIDTH / 2, HEIGHT / 2))
    picture = np.full((HEIGHT, WIDTH, 3), DARK, np.uint8)
    for right, down in ((0, 0), (1, 0), (0, 1), (1, 1)):
        x, y = (pixel + np.array((right, down))).astype(np.int64).T
        inside = (x >= 0) & (x < WIDTH) & (y >= 0) & (y < HEIGHT)
        picture[y[inside], x[inside]] = colors[order][inside]
    return picture


def look(world: Any, pose: tuple[float, float, float]) -> Picture:
    """Return the four pictures of an observer as one."""
    observer = world.add_vehicle(OBSERVER, pose=pose)
    while observer.sensors["camera"].last is None or observer.sensors["lidar"].last is None:
        world.run(0.1)
    view, scan = observer.sensors["camera"].last, observer.sensors["lidar"].last
    cloud = view.cloud()
    points = np.stack([cloud[axis] for axis in "xyz"], axis=-1).reshape(-1, 3)
    known = np.isfinite(points[:, 2])
    points = points[known] @ FORWARD.T
    coloured = from_behind(
        points, view.rgb.reshape(-1, 3)[known], Pose(-1.5, 2.0, 1.5, pitch=0.2, yaw=-0.3)
    )
    beams = np.asarray(scan.xyz, dtype=np.float64)
    rings = from_behind(
        beams, in_colors(beams[:, 2], -1.4, 2.0), Pose(-12.0, -3.0, 8.0, pitch=0.55, yaw=0.25)
    )
    depth = in_colors(-view.depth.astype(np.float64), -15.0, 0.0)
    top, bottom = np.hstack([view.rgb, depth]), np.hstack([coloured, rings])
    return np.vstack([top, bottom])


def main(world_file: str, png: str, *place: str) -> None:
    """Draw one world."""
    world = load_world(world_file)
    if place:
        x, y, yaw = (float(p) for p in place)
        pose = (x, y, math.radians(yaw))
    else:
        first = next(iter(world.vehicles.values()))
        pose = (first.pose.x, first.pose.y, first.pose.yaw)
    imsave(png, look(world, pose))


if __name__ == "__main__":
    main(*sys.argv[1:])
