# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Names that the node uses in ROS: topics with their types and QoS, namespaces, frames, joints."""
