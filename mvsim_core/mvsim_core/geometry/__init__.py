# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Poses, twists and polygons. Leaf modules: they import nothing above them."""
