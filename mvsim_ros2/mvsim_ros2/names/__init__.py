# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Message classes and QoS of topics; their names are in `mvsim_core.bags`."""
