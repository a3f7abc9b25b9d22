# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The verbs of the message bus against simulations and servers in processes of their own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Outcome

WORLD = str(Path(__file__).parents[3] / "examples" / "bus.world.xml")
EXAMPLE = str(Path(__file__).parents[3] / "examples" / "bus_client.py")


def start(*arguments: str) -> tuple["subprocess.Popen[str]", str]:
    """Start `mvsim`; return the process and the port of its server."""
    command = [sys.executable, "-m", "mvsim_core.cli", *arguments, "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("message bus: server at 127.0.0.1:"), line
    return process, line.strip().rpartition(":")[2]


@pytest.fixture(scope="module")
def port() -> Iterator[str]:
    process, port = start("run", WORLD, "--server")
    yield port
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0


Verb = Callable[..., Outcome]


@pytest.fixture
def on_bus(mvsim: Verb, port: str) -> Verb:
    return lambda *arguments: mvsim(*arguments, "--port", port)


def test_node_list(on_bus: Verb) -> None:
    assert on_bus("node", "list") == (0, "World\n", "")
    assert json.loads(on_bus("node", "list", "--json")[1]) == ["World"]


def test_topic_list(on_bus: Verb) -> None:
    code, out, _ = on_bus("topic", "list")
    assert code == 0
    assert out == "".join(
        f"/r1/{name}  [mvsim_msgs.{kind}]\n"
        for name, kind in (
            ("imu1", "GenericObservation"),
            ("laser1", "GenericObservation"),
            ("laser1_scan", "ObservationLidar2D"),
            ("odom", "GenericObservation"),
            ("pose", "TimeStampedPose"),
        )
    )
    (topic,) = json.loads(on_bus("topic", "list", "/r1/p", "--json")[1])
    assert topic["type"] == "mvsim_msgs.TimeStampedPose"
    assert topic["publishers"]["World"].startswith("tcp://127.0.0.1:")
    assert "\n    World  tcp://127.0.0.1:" in on_bus("topic", "list", "--details")[1]


def test_topic_echo(on_bus: Verb) -> None:
    code, out, _ = on_bus("topic", "echo", "/r1/pose", "-n", "2", "--timeout", "20", "--json")
    assert code == 0
    first, second = (json.loads(line) for line in out.splitlines())
    assert first["objectId"] == "r1"
    assert (first["pose"]["x"], first["pose"]["y"]) == (0.0, 0.0)
    between = second["unixTimestamp"] - first["unixTimestamp"]
    assert between == pytest.approx(0.05, abs=1e-6)  # a double holds the time of today to 2.4e-7
    code, out, _ = on_bus("topic", "echo", "/r1/imu1", "-n", "1", "--timeout", "20")
    assert code == 0
    assert "mrpt::obs::CObservationIMU" in out
    code, _, err = on_bus("topic", "echo", "/nothing", "--timeout", "0.1")
    assert (code, err) == (1, "error: no message on /nothing within 0.1 s\n")


def test_topic_hz(on_bus: Verb) -> None:
    code, out, _ = on_bus("topic", "hz", "/r1/pose", "--seconds", "1", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["messages"] > 3
    assert found["rate"] == pytest.approx(20.0, rel=0.5)
    assert on_bus("topic", "hz", "/nothing", "--seconds", "0.1")[:2] == (
        *(1, "/nothing: 0 messages in 0.1 s\n"),
    )


def test_topic_pub(on_bus: Verb, port: str) -> None:
    listen = ["topic", "echo", "/mine", "-n", "1", "--timeout", "30", "--json", "--port", port]
    listener = subprocess.Popen(
        [sys.executable, "-m", "mvsim_core.cli", *listen], stdout=subprocess.PIPE, text=True
    )
    twist = json.dumps(dict.fromkeys(("vx", "vy", "vz", "wx", "wy", "wz"), 0.5))
    assert on_bus("topic", "pub", "/mine", "Twist", twist, "--wait", "20") == (
        *(0, "/mine: 1 published, 1 readers\n", ""),
    )
    assert json.loads(listener.communicate()[0])["wz"] == 0.5
    code, _, err = on_bus("topic", "pub", "/mine", "Twist", '{"vx": 1}')
    assert (code, err.startswith("error: Twist: missing: ")) == (1, True)
    code, _, err = on_bus("topic", "pub", "/mine", "Nothing", "{}")
    assert (code, err.startswith("error: unknown type 'Nothing'; known: Pose,")) == (1, True)


def test_service_list(on_bus: Verb) -> None:
    code, out, _ = on_bus("service", "list")
    assert code == 0
    assert "get_pose  [mvsim_msgs.SrvGetPose -> mvsim_msgs.SrvGetPoseAnswer]\n" in out
    names = [service["name"] for service in json.loads(on_bus("service", "list", "--json")[1])]
    assert names == [
        *("get_pose", "set_controller_twist", "set_pose", "set_wheel_torques", "shutdown"),
    ]


def test_service_call(on_bus: Verb) -> None:
    request = '{"objectId": "r1"}'
    code, out, _ = on_bus("service", "call", "get_pose", request, "--json")
    assert code == 0
    assert json.loads(out)["pose"]["y"] == 0.0
    code, out, _ = on_bus("service", "call", "get_pose", '{"objectId": "r9"}')
    assert code == 1
    assert "unknown entity" in out
    assert on_bus("service", "call", "get_pose", "[1]")[0] == 2
    code, _, err = on_bus("service", "call", "nothing")
    assert (code, err) == (1, "error: there is no service 'nothing'\n")


def test_launch_ends_by_shutdown(mvsim: Verb) -> None:
    process, port = start("launch", WORLD, "--headless", "--realtime-factor", "2")
    code, out, _ = mvsim("service", "call", "shutdown", "--port", port)
    assert (code, out) == (0, "accepted: true\n\n")
    assert process.wait(20) == 0


def test_server(mvsim: Verb) -> None:
    process, port = start("server")
    assert mvsim("node", "list", "--port", port) == (0, "", "")
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    code, _, err = mvsim("service", "call", "get_pose", "--timeout", "1", "--port", port)
    assert code == 1
    assert "no server of a message bus" in err


def test_the_example_drives(on_bus: Verb, port: str) -> None:
    # Kernels that are not compiled yet may take longer than the example runs.
    assert on_bus("topic", "echo", "/r1/laser1_scan", "-n", "1", "--timeout", "120")[0] == 0
    done = subprocess.run(
        [sys.executable, EXAMPLE, port], capture_output=True, text=True, check=True, timeout=60
    )
    first, *_, last = done.stdout.splitlines()
    assert float(first.split()[1]) == pytest.approx(4.0, abs=0.2)
    assert float(last.split()[4]) > 0.5
