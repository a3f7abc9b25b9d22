# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A race car between the walls of a whole track, guided by its lidar alone."""

from pathlib import Path

import pytest
from benchmarks.worlds import race, track


@pytest.mark.parametrize("name", ["f1tenth_catalunya", "f1tenth_saopaulo", "f1tenth_yasmarina"])
def test_the_start_straight_at_two_metres_a_second(cases: Path, name: str) -> None:
    assert cases.is_dir()
    spec = track(name)
    assert spec.vehicles[0].sensors
    outcome = race(spec, seconds=8.0)
    assert outcome["walls"] > 1100
    assert outcome["touches"] == 0
    assert outcome["speed"] > 1.8  # from standstill
