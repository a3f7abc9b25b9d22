# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""docs/glossary.md is sorted, has one line a term, and names only code that exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "glossary.md"
PACKAGES = (
    ROOT / "mvsim_core" / "mvsim_core",
    ROOT / "mvsim_ros2" / "mvsim_ros2",
    ROOT / "mvsim_ros2" / "mvsim_demo",
)
ENTRY = re.compile(r"\* \*\*([^*]+)\*\*: (.+)")
#: A field of a numpy dtype.
FIELD = r"\('\w+', '[fiu]\d'\)"
#: Names that are no identifiers of the code: suffixes of frames and kernels, an XML attribute.
OTHER = {"_w", "_v", "_s", "_wheel", "_kernel", "class"}


def _lines() -> list[str]:
    """Return the lines after the introduction."""
    return DOCUMENT.read_text().split("\n\n", 2)[2].splitlines()


LINES = _lines()
NAMES = sorted({name for line in LINES for name in re.findall(r"`([^`]+)`", line)} - OTHER)


def _defined(tree: ast.AST, owner: str = "") -> Iterator[str]:
    """Yield names that are defined: functions, classes, `Class.member`, variables, fields."""
    for node in ast.iter_child_nodes(tree):
        name = ""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.Tuple) and re.fullmatch(FIELD, ast.unparse(node)):
            name = node.elts[0].value  # type: ignore[attr-defined]
        if name:
            yield name
            yield f"{owner}.{name}"
        yield from _defined(node, node.name if isinstance(node, ast.ClassDef) else owner)


@pytest.fixture(scope="module")
def defined() -> set[str]:
    names: set[str] = set()
    for package in PACKAGES:
        for path in package.rglob("*.py"):
            names.update(_defined(ast.parse(path.read_text())))
            parts = path.relative_to(package.parent).with_suffix("").parts
            names.add(".".join(part for part in parts if part != "__init__"))
    names.update(package.name for package in PACKAGES)
    return names


def test_each_line_is_one_term() -> None:
    assert len(LINES) > 100
    assert [line for line in LINES if not ENTRY.fullmatch(line)] == []


def test_terms_are_sorted_and_unique() -> None:
    terms = [line.split("**")[1].lower() for line in LINES]
    assert terms == sorted(set(terms))


@pytest.mark.parametrize("name", NAMES)
def test_code_names_exist(name: str, defined: set[str]) -> None:
    assert name in defined
