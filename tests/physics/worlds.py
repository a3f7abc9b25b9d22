# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Small worlds as XML text, for tests of the physics."""

from __future__ import annotations

FRICTION = (
    '<friction class="default"><mu>{mu}</mu><C_damping>{c}</C_damping><C_rr>{rr}</C_rr></friction>'
)


def friction(mu: float = 0.7, c: float = 0.0, rr: float = 0.0) -> str:
    """Return a default friction element."""
    return FRICTION.format(mu=mu, c=c, rr=rr)


def twist_pid(kp: float = 8, ki: float = 4, most: float = 12, more: str = "") -> str:
    """Return a twist_pid controller with a torque limit `most` [N m]."""
    gains = f"<KP>{kp}</KP><KI>{ki}</KI><max_torque>{most}</max_torque>"
    return f'<controller class="twist_pid">{gains}{more}</controller>'


def cart(
    name: str = "r1",
    pose: str = "0 0 0",
    vel: str = "0 0 0",
    controller: str = '<controller class="raw"/>',
    ground: str = friction(),
    damping: float = 0.0,
    extra: str = "",
) -> str:
    """Return a two-wheeled robot of 15 + 2·4 kg whose centre of mass is above its axle."""
    return f"""
    <vehicle name="{name}">
      <dynamics class="differential">
        <l_wheel pos="0 0.5" mass="4" width="0.2" diameter="0.4"/>
        <r_wheel pos="0 -0.5" mass="4" width="0.2" diameter="0.4"/>
        <chassis mass="15" zmin="0.05" zmax="0.6"
                 linear_damping="{damping}" angular_damping="{damping}">
          <shape><pt>-0.5 -0.4</pt><pt>-0.5 0.4</pt><pt>0.5 0.4</pt><pt>0.5 -0.4</pt></shape>
        </chassis>
        {controller}
      </dynamics>
      {ground}
      <odometry x_multiplier="1" y_multiplier="1" yaw_multiplier="1"/>
      <init_pose>{pose}</init_pose><init_vel>{vel}</init_vel>
      {extra}
    </vehicle>"""


def car(
    name: str = "r1",
    pose: str = "0 0 0",
    drive: str = "rear",
    controller: str = '<controller class="raw"/>',
    ground: str = friction(),
    damping: float = 0.0,
) -> str:
    """Return a four-wheeled Ackermann car with wheelbase 1.3 m and track 2 m."""
    return f"""
    <vehicle name="{name}">
      <dynamics class="ackermann"><drive>{drive}</drive>
        <rl_wheel pos="0 1" mass="6" width="0.3" diameter="0.62"/>
        <rr_wheel pos="0 -1" mass="6" width="0.3" diameter="0.62"/>
        <fl_wheel mass="6" width="0.3" diameter="0.62"/>
        <fr_wheel mass="6" width="0.3" diameter="0.62"/>
        <f_wheels_x>1.3</f_wheels_x><f_wheels_d>2.0</f_wheels_d>
        <max_steer_ang_deg>30</max_steer_ang_deg>
        <chassis mass="800" zmin="0.15" zmax="1.0"
                 linear_damping="{damping}" angular_damping="{damping}"/>
        {controller}
      </dynamics>
      {ground}
      <odometry x_multiplier="1" y_multiplier="1" yaw_multiplier="1"/>
      <init_pose>{pose}</init_pose>
    </vehicle>"""


def block(
    name: str = "b1",
    pose: str = "0 0 0",
    vel: str = "0 0 0",
    mass: float = 10.0,
    mu: float = 0.0,
    restitution: float = 0.0,
    size: float = 1.0,
    extra: str = "",
) -> str:
    """Return an undamped square block."""
    h = 0.5 * size
    return f"""
    <block name="{name}">
      <shape><pt>-{h} -{h}</pt><pt>{h} -{h}</pt><pt>{h} {h}</pt><pt>-{h} {h}</pt></shape>
      <mass>{mass}</mass><ground_friction>{mu}</ground_friction>
      <restitution>{restitution}</restitution><lateral_friction>0</lateral_friction>
      <linear_damping>0</linear_damping><angular_damping>0</angular_damping>
      <zmin>0</zmin><zmax>1</zmax>
      <init_pose>{pose}</init_pose><init_vel>{vel}</init_vel>{extra}
    </block>"""


def world(*parts: str, dt: float = 0.005) -> str:
    """Return a world with gravity 9.81 m/s² that holds `parts`."""
    return f"""<mvsim_world version="1.0">
      <simul_timestep>{dt}</simul_timestep><gravity>9.81</gravity>
      {"".join(parts)}
    </mvsim_world>"""
