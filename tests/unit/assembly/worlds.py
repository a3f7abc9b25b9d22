# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of one robot that looks around, and models as text, for the tests of this folder."""

from pathlib import Path

import numpy as np

from mvsim_core import World, load_world
from mvsim_core.state.arrays import FloatArray

LASER = (
    '<sensor class="laser" name="scan"><fov_degrees>360</fov_degrees><nrays>4</nrays>'
    "<range_std_noise>0</range_std_noise><angle_std_noise_deg>0</angle_std_noise_deg>"
    "<pose_3d>0 0 {height} 0 0 0</pose_3d><raytrace_3d>{exact}</raytrace_3d>"
    "<ignore_parent_body>true</ignore_parent_body></sensor>"
)


def loaded(body: str) -> World:
    """Load `<mvsim_world>body</mvsim_world>`, whose first line is line 2."""
    return load_world(text=f"<mvsim_world>\n{body}</mvsim_world>")


def said(world: World) -> list[str]:
    """Return the warnings of a world."""
    return [str(problem) for problem in world.warnings]


def seen_ahead(body: str, *, height: float = 0.3, exact: bool = False) -> float:
    """Return the range ahead of a noise-free laser at the origin [m]; `exact` casts in 3D."""
    sensor = LASER.format(height=height, exact=str(exact).lower())
    robot = (
        '<vehicle name="r1"><init_pose>0 0 0</init_pose><dynamics class="differential">'
        f'<controller class="twist_ideal"/></dynamics>{sensor}</vehicle>'
    )
    world = loaded(f"<simul_timestep>0.01</simul_timestep>{robot}{body}")
    world.run(0.2)
    reading = world.vehicles["r1"].sensors["scan"].last
    ranges: FloatArray = np.asarray(reading.ranges)
    return float(ranges[2])  # of four rays that begin behind


def write_lines(path: Path, points: list[tuple[float, ...]], lines: list[tuple[int, int]]) -> Path:
    """Write a COLLADA model that consists of lines, with y up as walls are drawn."""
    numbers = " ".join(str(c) for point in points for c in point)
    pairs = " ".join(str(i) for line in lines for i in line)
    path.write_text(
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
        "<asset><created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified>"
        '<unit name="m" meter="1"/><up_axis>Y_UP</up_axis></asset>'
        '<library_geometries><geometry id="g"><mesh><source id="s">'
        f'<float_array id="a" count="{3 * len(points)}">{numbers}</float_array>'
        f'<technique_common><accessor source="#a" count="{len(points)}" stride="3">'
        '<param name="X" type="float"/><param name="Y" type="float"/>'
        '<param name="Z" type="float"/></accessor></technique_common></source>'
        '<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>'
        f'<lines count="{len(lines)}"><input semantic="VERTEX" source="#v" offset="0"/>'
        f"<p>{pairs}</p></lines></mesh></geometry></library_geometries>"
        '<library_visual_scenes><visual_scene id="vs"><node id="n">'
        '<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#vs"/></scene></COLLADA>'
    )
    return path
