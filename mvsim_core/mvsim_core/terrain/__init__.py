# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Terrain: height of the ground, attitude of vehicles, steps, property regions."""
