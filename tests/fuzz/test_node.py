# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A short run of the fuzzer of a node, with the same requests each time."""

import asyncio
import os
import shutil
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

if not all(find_spec(name) for name in ("rclpy", "simulation_interfaces")):
    pytest.skip("the ROS packages of the bridge are missing", allow_module_level=True)

from simulation_interfaces.srv import GetEntities

from mvsim_ros2.runtime.log_forwarding import answering
from tests.fuzz import node
from tests.ros.node_process import eventually

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

    async def fail_later(request: object, response: object) -> object:
        return fail(request, response)

    logger = SimpleNamespace(error=logged.append)
    response = answering(fail, logger)(None, GetEntities.Response())  # type: ignore[arg-type]
    later = answering(fail_later, logger)(None, GetEntities.Response())  # type: ignore[arg-type]
    for answer in (response, asyncio.run(later)):
        assert answer.result.result == answer.result.RESULT_OPERATION_FAILED
        assert answer.result.error_message == "internal error: ValueError"
    assert logged == ["internal error: ValueError; standard error has the traceback"] * 2
    assert "the content of a file" in capfd.readouterr().err


def test_a_response_that_cannot_be_written_becomes_an_error() -> None:
    async def list_worlds(request: object, response: Any) -> Any:
        response.entities = [os.fsdecode(b"\xff")]
        return response

    logger = SimpleNamespace(error=lambda text: None)
    answer = answering(list_worlds, logger)(None, GetEntities.Response())  # type: ignore[arg-type]
    assert asyncio.run(answer).result.error_message == "internal error: UnicodeEncodeError"


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
def test_a_traced_process_ends_by_its_signals(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    process = subprocess.Popen([*node.tracer(trace), "sleep", "100"])
    eventually(lambda: trace.exists() and "locale" in trace.read_text(), "strace")
    process.send_signal(signal.SIGINT)
    assert process.wait(20.0) == -signal.SIGINT
