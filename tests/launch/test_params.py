# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The parameter files are what ROS reads: no YAML aliases, simulated time for every node."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

FILES = sorted(path for path in (ROOT / "params").glob("*.yaml") if path.stem != "sim")


def sections(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Iterate over the parameters of all nodes in a file."""
    for key, value in tree.items():
        if key == "ros__parameters":
            yield value
        elif isinstance(value, dict):
            yield from sections(value)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_node_takes_simulated_time(path: Path) -> None:
    found = list(sections(yaml.safe_load(path.read_text())))
    assert found
    assert all(section["use_sim_time"] is True for section in found)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_topics_are_relative(path: Path) -> None:
    for section in sections(yaml.safe_load(path.read_text())):
        topics = {k: v for k, v in section.items() if k.endswith("topic")}
        assert not [v for v in topics.values() if v.startswith("/")]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_ros_can_read_it(path: Path) -> None:
    rclpy = pytest.importorskip("rclpy")
    context = rclpy.context.Context()
    context.init(args=["--ros-args", "--params-file", str(path)])  # raises if it cannot
    context.try_shutdown()


def test_costmaps_clear_by_rays_that_hit_nothing() -> None:
    tree = yaml.safe_load((ROOT / "params" / "nav2.yaml").read_text())
    for name in ("local_costmap", "global_costmap"):
        layer = tree[name][name]["ros__parameters"]["obstacle_layer"]
        assert layer["scan"]["inf_is_valid"] is True
