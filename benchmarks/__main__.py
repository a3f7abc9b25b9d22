# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`python -m benchmarks [FILTER...] [--json]` is `mvsim bench`."""

import sys

from mvsim_core.cli import main

sys.argv[1:1] = ["bench"]
main()
