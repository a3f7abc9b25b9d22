# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What an installed ROS 2 sets, for one that came by pip."""

import os
import sys

os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)
