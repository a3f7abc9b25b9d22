# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim bench`, as a user calls it."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mvsim_core.bench.steps import rollers_cost, run_together
from tests.unit.cli.conftest import Outcome

ROOT = Path(__file__).resolve().parents[3]


def test_one_case_as_text_and_as_json(mvsim: Callable[..., Outcome]) -> None:
    code, out, _ = mvsim("bench", "small_robot_10", "--json")
    assert code == 0
    results = json.loads(out)
    assert {"step.small_robot_10"} <= set(results)
    for name, cost in results.items():
        assert 0 < cost["best"] < 1e6  # µs; how it is worked out: tests/unit/test_timing.py
        phases = [value for key, value in cost.items() if key not in ("best", "mean")]
        assert cost["mean"] == pytest.approx(sum(phases)), name
    assert {"friction", "solver"} <= set(results["step.small_robot_10"])
    code, out, _ = mvsim("bench", "grid_rectangles")
    assert code == 0
    assert out.startswith("sensors.grid_rectangles_1000x1000: best ")
    assert out.endswith(" [µs]\n")


def test_list_and_wrong_filter(mvsim: Callable[..., Outcome]) -> None:
    code, out, _ = mvsim("bench", "--list")
    assert code == 0
    names = out.split()
    assert {"step.hills_100", "sensors.lidar2d_360_rays_grid"} <= set(names)
    assert len(names) == len(set(names))
    assert mvsim("bench", "teapot")[0] == 2


def test_the_package_of_the_checkout_is_the_same_verb() -> None:
    command = [sys.executable, "-m", "benchmarks", "hills", "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["step.hills_1", "step.hills_100", "step.hills_1000"]


@pytest.mark.parametrize("count", [1, 100])
def test_a_mecanum_step_costs_at_most_a_third_more_than_a_differential_one(count: int) -> None:
    """Four wheels each, the same friction and gains; they take turns on a busy machine."""
    ratios: list[float] = []
    while len(ratios) < 4 and min(ratios, default=math.inf) >= 1.3:
        cost = rollers_cost(count, seconds=0.5)
        ratios.append(cost["mecanum"] / cost["differential"])
    assert min(ratios) < 1.3


def test_steps_in_a_run_cost_much_less_than_single_ones() -> None:
    """Of one robot alone 4 to 8 %, since Python calls each kernel of a single step."""
    ratios: list[float] = []
    while len(ratios) < 4 and min(ratios, default=math.inf) >= 0.3:
        ratios.append(run_together(1, seconds=0.3)["ratio"])
    assert min(ratios) < 0.3
