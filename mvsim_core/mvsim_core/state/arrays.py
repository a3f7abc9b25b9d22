# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The simulated state: structured arrays with one row for each body, wheel, vehicle and so on.

`world.data.Data` holds one table of each kind. Units are SI and rad; vectors of BODY are in the
world frame unless said otherwise, those of WHEEL in the vehicle frame. Kernels take the plain
arrays; `fields` gives attribute access for everything that is not hot.

A step of thousands of vehicles takes as long as the memory that it passes over. So what the step
of any vehicle reads comes first in a row, the rest behind it stays out of the caches, and flags
and counts take no more bytes than they need.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.void]
#: One row inside a kernel: numba gives it attribute access, which numpy's types lack.
Row = Any
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

STATIC, DYNAMIC, KINEMATIC = 0, 1, 2
#: Kind of a row of BODY that is not in use.
FREE = -1

#: Number of steps that does not run down.
FOREVER = 2**31 - 1
#: Bytes that a processor moves between memory and cache at once.
CACHE_LINE = 64


def _in_lines(fields: list[tuple[Any, ...]]) -> np.dtype[Any]:
    """Return the dtype of rows that begin where a cache line begins.

    Gaps are fields of their own, named `_` and where they begin: numpy leaves other gaps out of
    the arrays that it joins.
    """
    natural = np.dtype(fields, align=True)
    filled, end = [], 0
    for field in fields:
        begin = (natural.fields or {})[field[0]][1]
        if begin > end:
            filled.append((f"_{end}", "u1", (begin - end,)))
        filled.append(field)
        end = begin + natural[field[0]].itemsize
    if end % CACHE_LINE:
        filled.append((f"_{end}", "u1", (CACHE_LINE - end % CACHE_LINE,)))
    return np.dtype(filled)


#: A rigid body. Pose and (vx, vy) belong to its reference point, (cvx, cvy) to its centre of mass.
BODY = _in_lines(
    [
        ("x", "f8"),  # m
        ("y", "f8"),  # m
        ("yaw", "f8"),  # rad, not wrapped
        ("vx", "f8"),  # m/s, world frame
        ("vy", "f8"),  # m/s, world frame
        ("wz", "f8"),  # rad/s
        ("cvx", "f8"),  # m/s, velocity of the centre of mass, world frame
        ("cvy", "f8"),  # m/s
        ("ax", "f8"),  # m/s², world frame, of the reference point over the last step
        ("ay", "f8"),  # m/s²
        ("az", "f8"),  # rad/s², yaw acceleration over the last step
        ("wz_before", "f8"),  # rad/s, wz of the step before
        ("impulse_x", "f8"),  # N s, contact impulse of the last step, world frame
        ("impulse_y", "f8"),  # N s
        ("mass", "f8"),  # kg
        ("inertia", "f8"),  # kg m², about the centre of mass
        ("com_x", "f8"),  # m, centre of mass in the body frame
        ("com_y", "f8"),  # m
        ("damp_lin", "f8"),  # 1/s
        ("damp_ang", "f8"),  # 1/s
        ("slope_x", "f8"),  # 1, gravity direction along the body's x axis (0 on flat ground)
        ("slope_y", "f8"),  # 1, along its y axis
        ("plan_xx", "f8"),  # 1, its x axis in plan view is (plan_xx, 0), turned by the yaw,
        ("plan_xy", "f8"),  # 1, and its y axis is (plan_xy, plan_yy), see `state.plan_view`
        ("plan_yy", "f8"),
        ("fx", "f8"),  # N, sum of the wheel forces, body frame
        ("fy", "f8"),  # N
        ("torque", "f8"),  # N m, about the centre of mass
        ("old_share", "f8"),  # 1, share of the velocity before the step in the way of the step
        ("ground_mu", "f8"),  # 1, friction of a block on the ground
        ("ground_r", "f8"),  # m, distance of the two points where a block rests on the ground
        ("push_steps", "i4"),  # steps for which it acts on, or FOREVER; 0: nothing is applied
        ("leader", "i4"),  # row of the body that leads its rigid island; -1: none
        ("copy", "i4"),  # copy of a replicated world that it belongs to; copies never meet
        ("touching", "u2"),  # number of contacts
        ("kind", "i1"),  # STATIC, DYNAMIC, KINEMATIC or FREE
        ("ideal", "i1"),  # 1: driven kinematically, wheel forces do not act
        # not read by each step:
        ("z", "f8"),  # m
        ("roll", "f8"),  # rad
        ("pitch", "f8"),  # rad, REP-103: positive is nose down
        ("vz", "f8"),  # m/s, of the reference point over the last step, vehicles only
        ("roll_rate", "f8"),  # rad/s, change of the angle roll (not the rate about the x axis)
        ("pitch_rate", "f8"),  # rad/s, likewise
        ("az_up", "f8"),  # m/s², change of vz
        ("roll_acc", "f8"),  # rad/s², change of roll_rate
        ("pitch_acc", "f8"),  # rad/s², change of pitch_rate
        ("z_before", "f8"),  # m, z, roll and pitch before the last step, vehicles only
        ("roll_before", "f8"),  # rad
        ("pitch_before", "f8"),  # rad
        ("ground_x", "f8"),  # m, from the point amid the two of `ground_r`, body frame
        ("ground_y", "f8"),  # m
        ("push_x", "f8"),  # N, applied force, world frame
        ("push_y", "f8"),  # N
        ("push_turn", "f8"),  # N m, applied torque
        ("push_at_x", "f8"),  # m, where the applied force acts, body frame
        ("push_at_y", "f8"),  # m
        ("off_x", "f8"),  # m, where it is in the leader's frame
        ("off_y", "f8"),  # m
        ("off_z", "f8"),  # m, above the leader's plane z = 0
        ("off_yaw", "f8"),  # rad
    ]
)

#: A wheel; position and forces in the frame of its vehicle.
WHEEL = _in_lines(
    [
        ("body", "i8"),  # row of BODY
        ("x", "f8"),  # m
        ("y", "f8"),  # m
        ("radius", "f8"),  # m
        ("mass", "f8"),  # kg
        ("inertia", "f8"),  # kg m², about the axle
        ("load", "f8"),  # N, weight of chassis and payload on it (its own weight not included)
        ("yaw_c", "f8"),  # 1, cosine and sine of yaw
        ("yaw_s", "f8"),
        ("omega", "f8"),  # rad/s, spin, positive rolls forward
        ("omega0", "f8"),  # rad/s, spin before the step
        ("phi", "f8"),  # rad, spin angle
        ("torque", "f8"),  # N m, of the motor, positive drives forward
        ("fx", "f8"),  # N, force of the ground on the wheel, vehicle frame
        ("fy", "f8"),  # N
        ("vx", "f8"),  # m/s, velocity of the wheel centre over the ground, wheel frame
        ("vy", "f8"),  # m/s
        ("carried", "f8"),  # kg, mass that the wheel carries: load / g + its own
        ("normal", "f8"),  # N, force across the ground
        ("gravity_x", "f8"),  # N, weight along a slope, vehicle frame
        ("gravity_y", "f8"),  # N
        ("slope_x", "f8"),  # N, the same in the wheel frame
        ("slope_y", "f8"),  # N
        ("limit_x", "f8"),  # N, largest force of the ground along its grip; NaN: not known
        ("limit_y", "f8"),  # N, across its grip
        ("spin_free", "f8"),  # rad/s, spin after the step without the ground; NaN: not known
        ("slip_give", "f8"),  # m/s per N, slip that its force along the ground needs
        ("side_give", "f8"),  # m/s per N, slip across that its force across the ground needs
        ("side_bias", "f8"),  # m/s, and that it has without one
        ("stick", "f8"),  # 1, part of limit_y that needs no slip, so that contacts can call for it
        ("resist", "f8"),  # N m, with which it resists to be turned, at rest too; inf: any
        ("region_mu", "f8"),  # 1, friction of the region it stands in; NaN: none
        ("region_c_rr", "f8"),  # 1, rolling resistance of the region; NaN: none
        ("rollers", "i1"),  # 1: it rolls freely across its grip direction
        ("caster", "i1"),  # 1: it swivels, so that it rolls in any direction
        ("idle", "i1"),  # not 0: no motor of its vehicle gives torque; 2: locked by `slope_hold`
        ("held", "i1"),  # not 0: its brake is on, and `friction.hold` finds force and spin
        ("limit_round", "i1"),  # 1: limit_x holds for the vector sum of both
        ("coupled", "i1"),  # not 0: `friction.coupled` finds its force with that of the others
        ("lifted", "i1"),  # 1: it carries nothing of the chassis, with weight_transfer
        # not read by each step:
        ("yaw", "f8"),  # rad, mounting angle plus steering
        ("width", "f8"),  # m
        ("grip_c", "f8"),  # 1, cosine and sine of the angle from its heading to its grip
        ("grip_s", "f8"),
        ("tan_grip", "f8"),  # 1, its tangent
        ("odo_vx", "f8"),  # what its speed along the grip adds to the odometry's vx,
        ("odo_vy", "f8"),  # vy [m/s per m/s]
        ("odo_wz", "f8"),  # and wz [rad/s per m/s]
        ("cmd_torque", "f8"),  # N m, set point of raw controllers
        ("drag", "f8"),  # N, drag of the ground on the vehicle, wheel frame
        ("brake", "f8"),  # N m, with which its motor holds it at a set point of zero; inf: any
        # while its speed loop stops it, its motor brakes with at_rest + soft |ω| up to `brake`,
        # ω being its spin after the step; 0: it brakes with `torque`
        ("soft", "f8"),  # N m s/rad
        ("at_rest", "f8"),  # N m
    ]
)

#: Set points that can be on their way at a time, with a command latency.
QUEUE_SLOTS = 32

NO_COMMAND, TWIST, ACKERMANN, TORQUE = 0, 1, 2, 3
#: Value of `cmd_tick` for set points of the world file, which never expire.
NEVER = np.iinfo(np.int64).max

#: A vehicle: geometry, commands, targets and odometry; body and wheels have their own tables.
VEHICLE = _in_lines(
    [
        ("body", "i8"),  # row of BODY
        ("wheel0", "i8"),  # first row of WHEEL
        ("pid0", "i8"),  # first row of PID
        ("odo_left", "i4"),  # WHEEL rows whose spin gives the odometry
        ("odo_right", "i4"),
        ("cmd_tick", "i8"),  # when the command came; NEVER for those that cannot expire
        ("cmd_vx", "f8"),  # m/s, vehicle frame
        ("cmd_vy", "f8"),  # m/s
        ("cmd_wz", "f8"),  # rad/s
        ("vx", "f8"),  # m/s, target twist, vehicle frame
        ("vy", "f8"),  # m/s
        ("wz", "f8"),  # rad/s
        ("target_steer", "f8"),  # rad, target steering angle; NaN: derived from the twist
        ("stop_time", "f8"),  # s, since the set point became zero
        ("motor_stall", "f8"),  # N m, stall torque at the wheel; 0: no limit by the speed
        ("chassis_mass", "f8"),  # kg, with what it carries of a payload, wheels not included
        ("track", "f8"),  # m, y_left - y_right of the odometry wheels
        ("axle_x", "f8"),  # m, where the vehicle turns about: no sideways motion there
        ("odo_vx", "f8"),  # m/s, from the wheels' spin
        ("odo_wz", "f8"),  # rad/s
        ("odo_vy", "f8"),  # m/s
        ("odo_x", "f8"),  # m, integrated, odometry frame
        ("odo_y", "f8"),  # m
        ("odo_yaw", "f8"),  # rad
        ("odo_kx", "f8"),  # 1, multipliers of the odometry's increments
        ("odo_ky", "f8"),
        ("odo_kyaw", "f8"),
        ("odo_var_x", "f8"),  # m, variance [m²] that the odometry gains in x per metre driven
        ("odo_var_y", "f8"),  # m, likewise in y
        ("odo_var_yaw", "f8"),  # rad²/m, in yaw
        ("odo_var_turn", "f8"),  # rad, in yaw [rad²] per radian turned
        ("odo_cov", "f8", (6,)),  # covariance of the pose: xx, xy, x yaw, yy, y yaw, yaw yaw
        ("n_wheels", "i4"),
        ("joints", "i4"),  # number of joints to other islands
        ("driven0", "i4"),  # first driven wheel, counted from wheel0
        ("driven_n", "i4"),  # number of driven wheels
        ("transfer", "i1"),  # 1: wheel loads follow accelerations and slopes
        ("free", "i1"),  # 1: any wheels; the odometry comes from all of them
        ("cmd_kind", "i1"),  # NO_COMMAND, TWIST, ACKERMANN or TORQUE
        ("cmd_brake", "i1"),  # 1: the parking brake is on
        ("expired", "i1"),  # 1: the command is older than the time-out
        ("held", "i1"),  # 1: the set point is zero, it has come to rest, and its motors hold
        ("coast", "i1"),  # 1: a set point of zero lets the motors go below the stop speed
        ("engine", "i1"),  # 1: one motor drives all wheels, through differentials
        ("holonomic", "i1"),  # 1: the wheels can drive sideways
        ("scrubs", "i1"),  # 1: its wheels slip across when it turns, whatever about
        ("tipping", "i1"),  # with it; 1: a wheel is lifted, 2: it would tip over
        ("tip_warned", "i1"),  # the largest value of it that was warned of
        # not read by each step:
        ("chassis_x", "f8"),  # m, centre of mass of both, vehicle frame
        ("chassis_y", "f8"),  # m
        ("com_z", "f8"),  # m, height of the centre of mass above the ground
        ("wheelbase", "f8"),  # m, front axle to rear axle (Ackermann)
        ("front_track", "f8"),  # m, distance of the front wheels (Ackermann)
        ("max_steer", "f8"),  # rad, limit of the virtual centre wheel
        ("max_steer_rate", "f8"),  # rad/s, how fast it turns; inf: at once
        ("steer", "f8"),  # rad, the virtual centre wheel now
        ("split_centre", "f8"),  # 1, share of the front axle of an engine's torque
        ("split_front", "f8"),  # 1, share of the left wheel of the front axle's
        ("split_rear", "f8"),  # 1, of the rear axle's
        ("bias_centre", "f8"),  # 1, bias of the torsen between the axles; 0: open
        ("bias_front", "f8"),  # 1, of the front differential
        ("bias_rear", "f8"),  # 1, of the rear differential
        ("cmd_speed", "f8"),  # m/s, at the rear axle
        ("cmd_steer", "f8"),  # rad
        ("cmd_engine", "f8"),  # N m, of the engine of a drivetrain
        ("stop_speed", "f8"),  # m/s, of the fastest driven wheel in the step before
        ("motor_speed", "f8"),  # rad/s, no-load speed at the wheel
    ]
)

#: Command latency of a vehicle that has one: set points on their way to its controller.
DELAY = np.dtype(
    [
        ("vehicle", "i8"),  # row of VEHICLE
        ("latency", "f8"),  # s, after which set points act
        ("now", "f8", (4,)),  # set points that act: vx, vy, wz, target_steer
        ("due", "i8", (QUEUE_SLOTS,)),  # steps after which those on their way act
        ("queue", "f8", (QUEUE_SLOTS, 4)),  # the set points on their way
        ("first", "i8"),  # slot of the oldest one
        ("count", "i8"),  # how many are on their way
        ("steps", "i8"),  # steps so far
    ]
)

#: Parameters of PID speed controllers; those with the same numbers share a row.
GAINS = np.dtype(
    [
        ("kp", "f8"),  # N m s/m
        ("ki", "f8"),  # N m/m
        ("kd", "f8"),  # N m s²/m
        ("n", "f8"),  # 1/s, bandwidth of the derivative's filter; 0: none
        ("i_max", "f8"),  # N m, limit of the integral term; inf: none
        ("max_torque", "f8"),  # N m; inf: none
        ("feedforward", "f8"),  # 1, gain of the slope feed-forward; 0: off
        ("filter_tau", "f8"),  # s, set-point filter; 0: off
        ("zero", "f8"),  # m/s, a set point below it counts as stop
        ("stop", "f8"),  # m/s, a speed below it counts as standing
        ("response", "f8"),  # m/s² per N m, acceleration of its vehicle by all driven wheels
        ("antiwindup", "i8"),
        ("filter_order", "i8"),
    ]
)

#: A PID speed controller.
PID = _in_lines(
    [
        ("target", "f8"),  # m/s, filtered set point of the last step
        ("actual", "f8"),  # m/s, measured speed of the last step
        ("before", "f8"),  # m/s, measured speed of the step before that
        ("integral", "f8"),  # N m
        ("forward", "f8"),  # N m, feed-forward of the last step
        ("previous", "f8"),  # m/s, last error
        ("last", "f8"),  # m/s, last set point other than zero
        ("gains", "i4"),  # row of GAINS
        ("started", "i1"),
        # not read by each step:
        ("derivative", "f8"),  # m/s, filtered error
        ("filter1", "f8"),  # m/s
        ("filter2", "f8"),  # m/s
        ("soft", "f8"),  # N m s/m, how its torque grows with the speed after a step of braking
        ("at_rest", "f8"),  # N m, and its braking torque at the speed 0
    ]
)

#: Kinematics of a vehicle: limits of its targets, then the state of the last step.
LIMIT = np.dtype(
    [
        ("vehicle", "i8"),  # row of VEHICLE
        ("kind", "i8"),  # OMNI, DIFF, DIFF_DYN or CUSTOM of `kinematics.laws`
        ("strategy", "i8"),  # ANGULAR, TORQUES or INTERSECTION
        ("motor", "i8"),  # 1: motors follow the needed torques by a PID
        ("max_speed", "f8"),  # m/s, of the body or of a wheel; inf: none, as for all limits
        ("max_angular", "f8"),  # rad/s
        ("max_forward", "f8"),  # m/s
        ("max_backward", "f8"),  # m/s
        ("axis", "f8"),  # m, distance of the wheels
        ("max_acceleration", "f8"),  # m/s², also the limit of the scaled torques
        ("moi", "f8"),  # 1, scaled moment of inertia
        ("limit_linear", "f8"),  # m/s², of the acceleration as a vector
        ("limit_angular", "f8"),  # rad/s²
        ("k_p", "f8"),  # 1, gains of the motors
        ("k_i", "f8"),  # 1/s
        ("k_d", "f8"),  # s
        ("vx", "f8"),  # m/s, limited twist of the last step, vehicle frame
        ("vy", "f8"),  # m/s
        ("wz", "f8"),  # rad/s
        ("torque_left", "f8"),  # m/s², scaled torques of the motors
        ("torque_right", "f8"),
        ("error_left", "f8"),  # m/s², last errors of the torques
        ("error_right", "f8"),
        ("sum_left", "f8"),  # m/s, integrals of the errors
        ("sum_right", "f8"),
    ]
)
#: Fields of LIMIT that are state, zero for a vehicle at rest.
LIMIT_MEMORY = LIMIT.names[LIMIT.names.index("vx") :] if LIMIT.names else ()


#: A driven pivot between two rigid islands, see `dynamics.pivots`.
PIVOT = np.dtype(
    [
        ("a", "i8"),  # rows of BODY of the two islands
        ("b", "i8"),
        ("zero", "f8"),  # rad, yaw of b minus yaw of a at which the angle is 0
        ("target", "f8"),  # rad
        ("kp", "f8"),  # N m/rad
        ("kd", "f8"),  # N m s/rad
        ("limit", "f8"),  # N m
        ("torque", "f8"),  # N m, on b in the last step
    ]
)


class State(Protocol):
    """The arrays on which systems work, as `world.data.Data` has them.

    They are replaced when they grow: read them from here in each step.
    """

    bodies: Rows
    wheels: Rows
    vehicles: Rows
    pids: Rows
    gains: Rows
    limits: Rows
    delays: Rows


def fields(rows: Rows) -> Any:
    """Return the same memory with attribute access, `fields(w).omega[3]`; not for kernels."""
    return rows.view(np.recarray)
