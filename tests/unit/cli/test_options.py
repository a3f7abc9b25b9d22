# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""All options of all verbs: numbers that cannot be meant, repeated options, help, completion."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer.main

from mvsim_core import __version__
from mvsim_core.cli import app_of
from mvsim_core.cli.command import Command

Outcome = tuple[int, str, str]

#: Options whose numbers may be negative.
SIGNED = {("map", "--z"), ("render", "--eye"), ("render", "--at")}
#: Options whose numbers are part of a text, with what must be refused of it.
TEXTS = (
    ("run", "--twist", ("r1 {} 0", "r1 0 {}"), ("nan", "inf", "-inf", "abc")),
    ("render", "--twist", ("r1 {} 0", "r1 0 {}"), ("nan", "inf", "-inf", "abc")),
    ("run", "--realtime-factor", ("{}",), ("nan", "inf", "-inf", "-1", "0", "abc")),
    ("launch", "--realtime-factor", ("{}",), ("nan", "inf", "-inf", "-1", "0", "abc")),
    ("render", "--size", ("{}x10", "10x{}"), ("nan", "inf", "-inf", "-1", "0", "abc")),
)


def verbs(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield all verbs with their names, those of groups too."""
    group = group or typer.main.get_command(app_of())
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from verbs(one, (*path, name))
        else:
            yield (*path, name), one


VERBS = [pytest.param(path, verb, id=" ".join(path)) for path, verb in verbs()]


def numeric(verb: Any) -> Iterator[tuple[Any, float | None, int]]:
    """Yield the options of a verb that take numbers, their least value, and how many they are."""
    hints = get_type_hints(inspect.unwrap(verb.callback), include_extras=True)
    for param in verb.params:
        hint = hints.get(param.name)
        words = re.sub(r"Annotated|OptionInfo.*", "", str(hint))
        if param.param_type_name == "option" and re.search(r"\b(float|int)\b", words):
            (info,) = (about for about in hint.__metadata__ if hasattr(about, "min"))
            yield param, info.min, len(re.findall(r"float|int", words))


def options() -> Iterator[Any]:
    for path, verb in verbs():
        for param, _, count in numeric(verb):
            yield pytest.param(path, verb, param, count, id=f"{' '.join(path)} {param.opts[-1]}")


def refused(outcome: Outcome, option: str) -> None:
    code, out, err = outcome
    assert code in (1, 2), err
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert "Traceback" not in err
    assert option in err


def needed(verb: Any) -> list[str]:
    """Return words for what a verb requires; they are never used."""
    words = []
    for param in verb.params:
        if param.required and param.param_type_name == "argument":
            words.append("none.world.xml")
        elif param.required:
            words += [param.opts[-1], "none.yaml"]
    return words


def test_the_table_of_options_is_complete() -> None:
    """Each number has a least value, unless it may be negative."""
    found = {
        (" ".join(path), max(param.opts, key=len)): least
        for path, verb in verbs()
        for param, least, _ in numeric(verb)
    }
    assert len(found) > 30
    assert found.keys() >= {("run", "--time"), ("render", "--fov"), ("topic echo", "--timeout")}
    assert {option for option, least in found.items() if least is None} == SIGNED
    assert {name for name, *_ in TEXTS} <= {" ".join(path) for path, _ in verbs()}


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "abc", "-1"])
@pytest.mark.parametrize(("path", "verb", "param", "count"), list(options()))
def test_numbers_that_cannot_be_meant(
    mvsim: Callable[..., Outcome],
    path: tuple[str, ...],
    verb: Any,
    param: Any,
    count: int,
    value: str,
) -> None:
    option = max(param.opts, key=len)
    if value == "-1" and (" ".join(path), option) in SIGNED:
        pytest.skip("negative numbers are meant")
    words = [value, *["0"] * (count - 1)]
    outcome = mvsim(*path, *needed(verb), option, *words)
    refused(outcome, option)
    assert re.search(r"float|int|number|valid|greater|range|expected", outcome[2])


@pytest.mark.parametrize(
    ("verb", "option", "text", "value"),
    [(verb, o, text, v) for verb, o, texts, values in TEXTS for text in texts for v in values],
)
def test_numbers_in_texts(
    mvsim: Callable[..., Outcome], verb: str, option: str, text: str, value: str
) -> None:
    more = ["-o", "x.png"] if verb == "render" else []
    outcome = mvsim(verb, "none.world.xml", *more, option, *text.format(value).split())
    refused(outcome, option)
    assert outcome[0] == 2


@pytest.mark.parametrize(("path", "verb"), VERBS)
def test_an_option_given_twice_is_refused(
    mvsim: Callable[..., Outcome], path: tuple[str, ...], verb: Any
) -> None:
    """The last one would count, silently."""
    assert isinstance(verb, Command)
    single = [
        param
        for param in verb.params
        if param.param_type_name == "option" and not param.multiple and not param.is_flag
    ]
    for param in single:
        words = [param.opts[-1], *["1"] * param.nargs]
        code, _, err = mvsim(*path, *needed(verb), *words, *words)
        assert code == 2
        assert "given twice" in err or param.required
        assert len(err.splitlines()) == 1
    if not single:
        assert path[0] in ("check", "info", "bench", "schema", "worlds")


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize(("path", "verb"), VERBS)
def test_help_everywhere(
    mvsim: Callable[..., Outcome], path: tuple[str, ...], verb: Any, flag: str
) -> None:
    for words in (path, path[:-1]):
        code, out, err = mvsim(*words, flag)
        assert (code, err) == (0, "")
        assert "Usage: mvsim" in out
    out = " ".join(mvsim(*path, flag)[1].split())
    for param in verb.params:  # units in brackets are shown
        for unit in re.findall(r"\[[^\]]+\]", getattr(param, "help", None) or ""):
            assert unit in out


def test_version(mvsim: Callable[..., Outcome]) -> None:
    assert mvsim("--version") == (0, f"mvsim {__version__}\n", "")


@pytest.mark.parametrize(
    ("shell", "words"), [("bash", "complete -o default -F"), ("zsh", "#compdef mvsim")]
)
def test_completion_scripts(shell: str, words: str) -> None:
    environment = {**os.environ, "_MVSIM_COMPLETE": f"source_{shell}"}
    done = subprocess.run(
        [sys.executable, "-m", "mvsim_core.cli"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert words in done.stdout
    assert "_MVSIM_COMPLETE" in done.stdout
    asked = {"_MVSIM_COMPLETE": "complete_bash", "COMP_WORDS": "mvsim re", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mvsim_core.cli"],
        env={**os.environ, **asked}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "render" in done.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_is_installed(shell: str, tmp_path: Path) -> None:
    environment = {
        **os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }  # fmt: skip
    subprocess.run(
        [sys.executable, "-m", "mvsim_core.cli", "--install-completion", shell],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "_MVSIM_COMPLETE" in written
