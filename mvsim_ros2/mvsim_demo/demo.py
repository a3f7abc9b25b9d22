# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The demo command: the node in one process, the demo driver in this one.

The driver sends `cmd_vel` to every robot, avoids obstacles by the scans, and the command prints
real-time factor, topic rates and driven distances.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from mvsim_ros2.runtime.shutdown import Stopped, StopSignals

if TYPE_CHECKING:
    from mvsim_demo.demo_driver import DemoDriver
    from mvsim_demo.topic_monitor import TopicMonitor

#: Timeouts [s wall time] of the start of the node (the first run compiles kernels) and its end.
START_TIMEOUT, END_TIMEOUT = 120.0, 10.0
#: Periods [s wall time] of commands, and of status lines on a terminal and in a file.
DRIVE_PERIOD, STATUS_PERIOD, LOG_PERIOD = 0.1, 0.25, 2.0
#: Topics in the status line, by the last part of their names, and the most of them.
SHOWN, MAX_SHOWN = ("clock", "odom", "scan", "tf"), 6


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code."""
    signals = StopSignals()
    options = _options(arguments)
    begin = time.monotonic()
    # Robots of other people in the network must not move.
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    process = _start_node(options)
    try:
        with signals.raise_stopped():
            driver = _start_driver()
        code = _drive(driver, process, options.time, signals, begin)
        driver.close()
    except Stopped:
        code = 0
    finally:
        ended = _end_node(process)
    signals.ignore()
    return code or ended


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _Parser(
        prog="mvsim_demo", description="Simulate a world and drive its robots over ROS 2."
    )
    parser.add_argument("world", help="world file")
    parser.add_argument(
        "--time",
        type=_above_zero,
        default=20.0,
        metavar="S",
        help="simulated seconds (default: 20)",
    )
    parser.add_argument(
        "--realtime-factor",
        type=_factor,
        default="1.0",
        metavar="F",
        help="simulated seconds per second, or max",
    )
    return parser.parse_args(arguments)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """End with code 2."""
        self.exit(2, f"{self.prog}: {message}\n")


def _above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a finite number > 0, got {text!r}")
    return value


def _factor(text: str) -> str:
    if text == "max":
        return text
    try:
        return str(_above_zero(text))
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}; or max") from None


#: From <linux/prctl.h>: sets the signal that a process gets when its parent dies.
PR_SET_PDEATHSIG = 1


def _start_node(options: argparse.Namespace) -> subprocess.Popen[bytes]:
    parameters = {
        "world_file": options.world,
        "realtime_factor": options.realtime_factor,
    }
    words = [word for k, v in parameters.items() for word in ("-p", f"{k}:={v}")]
    return subprocess.Popen(
        [sys.executable, "-m", "mvsim_ros2.main", "--ros-args", *words],
        # SIGINT of a terminal goes to this process only, which ends the node.
        start_new_session=True,
        preexec_fn=_end_with_parent,
    )


def _end_with_parent() -> None:
    """Let the kernel end this process, the node, when the demo is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_node(process: subprocess.Popen[bytes]) -> int:
    """End the node and return its exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        return process.wait(END_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        return 1


def _start_driver() -> DemoDriver:
    """Create the driver; imports of ROS take time in which the node starts already."""
    from mvsim_demo.demo_driver import DemoDriver

    return DemoDriver()


def _drive(
    driver: DemoDriver,
    process: subprocess.Popen[bytes],
    seconds: float,
    stopped: StopSignals,
    begin: float,
) -> int:
    """Drive for some simulated seconds, print the status, and return an exit code.

    Args:
        driver: The driver.
        process: The node.
        seconds: Simulated time [s].
        stopped: Whether a signal has arrived.
        begin: When the demo was started, time.monotonic() [s].
    """
    monitor = driver.monitor
    terminal = sys.stdout.isatty()
    next_status = 0.0
    start_reported = False
    while not stopped() and monitor.elapsed[0] < seconds:
        if process.poll() is not None:
            return 1  # the node has printed the reason
        if monitor.sim_time == 0.0 and time.monotonic() - begin > START_TIMEOUT:
            print(f"no /clock within {START_TIMEOUT:g} s", file=sys.stderr)
            return 1
        driver.drive()
        start_reported = start_reported or _report_start(monitor, begin)
        if monitor.sim_time and time.monotonic() >= next_status:
            next_status = time.monotonic() + (STATUS_PERIOD if terminal else LOG_PERIOD)
            print(_status(monitor), end="\r" if terminal else "\n", flush=True)
        time.sleep(DRIVE_PERIOD)
    print(_table(monitor))
    return 0


def _report_start(monitor: TopicMonitor, begin: float) -> bool:
    """Print the duration of the start once there are scans; return whether it was printed."""
    scans = [monitor.counts[topic].first_wall for topic in monitor.scans]
    if not scans or not monitor.sim_time:
        return False
    clock = monitor.counts["/clock"].first_wall - begin
    print(f"first /clock after {clock:.2f} s, first scan after {min(scans) - begin:.2f} s")
    return True


def _status(monitor: TopicMonitor) -> str:
    """Return one line: simulated time, real-time factor, rates, driven distance."""
    topics = [t for t in monitor.counts if t.rpartition("/")[2] in SHOWN and monitor.rate(t)]
    rates = [f"{topic} {monitor.rate(topic):.0f} Hz" for topic in sorted(topics)[:MAX_SHOWN]]
    parts = [
        f"simulated time {monitor.sim_time:6.2f} s",
        f"real-time factor {monitor.real_time_factor:5.2f}",
        *rates,
        f"driven {sum(monitor.distances.values()):.1f} m",
    ]
    return "  ".join(parts)


def _table(monitor: TopicMonitor) -> str:
    """Return the final report."""
    sim, wall = monitor.elapsed
    lines = [
        f"\nsimulated {sim:.2f} s in {wall:.2f} s: real-time factor"
        f" {monitor.real_time_factor:.2f}",
        *(f"{topic}: {distance:.2f} m" for topic, distance in sorted(monitor.distances.items())),
        f"{'topic':34} {'type':36} {'messages':>8} {'Hz (simulated)':>15}",
    ]
    for topic, count in sorted(monitor.counts.items()):
        rate = f"{monitor.rate(topic):.1f}" if count.messages > 1 else "once"
        lines.append(f"{topic:34} {count.type_name:36} {count.messages:8d} {rate:>15}")
    return "\n".join(lines)
