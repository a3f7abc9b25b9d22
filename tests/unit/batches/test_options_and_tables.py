# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Options of `mvsim batch`, and the formats of its table."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvsim_core.batches.functions import function_name
from mvsim_core.batches.outcome import RunOutcome
from mvsim_core.batches.plan import make_plan, parse_seeds, parse_values, seeds_text
from mvsim_core.batches.simulator import RunSimulator
from mvsim_core.batches.table import table_of
from mvsim_core.errors import ArgumentError
from tests.unit.cli.conftest import mvsim as mvsim

Call = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("7", [7]),
        ("0:3", [0, 1, 2]),
        ("0:10:4", [0, 4, 8]),
        ("5, 1,10:12", [5, 1, 10, 11]),
    ],
)
def test_seeds(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "-1",
        "1.5",
        "nan",
        "3:3",
        "5:2",
        "0:9:0",
        "0:",
        ":5",
        "1:2:3:4",
        "0:99999999",
        "1,",
    ],
)
def test_seeds_that_cannot_be_meant(text: str, mvsim: Call) -> None:
    with pytest.raises(ArgumentError):
        parse_seeds(text)
    code, out, err = mvsim("batch", "w.xml", "-o", "t.csv", "--seeds", text)
    assert (code, out) == (2, "")
    assert "--seeds" in err
    assert len(err.splitlines()) == 1


@given(st.lists(st.integers(0, 30), unique=True, min_size=1))
def test_the_text_of_seeds_can_be_read(seeds: list[int]) -> None:
    assert parse_seeds(seeds_text(seeds)) == seeds


def test_values() -> None:
    assert parse_values("mu=0.3,0.7") == ("mu", ["0.3", "0.7"])
    assert parse_values(" a = x y , z") == ("a", ["x y", "z"])
    assert parse_values(r"pose=0\,1,2\,3") == ("pose", ["0,1", "2,3"])
    assert parse_values("f=a=b") == ("f", ["a=b"])


@pytest.mark.parametrize("text", ["mu", "mu=", "=1", "mu=1,,2", "mu=1,", "", " =2"])
def test_values_that_cannot_be_meant(text: str, mvsim: Call) -> None:
    code, out, err = mvsim("batch", "w.xml", "-o", "t.csv", "--set", text)
    assert (code, out) == (2, "")
    assert "--set" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--set", "mu=1,1"), "1 is given twice"),
        (("--set", "mu=1", "--set", "mu=2"), "'mu' is set twice"),
        (("--seeds", "1,1"), "1 is given twice"),
        (("--set", "nu=1"), "uses no variable 'nu'"),
        (("--twist", "r7", "1", "0"), "unknown vehicle 'r7'"),
        (("--measure", "x"), "--measure"),
        (("--drive", "none.py:f"), "no such file"),
        (("--setup", "no_such_module:f"), "No module named"),
        (("--columns", "a,,b"), "--columns"),
        (("--workers", "0"), "--workers"),
        (("--time", "nan"), "--time"),
        (("--timeout", "inf"), "--timeout"),
        (("-o", "t.txt"), "must end in .parquet"),
    ],
)
def test_options_that_cannot_be_meant(
    words: tuple[str, ...], text: str, world: Path, mvsim: Call, tmp_path: Path
) -> None:
    output = () if "-o" in words else ("-o", str(tmp_path / "t.csv"))
    code, out, err = mvsim("batch", str(world), *output, *words)
    assert code in (1, 2)
    assert out == ""
    assert text in err
    assert len(err.splitlines()) == 1, err
    assert not list(tmp_path.glob("t.csv*"))


def test_a_missing_ray_is_one_line(
    world: Path, mvsim: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, err = mvsim("batch", str(world), "--ray", "-o", str(tmp_path / "t.csv"))
    assert (code, err) == (1, "error: --ray needs Ray: pip install ray\n")


def test_a_study_from_the_command_line(
    world: Path, functions: str, mvsim: Call, tmp_path: Path
) -> None:
    words = (
        "--seeds",
        "1:4",
        "--time",
        "0.1",
        "--workers",
        "1",
        "--setup",
        f"{functions}third_fails",
    )
    code, out, err = mvsim("batch", str(world), *words, "-o", str(tmp_path / "t.json"))
    assert code == 1
    assert out == f"{tmp_path / 't.json'}: 3 runs\n"
    assert err.splitlines()[-2:] == [
        "1 run failed:", "  seed 3: RuntimeError: no route (and 1 more lines)"
    ]  # fmt: skip
    rows = json.loads((tmp_path / "t.json").read_text())
    assert [row["time"] for row in rows] == [0.1, 0.1, None]


def test_all_formats_hold_the_same_numbers(world: Path, functions: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    odd = function_name(f"{functions}odd", "measure")
    plan = make_plan(
        world, seeds=range(3),
        variables={"mu": ["0.5", "0.7"], "mass": ["10"], "time": ["a", "1"]},
        time=0.05, twists={"r1": (0.37, 0, 0.1)}, functions={"measure": odd},
    )  # fmt: skip
    runs = plan.runs()
    runner = RunSimulator(plan)
    done = {one.number: runner.run(one._replace(variables=one.variables[:2])) for one in runs}
    done[4] = RunOutcome(4, {}, 'failed, "so"')
    results = table_of(plan, runs, done, ())
    for suffix in ("parquet", "csv", "json"):
        results.write(tmp_path / f"t.{suffix}")
    columns = parquet.read_table(tmp_path / "t.parquet").to_pydict()
    texts = list(csv.DictReader((tmp_path / "t.csv").open()))
    objects = json.loads((tmp_path / "t.json").read_text())
    assert tuple(columns) == results.columns == tuple(texts[0]) == tuple(objects[0])
    assert {"mu", "mass", "var.time", "time", "r1.x", "nan", "error"} < set(columns)
    for k, row in enumerate(results.rows):
        for name, value in row.items():
            stored, text, plain = columns[name][k], texts[k][name], objects[k][name]
            if value is None:
                assert (stored, text, plain) == (None, "", None)
            elif isinstance(value, float) and math.isnan(value):
                assert math.isnan(stored)
                assert (text, plain) == ("nan", None)
            elif isinstance(value, float):
                assert stored == value == float(text)
                assert plain == (value if math.isfinite(value) else None)
            elif isinstance(value, bool):
                assert (stored, text, plain) == (value, "true", value)
            else:
                assert (str(stored), text) in {
                    (str(value), str(value)),
                    (f"{value}.0", str(value)),
                }
                assert plain == value
    assert columns["mixed"][:3] == [0.5, 1.0, 2.0]
    assert columns["mass"] == [10] * 12
    assert columns["var.time"][:4] == ["a", "a", "a", "1"]
