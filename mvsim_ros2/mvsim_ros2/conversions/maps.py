# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Occupancy grids to nav_msgs/OccupancyGrid and MapMetaData."""

from __future__ import annotations

from array import array

from builtin_interfaces.msg import Time
from nav_msgs.msg import MapMetaData, OccupancyGrid
from std_msgs.msg import Header

from mvsim_core import Pose
from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_ros2.conversions.motion import pose_message


def map_metadata(grid: GridMap, stamp: Time) -> MapMetaData:
    """Return size, resolution and origin of a map."""
    origin = Pose(x=grid.origin.x, y=grid.origin.y, yaw=grid.origin.yaw)
    return MapMetaData(
        map_load_time=stamp,
        resolution=float(grid.resolution),
        width=grid.width,
        height=grid.height,
        origin=pose_message(origin),
    )


def map_message(grid: GridMap, frame: str, stamp: Time) -> OccupancyGrid:
    """Return a map; row 0 has the lowest y, as nav_msgs prescribes."""
    return OccupancyGrid(
        header=Header(stamp=stamp, frame_id=frame),
        info=map_metadata(grid, stamp),
        data=array("b", grid.cells.tobytes()),
    )
