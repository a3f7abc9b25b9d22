# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles of the copies of a world as agents: commands in, readings out, all as arrays.

Agent a is vehicle ``a % per_copy`` of copy ``a // per_copy``. Nothing here loops over agents.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_core.envs.fields import Field, Floats32, Layout
from mvsim_core.envs.randomization import WITH_REGIONS
from mvsim_core.errors import BuildError, UnknownName
from mvsim_core.sensors.lidar2d import Lidar2d
from mvsim_core.sensors.lidar_scans import LidarScans
from mvsim_core.state.arrays import VEHICLE, BoolArray, FloatArray, IntArray
from mvsim_core.state.columns import (
    bearings_kernel,
    bound_kernel,
    column_of,
    numbers_of,
    read_fields_kernel,
    touching_kernel,
    write_fields_kernel,
)
from mvsim_core.world.batch import Batch
from mvsim_core.world.ticks import Finish
from mvsim_core.world.world import World

#: Which agents: all (a slice), or some by number.
Which = slice | IntArray
ALL = slice(None)


@dataclass(frozen=True, slots=True)
class Limits:
    """Greatest values of actions.

    Attributes:
        speed: Forward and backward, and sideways if the vehicle can [m/s].
        turn: Yaw rate of vehicles that take a twist [rad/s].
        steering: Steering angle of vehicles that take one [rad]; None: that of the vehicle.
    """

    speed: float
    turn: float
    steering: float | None = None


class Agents:
    """Vehicles of all copies of a world, and their lidars.

    Attributes:
        world: The world that was replicated; its state is not used further.
        batch: Its copies.
        names: The vehicles of a copy that are agents.
        per_copy: How many there are.
        count: Number of agents in all.
        steers: Whether actions are speed and steering angle; else they are a twist.
        actions: Fields of an action.
        motion: Fields that say how a vehicle moves, as its wheels measure it.
        lidar: The lidar; None: they have none.
        touched: (count,) whether an agent touched something during the last `advance`.
    """

    def __init__(
        self,
        world: World,
        copies: int,
        names: Sequence[str],
        *,
        limits: Limits,
        lidar: str | None = None,
    ) -> None:
        """Replicate a world.

        Args:
            world: The world; its sensors are removed.
            copies: Number of copies.
            names: Vehicles that are agents; all alike.
            limits: Greatest values of actions.
            lidar: Name of a planar lidar that each has.

        Raises:
            UnknownName: There is no vehicle or sensor of a name.
            BuildError: The vehicles take no command that actions can be made of.
        """
        self.world, self.names, self.per_copy = world, tuple(names), len(names)
        vehicles = [world.vehicles[name] for name in self.names]
        first = vehicles[0]
        self.steers = "ackermann" in first.accepts
        self._sideways = not self.steers and first.holonomic
        if not self.steers and "twist" not in first.accepts:
            raise BuildError(f"{first.name}: its controller takes neither twist nor steering")
        sensor = _lidar_of(first, lidar) if lidar else None
        for vehicle in vehicles:  # so that a step writes numbers only
            if self.steers:
                vehicle.set_ackermann(0.0, 0.0)
            else:
                vehicle.set_twist(0.0)
        world.command_timeout = None
        world.remove_sensors()
        self.batch: Batch = world.replicate(copies)
        self.count = copies * self.per_copy
        base, data = self.batch.base, self.batch.data
        entities = [base.entities[name] for name in self.names]
        numbers = np.arange(copies)[:, None]
        self._entities = entities
        self._body_rows = _rows(entities, "row", numbers, len(base.bodies))
        self._vehicle_rows = _rows(entities, "vehicle_row", numbers, len(base.vehicles))
        self._first_wheels = _rows(entities, "wheel0", numbers, len(base.wheels))
        self._bodies, self._vehicles = _compact(self._body_rows), _compact(self._vehicle_rows)
        self._numbers = numbers_of(data.vehicles)
        self.copy_of: IntArray = np.repeat(np.arange(copies), self.per_copy)
        self.touched: BoolArray = np.zeros(self.count, bool)
        self._set_fields(data.vehicles[self._vehicle_rows[0]], limits)
        self.lidar = sensor
        self._scans: LidarScans | None = None
        if sensor is not None:
            scene = self.batch.runtime.scene
            self._scans = LidarScans(sensor, scene, self._body_rows, self.copy_of)
        self._warm()

    def _warm(self) -> None:
        """Load or compile the kernels of a step."""
        nothing, actions = np.zeros(0, np.int64), np.zeros((0, len(self.actions)), np.float32)
        layout = Layout(self.actions, scaled=True)
        bounds = layout.one, layout.least, layout.most
        write_fields_kernel(actions, *bounds, self._numbers, nothing, self._targets)
        bound_kernel(actions, layout.one, layout.low, layout.high, actions)
        self.write_motion(np.zeros((0, len(self.motion)), np.float32), nothing)
        touching_kernel(self.batch.data.bodies, self.batch.met, nothing, self.touched)
        self.bearings(np.zeros((0, 2)), nothing)
        if self._scans is not None:
            words = np.zeros(self.count, np.uint64)
            self.scan(words, nothing)

    def _set_fields(self, vehicle: Any, limits: Limits) -> None:
        """Make the fields of actions and of motion."""
        most = limits.speed
        if self.steers:
            angle = float(vehicle["max_steer"])
            angle = angle if limits.steering is None else min(angle, limits.steering)
            turn = most * math.tan(angle) / float(vehicle["wheelbase"])
            targets: tuple[str, ...] = ("cmd_speed", "cmd_steer")
            self.actions = [
                Field("speed", -most, most, "m/s"),
                Field("steering", -angle, angle, "rad"),
            ]
        else:
            turn = limits.turn
            targets = ("cmd_vx", "cmd_wz")
            self.actions = [
                Field("speed", -most, most, "m/s"),
                Field("turn_rate", -turn, turn, "rad/s"),
            ]
            if self._sideways:
                targets = ("cmd_vx", "cmd_vy", "cmd_wz")
                self.actions.insert(1, Field("sideways_speed", -most, most, "m/s"))
        self.motion = [Field("speed", -2.0 * most, 2.0 * most, "m/s")]
        readings = [("odo_vx", float(vehicle["odo_kx"]))]
        if self._sideways:
            self.motion.append(Field("sideways_speed", -2.0 * most, 2.0 * most, "m/s"))
            readings.append(("odo_vy", float(vehicle["odo_ky"])))
        self.motion.append(Field("turn_rate", -2.0 * turn, 2.0 * turn, "rad/s"))
        readings.append(("odo_wz", float(vehicle["odo_kyaw"])))
        if self.steers:
            self.motion.append(Field("steering", -angle, angle, "rad"))
            readings.append(("steer", 1.0))
        self._targets: IntArray = _columns(targets)
        self._read: IntArray = _columns([field for field, _ in readings])
        self._factors: FloatArray = np.array([factor for _, factor in readings])

    # ------------------------------------------------------------ each step
    def command(self, layout: Layout, actions: Floats32) -> None:
        """Write the commands of all agents; actions beyond the bounds are clipped.

        Args:
            layout: Of the actions.
            actions: (count, width).

        Raises:
            ValueError: They have another shape.
        """
        if actions.shape != (self.count, layout.width):
            raise ValueError(
                f"expected actions of shape {(self.count, layout.width)}, got {actions.shape}"
            )
        bounds = layout.one, layout.least, layout.most
        rows, columns = self._vehicle_rows, self._targets
        write_fields_kernel(actions, *bounds, self._numbers, rows, columns)

    def advance(self, ticks: int, finish: Finish | None = None) -> None:
        """Let the copies run, and note which agents touch something.

        Args:
            ticks: For so many ticks.
            finish: As for `Batch.advance`; it does what `touching_kernel` does too.
        """
        batch = self.batch
        self.touched[:] = False
        while ticks > 0:
            ticks -= batch.advance(ticks, finish)
            if ticks or finish is None:
                touching_kernel(batch.data.bodies, batch.met, self._body_rows, self.touched)

    @property
    def touching(self) -> tuple[Any, BoolArray, IntArray, BoolArray]:
        """What `touching_kernel` takes, to renew `touched`."""
        return self.batch.data.bodies, self.batch.met, self._body_rows, self.touched

    @property
    def motion_readings(self) -> tuple[Any, IntArray, IntArray, FloatArray]:
        """What `read_fields_kernel` takes, to read the fields `motion`."""
        return self._numbers, self._vehicle_rows, self._read, self._factors

    # ------------------------------------------------------------ readings
    def body(self, field: str, which: Which = ALL) -> Any:
        """Return a field of BODY of agents."""
        return self.batch.data.bodies[field][self._bodies][which]

    def vehicle(self, field: str, which: Which = ALL) -> Any:
        """Return a field of VEHICLE of agents."""
        return self.batch.data.vehicles[field][self._vehicles][which]

    def pose(self, which: Which = ALL) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return x, y [m] and yaw [rad, not wrapped]."""
        x, y, yaw = (np.array(self.body(name, which)) for name in ("x", "y", "yaw"))
        return x, y, yaw

    @property
    def speed(self) -> FloatArray:
        """(count,) m/s, forward, of the reference point."""
        yaw = np.array(self.body("yaw"))
        along: FloatArray = self.body("vx") * np.cos(yaw) + self.body("vy") * np.sin(yaw)
        return along

    @property
    def clock(self) -> IntArray:
        """(count,) ticks since the reset of each one's copy."""
        return self.batch.data.clock[self.copy_of]

    def bearings(self, points: FloatArray, which: Which = ALL) -> FloatArray:
        """Return (m, 3): distance [m], cosine and sine of the bearing of a point for each agent.

        Args:
            points: (m, 2) m, world frame.
            which: The agents.
        """
        rows = self._body_rows[which]
        seen = np.empty((len(rows), 3))
        bearings_kernel(self.batch.data.bodies, rows, points, seen)
        return seen

    def write_motion(self, out: Floats32, which: Which) -> None:
        """Write the fields `motion` of agents into columns."""
        rows = self._vehicle_rows[which]
        read_fields_kernel(self._numbers, rows, self._read, self._factors, out)

    def scan(self, words: Any, which: Which) -> Floats32:
        """Cast the lidars of agents: (m, rays) float32 m, +inf nothing seen, -inf too near.

        Args:
            words: (count,) seeds of the noise.
            which: Those that are cast.
        """
        assert self._scans is not None
        due = np.arange(self.count)[which]
        self._scans.measure(self.batch.data.bodies, due, words[due], self.clock[due])
        return self._scans.ranges[which]

    @property
    def ranges(self) -> Floats32:
        """(count, rays) float32 m, the newest scans."""
        assert self._scans is not None
        return self._scans.ranges

    # ------------------------------------------------------------ episodes
    def of_copies(self, copies: IntArray) -> IntArray:
        """Return the agents of copies."""
        return (self.per_copy * copies[:, None] + np.arange(self.per_copy)).ravel()

    def place(self, names: Sequence[str], copies: IntArray, poses: FloatArray) -> None:
        """Put bodies of copies somewhere, see `Batch.place`."""
        self.batch.place(names, copies, poses)

    def vary(self, copies: IntArray, values: dict[str, FloatArray]) -> None:
        """Change the vehicles of copies that were reset, see `Randomization`.

        Args:
            copies: (m,) which.
            values: (m,) for each parameter.

        Raises:
            BuildError: The vehicles have no such parameter.
        """
        if not values:
            return
        data, which = self.batch.data, self.of_copies(copies)
        wheels = self._first_wheels[which, None] + np.arange(self._entities[0].n_wheels)
        each = {k: np.repeat(v, self.per_copy) for k, v in values.items()}
        if "friction" in each:
            self._need_regions()
            data.wheels["region_mu"][wheels] = each["friction"][:, None]
        if "mass" in each:
            factor, gravity = each["mass"], self.batch.model.gravity
            bodies, vehicles = self._body_rows[which], self._vehicle_rows[which]
            more = (factor - 1.0) * data.bodies["mass"][bodies]
            weight = data.wheels["load"][wheels] + gravity * data.wheels["mass"][wheels]
            data.wheels["load"][wheels] += (factor - 1.0)[:, None] * weight
            data.vehicles["chassis_mass"][vehicles] += more
            data.bodies["mass"][bodies] += more
            data.bodies["inertia"][bodies] *= factor
        if "lidar_noise" in each and self._scans is not None:
            self._scans.range_sigma[which] = each["lidar_noise"]

    def _need_regions(self) -> None:
        kind = self._entities[0].spec.friction.kind
        if kind not in WITH_REGIONS or len(self.batch.model.regions):
            raise BuildError(
                f"randomization: friction cannot vary in a world with regions of friction, nor"
                f" with the friction model {kind!r}; it can with: {', '.join(WITH_REGIONS)}"
            )

    # ------------------------------------------------------------ snapshots
    @property
    def range_sigma(self) -> FloatArray:
        """(count,) standard deviations of the lidars' noise [m]."""
        return np.zeros(self.count) if self._scans is None else self._scans.range_sigma

    @range_sigma.setter
    def range_sigma(self, values: FloatArray) -> None:
        if self._scans is not None:
            self._scans.range_sigma[:] = values


def _lidar_of(vehicle: Any, name: str) -> Lidar2d:
    sensor = vehicle.sensors.get(name)
    if not isinstance(sensor, Lidar2d):
        found = [key for key, one in vehicle.sensors.items() if isinstance(one, Lidar2d)]
        raise UnknownName("planar lidar", name, found)
    return sensor


def _rows(entities: Sequence[Any], field: str, copies: IntArray, size: int) -> IntArray:
    first = np.array([getattr(entity, field) for entity in entities])
    rows: IntArray = (first + size * copies).ravel()
    return rows


def _columns(fields: Sequence[str]) -> IntArray:
    return np.array([column_of(VEHICLE, field) for field in fields], np.int64)


def _compact(rows: IntArray) -> slice | IntArray:
    """Return a slice of the same rows if there is one: numpy reads it several times faster."""
    step = int(rows[1] - rows[0]) if len(rows) > 1 else 1
    if step > 0 and (np.diff(rows) == step).all():
        return slice(int(rows[0]), int(rows[-1]) + 1, step)
    return rows
