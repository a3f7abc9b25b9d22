# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models of vehicles: rows and shapes, compiled from their specs."""

from __future__ import annotations

import math

import numpy as np

from mvsim_core.assembly.kinematics import build_kinematics
from mvsim_core.controllers import controller_class
from mvsim_core.dynamics import DYNAMICS, WheelRoles
from mvsim_core.dynamics.drivetrain import wheel_shares
from mvsim_core.dynamics.steering import set_steering
from mvsim_core.dynamics.wheels import wheels_scrub
from mvsim_core.errors import BuildError, Problem
from mvsim_core.geometry.polygons import outline_of
from mvsim_core.geometry.poses import area_of, box
from mvsim_core.specs.controller import (
    AckermannRawSpec,
    ControllerSpec,
    DrivetrainRawSpec,
    FrontSteerPidSpec,
    PidSpec,
    RawSpec,
    TwistFrontSteerPidSpec,
    TwistPidSpec,
)
from mvsim_core.specs.dynamics import DrivetrainSpec
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.wheel import WheelSpec
from mvsim_core.state.arrays import (
    ACKERMANN,
    DELAY,
    GAINS,
    NEVER,
    PID,
    TORQUE,
    TWIST,
    VEHICLE,
    WHEEL,
    FloatArray,
    Rows,
)
from mvsim_core.state.entities import EntityModel, Inertia, Material, Solid, body_row

#: Chassis slide along obstacles without friction; wheels rub (the original's values).
CHASSIS = Material(friction=0.0, restitution=0.01)
TYRE = Material(friction=0.5, restitution=0.05)
#: Rollers of mecanum wheels let obstacles slide along (section 2 of their design).
ROLLERS = Material(friction=0.0, restitution=0.05)
#: Default thresholds: a set point below the first is zero, a vehicle below the second is at rest
#: [m/s].
ZERO_SPEED, STOP_SPEED = 0.001, 0.05


def build_vehicle(
    spec: VehicleSpec,
    outline: FloatArray,
    z_range: tuple[float, float],
    gravity: float,
) -> EntityModel:
    """Return the model of one vehicle.

    Args:
        spec: Its spec from the world file.
        outline: Chassis polygon (n, 2) in the vehicle frame [m].
        z_range: Lower and upper end of the chassis [m].
        gravity: Acceleration of gravity [m/s²].

    Raises:
        BuildError: The places of the wheels do not fit the dynamics class.
    """
    outline = outline_of(outline)
    roles = DYNAMICS.get(spec.dynamics.kind)().wheel_roles(spec.dynamics)
    _check_wheels(spec, roles)
    inertia = _inertia(spec, outline)
    chassis = spec.dynamics.chassis
    body = body_row(spec.init_pose, spec.init_vel, inertia)
    body["damp_lin"], body["damp_ang"] = chassis.linear_damping, chassis.angular_damping
    controller = controller_class(spec.dynamics.kind, spec.dynamics.controller.kind)
    body["ideal"] = int(controller.ideal)
    vehicle, pids, gains = _vehicle_rows(spec, roles)
    area = area_of(outline)
    com = (area.x, area.y) if chassis.com is None else chassis.com
    vehicle["chassis_x"], vehicle["chassis_y"] = com
    vehicle["com_z"] = 0.5 * sum(z_range) if chassis.com_z is None else chassis.com_z
    wheels = _wheel_rows(spec, gravity, inertia)
    for wheel, part in zip(wheels, roles.odometry, strict=False):
        wheel["odo_vx"], wheel["odo_vy"], wheel["odo_wz"] = part
    gains["response"] = _response(wheels, roles, inertia)
    _enter_brakes(spec, vehicle, wheels)
    _initial_command(spec, roles, vehicle, wheels)
    limits, kinematics = build_kinematics(spec, inertia, float(vehicle["track"][0]))
    solids = [Solid(outline, CHASSIS, z_range)]
    solids += [_wheel_solid(w) for w in spec.dynamics.wheels]
    return EntityModel(
        kind="vehicle",
        name=spec.name,
        spec=spec,
        body=body,
        inertia=inertia,
        solids=tuple(solids),
        outline=outline,
        top=z_range[1],
        vehicle=vehicle,
        wheels=wheels,
        pids=pids,
        gains=gains,
        limits=limits,
        delays=_delay_rows(spec.dynamics.motor.latency),
        kinematics=kinematics,
        on_ground=not spec.skip_elevation_adjust,
    )


def _response(wheels: Rows, roles: WheelRoles, inertia: Inertia) -> float:
    """Return the acceleration by 1 N m on each driven wheel that grips [m/s² per N m]."""
    driven = wheels[roles.driven_first : roles.driven_first + roles.driven_count]
    if roles.wheelbase == 0.0 and not roles.odometry:
        driven = wheels[: 2 * (len(wheels) // 2)]  # a loop a side
    as_mass = float((wheels["inertia"] / wheels["radius"] ** 2).sum())
    return float((1.0 / driven["radius"]).sum()) / (inertia.mass + as_mass)


def _delay_rows(latency: float) -> Rows:
    """Return the row of DELAY of a latency [s]; none for 0."""
    rows = np.zeros(int(latency > 0.0), DELAY)
    rows["latency"] = latency
    rows["now"][:, 3] = np.nan  # no wished steering yet
    return rows


def _inertia(spec: VehicleSpec, outline: FloatArray) -> Inertia:
    """Return the mass properties of the chassis, uniform unless given, and uniform wheel boxes."""
    chassis = spec.dynamics.chassis
    area = area_of(outline)
    chassis_x, chassis_y = (area.x, area.y) if chassis.com is None else chassis.com
    own = chassis.inertia
    if own is None:
        own = chassis.mass * area.second_moment / area.area
    parts = [(chassis.mass, chassis_x, chassis_y, own)]
    for w in spec.dynamics.wheels:
        parts.append((w.mass, w.x, w.y, w.mass * (w.diameter**2 + w.width**2) / 12.0))
    mass = sum(m for m, *_ in parts)
    x = sum(m * px for m, px, *_ in parts) / mass
    y = sum(m * py for m, _, py, _ in parts) / mass
    about = sum(i + m * ((px - x) ** 2 + (py - y) ** 2) for m, px, py, i in parts)
    return Inertia(mass, x, y, about)


def _wheel_solid(wheel: WheelSpec) -> Solid:
    corners = box(wheel.diameter, wheel.width, (wheel.x, wheel.y, wheel.yaw))
    material = ROLLERS if wheel.type == "mecanum" else TYRE
    return Solid(corners, material, (0.0, wheel.diameter))


def _wheel_rows(spec: VehicleSpec, gravity: float, inertia: Inertia) -> Rows:
    wheels = spec.dynamics.wheels
    rows = np.zeros(len(wheels), WHEEL)
    load = spec.dynamics.chassis.mass / len(wheels) * gravity
    vx_v, vy_v, wz = spec.init_vel  # of the centre of mass
    for row, w in zip(rows, wheels, strict=True):
        radius = w.radius
        row["x"], row["y"], row["yaw"] = w.x, w.y, w.yaw
        row["yaw_c"], row["yaw_s"] = math.cos(w.yaw), math.sin(w.yaw)
        row["radius"], row["width"], row["mass"] = radius, w.width, w.mass
        row["inertia"] = w.spin_inertia
        row["load"] = load
        row["region_mu"] = row["region_c_rr"] = math.nan
        wheel_vx_v = vx_v - wz * (w.y - inertia.com_y)
        wheel_vy_v = vy_v + wz * (w.x - inertia.com_x)
        vx_wheel = math.cos(w.yaw) * wheel_vx_v + math.sin(w.yaw) * wheel_vy_v
        row["caster"] = w.type == "caster"
        row["rollers"], row["tan_grip"] = w.has_rollers, math.tan(w.grip)
        row["grip_c"], row["grip_s"] = math.cos(w.grip), math.sin(w.grip)
        vy_wheel = -math.sin(w.yaw) * wheel_vx_v + math.cos(w.yaw) * wheel_vy_v
        row["omega"] = (vx_wheel + vy_wheel * row["tan_grip"]) / radius  # rolls from the start
    return rows


def _vehicle_rows(spec: VehicleSpec, roles: WheelRoles) -> tuple[Rows, Rows, Rows]:
    wheels = spec.dynamics.wheels
    row = np.zeros(1, VEHICLE)
    row["n_wheels"] = len(wheels)
    row["chassis_mass"] = spec.dynamics.chassis.mass
    row["track"] = wheels[roles.odo_left].y - wheels[roles.odo_right].y
    row["driven0"], row["driven_n"] = roles.driven_first, roles.driven_count
    row["wheelbase"], row["front_track"] = roles.wheelbase, roles.front_track
    row["max_steer"], row["max_steer_rate"] = roles.max_steer, roles.max_steer_rate
    row["transfer"] = spec.dynamics.weight_transfer
    row["free"], row["holonomic"] = bool(roles.odometry), roles.holonomic
    row["scrubs"] = roles.wheelbase == 0.0 and wheels_scrub(wheels)
    for name, value in roles.gears._asdict().items():
        row[name] = value
    row["odo_left"], row["odo_right"] = roles.odo_left, roles.odo_right
    odometry = spec.odometry
    row["odo_kx"], row["odo_ky"] = odometry.x_multiplier, odometry.y_multiplier
    row["odo_kyaw"] = odometry.yaw_multiplier
    row["odo_var_x"], row["odo_var_y"] = (
        odometry.x_variance_per_metre,
        odometry.y_variance_per_metre,
    )
    row["odo_var_yaw"] = odometry.yaw_variance_per_metre
    row["odo_var_turn"] = odometry.yaw_variance_per_radian
    row["axle_x"] = _axle_x(wheels, roles)
    motor = spec.dynamics.motor
    if motor.stall_torque is not None and motor.no_load_speed is not None:
        row["motor_stall"] = motor.stall_torque * motor.gear_ratio
        row["motor_speed"] = motor.no_load_speed / motor.gear_ratio
    row["engine"] = isinstance(spec.dynamics, DrivetrainSpec)
    controller = spec.dynamics.controller
    if isinstance(controller, PidSpec):
        row["coast"] = controller.zero_command == "coast"
    n = roles.driven_count if isinstance(controller, PidSpec) else 0
    gains = _gains_row(controller)[: min(n, 1)]
    return row, np.zeros(n, PID), gains


def _axle_x(wheels: tuple[WheelSpec, ...], roles: WheelRoles) -> float:
    """Return where along x a vehicle turns about [m], for an odometry of two wheels."""
    measuring: tuple[WheelSpec, ...] = (wheels[roles.odo_left], wheels[roles.odo_right])
    if roles.wheelbase == 0.0 and not roles.odometry:
        measuring = wheels[: 2 * (len(wheels) // 2)]  # four skid about their middle; no caster
    return sum(w.x for w in measuring) / len(measuring)


def _gains_row(controller: ControllerSpec) -> Rows:
    row = np.zeros(1, GAINS)
    if not isinstance(controller, PidSpec):
        return row
    row["kp"], row["ki"], row["kd"] = controller.kp, controller.ki, controller.kd
    row["max_torque"] = controller.max_torque or math.inf
    row["i_max"] = row["max_torque"] if controller.i_max is None else controller.i_max
    row["zero"], row["stop"] = ZERO_SPEED, STOP_SPEED
    if isinstance(controller, TwistPidSpec):
        row["n"] = controller.n
        row["antiwindup"] = controller.enable_antiwindup
        if controller.enable_feedforward:
            row["feedforward"] = controller.feedforward_gain
        if controller.enable_reference_filter:
            row["filter_tau"] = controller.reference_filter_tau
            row["filter_order"] = controller.reference_filter_order
    if isinstance(controller, TwistFrontSteerPidSpec):
        row["zero"], row["stop"] = controller.zero_threshold, controller.stop_threshold
    return row


def _enter_brakes(spec: VehicleSpec, vehicle: Rows, wheels: Rows) -> None:
    """Enter with what torque the motor of each driven wheel can hold it."""
    controller = spec.dynamics.controller
    if not isinstance(controller, PidSpec):
        return
    v = vehicle[0]
    most = controller.max_torque or math.inf
    if v["motor_stall"] > 0.0:
        most = min(most, float(v["motor_stall"]))
    if v["engine"]:
        # an engine of any torque holds the wheels that it drives, and no others
        shares = wheel_shares(v, wheels)
        wheels["brake"] = [most * share if share > 0.0 else 0.0 for share in shares]
    elif v["wheelbase"] > 0.0 or v["free"]:
        first = int(v["driven0"])
        wheels["brake"][first : first + int(v["driven_n"])] = most
    else:
        wheels["brake"][: 2 * (len(wheels) // 2)] = most


def _initial_command(spec: VehicleSpec, roles: WheelRoles, vehicle: Rows, wheels: Rows) -> None:
    """Enter the set points of the file; they do not time out."""
    controller = spec.dynamics.controller
    row = vehicle[0]
    row["cmd_tick"] = NEVER
    if roles.wheelbase > 0.0:
        set_steering(row, wheels, getattr(controller, "steer_ang", 0.0), math.inf)
        row["cmd_steer"] = row["steer"]
    if isinstance(controller, FrontSteerPidSpec):
        row["cmd_kind"], row["cmd_speed"] = ACKERMANN, controller.v
    elif isinstance(controller, TwistPidSpec):
        row["cmd_kind"], row["cmd_vx"], row["cmd_wz"] = TWIST, controller.v, controller.w
    elif isinstance(controller, RawSpec):
        row["cmd_kind"] = TORQUE
    if isinstance(controller, AckermannRawSpec):
        wheels["cmd_torque"][2:4] = controller.fl_torque, controller.fr_torque
    if isinstance(controller, DrivetrainRawSpec):
        row["cmd_engine"] = controller.torque


def _check_wheels(spec: VehicleSpec, roles: WheelRoles) -> None:
    wheels = spec.dynamics.wheels
    track = wheels[roles.odo_left].y - wheels[roles.odo_right].y
    if not roles.odometry and track == 0.0:
        y = wheels[roles.odo_left].y
        raise _misfit(spec, f"the wheels of the odometry must differ in y [m], both have {y:g}")
    if spec.friction.kind == "ellipse" and any(w.has_rollers for w in wheels):
        raise _misfit(
            spec,
            "the friction of class ellipse knows no rollers; take default or wardiagnemma",
        )
    if roles.max_steer > 0.0 and roles.wheelbase <= 0.0:
        raise _misfit(
            spec,
            "front wheels must be ahead of the rear wheels (wheelbase must be > 0 [m], got"
            f" {roles.wheelbase:g})",
        )


def _misfit(spec: VehicleSpec, message: str) -> BuildError:
    return BuildError(Problem.at(spec.dynamics.where, "dynamics", f"{spec.name}: {message}"))
