# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Skips the tests of the bridge where its ROS packages are missing."""

from importlib.util import find_spec

NEEDED = ("rclpy", "tf2_msgs", "ackermann_msgs")

collect_ignore_glob = [] if all(find_spec(name) for name in NEEDED) else ["test_*.py"]
