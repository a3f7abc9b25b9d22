# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""ROS 2 bridge of the MVSim suite; knows no physics."""
