# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Some seconds of what soak.py does for long."""

from importlib.util import find_spec

import pytest

if not all(find_spec(name) for name in ("rclpy", "simulation_interfaces")):
    pytest.skip("the ROS packages of the bridge are missing", allow_module_level=True)

from tests.soak import core
from tests.soak.soak import Sample, faults, growth, soak

pytestmark = [pytest.mark.ros, pytest.mark.slow]


def test_memory_grows_from_the_first_part_to_the_last() -> None:
    levels = [50.0, 60.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 100.0, 110.0, 110.0]
    samples = [Sample(float(i), 0.0, level, 0.0) for i, level in enumerate(levels)]
    assert growth(samples) == pytest.approx(0.1)


def test_random_use_leaves_clock_services_and_memory_in_order() -> None:
    samples, watch, output = soak(20.0, 3, lambda sample, watch: None, period=0.5)
    assert faults(watch, output) == []
    assert watch.scans > 100
    assert samples[-1].sim > 20.0
    assert {"drive", "spawn", "delete", "move", "reset", "pause"} <= set(watch.done)
    assert growth(samples) < 0.05


def test_a_world_with_all_sensors_is_used_at_random() -> None:
    seen: list[int] = []
    samples = core.soak(120, 60.0, 1, lambda step, sample: seen.append(step), every=40)
    assert seen == [0, 40, 80, 120]
    assert all(sample.resident > 10.0 for sample in samples)
