# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Lets launch find the packages of an environment that is not sourced."""

import os
import sys

os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)
