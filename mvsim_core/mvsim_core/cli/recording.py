# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Trajectories of all vehicles as CSV files, one a vehicle, one row a step."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from mvsim_core.errors import MvsimError

if TYPE_CHECKING:
    from mvsim_core.vehicle import Vehicle
    from mvsim_core.world import World

COLUMNS = (
    *("time [s]", "x [m]", "y [m]", "z [m]", "roll [rad]", "pitch [rad]", "yaw [rad]"),
    *("vx [m/s]", "vy [m/s]", "wz [rad/s]", "odom_x [m]", "odom_y [m]", "odom_yaw [rad]"),
)


class Recording:
    """Writes the state after each step; poses in the world frame, speeds in the vehicle's."""

    def __init__(self, world: World, folder: Path) -> None:
        """Open the files in `folder`, which is made if need be."""
        self._world = world
        self._files: list[tuple[Vehicle, TextIO, Any]] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for vehicle in world.vehicles.values():
                name = re.sub(r"[^\w.-]", "_", vehicle.name)
                file = (folder / f"{name}.csv").open("w", encoding="utf-8", newline="")
                writer = csv.writer(file)
                self._files.append((vehicle, file, writer))
                writer.writerow([*COLUMNS, *_wheel_columns(vehicle)])
        except OSError as error:
            self.close()
            raise MvsimError(f"cannot write to {str(folder)!r}: {error.strerror}") from None
        self.write()

    def write(self) -> None:
        """Append the present state of all vehicles."""
        time = self._world.time
        for vehicle, _, writer in self._files:
            odometry = vehicle.odometry.pose
            row = [time, *vehicle.pose, *vehicle.twist, odometry.x, odometry.y, odometry.yaw]
            for wheel in vehicle.wheels:
                row += (wheel.omega, wheel.steering, wheel.torque, wheel.fx, wheel.fy)
            writer.writerow([f"{value:.9g}" for value in row])

    def close(self) -> None:
        """Close the files."""
        for _, file, _ in self._files:
            file.close()


def _wheel_columns(vehicle: Vehicle) -> list[str]:
    names = [wheel.name for wheel in vehicle.spec.dynamics.wheels]
    quantities = ("omega [rad/s]", "steering [rad]", "torque [N m]", "fx [N]", "fy [N]")
    return [f"{name}_{quantity}" for name in names for quantity in quantities]
