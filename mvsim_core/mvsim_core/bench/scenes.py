# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scenes for timing, as XML text."""

from __future__ import annotations

#: Chassis, control and friction, which are alike whatever the wheels.
REST = """
    <chassis mass="15" zmin="0.05" zmax="0.6"/>
    <controller class="twist_pid">
      <KP>4.15</KP><KI>1.91</KI><max_torque>14.4</max_torque>
    </controller>
  </dynamics>
  <friction class="default"><mu>0.7</mu><C_damping>0.1</C_damping><C_rr>0.01</C_rr></friction>
</vehicle:class>"""

ROBOT = (
    """
<vehicle:class name="small">
  <dynamics class="differential">
    <l_wheel pos="0 0.5" mass="4" width="0.2" diameter="0.4"/>
    <r_wheel pos="0 -0.5" mass="4" width="0.2" diameter="0.4"/>
"""
    + REST
)

#: Four wheels with one motor a side, or with rollers and a motor each; the rest is equal.
PLATFORM = """
<vehicle:class name="small">
  <dynamics class="{kind}">
    <lr_wheel pos="-0.3 0.3" mass="2" width="0.1" diameter="0.2"/>
    <rr_wheel pos="-0.3 -0.3" mass="2" width="0.1" diameter="0.2"/>
    <lf_wheel pos="0.3 0.3" mass="2" width="0.1" diameter="0.2"/>
    <rf_wheel pos="0.3 -0.3" mass="2" width="0.1" diameter="0.2"/>
"""
DIFFERENTIAL_PLATFORM = PLATFORM.format(kind="differential_4_wheels") + REST
MECANUM_PLATFORM = PLATFORM.format(kind="mecanum") + REST

HILLS = """
<element class="elevation_map">
  <elevation_data_matrix>[0 1 0 2; 1 3 1 0; 0 1 2 1; 1 0 1 0]</elevation_data_matrix>
  <elevation_data_matrix_scale>0.3</elevation_data_matrix_scale>
  <resolution>20</resolution><corner_min_x>-10</corner_min_x><corner_min_y>-10</corner_min_y>
</element>"""

CAR = """
<vehicle:class name="small">
  <dynamics class="ackermann_drivetrain">
    <rl_wheel pos="0 0.5" mass="4"/><rr_wheel pos="0 -0.5" mass="4"/>
    <fl_wheel mass="4"/><fr_wheel mass="4"/><f_wheels_d>1</f_wheels_d>
    <chassis mass="150"/>
    <controller class="twist_front_steer_pid"><KP>200</KP><KI>90</KI></controller>
    <drivetrain type="torsen_4wd"/>
  </dynamics>
  <friction class="ellipse"/>
</vehicle:class>"""


def robots(count: int, ground: str = "", robot: str = ROBOT, sensors: str = "") -> str:
    """Return a world of `count` robots 3 m apart, on an empty plane or on `ground`."""
    side = max(1, round(count**0.5))
    vehicles = "".join(
        f'<vehicle class="small"><init_pose>{3 * (i % side)} {3 * (i // side)} 0</init_pose>'
        f"{sensors}</vehicle>"
        for i in range(count)
    )
    return (
        '<mvsim_world version="1.0"><simul_timestep>0.005</simul_timestep>'
        f"{ground}{robot}{vehicles}</mvsim_world>"
    )
