# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim worlds`: the worlds that come with the suite."""

from collections.abc import Callable
from pathlib import Path

import pytest

from mvsim_core.cli import worlds
from tests.conftest import ROOT
from tests.unit.cli.conftest import Outcome


def test_their_paths(mvsim: Callable[..., Outcome]) -> None:
    code, out, _ = mvsim("worlds")
    assert code == 0
    assert [Path(line) for line in out.splitlines()] == sorted(ROOT.glob("worlds/*.world.xml"))
    assert mvsim("worlds", "warehouse")[1] == f"{ROOT / 'worlds' / 'warehouse.world.xml'}\n"


def test_another_name(mvsim: Callable[..., Outcome]) -> None:
    code, _, err = mvsim("worlds", "warehous")
    assert code == 1
    assert "Did you mean 'warehouse'?" in err


def test_those_of_an_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As pip installs them: in the share folder of the environment."""
    share = tmp_path / "env" / "share" / "mvsim_core"
    (share / "worlds").mkdir(parents=True)
    (share / "package.xml").touch()
    (share / "worlds" / "a.world.xml").touch()
    monkeypatch.setattr(worlds, "__file__", str(tmp_path / "lib" / "a" / "b" / "worlds.py"))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "env"))
    assert worlds.shipped_worlds() == [share / "worlds" / "a.world.xml"]
