# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The services and the action of `simulation_interfaces`, and those of each vehicle.

`server` offers them, `handlers` has one method a service, `messages` converts their fields;
`vehicle_services` has those of vehicles. What they act on is in `mvsim_ros2.simulation`, which
does not know ROS.
"""
