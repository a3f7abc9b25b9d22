# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A world with one of each thing."""

ROBOT = """
<vehicle:class name="bot">
  <dynamics class="differential">
    <l_wheel pos="0 0.2" mass="1" width="0.05" diameter="0.2"/>
    <r_wheel pos="0 -0.2" mass="1" width="0.05" diameter="0.2"/>
    <chassis mass="10" zmin="0.05" zmax="0.3" color="#e07020">
      <shape><pt>-0.3 -0.2</pt> <pt>-0.3 0.2</pt> <pt>0.3 0.2</pt> <pt>0.3 -0.2</pt></shape>
    </chassis>
    <controller class="twist_pid"><KP>20</KP> <KI>50</KI> <max_torque>5</max_torque></controller>
  </dynamics>
  <sensor class="laser" name="laser">
    <pose_3d>0.1 0 0.2 0 0 0</pose_3d> <fov_degrees>180</fov_degrees> <nrays>91</nrays>
    <sensor_period>0.1</sensor_period> <raytrace_3d>false</raytrace_3d>
  </sensor>
</vehicle:class>
"""

#: Two robots, a box, a wall and a floor; drawn seldom, as browsers in tests have no GPU.
SMALL = f"""<mvsim_world version="1.0">
<simul_timestep>0.01</simul_timestep>
<gui><refresh_fps>10</refresh_fps> <cam_distance>14</cam_distance></gui>
<lights><enable_shadows>false</enable_shadows></lights>
<element class="horizontal_plane">
  <x_min>-6</x_min> <x_max>6</x_max> <y_min>-6</y_min> <y_max>6</y_max> <z>0</z>
</element>
<element class="vertical_plane"><x0>4</x0> <y0>-5</y0> <x1>4</x1> <y1>5</y1> <height>1</height>
</element>
{ROBOT}
<vehicle name="r1" class="bot"><init_pose>0 0 0</init_pose></vehicle>
<vehicle name="r2" class="bot"><init_pose>0 -3 90</init_pose></vehicle>
<block name="box"><init_pose>2 2 0</init_pose> <mass>5</mass> <zmin>0</zmin> <zmax>0.5</zmax>
  <shape><pt>-0.3 -0.3</pt> <pt>0.3 -0.3</pt> <pt>0.3 0.3</pt> <pt>-0.3 0.3</pt></shape>
</block>
</mvsim_world>"""
