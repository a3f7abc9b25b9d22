# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of the node: values and checks, QoS overrides, start poses."""
