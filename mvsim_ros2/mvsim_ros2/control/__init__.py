# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Control of the simulation by the services of `simulation_interfaces`.

What they do is in modules without ROS (`population`, `entities`, `worlds`, `phases`, `timeline`);
`messages` translates and `services` offers them.
"""
