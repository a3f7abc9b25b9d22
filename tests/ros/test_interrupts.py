# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Signals at any moment of the start: exit code 0, no traceback, soon."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mvsim_ros2.runtime.shutdown import STOP_SIGNALS, Stopped, StopSignals
from tests.conftest import ROOT, DomainPool
from tests.ros.node_process import NodeProcess, eventually


def has_handler(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has a handler for SIGTERM: Python itself has none."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        name, _, mask = line.partition(":")
        if name == "SigCgt":
            return bool(int(mask, 16) >> (signal.SIGTERM - 1) & 1)
    return False


@pytest.fixture
def hangup_ends() -> Iterator[None]:
    """Let SIGHUP end processes that are started, also where the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.ros
@pytest.mark.alone
@pytest.mark.usefixtures("hangup_ends")
@pytest.mark.parametrize("delay", [0.0, 0.1, 0.35, 0.65, 1.0])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_while_starting(domain_pool: DomainPool, delay: float, number: int) -> None:
    domain = domain_pool.take()
    process = NodeProcess(domain, ROOT / "worlds" / "warehouse.world.xml")
    try:
        eventually(lambda: has_handler(process.process), "a handler for the signal")
        time.sleep(delay)
        code, seconds = process.interrupt(number, times=2)
        assert code == 0, process.output
        assert seconds < 2.0
        assert "Traceback" not in process.output
    finally:
        process.close()
        domain_pool.give_back(domain)


SCRIPT = """
import os, signal, sys
from mvsim_ros2.runtime.shutdown import STOP_SIGNALS, Stopped, StopSignals
signals = StopSignals()
assert not signals()
os.kill(os.getpid(), signal.SIGTERM)
assert signals()
os.kill(os.getpid(), signal.SIGINT)  # within the clean-up of the first
try:
    with signals.raise_stopped():
        sys.exit("went on")
except Stopped:
    pass
signals.ignore()
os.kill(os.getpid(), signal.SIGINT)
"""


def test_only_the_first_signal_interrupts_and_only_the_start() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


ENDING = """
import os, signal, sys
from mvsim_ros2.runtime.shutdown import StopSignals
signals = StopSignals()
with signals.exit_process():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        sys.exit("an exception")
sys.exit("went on")
"""


def test_a_signal_while_modules_are_imported_ends_the_process_without_an_exception() -> None:
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


LOST = """
import ctypes, os, signal, sys, time
from mvsim_ros2.runtime.shutdown import STOP_SIGNALS, Stopped, StopSignals

@ctypes.CFUNCTYPE(None)
def callback():  # from C: exceptions get lost in it
    os.kill(os.getpid(), signal.SIGINT)

signals = StopSignals()
begin = time.monotonic()
try:
    with signals.raise_stopped():
        callback()
        time.sleep(5.0)
except Stopped:
    sys.exit(0 if time.monotonic() - begin < 1.0 else "late")
sys.exit("went on")
"""


def test_a_signal_is_not_lost_in_callbacks_from_c() -> None:
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


IGNORED = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from mvsim_ros2.runtime.shutdown import StopSignals
signals = StopSignals()
os.kill(os.getpid(), signal.SIGHUP)
print(signals())
"""


def test_nohup_keeps_the_node_running() -> None:
    done = subprocess.run([sys.executable, "-c", IGNORED], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")


def test_a_signal_interrupts_the_start() -> None:
    before = {n: signal.getsignal(n) for n in STOP_SIGNALS}
    try:
        signals = StopSignals()
        with signals.raise_stopped(), pytest.raises(Stopped):
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
