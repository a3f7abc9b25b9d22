# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of recordings, which are skipped without the packages that they need."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("mcap") and find_spec("rosbags") else ["test_*.py"]
