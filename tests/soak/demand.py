# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Processor time of a node by who listens: `python -m tests.soak.demand` prints a table.

Worlds of 1 and 25 robots with a VLP-16, a camera and an IMU each; in another process none, one
robot's subscriber, or a subscriber of each listens. The factor of real time shows whether the
machine keeps up; below 1 the processor time is that of the shorter simulated time.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, Imu, PointCloud2

from tests.conftest import DomainPool
from tests.ros.node_process import NodeProcess, Observer, eventually, nanoseconds
from tests.ros.worlds import COURIER

SENSORS = """
<sensor class="lidar3d" name="vlp16"><pose_3d>0 0 0.6 0 0 0</pose_3d><vert_nrays>16</vert_nrays>
  <horz_nrays>1800</horz_nrays><sensor_period>0.1</sensor_period></sensor>
<sensor class="camera" name="eye"><pose_3d>0.2 0 0.4 -90 0 -90</pose_3d>
  <ncols>320</ncols><nrows>240</nrows><sensor_period>0.1</sensor_period></sensor>
<sensor class="imu" name="imu"><sensor_period>0.01</sensor_period></sensor>
"""
TOPICS = {"vlp16/points": PointCloud2, "eye/image_raw": Image, "imu": Imu}


def write(folder: Path, robots: int) -> Path:
    """Write a world of some robots in rows."""
    path = folder / "test.world.xml"
    loop = (
        f'<for var="i" from="0" to="{robots - 1}"><vehicle name="r${{i}}" class="courier">'
        "<init_pose>$f{4*(i%5)} $f{4*floor(i/5)} 0</init_pose></vehicle></for>"
    )
    path.write_text(f"<mvsim_world>{COURIER.format(sensors=SENSORS)}{loop}</mvsim_world>")
    return path


def measure(robots: int, listened: int, seconds: float) -> tuple[float, float, int]:
    """Return processor time over wall time, the factor of real time, and messages that came."""
    pool = DomainPool()
    domain = pool.take()
    count = 0
    newest = 0

    def take_clock(message: Clock) -> None:
        nonlocal newest
        newest = nanoseconds(message.clock)

    def take(message: bytes) -> None:
        nonlocal count
        count += 1

    with tempfile.TemporaryDirectory() as folder:
        node = NodeProcess(
            domain, write(Path(folder), robots), force_publish_vehicle_namespace=True
        )
        observer = Observer(domain)
        try:
            observer.node.create_subscription(Clock, "/clock", take_clock, 10)
            for robot in range(listened):
                for topic, kind in TOPICS.items():
                    name = f"/r{robot}/{topic}"
                    observer.node.create_subscription(kind, name, take, 10, raw=True)
            eventually(lambda: newest and (count or not listened), "messages", 300.0)
            time.sleep(2.0)
            before = _processor_time(node.process.pid), newest, time.monotonic(), count
            time.sleep(seconds)
            wall = time.monotonic() - before[2]
            used = _processor_time(node.process.pid) - before[0]
            return used / wall, (newest - before[1]) * 1e-9 / wall, count - before[3]
        finally:
            observer.close()
            node.close()
            pool.close()


def _processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100.0


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Processor time of a node by who listens.")
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    sys.stdout.write("robots  listened to  processor  factor  messages\n")
    for robots in (1, 25):
        for listened in sorted({0, 1, robots}):
            used, factor, count = measure(robots, listened, options.seconds)
            sys.stdout.write(f"{robots:6}  {listened:11}  {used:8.1%}  {factor:6.2f}  {count:8}\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
