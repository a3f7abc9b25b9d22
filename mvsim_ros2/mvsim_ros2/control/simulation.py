# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One simulation: the world that there is now, its time, its population and its state.

All methods belong to the stepping thread.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, sin

from mvsim_core import Pose, World
from mvsim_ros2.control.answers import (
    FAILED,
    INCORRECT_STATE,
    NO_WORLD,
    Refused,
)
from mvsim_ros2.control.entities import Box, Info, contains, entity_of, own_box
from mvsim_ros2.control.phases import LOADING, PAUSED, PLAYING, QUITTING, STOPPED, Phases
from mvsim_ros2.control.phases import NO_WORLD as WITHOUT_WORLD
from mvsim_ros2.control.population import ALL, DEFAULT, STATE, Population
from mvsim_ros2.control.resources import Description
from mvsim_ros2.control.timeline import Timeline, WallTimeline
from mvsim_ros2.control.worlds import loaded

#: Greatest speed that can be set [m/s, rad/s].
MAX_SPEED = 1e3


class Simulation:
    """What the services control.

    Args:
        world: The first world.
        source: Its file, or "".
        seed: Of the worlds' random numbers.
        paused: Whether it begins paused.
        wall_time: Whether stamps follow the wall clock.
    """

    def __init__(
        self,
        world: World,
        *,
        source: str = "",
        seed: int = 0,
        paused: bool = False,
        wall_time: bool = False,
    ):
        """Begin with a world."""
        self.timeline = WallTimeline(world.dt) if wall_time else Timeline(world.dt)
        self.phases = Phases(PAUSED if paused else PLAYING)
        self.source = source
        self.on_population: Callable[[], None] = lambda: None
        self.on_world: Callable[[], None] = lambda: None
        self._seed = seed
        self._world: World | None = world
        self._population = Population(world, self.timeline)
        self.infos: dict[str, Info] = {}

    @property
    def world(self) -> World:
        """The world.

        Raises:
            Refused: There is none.
        """
        if self._world is None:
            raise Refused(NO_WORLD, "no world is loaded")
        return self._world

    @property
    def has_world(self) -> bool:
        """Whether there is a world."""
        return self._world is not None

    @property
    def now(self) -> int:
        """Simulated time [ns]."""
        return self.timeline.ns(self._world.ticks if self._world is not None else 0)

    @property
    def namespaces(self) -> dict[str, str]:
        """Namespaces that spawned vehicles want, "" where none is given."""
        return {name: one.namespace for name, one in self._population.spawned.items()}

    # ------------------------------------------------------------------- state
    def set_state(self, target: int) -> None:
        """Play, pause, stop (which resets; the clock goes on) or quit.

        Raises:
            Refused: The change is not possible.
        """
        phases = self.phases
        phases.check(target)
        if target in (STOPPED, QUITTING) and self._world is not None and phases.state != STOPPED:
            phases.abort("the simulation is stopped")
            if target == STOPPED:
                self.reset(DEFAULT)
        phases.enter(target)

    def reset(self, scope: int) -> None:
        """Bring the first state back, see `Population.reset`.

        Raises:
            Refused: There is no such scope, or no world.
        """
        world = self.need_world()
        try:
            self._population.reset(scope)
        finally:
            self.infos = {name: info for name, info in self.infos.items() if contains(world, name)}
            self.on_population()
        if scope in (DEFAULT, ALL) or scope & STATE:
            self.infos = {}

    def need_world(self) -> World:
        """Return the world; the state is wrong where there is none.

        Raises:
            Refused: There is none.
        """
        if self._world is None:
            raise Refused(INCORRECT_STATE, "no world is loaded")
        return self._world

    # -------------------------------------------------------------- population
    def spawn(
        self, what: Description, name: str, pose: Pose, namespace: str, *, renaming: bool
    ) -> str:
        """Add a vehicle and return its name, see `Population.spawn`.

        Raises:
            Refused: With the code of SpawnEntity.
        """
        self.need_world()
        name = self._population.spawn(what, name, pose, namespace, renaming=renaming)
        self.on_population()
        return name

    def delete(self, name: str) -> None:
        """Take a vehicle or block out.

        Raises:
            Refused: There is none, or it cannot go.
        """
        self.need_world()
        self._population.delete(name)
        self.infos.pop(name, None)
        self.on_population()

    def place(self, name: str, pose: Pose, velocity: tuple[float, float], turning: float) -> None:
        """Put something at a place, with a velocity.

        Args:
            name: Of a vehicle or block.
            pose: World frame [m, rad]; z [m] is where the ground is searched for, 0: as now.
            velocity: (vx, vy) of the reference point, world frame [m/s].
            turning: Yaw rate [rad/s].

        Raises:
            Refused: It cannot be there, or cannot move like that.
        """
        handle = entity_of(self.need_world(), name).handle
        moves = any((*velocity, turning))
        if name not in self.world.vehicles and name not in self.world.blocks:
            raise Refused(FAILED, f"{name}: an actor follows its path")
        if moves and getattr(handle.spec, "static", False):
            raise Refused(FAILED, f"{name} is fixed and cannot have a velocity")
        if not all(abs(v) <= MAX_SPEED for v in (*velocity, turning)):  # NaN is not
            raise Refused(FAILED, f"velocities must be within {MAX_SPEED:g} m/s or rad/s")
        handle.teleport(pose.x, pose.y, pose.yaw, pose.z or None)
        if moves:
            handle.set_velocity(*_own_axes(velocity, pose.yaw), turning)

    def describe(self, name: str, info: Info) -> None:
        """Take over what a client says of something, until it is deleted or the state reset.

        Raises:
            Refused: There is no such thing.
        """
        entity_of(self.need_world(), name)
        self.infos[name] = info

    def named_poses(self) -> dict[str, Pose]:
        """Return where the vehicles of the world file start."""
        return {spec.name: spec.init_pose for spec in self.need_world().spec.vehicles}

    def start_bounds(self, name: str) -> Box:
        """Return the bounds of the vehicle that starts at a named pose, in its own frame [m].

        Raises:
            Refused: There is no such pose, or the vehicle was deleted.
        """
        return own_box(entity_of(self.need_world(), name).handle)

    # ------------------------------------------------------------------- world
    def load(self, uri: str, text: str) -> None:
        """Change to another world, which is stopped; the clock goes on.

        If it cannot be loaded, the present one stays.

        Raises:
            Refused: With the code of LoadWorld.
        """
        before = self.phases.state
        self.phases.enter(LOADING)
        try:
            world = loaded(uri, text, self._seed)
        except Refused:
            self.phases.enter(before)
            raise
        if self._world is None:
            self.timeline.carry(0, world.dt)
        else:
            self.timeline.carry(self._world.ticks, world.dt)
            self._world.close()
        self._world = world
        self._population = Population(world, self.timeline)
        self.infos = {}
        self.source = "" if text.strip() else world.spec.file
        self.phases.enter(STOPPED)
        self.on_world()

    def close(self) -> None:
        """Complete what the world writes to files."""
        if self._world is not None:
            self._world.close()

    def unload(self) -> None:
        """Remove the world; the clock stands.

        Raises:
            Refused: There is none.
        """
        world = self.world
        self.timeline.carry(world.ticks)
        world.close()
        self._world = None
        self.source = ""
        self.phases.enter(WITHOUT_WORLD)
        self.on_world()


def _own_axes(velocity: tuple[float, float], yaw: float) -> tuple[float, float]:
    vx, vy = velocity
    return cos(yaw) * vx + sin(yaw) * vy, -sin(yaw) * vx + cos(yaw) * vy
