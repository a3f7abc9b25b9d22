# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim_demo WORLD`: a simulated world in one process, its driver in another, over ROS 2.

The driver sends `cmd_vel` to every robot, steers by the scans, and shows what comes back.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mvsim_ros2.shutdown import Stopped, StopSignals

if TYPE_CHECKING:
    from mvsim_ros2.listening import Listener

#: Wall time [s] for the node to come up (the first run compiles kernels), and to end.
START_PATIENCE, END_PATIENCE = 120.0, 10.0
#: Wall time [s] between two commands, and between two status lines on a terminal or in a file.
DRIVE_PERIOD, STATUS_PERIOD, LOG_PERIOD = 0.1, 0.25, 2.0
#: Topics in the status line, by the last part of their names, and how many of them.
SHOWN, MOST_SHOWN = ("clock", "odom", "scan", "tf"), 6


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code."""
    signals = StopSignals()
    options = _options(arguments)
    begin = time.monotonic()
    # Nobody else's robot shall move.
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    process = _start_node(options)
    try:
        with signals.interrupting():
            driver = _Driver(begin)
        code = _drive(driver, process, options.time, signals)
        driver.close()
    except Stopped:
        code = 0
    finally:
        ended = _end_node(process)
    signals.ignore()
    return code or ended


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mvsim_demo", description="Simulate a world and drive its robots over ROS 2."
    )
    parser.add_argument("world", help="world file")
    parser.add_argument(
        "--time", type=float, default=20.0, metavar="S", help="simulated seconds (default: 20)"
    )
    parser.add_argument(
        "--realtime-factor",
        default="1.0",
        metavar="F",
        help="simulated seconds per second, or max",
    )
    return parser.parse_args(arguments)


#: Of <linux/prctl.h>: the signal that a process gets when its parent has died.
PR_SET_PDEATHSIG = 1


def _start_node(options: argparse.Namespace) -> subprocess.Popen[bytes]:
    parameters = {
        "world_file": options.world,
        "realtime_factor": options.realtime_factor,
    }
    words = [word for k, v in parameters.items() for word in ("-p", f"{k}:={v}")]
    return subprocess.Popen(
        [sys.executable, "-m", "mvsim_ros2.main", "--ros-args", *words],
        # Ctrl-C comes to this process, which ends the other one in order.
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
        return process.wait(END_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return 1


class _Driver:
    """The second process's side: a node that listens and drives."""

    def __init__(self, begin: float) -> None:
        import rclpy
        from rclpy.signals import SignalHandlerOptions

        from mvsim_ros2 import fast_dds
        from mvsim_ros2.listening import Listener
        from mvsim_ros2.spinning import Spinner

        self.begin = begin
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        with fast_dds.set_up(large_messages=False):
            self._node = rclpy.create_node("mvsim_demo_driver")
        self.listener: Listener = Listener(self._node)
        self._publishers: dict[str, Any] = {}
        self._spinner = Spinner(self._node)

    def drive(self) -> None:
        """Send one command to every robot."""
        from geometry_msgs.msg import Twist

        from mvsim_ros2.wandering import BLIND, wander

        self.listener.discover()
        for space in self.listener.namespaces():
            if space not in self._publishers:
                topic = f"{space}cmd_vel"
                self._publishers[space] = self._node.create_publisher(Twist, topic, 10)
            scan = self.listener.scan_in(space)
            command = Twist()
            command.linear.x, command.angular.z = (
                wander(scan.ranges, scan.angle_min, scan.angle_increment) if scan else BLIND
            )
            self._publishers[space].publish(command)

    def close(self) -> None:
        """Leave the graph."""
        import rclpy

        self._spinner.close()
        self._node.destroy_node()
        rclpy.try_shutdown()


def _drive(
    driver: _Driver, process: subprocess.Popen[bytes], seconds: float, stopped: StopSignals
) -> int:
    """Drive for some simulated seconds, show what happens, and return an exit code."""
    listener = driver.listener
    terminal = sys.stdout.isatty()
    next_status = 0.0
    told = False
    while not stopped() and listener.span[0] < seconds:
        if process.poll() is not None:
            return 1  # it has said why
        if listener.sim_time == 0.0 and time.monotonic() - driver.begin > START_PATIENCE:
            print(f"no /clock within {START_PATIENCE:g} s", file=sys.stderr)
            return 1
        driver.drive()
        told = told or _tell_start(driver)
        if listener.sim_time and time.monotonic() >= next_status:
            next_status = time.monotonic() + (STATUS_PERIOD if terminal else LOG_PERIOD)
            print(_status(listener), end="\r" if terminal else "\n", flush=True)
        time.sleep(DRIVE_PERIOD)
    print(_table(listener))
    return 0


def _tell_start(driver: _Driver) -> bool:
    """Say how long the start took, once there are scans; return whether that was said."""
    listener = driver.listener
    scans = [listener.counts[topic].first_wall for topic in listener.scans]
    if not scans or not listener.sim_time:
        return False
    clock = listener.counts["/clock"].first_wall - driver.begin
    print(f"first /clock after {clock:.2f} s, first scan after {min(scans) - driver.begin:.2f} s")
    return True


def _status(listener: Listener) -> str:
    """Return one line: simulated time, real-time factor, rates, and how far the robots came."""
    topics = [t for t in listener.counts if t.rpartition("/")[2] in SHOWN and listener.rate(t)]
    rates = [f"{topic} {listener.rate(topic):.0f} Hz" for topic in sorted(topics)[:MOST_SHOWN]]
    parts = [
        f"simulated time {listener.sim_time:6.2f} s",
        f"real-time factor {listener.real_time_factor:5.2f}",
        *rates,
        f"driven {sum(listener.driven.values()):.1f} m",
    ]
    return "  ".join(parts)


def _table(listener: Listener) -> str:
    """Return the final report."""
    sim, wall = listener.span
    lines = [
        f"\nsimulated {sim:.2f} s in {wall:.2f} s: real-time factor"
        f" {listener.real_time_factor:.2f}",
        *(f"{topic}: {way:.2f} m" for topic, way in sorted(listener.driven.items())),
        f"{'topic':34} {'type':36} {'messages':>8} {'Hz (simulated)':>15}",
    ]
    for topic, count in sorted(listener.counts.items()):
        rate = f"{listener.rate(topic):.1f}" if count.messages > 1 else "once"
        lines.append(f"{topic:34} {count.type_name:36} {count.messages:8d} {rate:>15}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
