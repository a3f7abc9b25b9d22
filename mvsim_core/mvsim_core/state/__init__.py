# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The simulated state: arrays, the entities that own rows of them, and the clock."""
