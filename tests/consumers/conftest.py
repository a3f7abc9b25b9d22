# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What an installed ROS 2 sets, for one that came by pip. All run alone: Nav2 takes a machine."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("AMENT_PREFIX_PATH", sys.prefix)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, and of no other."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("alone")
