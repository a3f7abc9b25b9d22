# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Each claim of the README is carried by tests and benchmarks that exist (docs/claims.md)."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from mvsim_core.bench import cases

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
ROWS = re.findall(
    r"^\| (?!claim |-)(.+?) \| (.+) \|$", (ROOT / "docs" / "claims.md").read_text(), re.M
)
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
BENCHMARK = re.compile(r"`mvsim bench ([\w.]+)`")


def claims(text: str) -> list[str]:
    """Return what is in bold at the beginnings of the marked list."""
    (section,) = re.findall(r"<!-- claims -->\n(.*?)<!-- end -->", text, re.DOTALL)
    items = re.findall(r"^\* (.*(?:\n  .*)*)", section, re.MULTILINE)
    return [re.sub(r"\s+", " ", item).split("**")[1] for item in items]


@cache
def defined(path: str) -> set[str]:
    """Return the names of the functions of a file."""
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_each_claim_has_a_row_and_each_row_a_claim() -> None:
    assert claims(README) == [claim for claim, _ in ROWS if not claim.startswith("…")]


@pytest.mark.parametrize(("claim", "evidence"), ROWS)
def test_what_carries_it_exists(claim: str, evidence: str) -> None:
    tests, benchmarks = TEST.findall(evidence), BENCHMARK.findall(evidence)
    assert tests or benchmarks, claim
    for path, name in tests:
        assert (ROOT / path).is_file(), path
        assert not name or name in defined(path), f"{path}::{name}"
    assert set(benchmarks) <= {case.name for case in cases()}


def test_a_claim_without_a_row_is_noticed() -> None:
    more = README.replace("<!-- end -->", "* **It flies**, too.\n<!-- end -->")
    assert claims(more)[-1] == "It flies"
