# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim_demo WORLD`: simulates a world and drives its robots over ROS 2, as a user's nodes would.

It is a client of the bridge: nothing in `mvsim_ros2` imports it.
"""
