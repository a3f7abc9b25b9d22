# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels compile wherever the simulator is installed and whoever runs it."""

import os
from pathlib import Path

import pytest

from mvsim_core import kernel_cache
from mvsim_core.kernel_cache import VARIABLE, choose_kernel_cache


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")  # so that whatever a test sets is taken back
    monkeypatch.delenv(VARIABLE)


@pytest.fixture
def nothing_writable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(kernel_cache, "_writable", lambda _: False)
    monkeypatch.setattr(kernel_cache.tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_numba_chooses_where_it_can() -> None:
    choose_kernel_cache()
    assert VARIABLE not in os.environ


def test_the_users_choice_stays(nothing_writable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/somewhere")
    choose_kernel_cache()
    assert os.environ[VARIABLE] == "/somewhere"


def test_a_private_folder_is_the_same_each_time(
    nothing_writable: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for _ in range(2):
        monkeypatch.delenv(VARIABLE, raising=False)
        choose_kernel_cache()
        found.append(Path(os.environ[VARIABLE]))
    assert found[0] == found[1]
    assert found[0].parent == nothing_writable
    assert found[0].stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_to_is_not_taken(nothing_writable: Path) -> None:
    trap = nothing_writable / f"mvsim-kernels-{os.getuid()}"
    trap.mkdir()
    trap.chmod(0o777)
    choose_kernel_cache()
    assert Path(os.environ[VARIABLE]) != trap


def test_folders_that_can_be_made_count_as_writable(tmp_path: Path) -> None:
    assert kernel_cache._writable(tmp_path / "not" / "yet")
    assert not kernel_cache._writable(Path("/proc/1/nothing"))
