# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The running world: arrays, systems, contact solver, sensors and the clock that drives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_core.dynamics.drives import drive_kernel
from mvsim_core.dynamics.followers import followers_kernel
from mvsim_core.dynamics.islands import integrate_velocities_kernel, sum_wheel_forces_kernel
from mvsim_core.dynamics.latency import latency_kernel
from mvsim_core.dynamics.odometry import odometry_kernel
from mvsim_core.errors import Problem
from mvsim_core.friction import contact_kernel, hold_kernel
from mvsim_core.recording.logging import Logging
from mvsim_core.solver.motion import absorb_kernel, gather_kernel, ideal_twist_kernel
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import LIMIT_MEMORY, State
from mvsim_core.state.clock import SimClock
from mvsim_core.state.finite import body_error, wheel_error
from mvsim_core.terrain.rates import AttitudeRates
from mvsim_core.world.commands import apply_commands_kernel
from mvsim_core.world.handles import Actor, Block, Handles, Pivot
from mvsim_core.world.profile import Profile
from mvsim_core.world.vehicle import Vehicle
from mvsim_core.world.view import WorldView

if TYPE_CHECKING:
    from mvsim_core.assembly.contents import Contents
    from mvsim_core.state.entities import Entity

PHASES = (
    "commands",
    "kinematics",
    "animations",
    "controllers",
    "friction",
    "integrate",
    "solver",
    "terrain",
    "odometry",
    "sensors",
    "recording",
)
COMMANDS, KINEMATICS, ANIMATIONS, CONTROLLERS, FRICTION = range(5)
INTEGRATE, SOLVER, TERRAIN, ODOMETRY, SENSORS, RECORDING = range(5, 11)

#: What is zero after something was put somewhere.
RESTING = (
    *("roll", "pitch", "vx", "vy", "wz", "cvx", "cvy", "ax", "ay", "az"),
    *("wz_before", "vz", "roll_rate", "pitch_rate", "az_up", "roll_acc", "pitch_acc"),
)
#: Rounds of the terrain's fit after something was put somewhere; steps go on from there.
SETTLING = 4


class World(WorldView, Logging):
    """A world that can be stepped; made by `load_world`.

    All methods belong to one thread. Random numbers come from `seed` and sensors' names alone.
    """

    def __init__(
        self,
        spec: WorldSpec,
        contents: Callable[[WorldSpec, int], Contents],
        seed: int = 0,
        warnings: tuple[Problem, ...] = (),
    ) -> None:
        """Run the parts that `contents` makes of `spec` and a seed, also at each reset."""
        self.spec = spec
        self.seed = seed
        self.warnings = warnings
        self.command_timeout: float | None = None
        self.vehicles: Mapping[str, Vehicle] = Handles("vehicle")
        self.blocks: Mapping[str, Block] = Handles("block")
        self.actors: Mapping[str, Actor] = Handles("actor")
        self.pivots: dict[str, Pivot] = {}
        self.fresh: list[Any] = []
        self._make = contents
        self._profile = Profile(PHASES)
        self._handles: dict[str, Vehicle | Block | Actor] = {}
        self._populate()

    def step(self) -> None:
        """Advance by one tick.

        Raises:
            StepError: A number of the state is not finite.
        """
        state, solver, dt, gravity = self.state_arrays, self._solver, self._clock.dt, self._gravity
        mark = self._profile.mark
        self._profile.start()
        apply_commands_kernel(state.vehicles, self._clock.ticks, self._timeout_ticks())
        latency_kernel(state.vehicles, dt)
        mark(COMMANDS)
        if self._kinematics:
            for limits in self._kinematics:
                limits.apply(state, dt)
            mark(KINEMATICS)
        for animation in self._animations:
            animation.apply(state, self._clock.time + dt, dt)
        mark(ANIMATIONS)
        for controller in self._controllers:
            controller.apply(state, gravity, dt)
        mark(CONTROLLERS)
        contact_kernel(state.bodies, state.wheels, state.vehicles, gravity, dt)
        if self._regions is not None:
            self._regions.apply(state)
        for friction in self._friction:
            friction.apply(state, gravity, dt)
        mark(FRICTION)
        bad = sum_wheel_forces_kernel(state.bodies, state.wheels)
        if bad >= 0:
            raise wheel_error(self._contents.entities, state.wheels, bad, self.ticks + 1)
        if len(self._drives):
            drive_kernel(state.bodies, self._drives)
        hold_kernel(state.bodies, state.wheels, state.vehicles, dt)
        integrate_velocities_kernel(self._moving, gravity, dt)
        mark(INTEGRATE)
        self._move(state, solver, dt)
        mark(SOLVER)
        for terrain in self._terrain:
            terrain.apply(state)
        if self._terrain:
            self._rates.apply(state, dt)
        if self._any_followers:
            followers_kernel(state.bodies, len(self._movers))
        mark(TERRAIN)
        odometry_kernel(state.bodies, state.wheels, state.vehicles, dt)
        self._clock.ticks += 1
        mark(ODOMETRY)
        self._sense()
        mark(SENSORS)
        if self._recorder is not None:
            self._recorder.record(self._clock.ticks)
            mark(RECORDING)
        if self._rawlog is not None:
            self._rawlog.record(state, self._clock.ticks, self._clock.time, self.fresh)
            mark(RECORDING)

    def run(self, seconds: float, *, progress: bool = False) -> None:
        """Advance by `seconds` of simulated time (whole ticks); `progress` shows a bar."""
        ticks = range(round(seconds / self.dt))
        if progress:
            from rich.progress import track

            for _ in track(ticks, description=f"simulating {seconds:g} s"):
                self.step()
            return
        for _ in ticks:
            self.step()

    # ------------------------------------------------------------ changing
    def add_vehicle(self, vehicle: Any, *, name: str | None = None, pose: Any = None) -> Vehicle:
        """Add a vehicle and return its handle.

        Args:
            vehicle: A VehicleSpec, or XML text of one <vehicle>.
            name: Overrides the name in the spec.
            pose: (x, y, yaw) [m, m, rad], overrides the pose in the spec.

        Raises:
            BuildError: The name is taken.
            WorldFileError: The XML text has errors.
        """
        entity = self._contents.add_vehicle(vehicle, name, pose)
        self._assemble()
        return self.vehicles[entity.name]

    def remove(self, name: str) -> None:
        """Remove a vehicle or block.

        Raises:
            UnknownName: There is none of that name.
        """
        self._contents.remove(self._entity(name))
        self._handles.pop(name)
        self._assemble()

    def remove_sensors(self) -> None:
        """Remove all sensors, for runs that need the motion only."""
        for entity in self._contents.entities:
            entity.sensors.clear()
        self._contents.standalone.clear()
        self._assemble()

    def weld(self, a: str, b: str) -> None:
        """Join two bodies rigidly where they are now: they become one island.

        Raises:
            UnknownName: There is no body of that name.
            BuildError: One of them cannot move freely.
        """
        for name in (a, b):
            self._entity(name)
        self._contents.set_welds([*self._contents.welds, (a, b)])
        self._assemble()

    def unweld(self, a: str, b: str) -> None:
        """Take the weld of two bodies away; nothing happens if there is none."""
        pair = {a, b}
        self._contents.set_welds([w for w in self._contents.welds if set(w) != pair])
        self._assemble()

    def _entity(self, name: str) -> Entity:
        handle = self.vehicles[name] if name not in self.blocks else self.blocks[name]
        return handle._entity

    def teleport(
        self, entity: Entity, x: float, y: float, yaw: float, z: float | None = None
    ) -> None:
        """Put a body at a pose of the world, standing still (handles call it)."""
        row = self.state_arrays.bodies[entity.row]
        if self._terrain:
            above = float(row["z"]) if z is None else z
            row["z"] = self._contents.ground.height(x, y, above + 0.5 * entity.z_range[1])
        row["x"], row["y"], row["yaw"] = x, y, yaw
        for name in RESTING:
            row[name] = 0.0
        start = entity.wheel0
        self.state_arrays.wheels["omega"][start : start + len(entity.wheels)] = 0.0
        limits = self.state_arrays.limits[entity.limit0 :][: len(entity.limits)]
        for name in LIMIT_MEMORY:
            limits[name] = 0.0
        if entity.key >= 0:
            self._solver.place(entity.key, x, y, yaw)
            self._solver.refresh()
        self._settle()

    def reset(self, seed: int | None = None) -> None:
        """Return to the state after loading: what was added goes, what was removed comes back.

        Handles stay valid by name. With the same seed all that follows is the same to the byte.
        """
        if seed is not None:
            self.seed = seed
        self._populate()

    def state(self) -> dict[str, Any]:
        """Return a snapshot for `restore`: arrays, clock, random streams and readings."""
        return {
            "ticks": self.ticks,
            "arrays": self.state_arrays.copy(),
            "names": [e.name for e in self._contents.entities],
            "sensors": [sensor.state() for sensor in self._contents.sensors()],
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to a snapshot of a world with the same vehicles and blocks.

        Free bodies go on exactly as after the snapshot; contacts are found anew.

        Raises:
            ValueError: Something was added or removed since the snapshot.
        """
        if snapshot["names"] != [e.name for e in self._contents.entities]:
            raise ValueError("vehicles or blocks were added or removed since the snapshot")
        self._clock.ticks = snapshot["ticks"]
        self.state_arrays.assign(snapshot["arrays"])
        for sensor, kept in zip(self._contents.sensors(), snapshot["sensors"], strict=True):
            sensor.restore(kept)
        for entity in self._contents.entities:
            if entity.moves:
                row = self.state_arrays.bodies[entity.row]
                self._solver.place(entity.key, float(row["x"]), float(row["y"]), float(row["yaw"]))
        self._solver.refresh()
        self._rates.note(self.state_arrays)
        self._schedule.restart(self.ticks)

    # ------------------------------------------------------------ internal
    def _populate(self) -> None:
        self._close_rawlog()
        self._contents = self._make(self.spec, self.seed)
        self._rawlog = self._contents.rawlog
        self.pivots = {}
        self._clock = SimClock(self._contents.dt)
        self._gravity = self._contents.gravity
        self._solver = self._contents.solver
        self._touch_changes = -1
        self.fresh = []
        self._profile.clear()
        self._assemble()
        self._schedule.warm(self.state_arrays.bodies)  # so that no first reading stalls a step
        self._log_anew()

    def _assemble(self) -> None:
        """Lay the arrays and systems out for what there is now."""
        layout = self._contents.assemble()
        self.state_arrays: State = layout.state
        self._kinematics = layout.kinematics
        self._controllers = layout.controllers
        self._friction = layout.friction
        self._animations = layout.animations
        self._take_drives(layout)
        self._terrain = layout.terrain
        self._regions = layout.regions
        self._movers = layout.movers
        self._moving = layout.state.bodies[: layout.moving]  # what moves comes first
        self._mover_keys = layout.mover_keys
        self._stale = np.zeros(len(layout.movers), np.bool_)
        self._schedule = layout.schedule
        self._schedule.restart(self._clock.ticks)
        self._touch_changes = -1
        self._any_followers = bool((layout.state.bodies["leader"] >= 0).any())
        self._any_ideal = bool(layout.state.bodies["ideal"].any())
        self._rates = AttitudeRates(layout.state)
        self._settle()
        self._name(self.vehicles, Vehicle, self._contents.vehicles())
        self._name(self.blocks, Block, self._contents.blocks())
        self._name(self.actors, Actor, self._contents.actors())
        self._follow_log()

    def _name(self, handles: Any, cls: type[Any], entities: list[Entity]) -> None:
        """Keep handles that people hold valid: same name, same handle, new entity."""
        table = handles._handles
        table.clear()
        for entity in entities:
            handle = self._handles.setdefault(entity.name, cls(self, entity))
            handle._entity = entity
            table[entity.name] = handle

    def _take_drives(self, layout: Any) -> None:
        """Take the driven pivots; those that were there keep their targets."""
        for name, pivot in self.pivots.items():
            if name in layout.drive_names:
                layout.drives["target"][layout.drive_names.index(name)] = pivot.target
        self._drives = layout.drives
        self.pivots = {
            name: Pivot(layout.drives[i : i + 1], self)
            for i, name in enumerate(layout.drive_names)
        }

    def _settle(self) -> None:
        """Fit everything to the ground where it is now, so that the next step knows the slopes."""
        for _ in range(SETTLING):
            for terrain in self._terrain:
                terrain.apply(self.state_arrays)
        self._rates.note(self.state_arrays)

    def _timeout_ticks(self) -> int:
        return 0 if not self.command_timeout else round(self.command_timeout / self._clock.dt)

    def _move(self, state: State, solver: Any, dt: float) -> None:
        """Let the solver have its say and advance the poses."""
        if not len(self._movers):
            return
        bad = gather_kernel(state.bodies, self._movers, solver.linear, solver.angular)
        if bad >= 0:
            raise body_error(self._contents.entities, state.bodies, bad, self.ticks + 1)
        solver.step(dt)
        if solver.touch_changes != self._touch_changes:
            self._touch_changes = solver.touch_changes
            self._count_touches(state, solver)
        drifted = absorb_kernel(
            state.bodies,
            self._movers,
            (solver.linear, solver.angular),
            (solver.poses, solver.poses_out),
            (solver.linear_out, solver.angular_out),
            solver.origin,
            dt,
            self._stale,
        )
        if self._any_ideal:
            ideal_twist_kernel(state.bodies, state.vehicles, dt)
        if drifted:
            for k in np.flatnonzero(self._stale):
                row = state.bodies[self._movers[k]]
                pose = (float(row["x"]), float(row["y"]), float(row["yaw"]))
                solver.place(self._mover_keys[k], *pose)
            solver.refresh()

    def _count_touches(self, state: State, solver: Any) -> None:
        counts = solver.touch_counts()
        state.bodies["touching"] = 0
        for entity in self._contents.entities:
            if entity.key in counts:
                state.bodies["touching"][entity.row] = counts[entity.key]

    def _sense(self) -> None:
        self.fresh = []
        ticks = self._clock.ticks
        if ticks < self._schedule.next_tick:
            return
        bodies = self.state_arrays.bodies
        self.fresh = self._schedule.sample(bodies, ticks, self._clock.time)
