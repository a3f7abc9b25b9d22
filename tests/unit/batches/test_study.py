# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Studies: the same table to the byte whatever runs them; failures of single runs."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest

from mvsim_core import load_world
from mvsim_core.batches import BatchError, run
from mvsim_core.batches.functions import function_name
from mvsim_core.batches.plan import Run, make_plan
from mvsim_core.batches.simulator import RunSimulator
from mvsim_core.batches.study import failures_text
from mvsim_core.errors import ArgumentError, UnknownName, WorldFileError

RANDOM = '<variable name="mu" value="$f{unifrnd(0.2, 0.9)}"/>'


def text_of(path: Path) -> bytes:
    content = path.read_bytes()
    path.unlink()
    return content


def runner_of(world: Path, functions: str = "", **names: str) -> RunSimulator:
    named = {name: function_name(f"{functions}{text}", name) for name, text in names.items()}
    plan = make_plan(
        world, seeds=[0], variables={}, time=1.0, twists={"r1": (0.6, 0.0, 0.1)}, functions=named
    )
    return RunSimulator(plan)


def test_any_number_of_workers_gives_the_same_bytes(
    world: Path, functions: str, tmp_path: Path
) -> None:
    tables = []
    for workers in (1, 2, 3):
        out = tmp_path / "t.csv"
        results = run(
            world, seeds=range(4), variables={"mu": ["0.3", "0.7"], "mass": [5, 10]}, time=0.6,
            twists={"all": (0.8, 0.0, 0.3)}, measure=f"{functions}ranges", workers=workers,
            output=out,
        )  # fmt: skip
        tables.append(text_of(out))
        assert not results.failures
    assert tables[0] == tables[1] == tables[2]
    assert len(set(results.column("nearest"))) == 16  # noise of each seed; all runs are different
    assert results.column("seed") == [0, 1, 2, 3] * 4 == results.column("seed_of")
    assert results.column("mu") == [0.3] * 8 + [0.7] * 8
    assert results.column("mass") == ([5] * 4 + [10] * 4) * 2
    assert not list(tmp_path.glob("t.csv*"))  # neither journal nor half a file


@pytest.mark.parametrize("formulas", [False, True])
def test_a_run_is_as_if_it_were_the_only_one(world: Path, formulas: bool) -> None:
    """In any order, after any other one, also where the file draws random numbers."""
    if formulas:
        text = world.read_text()
        world.write_text(text.replace('<variable name="mu" value="0.7"/>', RANDOM))
    variables = (), (("mass", "20"),)
    runs = [
        Run(k, seed, v) for k, (seed, v) in enumerate((s, v) for s in range(3) for v in variables)
    ]
    expected = {one.number: runner_of(world).run(one) for one in runs}
    assert len({str(outcome.row) for outcome in expected.values()}) == (6 if formulas else 2)
    for seed in range(3):
        one = runner_of(world)
        for picked in Random(seed).choices(runs, k=12):
            assert one.run(picked) == expected[picked.number]


def test_a_reset_world_is_a_loaded_world(world: Path) -> None:
    """All of its state, sensors too; the class of a later spawn draws the same numbers."""
    text = world.read_text()
    spawned = text[text.index("<vehicle") : text.index("</mvsim_world>")]
    spawned = spawned.replace("r1", "r2").replace("<init_pose>0 0 0", "<init_pose>-2 $f{rand()} 0")
    runner = runner_of(world)
    first = runner.load(Run(0, 1, ()))
    first.vehicles["r1"].set_twist(1.0, 0.0, 0.5)
    first.run(1.0)
    again = runner.load(Run(1, 5, ()))
    assert again is first
    fresh = load_world(world, seed=5)
    for one in (again, fresh):
        one.add_vehicle(spawned)
        one.vehicles["r1"].set_twist(1.0, 0.0, 0.5)
        one.run(1.0)
    assert again.data.bodies.tobytes() == fresh.data.bodies.tobytes()
    assert again.data.wheels.tobytes() == fresh.data.wheels.tobytes()
    for a, b in zip(again.all_sensors(), fresh.all_sensors(), strict=True):
        assert a.last.ranges.tobytes() == b.last.ranges.tobytes()


def test_a_world_that_users_had_in_their_hands_is_loaded_again(
    world: Path, functions: str
) -> None:
    runner = runner_of(world, functions, drive="circle")
    assert runner.load(Run(0, 1, ())) is not runner.load(Run(1, 2, ()))


def test_distance_collisions_and_end(world: Path, functions: str) -> None:
    free = runner_of(world, functions, setup="moved").run(Run(0, 0, ())).row
    reference = load_world(world)
    reference.vehicles["r1"].teleport(-3.0, 0.0, 0.0)
    reference.vehicles["r1"].set_twist(0.6, 0.0, 0.1)
    way, last = 0.0, reference.vehicles["r1"].pose
    for _ in range(200):
        reference.step()
        pose = reference.vehicles["r1"].pose
        way, last = way + math.dist(pose[:3], last[:3]), pose
    assert free["r1.distance"] == pytest.approx(way, rel=1e-12)
    assert way > 0.4
    assert [free[f"r1.{name}"] for name in last._fields] == list(last)
    assert (free["r1.collisions"], free["r1.contact_time"]) == (0, 0.0)
    against = runner_of(world)._simulate
    hit = against(load_world(world))
    assert hit["r1.collisions"] == 1
    assert hit["r1.contact_time"] == pytest.approx(1.0 - 0.55, abs=0.45)
    ended = runner_of(world, functions, drive="circle").run(Run(0, 0, ())).row
    assert ended["time"] == 0.3


def test_a_failing_world_costs_only_itself(world: Path, functions: str) -> None:
    results = run(
        world, seeds=range(5), variables={"mu": ["0.7", "-1"]}, time=0.05,
        setup=f"{functions}third_fails", workers=2,
    )  # fmt: skip
    assert [row["seed"] for row in results.failures] == [3, 0, 1, 2, 3, 4]
    assert results.column("time")[:3] == [0.05] * 3
    assert results.column("time")[5:] == [None] * 5
    lines = failures_text(results)
    assert lines[0] == "seed 3, mu 0.7: RuntimeError: no route (and 1 more lines)"
    assert "mu" in lines[1]
    assert "-1" in lines[1]
    assert len(failures_text(results, 2)) == 3


def test_a_killed_worker_costs_nothing(world: Path, functions: str) -> None:
    calm = run(world, seeds=range(6), time=0.1, workers=2)
    killed = run(world, seeds=range(6), time=0.1, workers=2, setup=f"{functions}killed_once")
    assert killed.rows == calm.rows
    assert (Path(functions[:-1]).parent / "killed").exists()


def test_a_run_that_always_kills_its_worker_fails(world: Path, functions: str) -> None:
    results = run(world, seeds=range(6), time=0.1, workers=2, setup=f"{functions}always_killed")
    assert [row["seed"] for row in results.failures] == [2]
    assert results.rows[2]["error"] == "its process ended twice: SIGKILL"


def test_time_limit(world: Path, functions: str) -> None:
    results = run(
        world, seeds=range(3), time=0.1, workers=1, drive=f"{functions}hangs", timeout=1.0
    )
    assert results.column("error") == [None, "took longer than 1 s", None]


def test_what_measure_must_not_return(world: Path, functions: str) -> None:
    runner = runner_of(world, functions, measure="wrong")
    errors = [runner.run(Run(seed, seed, ())).error or "" for seed in range(4)]
    for error, text in zip(errors, ("'list'", "'x'", "'time'", "expected a dict"), strict=True):
        assert text in error
        assert error.startswith("ArgumentError: measure: ")


def test_what_concerns_all_runs_is_refused_at_once(world: Path, functions: str) -> None:
    with pytest.raises(WorldFileError, match="uses no variable 'nu'"):
        run(world, variables={"nu": [1]})
    with pytest.raises(WorldFileError):
        run(world, variables={"mu": ["-1", "nan"]})
    with pytest.raises(UnknownName, match="r1"):
        run(world, twists={"r7": (1, 0, 0)})
    with pytest.raises(ArgumentError, match="no function 'none'"):
        run(world, measure=f"{functions}none")
    with pytest.raises(ArgumentError, match="no such file"):
        run(world, drive=f"{functions[:-1]}x.py:f")
    with pytest.raises(ArgumentError, match="cannot import"):
        run(world, setup=lambda world: None)
    with pytest.raises(BatchError, match=r"must end in \.parquet"):
        run(world, output="t.txt")
    with pytest.raises(BatchError, match="no folder"):
        run(world, output="/no/such/folder/t.csv")


def test_the_world_writes_no_files(world: Path, tmp_path: Path) -> None:
    """A thousand runs would write the same ones."""
    path = tmp_path / "truth.tum"
    text = world.read_text().replace(
        "<simul_timestep>",
        f"<save_ground_truth_trajectory>{path}</save_ground_truth_trajectory><simul_timestep>",
    )
    world.write_text(text)
    assert runner_of(world).run(Run(0, 0, ())).error is None
    assert not list(tmp_path.glob("truth*"))
