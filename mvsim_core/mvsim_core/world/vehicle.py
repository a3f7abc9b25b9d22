# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Handles of vehicles: command them; read pose, odometry, wheels and sensors.

Frames: world = ENU-like world frame of the file; vehicle = reference point, x forward, y left.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mvsim_core.controllers import controller_class
from mvsim_core.dynamics.steering import CREEP
from mvsim_core.errors import ArgumentError, CommandError, require_number
from mvsim_core.friction.loads import LIFTS, tip_margin
from mvsim_core.geometry.poses import Pose, Twist
from mvsim_core.recording.live import LiveLog
from mvsim_core.state.arrays import ACKERMANN, NO_COMMAND, TORQUE, TWIST, FloatArray
from mvsim_core.state.entities import Entity
from mvsim_core.world.handles import ByName, Handle, require_finite

if TYPE_CHECKING:
    from mvsim_core.world.base import Entities
    from mvsim_core.world.data import Data

#: Relative excess over the limits of steering and turning radius that gives no warning.
ALMOST = 0.999


class Odometry(NamedTuple):
    """Wheel odometry: pose in the odometry frame (zero at the start) and twist."""

    pose: Pose
    twist: Twist


class OdometryCovariance(NamedTuple):
    """How uncertain the odometry is: (3, 3) of x, y [m] and yaw [rad], and of their rates.

    That of the pose is in the odometry frame and grows with the way driven and the angle turned;
    that of the twist is in the vehicle frame [m/s, rad/s].
    """

    pose: FloatArray
    twist: FloatArray


class WheelView:
    """One wheel; numbers are read from and written to the world's arrays."""

    __slots__ = ("_index", "_vehicle")

    def __init__(self, vehicle: Vehicle, index: int) -> None:
        """Refer to wheel `index` of a vehicle."""
        self._vehicle = vehicle
        self._index = index

    def _row(self) -> Any:
        entity = self._vehicle._entity
        return self._vehicle._world.data.wheels[entity.wheel0 + self._index]

    @property
    def omega(self) -> float:
        """Spin [rad/s], positive rolls forward."""
        return float(self._row()["omega"])

    @omega.setter
    def omega(self, value: float) -> None:
        require_finite("omega", omega=value)
        self._row()["omega"] = value

    @property
    def phi(self) -> float:
        """Spin angle [rad]."""
        return float(self._row()["phi"])

    @property
    def steering(self) -> float:
        """Angle about the vertical axis, vehicle frame [rad]."""
        return float(self._row()["yaw"])

    @property
    def torque(self) -> float:
        """Motor torque of the last step [N m], positive drives forward."""
        return float(self._row()["torque"])

    @property
    def fx(self) -> float:
        """Ground force along the vehicle's x axis in the last step [N]."""
        return float(self._row()["fx"])

    @property
    def fy(self) -> float:
        """Ground force along the vehicle's y axis in the last step [N]."""
        return float(self._row()["fy"])

    @property
    def load(self) -> float:
        """Weight of the chassis and of what is welded on that it carries [N], without its own."""
        return float(self._row()["load"])

    @property
    def lifted(self) -> bool:
        """Whether it carries nothing of the chassis; only with `weight_transfer`."""
        return bool(self._row()["lifted"])

    @property
    def position(self) -> tuple[float, float]:
        """Centre in the vehicle frame [m]."""
        row = self._row()
        return float(row["x"]), float(row["y"])


def warn_of_tipping(vehicles: Iterable[Entity], data: Data, dt: float) -> None:
    """Warn once of each vehicle that lifts a wheel, and once that it would tip over."""
    rows = data.vehicles
    if not (rows["tipping"] > rows["tip_warned"]).any():
        return
    for entity in vehicles:
        if entity.kind != "vehicle":
            continue
        row = rows[entity.vehicle_row]
        if row["body"] < 0 or row["tipping"] <= row["tip_warned"]:
            continue
        row["tip_warned"] = row["tipping"]
        what = "lifts a wheel" if row["tipping"] == LIFTS else "would tip over"
        fx, fy = (float(v) for v in (data.bodies["fx"][entity.row], data.bodies["fy"][entity.row]))
        warnings.warn(
            f"{entity.name} {what} at {data.ticks * dt:.3f} s: its centre of mass is"
            f" {row['com_z']:.3g} m high, and {math.hypot(fx, fy):.3g} N act on its wheels",
            stacklevel=3,
        )


class Vehicle(Handle):
    """A handle of a vehicle: command it; read pose, twist, odometry, wheels and sensors."""

    def __init__(self, world: Entities, entity: Entity) -> None:
        """Refer to one vehicle of a world."""
        super().__init__(world, entity)
        self._warned: set[str] = set()

    @property
    def _row(self) -> Any:
        entity = self._entity
        return self._world.data.vehicles[entity.vehicle_row]

    @property
    def kind(self) -> str:
        """Class of its dynamics ("differential", "ackermann", …)."""
        return str(self.spec.dynamics.kind)

    @property
    def accepts(self) -> frozenset[str]:
        """Kinds of command that its controller follows: "twist", "ackermann", "torque"."""
        accepted: frozenset[str] = self._controller.accepts
        return accepted if self.steerable else accepted - {"ackermann"}

    @property
    def _controller(self) -> Any:
        return controller_class(self.kind, self.spec.dynamics.controller.kind)

    @property
    def steerable(self) -> bool:
        """Whether its front wheels steer."""
        return bool(self._row["wheelbase"] > 0.0)

    @property
    def holonomic(self) -> bool:
        """Whether it can follow a sideways velocity."""
        if self._row["free"]:
            return bool(self._row["holonomic"])
        return not self.steerable and bool(self._controller.ideal)

    @property
    def odometry(self) -> Odometry:
        """Pose and twist from the wheels' spin, with the multipliers of the file in both."""
        v = self._row
        return Odometry(
            Pose(x=float(v["odo_x"]), y=float(v["odo_y"]), yaw=float(v["odo_yaw"])),
            Twist(
                float(v["odo_kx"] * v["odo_vx"]),
                float(v["odo_ky"] * v["odo_vy"]),
                float(v["odo_kyaw"] * v["odo_wz"]),
            ),
        )

    @property
    def odometry_covariance(self) -> OdometryCovariance:
        """Covariances of the odometry, from the parameters of its <odometry>."""
        xx, xy, xa, yy, ya, aa = (float(value) for value in self._row["odo_cov"])
        spec = self.spec.odometry
        twist = (spec.twist_variance_x, spec.twist_variance_y, spec.twist_variance_yaw)
        return OdometryCovariance(
            np.array([[xx, xy, xa], [xy, yy, ya], [xa, ya, aa]]), np.diag(twist)
        )

    @property
    def angular_velocity(self) -> tuple[float, float, float]:
        """True rates about its own x, y and z axis [rad/s]: roll and pitch where the ground tilts.

        From the rates of the angles (Rz(yaw)·Ry(pitch)·Rx(roll)).
        """
        b = self._body
        roll_rate, pitch_rate, yaw_rate = (float(b[k]) for k in ("roll_rate", "pitch_rate", "wz"))
        cr, sr = math.cos(b["roll"]), math.sin(b["roll"])
        cp, sp = math.cos(b["pitch"]), math.sin(b["pitch"])
        return (
            roll_rate - sp * yaw_rate,
            cr * pitch_rate + sr * cp * yaw_rate,
            -sr * pitch_rate + cr * cp * yaw_rate,
        )

    @property
    def kinematics(self) -> Any:
        """Limits of its commands, see `mvsim_core.kinematics`; None if it has no such limits."""
        return self._entity.model.kinematics

    @property
    def target(self) -> Twist:
        """Twist that its controller follows: the last step's command within its kinematics."""
        v = self._row
        return Twist(float(v["vx"]), float(v["vy"]), float(v["wz"]))

    @property
    def steering(self) -> float:
        """Angle of the virtual centre wheel [rad]."""
        return float(self._row["steer"])

    @property
    def max_steering(self) -> float:
        """Largest angle of the virtual centre wheel [rad]; 0 without steering."""
        return float(self._row["max_steer"]) if self.steerable else 0.0

    @property
    def wheels(self) -> list[WheelView]:
        """Its wheels in the order of the world file."""
        return [WheelView(self, i) for i in range(self._entity.n_wheels)]

    @property
    def tip_margin(self) -> float:
        """How far its weight and accelerations are from tipping it over [m]; below 0 it would tip.

        The distance from the edge of its wheels' hull to the point where the forces of the last
        step, of the ground and of weight, have no moment; pushes of other bodies are not counted.
        Without `weight_transfer` the wheels' loads do not follow, but the margin is the same.
        """
        row = self._row
        body = self._world.data.bodies[row["body"]]
        wheels = self._world.data.wheels
        return float(tip_margin(body, wheels, row, self._world.model.gravity))

    @property
    def tipping(self) -> bool:
        """Whether a real vehicle would tip over now (it does not here)."""
        return self.tip_margin < 0.0

    @property
    def sensors(self) -> dict[str, Any]:
        """Its sensors by name."""
        sensors = self._world.sensors_of(self._entity)
        return ByName(f"sensor of {self.name!r}:", ((s.name, s) for s in sensors))

    @property
    def chassis_polygon(self) -> FloatArray:
        """Outline of the chassis (n, 2) in the vehicle frame [m]."""
        return self._entity.model.solids[0].points

    @property
    def command_expired(self) -> bool:
        """Whether the last command is older than the world's time-out."""
        return bool(self._row["expired"])

    def live_log(self) -> LiveLog:
        """Return the columns of its log as they are in the current step."""
        return LiveLog(self._entity, self._world)

    def set_twist(self, vx: float, vy: float = 0.0, wz: float = 0.0) -> None:
        """Command a velocity in the vehicle frame [m/s, m/s, rad/s].

        It warns once about a part that the vehicle cannot follow: a sideways velocity or, with
        steering, too small a turning radius. The vehicle follows the rest.

        Raises:
            CommandError: Its controller takes no twist, or a value is not finite.
        """
        self._need("twist")
        require_finite("twist", vx=vx, vy=vy, wz=wz)
        if wz != 0.0 and self.steerable and not self._controller.ideal:
            self._check_circle(vx, wz)
        row = self._row
        row["cmd_vx"], row["cmd_vy"], row["cmd_wz"] = vx, self.sideways(vy), wz
        self._commanded(TWIST)

    def sideways(self, vy: float) -> float:
        """Return the sideways velocity that it can follow [m/s]: all, or 0 with one warning."""
        if vy == 0.0 or self.holonomic:
            return vy
        self._warn_once("sideways", "move sideways: vy is ignored")
        return 0.0

    def _check_circle(self, vx: float, wz: float) -> None:
        row = self._row
        least = float(row["wheelbase"]) / math.tan(float(row["max_steer"]))
        if abs(vx) < CREEP:
            self._warn_once("spot", "turn on the spot: it stands, with its wheels turned")
        elif abs(vx) < ALMOST * least * abs(wz):
            self._warn_once(
                "circle",
                f"turn with a radius of {abs(vx / wz):.3g} m: at the limit of its steering"
                f" it is {least:.3g} m",
            )

    def set_ackermann(self, speed: float, steering: float) -> None:
        """Command speed at the rear axle [m/s] and angle of the virtual centre wheel [rad].

        An angle beyond the limit is clipped to it, with one warning.

        Raises:
            CommandError: It does not steer, or a value is not finite.
        """
        self._need("ackermann")
        require_finite("Ackermann command", speed=speed, steering=steering)
        row = self._row
        row["cmd_speed"], row["cmd_steer"] = speed, self._within_limit(steering)
        self._commanded(ACKERMANN)

    def _within_limit(self, steering: float) -> float:
        limit = float(self._row["max_steer"])
        if ALMOST * abs(steering) > limit:
            self._warn_once("angle", f"steer by {steering:.3g} rad: its limit is {limit:.3g} rad")
        return min(max(steering, -limit), limit)

    def _warn_once(self, kind: str, what: str) -> None:
        """Warn that it cannot follow a kind of command, once for each kind."""
        if kind not in self._warned:
            self._warned.add(kind)
            # 4 levels: this method, the check, the command, and the caller, whose line is shown
            warnings.warn(f"{self.name} cannot {what}", stacklevel=4)

    def set_wheel_torques(self, torques: Sequence[float], steering: float | None = None) -> None:
        """Command motor torques [N m], positive drives forward, in the order of the wheels.

        Args:
            torques: One a wheel, or two (left, right) for all wheels of each side; a vehicle with
                a drivetrain takes one, that of its engine.
            steering: Angle of the virtual centre wheel [rad]; None leaves it as it is.

        Raises:
            CommandError: Its controller is not `raw`, or numbers or values do not fit.
        """
        self._need("torque")
        if steering is not None:
            require_finite("steering", steering=steering)
        n = self._entity.n_wheels
        values = np.asarray(torques, dtype=float)
        if self.kind == "ackermann_drivetrain":
            if values.shape != (1,):
                raise CommandError(
                    f"{self.name}: expected one engine torque [N m], got {values.size}"
                )
            require_finite("engine torque", torque=float(values[0]))
            self._row["cmd_engine"] = values[0]
            self._commanded(TORQUE, steering)
            return
        if values.shape == (2,) and n > 2 and not self.steerable:
            values = np.resize(values, n)
            values[n - n % 2 :] = 0.0
        if values.shape != (n,):
            raise CommandError(f"{self.name}: expected {n} wheel torques [N m], got {values.size}")
        require_finite("wheel torque", **{f"wheel {i}": t for i, t in enumerate(values)})
        start = self._entity.wheel0
        self._world.data.wheels["cmd_torque"][start : start + n] = values
        self._commanded(TORQUE, steering)

    def stop(self) -> None:
        """Command zero velocity, or zero torque."""
        self._row["cmd_kind"] = NO_COMMAND
        self._row["cmd_engine"] = 0.0
        start = self._entity.wheel0
        wheels = self._world.data.wheels[start : start + self._entity.n_wheels]
        wheels["cmd_torque"] = 0.0

    def set_brake(self, on: bool) -> None:
        """Set or release the parking brake, which locks its wheels as far as the ground grips.

        While it is on, the vehicle follows no command; a controller takes up again what was
        commanded last when it is released. The caster of a differential with three wheels stays
        free.
        """
        self._row["cmd_brake"] = on

    @property
    def braked(self) -> bool:
        """Whether its parking brake is on."""
        return bool(self._row["cmd_brake"])

    @property
    def held(self) -> bool:
        """Whether its motors hold it at a set point of zero, or its parking brake does."""
        return bool(self._row["held"] or self._row["cmd_brake"])

    def _commanded(self, kind: int, steering: float | None = None) -> None:
        row = self._row
        if steering is not None:
            row["cmd_steer"] = steering
        row["cmd_kind"] = kind
        row["cmd_tick"] = self._world.ticks

    def _need(self, kind: str) -> None:
        if kind not in self.accepts:
            controller = self.spec.dynamics.controller.kind
            takes = ", ".join(sorted(self.accepts)) or "nothing"
            raise CommandError(
                f"{self.name}: controller {controller!r} of a {self.kind!r} vehicle"
                f" takes no {kind} command; it takes: {takes}"
            )


def check_pose(pose: Any) -> None:
    """Raise an error unless a pose for `add_vehicle` is None or three numbers.

    Raises:
        ArgumentError: It is neither.
    """
    try:
        numbers = 3 if pose is None else len(pose)
    except TypeError:
        numbers = 0
    if numbers != 3:
        raise ArgumentError(f"add_vehicle: pose must be (x, y, yaw) [m, m, rad], got {pose!r:.80}")
    for name, unit, value in zip(("x", "y", "yaw"), ("m", "m", "rad"), pose or (), strict=False):
        require_number(f"add_vehicle: {name}", value, unit)
