# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A short run of each fuzzer, with the same inputs each time; the long ones are run by hand."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from mvsim_ros2.runtime.log_forwarding import answering
from tests.fuzz import node, worlds
from tests.fuzz.mutations import Mutator


def test_changed_worlds_are_refused_or_step(tmp_path: Path) -> None:
    mutator = Mutator(1, worlds.seeds(tmp_path)[-4:])
    kinds: dict[str, str] = {}
    for _ in range(15):
        found = worlds.tried(mutator.world(), tmp_path, steps=5)
        kinds[found.kind.split()[0]] = found.detail
    assert {"refused", "stepped"} <= kinds.keys() <= {"refused", "stepped", "slow"}, kinds


@pytest.mark.ros
def test_a_client_that_means_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MVSIM_FUZZ_SECRET", node.SECRET)
    seen = node.fuzz(lambda actions: actions < 40, seed=5)
    assert seen.faults == []
    assert len(seen.codes) > 5


def test_a_handler_that_fails_answers(capfd: pytest.CaptureFixture[str]) -> None:
    logged: list[str] = []

    def fail(request: object, response: object) -> object:
        raise ValueError("the content of a file")

    answer = answering(fail, SimpleNamespace(error=logged.append))  # type: ignore[arg-type]
    assert answer("request", "response") == "response"
    assert logged == ["internal error: ValueError; standard error has the traceback"]
    assert "the content of a file" in capfd.readouterr().err
