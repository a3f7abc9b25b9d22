# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Builds standard ROS 2 interface packages into one Python wheel, without CMake.

It runs the official generators (rosidl) of the installed ROS wheels in this process, compiles
what `rclpy` and Fast DDS need with the system's C and C++ compilers, and packs the result.
It is not a replacement for ament_cmake: C++ headers and introspection are left out, and with a
ROS 2 installation the same packages are built by colcon from the same files.
"""
