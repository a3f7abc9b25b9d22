# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Bodies that follow a prescribed motion: key frames and waypoint paths."""
