# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From where browsers look: views of the whole world, from above, behind a vehicle; following."""

from __future__ import annotations

import math
import time as wall
from typing import Any

import numpy as np

from mvsim_core.rendering.picture import View
from mvsim_core.specs.params import NOWHERE
from mvsim_core.state.arrays import FloatArray
from mvsim_core.world.world import World

#: Field of view that stands for parallel projection [rad].
PARALLEL = math.radians(2.0)
#: Share of the height by which a view from above is tilted, so that y is upwards in it.
TILT = 1e-3
#: Reports of a browser that come so soon after it was turned do not count [s].
SETTLED = 2.0
#: Size for which views of the whole world are made [pixel]: the panel covers a part of the window.
SIZE = (900, 720)
#: Farthest that is seen, in distances to what is looked at.
DEPTH = 40.0
LEAST_FAR = 2000.0  # m


class Cameras:
    """The cameras of all browsers.

    To follow a vehicle the world is shifted, and not the cameras: so each browser can turn its own
    meanwhile.

    Args:
        server: Of viser.
        world: What they look at.
        origin: Place in the world that is the origin of the scene [m].
        root: Node of the world.

    Attributes:
        shift: How far the world is shifted in the scene [m].
        followed: Name of the vehicle that is followed; "": none.
        parallel: Whether they have parallel projection.
    """

    def __init__(self, server: Any, world: World, origin: FloatArray, root: Any) -> None:
        """Set where browsers look at first: as the file's <gui> says."""
        self._server = server
        self._world = world
        self._origin = origin
        self._root = root
        self.shift: FloatArray = np.zeros(3)
        self.followed = ""
        self.parallel = bool(world.spec.gui.ortho)
        self._anchor: FloatArray = np.zeros(3)
        self._looks: dict[int, tuple[float, FloatArray, FloatArray]] = {}
        given = world.spec.gui.where != NOWHERE
        self._first = world.gui_view() if given else world.whole_view(SIZE)
        eye, at, fov = self._placed(self._first)
        start = server.initial_camera
        start.position, start.look_at, start.up = eye, at, (0.0, 0.0, 1.0)
        start.fov = fov
        start.near, start.far = _limits(float(np.linalg.norm(np.subtract(eye, at))))

    def start(self) -> None:
        """Turn the browsers that were there before the world to where new ones look at first."""
        self.look(self._first)

    # ------------------------------------------------------------ following
    def follow(self, name: str) -> None:
        """Follow a vehicle from now on, or none; nothing jumps."""
        if name == self.followed:
            return
        self.followed = name
        if name:
            self._anchor = self._where(name) + self.shift

    def update(self) -> None:
        """Shift the world so that what is followed stays where it is in the picture."""
        if not self.followed:
            return
        if self.followed not in self._world.data.entities:
            self.followed = ""
            return
        shift = self._anchor - self._where(self.followed)
        if (shift != self.shift).any():
            self.shift = shift
            self._root.position = tuple(shift.tolist())

    def _where(self, name: str) -> FloatArray:
        row = self._world.data.bodies[self._world.data.entities[name].row]
        return np.array([row["x"], row["y"], row["z"]], np.float64) - self._origin

    # ------------------------------------------------------------ views
    def look(self, view: View, client: Any = None) -> None:
        """Let one browser, or all, look from somewhere."""
        eye, at, fov = self._placed(view)
        for camera in self._cameras(client):
            self._set(camera, np.array(eye), np.array(at), fov)

    def _set(self, camera: Any, eye: FloatArray, at: FloatArray, fov: float) -> None:
        near, far = _limits(float(np.linalg.norm(eye - at)))
        with camera.client.atomic():
            camera.near, camera.far, camera.fov = near, far, fov
            camera.up_direction = (0.0, 0.0, 1.0)
            camera.position, camera.look_at = eye, at
        self._looks[camera.client.client_id] = (wall.time(), eye, at)

    def seen(self, client: Any) -> tuple[FloatArray, FloatArray]:
        """Return eye and target of a browser in the scene [m].

        What a browser reports right after it was turned may be where it looked before.
        """
        camera = client.camera
        time, eye, at = self._looks.get(client.client_id, (0.0, None, None))
        if eye is not None and at is not None and camera.update_timestamp < time + SETTLED:
            return eye, at
        return np.array(camera.position), np.array(camera.look_at)

    def overview(self, client: Any = None) -> None:
        """Show the whole world from the side."""
        self.look(self._world.whole_view(SIZE), client)

    def top(self, client: Any = None) -> None:
        """Show the whole world from above, x to the right."""
        view = self._world.whole_view(SIZE, top=True)
        (x, y, z), at = view.eye, view.at
        self.look(View((x, y - TILT * (z - at[2]), z), at, view.fov, view.near), client)

    def behind(self, name: str, client: Any = None) -> None:
        """Look at a vehicle from behind."""
        self.look(self._world.view_of(name), client)

    def set_parallel(self, parallel: bool) -> None:
        """Choose between parallel and central projection; what is looked at keeps its size."""
        if parallel == self.parallel:
            return
        self.parallel = parallel
        gui = self._world.spec.gui
        fov = PARALLEL if parallel else gui.fov
        for camera in self._cameras(None):
            eye, at = self.seen(camera.client)
            ray = (eye - at) * math.tan(0.5 * camera.fov) / math.tan(0.5 * fov)
            self._set(camera, at + ray, at, fov)

    def _cameras(self, client: Any) -> list[Any]:
        clients = self._server.get_clients().values() if client is None else [client]
        return [one.camera for one in clients]

    def _placed(self, view: View) -> tuple[tuple[float, ...], tuple[float, ...], float]:
        """Return eye and target of a view in the scene, and its field of view."""
        at = np.array(view.at) - self._origin + self.shift
        ray = np.subtract(view.eye, view.at)
        fov = view.fov
        if self.parallel:
            ray = ray * math.tan(0.5 * fov) / math.tan(0.5 * PARALLEL)
            fov = PARALLEL
        return tuple((at + ray).tolist()), tuple(at.tolist()), fov


def _limits(distance: float) -> tuple[float, float]:
    """Return the nearest and the farthest that is seen from a distance [m]."""
    return max(2e-3 * distance, 0.01), max(DEPTH * distance, LEAST_FAR)
