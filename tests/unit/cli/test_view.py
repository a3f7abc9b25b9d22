# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim view` and `mvsim run --view`."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("viser", reason="viser is not installed")
WORLD = str(Path(__file__).parents[3] / "worlds" / "mecanum.world.xml")
QUICK = ("--time", "0.1", "--realtime-factor", "max")


def test_view(mvsim: Callable[..., Any]) -> None:
    code, out, err = mvsim("view", WORLD, *QUICK, "--no-browser", "--port", "0")
    assert (code, err) == (0, "")
    address, summary = out.splitlines()
    assert re.fullmatch(r"viewer: http://127\.0\.0\.1:\d+", address)
    assert summary == "simulated 0.10 s, 20 steps of 5 ms"


def test_run_with_a_viewer(mvsim: Callable[..., Any], tmp_path: Path) -> None:
    code, out, _ = mvsim("run", WORLD, *QUICK, "--view", "--view-port", "0", "--log", tmp_path)
    assert code == 0
    assert "viewer: http://127.0.0.1:" in out
    assert list(tmp_path.glob("**/*.csv"))


def test_what_is_missing_is_one_line(
    mvsim: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    code, out, err = mvsim("view", WORLD, *QUICK, "--no-browser")
    assert (code, out) == (1, "")
    assert err == "error: the viewer needs viser: pip install 'mvsim_core[view]'\n"
