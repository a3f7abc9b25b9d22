# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""How the process runs: stepping loop, real-time pacing, executor thread, shutdown, middleware."""
