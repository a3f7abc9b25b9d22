# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The simulation that the services control, without ROS.

World, state (playing, paused, …), spawned entities, and the mapping from ticks to stamps.
"""
