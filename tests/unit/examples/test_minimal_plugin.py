# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The plug-in package installs, is found by its entry point, and passes its own tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.examples.loading import EXAMPLES

CORE = EXAMPLES.parent / "mvsim_core"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the plug-in installed, outside of the environment of these tests."""
    pytest.importorskip("setuptools", reason="building a package needs setuptools")
    source = tmp_path_factory.mktemp("source") / "minimal_plugin"
    shutil.copytree(EXAMPLES / "minimal_plugin", source)
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--no-index", "--target", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


def _python(installed: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), str(CORE)])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        cwd=installed,
        capture_output=True,
        text=True,
        check=False,
    )


def test_its_own_tests_pass(installed: Path) -> None:
    shutil.copy(EXAMPLES / "minimal_plugin" / "test_mvsim_sand.py", installed)
    done = _python(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mvsim_sand.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_a_broken_plugin_does_not_stop_the_simulator(installed: Path, tmp_path: Path) -> None:
    """It is logged, and others are found all the same."""
    shutil.copytree(installed, tmp_path, dirs_exist_ok=True)
    (entry_points,) = tmp_path.glob("mvsim_sand-*/entry_points.txt")
    entry_points.write_text(
        "[mvsim.friction]\nbroken = no_such_module:Model\nsand = mvsim_sand:Sand"
    )
    code = (
        "from mvsim_core import FRICTION, UnknownName\n"
        "from mvsim_core.specs import FRICTIONS\n"
        "assert 'sand' in FRICTION and FRICTIONS['sand'].kind == 'sand'\n"
        "assert 'broken' not in FRICTION\n"
        "try:\n    FRICTIONS['broken']\n"
        "except UnknownName as error:\n    print(error)\n"
    )
    done = _python(tmp_path, "-c", code)
    assert done.returncode == 0, done.stderr
    assert "unknown friction class 'broken'. Known: default, ellipse, sand" in done.stdout
    assert "plug-in 'broken' could not be loaded" in done.stderr
