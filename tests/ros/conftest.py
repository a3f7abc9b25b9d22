# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Skips the tests of the bridge where its ROS packages are missing; a domain for each module."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.conftest import DomainPool

NEEDED = ("rclpy", "tf2_msgs", "ackermann_msgs")

collect_ignore_glob = [] if all(find_spec(name) for name in NEEDED) else ["test_*.py"]


@pytest.fixture(scope="module")
def domain(domain_pool: DomainPool) -> Iterator[int]:
    """A ROS domain that no other test uses meanwhile."""
    taken = domain_pool.take()
    yield taken
    domain_pool.give_back(taken)
