# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`python -m mvsim_core.cli` is `mvsim`."""

from mvsim_core.cli import main

main()
