# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The demo: a node in one process, its driver in another."""

import math
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields

import pytest

from mvsim_demo.demo import main
from mvsim_demo.demo_driver import BACKUP_SPEED, NEAR, SPEED, avoid_obstacles
from mvsim_ros2.parameters.settings import Settings
from tests.conftest import ROOT, DomainPool
from tests.ros.node_process import environment

STEP = math.radians(1.0)
FREE = [math.inf] * 360


def scan_with(distance: float, bearing: float) -> list[float]:
    """Return a full turn of ranges, from -180 degrees, with one obstacle at a bearing [deg]."""
    ranges = list(FREE)
    for i in range(-10, 11):
        ranges[int(bearing + 180 + i) % 360] = distance
    return ranges


def test_free_ground_is_crossed_straight() -> None:
    assert avoid_obstacles(FREE, -math.pi, STEP) == (SPEED, 0.0)


@pytest.mark.parametrize("distance", [0.3, -math.inf])
def test_it_backs_up_before_an_obstacle(distance: float) -> None:
    speed, turn = avoid_obstacles(scan_with(distance, 0.0), -math.pi, STEP)
    assert speed == BACKUP_SPEED
    assert turn != 0.0


def test_it_turns_away_from_what_is_beside_and_ahead() -> None:
    left = [min(a, b) for a, b in zip(scan_with(1.0, 20), scan_with(1.0, 60), strict=True)]
    speed, turn = avoid_obstacles(left, -math.pi, STEP)
    assert 0.0 < speed < SPEED
    assert turn < 0.0


def test_errors_in_a_scan_do_not_matter() -> None:
    assert avoid_obstacles([math.nan] * 360, -math.pi, STEP) == (SPEED, 0.0)
    assert NEAR > 0.0


@pytest.fixture
def domain(domain_pool: DomainPool) -> Iterator[int]:
    taken = domain_pool.take()
    yield taken
    domain_pool.give_back(taken)


def run_demo(domain: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mvsim_demo", *arguments],
        env=environment(domain),
        capture_output=True,
        text=True,
        timeout=60.0,
        check=False,
    )


@pytest.mark.ros
@pytest.mark.alone
def test_the_demo_drives_and_reports(domain: int) -> None:
    world = str(ROOT / "worlds" / "warehouse.world.xml")
    done = run_demo(domain, world, "--time", "2.5")
    assert done.returncode == 0, done.stderr
    assert re.search(r"first /clock after \d+\.\d+ s, first scan after \d+\.\d+ s", done.stdout)
    way = re.search(r"^/odom: (\d+\.\d+) m$", done.stdout, re.MULTILINE)
    assert way is not None
    assert float(way[1]) > 0.2
    factor = re.search(r"^simulated .*: real-time factor (\d+\.\d+)$", done.stdout, re.MULTILINE)
    assert factor is not None
    assert float(factor[1]) > 0.5
    for topic in ("/clock", "/odom", "/scan", "/tf", "/tf_static"):
        assert re.search(rf"^{topic} +\w+/msg/\w+ +[1-9]\d* ", done.stdout, re.MULTILINE)


@pytest.mark.ros
def test_the_demo_fails_with_its_node(domain: int) -> None:
    done = run_demo(domain, "no_such.world.xml")
    assert done.returncode == 1
    assert "no_such.world.xml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("value", ["-1", "0", "nan", "inf", "abc", ""])
def test_times_that_cannot_be_meant(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, before the node is started: `make demo TIME=abc`."""
    with pytest.raises(SystemExit) as caught:
        main(["w.world.xml", "--time", value])
    assert caught.value.code == 2
    expected = f"mvsim_demo: argument --time: expected a finite number > 0, got {value!r}\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("value", ["-1", "0", "nan", "inf", "abc"])
def test_factors_that_cannot_be_meant(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["w.world.xml", "--realtime-factor", value])
    assert capsys.readouterr().err.endswith("expected a finite number > 0, got "
                                            f"{value!r}; or max\n")  # fmt: skip


def test_make_passes_the_time_on() -> None:
    shown = subprocess.run(
        ["make", "-n", "demo", "TIME=-1", "PYTHON=true"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert '--time "-1"' in shown.stdout


def test_help_of_the_node_shows_a_whole_example() -> None:
    for flag in ("--help", "-h"):
        done = subprocess.run(
            [sys.executable, "-m", "mvsim_ros2.main", flag],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stderr == ""
        example = re.search(r"mvsim_node --ros-args -p world_file:=(\S+\.xml)", done.stdout)
        assert example is not None
        assert (ROOT / example[1]).is_file()
        for name in re.findall(r"^  (\w+)  ", done.stdout, re.MULTILINE):
            assert name in {field.name for field in fields(Settings)}
