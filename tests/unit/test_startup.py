# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What starting a simulation imports and does, as that is most of the time it takes."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mvsim_core import heap, load_world
from mvsim_core.heap import settle_heap, without_collections
from mvsim_core.registry import plugins

WORLD = Path(__file__).parents[2] / "worlds" / "warehouse.world.xml"
RUN = """
import json, sys
import numba
from mvsim_core.cli import main
sys.argv = ["mvsim", "run", {world!r}, "--time", "0.02"]
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)))
"""
MATRICES = """
import numba
import numpy as np

@numba.njit
def product(a, b):
    return a @ b

print(product(np.array([[2.0, 1.0], [0.0, 4.0]]), np.eye(2)).tolist())
"""
#: What other verbs, some worlds and no kernel of ours need.
NOT_IMPORTED = (
    *("av", "gymnasium", "lxml", "matplotlib", "mcap", "moderngl", "pandas", "pettingzoo"),
    *("pyarrow", "pydantic", "ray", "rclpy", "scipy.linalg", "torch", "trimesh", "viser"),
    *("websockets", "numpy.f2py", "mvsim_core.bags", "mvsim_core.envs", "mvsim_core.viewer"),
    *("PIL", "mvsim_core.cli.batch", "mvsim_core.cli.tune"),
)


def output(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.splitlines()


def test_a_run_imports_nothing_that_it_does_not_use_and_users_can_call_blas() -> None:
    lines = output(RUN.format(world=str(WORLD)) + MATRICES)
    modules = json.loads(next(line for line in lines if line.startswith('["')))
    assert "mvsim_core.world.world" in modules
    assert [name for name in NOT_IMPORTED if name in modules] == []
    np.testing.assert_allclose(json.loads(lines[-1]), [[2.0, 1.0], [0.0, 4.0]])


#: How many threads there are after a verb that imports numpy, the environment at first.
THREADS = """
import os, sys
os.environ.pop("OPENBLAS_NUM_THREADS", None)
os.environ.update({environment!r})
from mvsim_core.cli import main
sys.argv = ["mvsim", "check", {world!r}]
try:
    main()
except SystemExit:
    pass
import numpy
print(len(os.listdir("/proc/self/task")), os.environ["OPENBLAS_NUM_THREADS"])
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads in /proc")
def test_the_command_line_starts_no_threads_for_products_of_matrices() -> None:
    assert output(THREADS.format(world=str(WORLD), environment={}))[-1] == "1 1"
    chosen = {"OPENBLAS_NUM_THREADS": "2"}
    count, setting = output(THREADS.format(world=str(WORLD), environment=chosen))[-1].split()
    assert setting == "2"
    assert int(count) == min(2, os.cpu_count() or 1)


@pytest.fixture
def own_heap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process that has not settled its heap, whatever other tests did."""
    monkeypatch.setattr(heap._Made, "settled", False)
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_without_collections_nothing_is_collected_until_the_heap_is_settled(
    own_heap: None,
) -> None:
    collected: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        collected.append(phase)

    gc.callbacks.append(note)
    try:
        with without_collections():
            assert not gc.isenabled()
            settle_heap()
            assert gc.isenabled()
            assert collected == []
        assert gc.isenabled()
        settle_heap()
        assert collected != []
        assert gc.get_freeze_count() > 0
    finally:
        gc.callbacks.remove(note)


def test_a_settled_heap_stays_settled_when_worlds_are_loaded(own_heap: None) -> None:
    settle_heap()
    count = gc.get_freeze_count()
    assert count > 0
    load_world(text="<mvsim_world/>")
    assert gc.get_freeze_count() > count // 2  # some of it may be gone


def test_worlds_that_are_not_used_do_not_add_up(
    own_heap: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heap, "MANY_OBJECTS", 2000)
    text = "".join(
        f'<block name="b{i}"><init_pose>{2 * i} 0 0</init_pose></block>' for i in range(200)
    )
    worlds = [weakref.ref(load_world(text=f"<mvsim_world>{text}</mvsim_world>")) for _ in range(9)]
    assert sum(world() is not None for world in worlds) <= 3


def test_what_a_load_makes_is_not_looked_at_after_it(own_heap: None) -> None:
    young: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        young.append(len(gc.get_objects(generation=0)) if phase == "start" else 0)

    gc.callbacks.append(note)
    try:
        world = load_world(
            text="<mvsim_world>"
            + "".join(
                f'<block name="b{i}"><init_pose>{2 * i} 0 0</init_pose></block>'
                for i in range(3000)
            )
            + "</mvsim_world>"
        )
        kept = [[] for _ in range(2000)]  # so that there is a collection
    finally:
        gc.callbacks.remove(note)
    assert len(world.blocks) == 3000
    assert len(kept) == 2000
    assert young
    assert max(young) < 3000


def test_plugins_are_looked_for_again_where_modules_are_found_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = "mvsim_core.some_group"
    assert not plugins(group)
    info = tmp_path / "new-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: new\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\nname = json:loads\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (point,) = plugins(group)
    assert point.load() is json.loads
