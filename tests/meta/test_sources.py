# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every source file names its licence and stays readable in one sitting."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAD = ("SPDX-FileCopyrightText: The MVSim suite authors", "SPDX-License-Identifier: BSD-3-Clause")
MAX_LINES = 600  # a file is one idea; most are far shorter
MAX_FUNCTION = 60
MAX_KERNEL = 80


def _tracked(*patterns: str) -> list[Path]:
    """Files of the repository; without git (an unpacked archive) all that match."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", *patterns]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return sorted(p for pattern in patterns for p in ROOT.rglob(pattern) if p.is_file())
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


PYTHON = [path for path in _tracked("*.py") if path.stat().st_size]
OTHERS = [*_tracked("Makefile", ".ci/run"), *_tracked("pyproject.toml", "*/pyproject.toml")]


def _id(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [*PYTHON, *OTHERS], ids=_id)
def test_head_names_the_licence(path: Path) -> None:
    head = "\n".join(path.read_text().splitlines()[:4])
    assert all(line in head for line in HEAD)


@pytest.mark.parametrize("path", PYTHON, ids=_id)
def test_sizes(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MAX_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            lines = (node.end_lineno or node.lineno) - node.body[0].lineno + 1
            limit = MAX_KERNEL if node.name.endswith("_kernel") else MAX_FUNCTION
            assert lines <= limit, f"{node.name} has {lines} lines"


@pytest.mark.parametrize("path", _tracked("test_*.py", "*/test_*.py"), ids=_id)
def test_pytest_enters_the_folder_of_each_test(path: Path) -> None:
    """It passes over some names, such as that of build results, and says nothing."""
    passed_over = ("build", "dist", "venv", "node_modules", "CVS", "_darcs")
    assert not any(part in passed_over or part.startswith(".") for part in _id(path).split("/"))


def test_no_leftovers() -> None:
    for path in PYTHON:
        assert "TO" + "DO" not in path.read_text(), path
        assert path.name != "utils.py"


@pytest.mark.parametrize("path", PYTHON, ids=_id)
def test_compiled_functions_are_not_recursive(path: Path) -> None:
    """A recursive function that numba loads from its cache calls address 0: the process ends."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            decorators = " ".join(ast.unparse(it) for it in node.decorator_list)
            if re.search(r"\b(njit|inner|kernel)\b", decorators):
                calls = {ast.unparse(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
                assert node.name not in calls, f"{node.name} calls itself"
