# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Invalid input of the node: one error, exit code 1, no traceback."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import DomainPool
from tests.ros.node_process import NodeProcess

pytestmark = pytest.mark.ros

HEAD = '<mvsim_world version="1.0">'
VEHICLE = (
    '<vehicle name="r1"><dynamics class="differential"><chassis mass="{mass}"/>'
    '<controller class="{controller}"/></dynamics></vehicle>'
)


class Case(NamedTuple):
    """A world, parameters, and words that must be in the error."""

    words: tuple[str, ...]
    world: str | None = None
    parameters: dict[str, Any] = {}  # noqa: RUF012 (never changed)


CASES = {
    "no world": Case(("parameter 'world_file' is empty: name a world file, such as",)),
    "empty world": Case(("parameter 'world_file' is empty",), parameters={"world_file": "''"}),
    "no value": Case(
        ("world_file:= has no value: give one, or world_file:='' for an empty text",),
        parameters={"world_file": ""},
    ),
    "missing world": Case(("no.world.xml",), parameters={"world_file": "/nowhere/no.world.xml"}),
    "unknown class": Case(
        ("test.world.xml:1", "twist_pidd", "Did you mean 'twist_pid'"),
        world=HEAD + VEHICLE.format(mass=3, controller="twist_pidd") + "</mvsim_world>",
    ),
    "negative mass": Case(
        ("test.world.xml:1", "mass must be > 0 [kg], got '-1'"),
        world=HEAD + VEHICLE.format(mass=-1, controller="raw") + "</mvsim_world>",
    ),
    "unreadable map": Case(
        ("map.png",),
        world=HEAD
        + '<element class="occupancy_grid"><file>map.png</file></element></mvsim_world>',
    ),
    "wrong type": Case(
        ("parameter 'realtime_factor' must be max or a number in [0, 1e6], got 'quick'",),
        parameters={"world_file": "x.world.xml", "realtime_factor": "quick"},
    ),
    "out of range": Case(
        ("parameter 'publish_rate' must be a number in [0.1, 10000] Hz, got 0.01",),
        parameters={"world_file": "x.world.xml", "publish_rate": 0.01},
    ),
    "out of whole numbers": Case(
        ("parameter 'seed' must be a whole number >= 0, got -1",),
        parameters={"world_file": "x.world.xml", "seed": -1},
    ),
    "unknown quality of service": Case(
        ("publisher.reliability' must be reliable or best_effort, got 'besteffort'",),
        parameters={
            "world_file": "x.world.xml",
            "qos_overrides./scan.publisher.reliability": "besteffort",
        },
    ),
}


@pytest.fixture(scope="module")
def runs(
    domain_pool: DomainPool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, NodeProcess]]:
    """All cases, two at a time."""
    domain = domain_pool.take()
    started: dict[str, NodeProcess] = {}
    for name, case in CASES.items():
        folder = tmp_path_factory.mktemp("bad")
        (folder / "map.png").write_bytes(b"\x89PNG\r\n no image")
        path: Path | None = None
        if case.world is not None:
            path = folder / "test.world.xml"
            path.write_text(case.world)
        started[name] = NodeProcess(domain, path, **case.parameters)
        if len(started) > 1:
            list(started.values())[-2].wait()
    yield started
    for process in started.values():
        process.close()
    domain_pool.give_back(domain)


@pytest.mark.parametrize("name", CASES)
def test_one_clear_error(runs: dict[str, NodeProcess], name: str) -> None:
    process = runs[name]
    assert process.wait() == 1
    text = process.output
    assert "Traceback" not in text
    assert text.count("mvsim_node: ") == 1
    for word in CASES[name].words:
        assert word in text
