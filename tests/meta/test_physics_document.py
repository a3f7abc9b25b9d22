# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""docs/physics.md names code and tests that exist; its figures can be drawn."""

import ast
import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "physics.md"
CORE = ROOT / "mvsim_core" / "mvsim_core"
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)(?::(\w+))?`", DOCUMENT.read_text())))


def _file(name: str) -> Path:
    root = ROOT if name.startswith(("tests/", "docs/")) else CORE
    return root / name


def _symbols(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


@pytest.mark.parametrize(("name", "symbol"), NAMED, ids=[":".join(pair) for pair in NAMED])
def test_named_code_exists(name: str, symbol: str) -> None:
    path = _file(name)
    assert path.is_file()
    assert not symbol or symbol in _symbols(path)


def test_every_formula_has_code_and_test() -> None:
    rows = [line for line in DOCUMENT.read_text().splitlines() if line.startswith("| ")]
    with_code = [row for row in rows if ".py:" in row]
    assert len(with_code) > 40
    for row in with_code:
        _, _, code, test, _ = row.split("|")
        assert ".py:" in code, row
        assert "`tests/" in test, row


@pytest.fixture(scope="module")
def figures() -> Any:
    """The script that draws the figures."""
    pytest.importorskip("matplotlib")
    path = ROOT / "docs" / "make_figures.py"
    spec = importlib.util.spec_from_file_location("make_figures", path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_figures_are_those_of_the_script(figures: Any, tmp_path: Path) -> None:
    figures.main(tmp_path)
    drawn = {picture.name for picture in tmp_path.iterdir()}
    shown = set(re.findall(r"\]\(images/([\w.]+)\)", DOCUMENT.read_text()))
    assert drawn == shown
    for name in drawn:
        new, old = (
            np.asarray(Image.open(folder / name).convert("L"), np.int16)
            for folder in (tmp_path, ROOT / "docs" / "images")
        )
        assert new.shape == old.shape
        # other versions of matplotlib smooth edges in another way; a curve elsewhere is 1 %
        assert (np.abs(new - old) > 100).mean() < 2e-3, name


def test_no_curve_of_a_figure_is_flat(figures: Any) -> None:
    """A model that is called with less than it needs gives zeros, and no error."""
    for name, draw in figures.FIGURES.items():
        for axes in draw().axes:
            curves = [line for line in axes.lines if line.get_label() != "open"]  # 0.5 always
            heights = [np.ptp(line.get_ydata()) for line in curves]
            assert heights, name
            largest = max(abs(line.get_ydata()).max() for line in axes.lines)
            assert min(heights) > 0.01 * largest > 0.0, f"{name}: {axes.get_title()}"
