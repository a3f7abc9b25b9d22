# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Publishers: what the world, its vehicles and their sensors publish after a step."""
