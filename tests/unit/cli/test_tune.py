# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim tune`: its table, text and picture, and what it refuses."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = re.findall(r"```xml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
Outcome = tuple[int, str, str]


@pytest.fixture
def first(tmp_path: Path) -> str:
    file = tmp_path / "first.world.xml"
    file.write_text(README)
    return str(file)


def test_the_command(mvsim: Callable[..., Outcome], first: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "r1.png"
    code, out, err = mvsim("tune", first, "r1", "-o", str(picture))
    assert (code, err) == (0, "")
    assert re.search(r"speed 0\.5 m/s +before +0\.\d{3} +\d\.\d% +0\.\d{3} +4", out)
    assert re.search(r"turn rate 0\.5 rad/s +before", out)
    assert re.search(r"<KP>\d+</KP>\s+<KI>\d+</KI>\s+<KD>0</KD>\s+<max_torque>4</max_torque>", out)
    assert "rise time of speed 0.0" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("world", "vehicle", "message"),
    [
        ("trailers", "trailer1", "error: trailer1: the controller 'raw' has no gains to tune;"),
        ("depot", "r1", "error: r1: the controller 'twist_ideal' has no gains to tune; these"),
        ("warehouse", "r2", "error: unknown vehicle 'r2'. Known: r1"),
        ("none", "r1", "error: cannot read"),
    ],
)
def test_refusals_are_one_line(
    mvsim: Callable[..., Outcome], world: str, vehicle: str, message: str
) -> None:
    code, out, err = mvsim("tune", str(ROOT / "worlds" / f"{world}.world.xml"), vehicle)
    assert (code, out) == (1, "")
    assert err.startswith(message)
    assert len(err.splitlines()) == 1


def test_without_matplotlib_one_line_says_so(
    mvsim: Callable[..., Outcome], first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def missing(name: str) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError("No module named 'matplotlib'")
        return real(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    code, out, err = mvsim("tune", first, "r1", "-o", "x.png")
    assert (code, out) == (1, "")
    assert err == (
        "error: pictures need matplotlib (No module named 'matplotlib'): pip install matplotlib\n"
    )
    assert mvsim("tune", first, "r1")[0] == 0
