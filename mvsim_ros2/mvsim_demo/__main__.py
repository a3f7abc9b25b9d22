# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`python -m mvsim_demo WORLD`."""

import sys

from mvsim_demo.demo import main

sys.exit(main())
