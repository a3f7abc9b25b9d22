# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Lightweight, physically honest simulator of many ground vehicles; no ROS inside."""
