# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A short run of the fuzzer of a node, with the same requests each time."""

from importlib.util import find_spec
from types import SimpleNamespace

import pytest

if not all(find_spec(name) for name in ("rclpy", "simulation_interfaces")):
    pytest.skip("the ROS packages of the bridge are missing", allow_module_level=True)

from mvsim_ros2.runtime.log_forwarding import answering
from tests.fuzz import node

pytestmark = pytest.mark.ros


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
