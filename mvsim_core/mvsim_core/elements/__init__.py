# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a world consists of besides vehicles and blocks: maps, walls, ground."""
