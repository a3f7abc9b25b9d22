# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels compile wherever the simulator is installed and under any user."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from numba import njit

from mvsim_core import kernel_cache, load_world, progress
from mvsim_core.assembly.compilation import FIRST
from mvsim_core.kernel_cache import VARIABLE, choose_kernel_cache
from mvsim_core.progress import reporting
from mvsim_core.resources.remote_files import cache_folder

LAW = """
from numba import njit

@njit
def law(x):
    return {factor} * x
"""
KERNEL = """
from numba import njit
from law import law

@njit(cache=True)
def kernel(x):
    return law(x)
"""


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")  # so that whatever a test sets is taken back
    monkeypatch.delenv(VARIABLE)


@pytest.fixture
def nothing_writable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(kernel_cache, "_writable", lambda _: False)
    monkeypatch.setattr(kernel_cache.tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two files of which one has a kernel that inlines a function of the other."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "law.py").write_text(LAW.format(factor=2))
    (folder / "kernel.py").write_text(KERNEL)
    return folder


def run_kernel(sources: Path) -> str:
    """Return what a new process gets from the kernel."""
    code = (
        "from pathlib import Path; from mvsim_core import kernel_cache;"
        "import os; os.environ.pop('NUMBA_CACHE_DIR');"
        f"kernel_cache.SOURCES = Path({str(sources)!r}); kernel_cache.choose_kernel_cache();"
        "import kernel; print(kernel.kernel(1))"
    )
    path = os.pathsep.join([str(sources), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_changed_function_reaches_the_kernels_that_inline_it(sources: Path) -> None:
    assert run_kernel(sources) == "2"
    (sources / "law.py").write_text(LAW.format(factor=30))
    assert run_kernel(sources) == "30"


def test_a_few_versions_are_kept(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "SOURCES", sources)
    made = []
    for factor in range(kernel_cache.KEEP + 2):
        (sources / "law.py").write_text(LAW.format(factor=10**factor))  # each of another size
        monkeypatch.delenv(VARIABLE, raising=False)
        choose_kernel_cache()
        folder = Path(os.environ[VARIABLE])
        folder.mkdir(parents=True)
        os.utime(folder, (factor, factor))
        made.append(folder)
    assert [p.exists() for p in made] == [False] * 2 + [True] * kernel_cache.KEEP


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
    private = found[0].parent
    assert private.parent == nothing_writable
    assert private.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_write_to_is_not_taken(nothing_writable: Path) -> None:
    trap = nothing_writable / f"mvsim-kernels-{os.getuid()}"
    trap.mkdir()
    trap.chmod(0o777)
    choose_kernel_cache()
    assert trap not in Path(os.environ[VARIABLE]).parents


def test_folders_that_can_be_made_count_as_writable(tmp_path: Path) -> None:
    assert kernel_cache._writable(tmp_path / "not" / "yet")
    assert not kernel_cache._writable(Path("/proc/1/nothing"))


HOMES = """
import os, sys
from mvsim_core import kernel_cache
from mvsim_core.resources.remote_files import cache_folder
os.setgid(65534); os.setuid(65534)
os.environ.update(HOME=sys.argv[1], TMPDIR=sys.argv[2])
os.environ.pop(kernel_cache.VARIABLE, None)
kernel_cache.SOURCES = kernel_cache.Path("/dev/null/sources")
kernel_cache._version = lambda sources: "v"
kernel_cache.choose_kernel_cache()
print(os.environ[kernel_cache.VARIABLE]); print(cache_folder())
"""


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user, which needs root")
@pytest.mark.parametrize("mode", [0o700, 0o711, 0o755], ids=oct)
def test_a_home_that_may_not_be_read(tmp_path: Path, mode: int) -> None:
    """As that of a container's user often is: no traceback before the first line."""
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o755)
        home, temporary = Path(base) / "home", Path(base) / "tmp"
        (home / ".cache" / "mvsim").mkdir(parents=True)
        temporary.mkdir(mode=0o777)
        temporary.chmod(0o777)
        home.chmod(mode)
        done = subprocess.run(
            [sys.executable, "-c", HOMES, str(home), str(temporary)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        kernels = Path(done.stdout.splitlines()[0])
        assert kernels.parent.parent == temporary


def test_a_user_without_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: Path
) -> None:
    def no_home(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", no_home)
    monkeypatch.setattr(kernel_cache, "SOURCES", Path("/dev/null/sources"))
    monkeypatch.setattr(kernel_cache, "_version", lambda _: "v")
    monkeypatch.setattr(kernel_cache.tempfile, "tempdir", str(tmp_path))
    choose_kernel_cache()
    assert Path(os.environ[VARIABLE]).parent.parent == tmp_path
    monkeypatch.delenv("MVSIM_CACHE_DIR", raising=False)
    assert cache_folder().parent == tmp_path


def test_compilation_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where progress is asked for, at once and then every few seconds; loading is not."""
    load_world(text="<mvsim_world/>")
    lines: list[str] = []
    with reporting(lines.append):
        load_world(text="<mvsim_world/>")
        assert lines == []
        for number in range(2):
            njit(lambda x, number=number: x + number)(1)
        assert lines == [FIRST]
    monkeypatch.setattr(progress, "FIRST_REPORT", 0.0)
    with reporting(lines.append):
        njit(lambda x: x)(1)
    assert lines[1] == FIRST
    assert "functions" in lines[2]
