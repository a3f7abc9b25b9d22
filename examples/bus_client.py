# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Drive a robot and print its scans, over the message bus.

`mvsim run examples/bus.world.xml --server`, then `python examples/bus_client.py [PORT]`.
"""

import sys
import time

from mvsim_core.comms import DEFAULT_PORT, Client, messages

with Client("example", port=int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_PORT) as bus:
    bus.subscribe("/r1/laser1_scan", lambda scan: print(f"nearest: {min(scan.scanRanges):.2f} m"))
    for speed in (0.5, 0.0):  # m/s
        bus.call("set_controller_twist", objectId="r1", twistSetPoint=messages.twist(speed))
        time.sleep(1.5)
    pose = bus.call("get_pose", objectId="r1").pose
    print(f"stopped at x = {pose.x:.2f} m, y = {pose.y:.2f} m")
