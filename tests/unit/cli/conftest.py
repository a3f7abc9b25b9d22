# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The command line in this process."""

import functools
import sys
from collections.abc import Callable

import pytest
import typer.main

from mvsim_core.cli import main

Outcome = tuple[int, str, str]
#: The tree of verbs is made once in this process: it takes 50 ms, an error less than one.
get_command = functools.cache(typer.main.get_command)


@pytest.fixture
def mvsim(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Run the command line in this process; return exit code, output, error output."""
    monkeypatch.setattr(typer.main, "get_command", get_command)

    def call(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["mvsim", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capsys.readouterr()
        code = caught.value.code
        return (code if isinstance(code, int) else 0), out, err

    return call
