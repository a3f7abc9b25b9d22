# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Real consumers: Nav2, slam_toolbox, robot_localization, KISS-ICP, ros2cli, rosbag2.

Each test skips with the name of the package that is missing, so any machine with ROS 2 runs what
it can. tests/ros/consumers has small versions of their algorithms for machines without ROS.
"""
