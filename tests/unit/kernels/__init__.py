# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of the physics called by themselves, against slow and obvious versions of them."""
