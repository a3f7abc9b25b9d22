# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scenes for timing, as XML text."""

from __future__ import annotations

ROBOT = """
<vehicle:class name="small">
  <dynamics class="differential">
    <l_wheel pos="0 0.5" mass="4" width="0.2" diameter="0.4"/>
    <r_wheel pos="0 -0.5" mass="4" width="0.2" diameter="0.4"/>
    <chassis mass="15" zmin="0.05" zmax="0.6"/>
    <controller class="twist_pid">
      <KP>4.15</KP><KI>1.91</KI><max_torque>14.4</max_torque>
    </controller>
  </dynamics>
  <friction class="default"><mu>0.7</mu><C_damping>0.1</C_damping><C_rr>0.01</C_rr></friction>
</vehicle:class>"""


def robots(count: int, sensors: str = "") -> str:
    """Return a world of `count` robots on an empty plane, 3 m apart."""
    side = max(1, round(count**0.5))
    vehicles = "".join(
        f'<vehicle class="small"><init_pose>{3 * (i % side)} {3 * (i // side)} 0</init_pose>'
        f"{sensors}</vehicle>"
        for i in range(count)
    )
    return (
        '<mvsim_world version="1.0"><simul_timestep>0.005</simul_timestep>'
        f"{ROBOT}{vehicles}</mvsim_world>"
    )
