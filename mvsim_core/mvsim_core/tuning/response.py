# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Step responses of a vehicle, and what is read off them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import FloatArray
from mvsim_core.tuning.plant import Motion, world_alone

#: Band around the set point in which a response counts as settled.
BAND = 0.05


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a step of a set point at time 0.

    Attributes:
        times: (n,) s.
        values: (n,) velocity that the controller measures, by the wheels.
        torques: (n,) largest torque of a motor [N m].
        target: The set point.
    """

    times: FloatArray
    values: FloatArray
    torques: FloatArray
    target: float

    @property
    def rise(self) -> float:
        """Time from 10 to 90 % of the set point [s]; inf if it does not get there."""
        part = self.values / self.target
        if part.max() < 0.9:
            return float("inf")
        return self._crossing(part, 0.9) - self._crossing(part, 0.1)

    @property
    def overshoot(self) -> float:
        """By how much it exceeds the set point, as a part of that."""
        return max(0.0, float((self.values / self.target).max()) - 1.0)

    @property
    def settling(self) -> float:
        """Time from which it stays within `BAND` [s]; inf if it does not."""
        outside = np.flatnonzero(np.abs(self.values / self.target - 1.0) > BAND)
        if not len(outside):
            return float(self.times[0])
        last = int(outside[-1])
        return float(self.times[last + 1]) if last + 1 < len(self.times) else float("inf")

    @property
    def peak_torque(self) -> float:
        """Largest torque of a motor on the way [N m]."""
        return float(self.torques.max())

    def _crossing(self, part: FloatArray, level: float) -> float:
        """Return when a level is first reached, between two steps in proportion."""
        k = int(np.argmax(part >= level))
        if k == 0:
            return float(self.times[0])
        before, after = float(part[k - 1]), float(part[k])
        share = (level - before) / (after - before)
        return float(self.times[k - 1] + share * (self.times[k] - self.times[k - 1]))


def step_response(
    world: WorldSpec,
    vehicle: VehicleSpec,
    dt: float,
    motion: Motion,
    step: float,
    seconds: float,
    **gains: float,
) -> Response:
    """Return the response of a vehicle on level ground to a step of speed or turn rate.

    Args:
        world: Where gravity comes from.
        vehicle: The vehicle.
        dt: Time step [s].
        motion: What is commanded.
        step: Set point [m/s or rad/s].
        seconds: Length [s].
        gains: Fields of its controller's spec that are other than in the file.
    """
    running = world_alone(world, vehicle, dt, **gains)
    (robot,) = running.vehicles.values()
    turns = motion.name == "turn rate"
    running.step()
    robot.set_twist(0.0 if turns else step, 0.0, step if turns else 0.0)
    begin = running.time
    times, values, torques = [0.0], [0.0], [0.0]
    for _ in range(round(seconds / dt)):
        running.step()
        twist = robot.odometry.twist
        times.append(running.time - begin)
        values.append(twist.wz if turns else twist.vx)
        torques.append(max(abs(wheel.torque) for wheel in robot.wheels))
    return Response(np.array(times), np.array(values), np.array(torques), step)
