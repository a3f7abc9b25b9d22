# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Small 3D scenes, sensors without a world file, and worlds as text."""

import numpy as np

from mvsim_core.geometry.poses import Pose
from mvsim_core.scene3d import Part, Scene3d
from mvsim_core.sensors import SensorContext
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.state.arrays import BODY, DYNAMIC
from tests.unit.sensors.scenes import NO_STATE, placed, state_of

__all__ = ["NO_STATE", "state_of"]

DT = 0.005
NO_BODIES = np.zeros(0, BODY)
BACKENDS = ("embree", "bvh")


def scene(*models, backend="", **options):
    """A scene of models that do not move."""
    return scene_of(*(Part(m) for m in models), backend=backend, **options)


def scene_of(*parts, backend="", **options):
    """A scene of parts, each an entity of its own whose key is its number."""
    made = Scene3d(backend=backend, **options)
    for number, part in enumerate(parts):
        made.add(number, lambda part=part: [part])
    return made


def random_rays(count, *, seed=0, around=(0.0, 0.0, 0.0)):
    """Origins within a metre of a point, and unit directions, (count, 3) each."""
    rng = np.random.default_rng(seed)
    ways = rng.normal(size=(count, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    return rng.uniform(-1.0, 1.0, (count, 3)) + around, ways


def body_rows(*poses):
    """Rows of BODY that move."""
    rows = np.zeros(len(poses), BODY)
    rows["kind"] = DYNAMIC
    for row, pose in zip(rows, poses, strict=True):
        for name, value in pose._asdict().items():
            row[name] = value
    return rows


def sensor(cls, spec, scene3d, *, body=-1, seed=0, warn=None, dt=DT):
    """A sensor in a scene."""
    more = {} if warn is None else {"warn": warn}
    context = SensorContext(PlaneScene(), dt, scene3d=scene3d, **more)
    return placed(cls(spec, context), body, seed)


def room(sensors="", *, timestep=0.005, lights="", extra="", pose="0 0 0"):
    """World text: a square room of 20 m with a red wall ahead (x = 10) and a robot in it."""
    walls = ""
    corners = [(10, -10, 10, 10), (10, 10, -10, 10), (-10, 10, -10, -10), (-10, -10, 10, -10)]
    for (x0, y0, x1, y1), color in zip(corners, ("#ff0000", *["#808080"] * 3), strict=True):
        walls += (
            f'<element class="vertical_plane"><x0>{x0}</x0><y0>{y0}</y0><x1>{x1}</x1><y1>{y1}</y1>'
            f"<height>3</height><thickness>0.2</thickness><color>{color}</color></element>"
        )
    return f"""<mvsim_world version="1.0"><simul_timestep>{timestep}</simul_timestep>{lights}
      <element class="horizontal_plane"><color>#00ff00</color></element>{walls}{extra}
      <vehicle name="r1"><init_pose>{pose}</init_pose>
        <dynamics class="differential">
          <l_wheel pos="0 0.2" mass="1" width="0.05" diameter="0.2"/>
          <r_wheel pos="0 -0.2" mass="1" width="0.05" diameter="0.2"/>
          <chassis mass="10" zmin="0.05" zmax="0.3"/>
          <controller class="twist_ideal"/></dynamics>{sensors}
      </vehicle></mvsim_world>"""


LEVEL = Pose(z=1.0)
