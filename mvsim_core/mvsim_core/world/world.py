# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The running world: a thin shell around one `Model`, one `Data` and one `Runtime`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from mvsim_core.errors import (
    LogError,
    Problem,
    StepError,
    UnknownName,
    require_number,
)
from mvsim_core.recording.recorder import Recorder
from mvsim_core.recording.trajectory import TrajectoryFiles
from mvsim_core.state.entities import Entity, EntityModel
from mvsim_core.world import islands, joints
from mvsim_core.world.base import Entities, StepListener
from mvsim_core.world.data import Data
from mvsim_core.world.handles import Handle
from mvsim_core.world.model import Model
from mvsim_core.world.overlaps import report_overlaps
from mvsim_core.world.profile import Profile
from mvsim_core.world.runtime import Runtime
from mvsim_core.world.step import PHASES, RECORDING, SENSORS, step_physics
from mvsim_core.world.ticks import Ticks
from mvsim_core.world.vehicle import Vehicle, check_pose, warn_of_tipping
from mvsim_core.world.warm import load_kernels

if TYPE_CHECKING:
    from mvsim_core import Viewer
    from mvsim_core.rendering.picture import View
    from mvsim_core.world.batch import Batch
    from mvsim_core.xmlfile import FileState


class World(Entities):
    """A world that can be stepped; made by `load_world`.

    Call all methods from one thread. Random numbers depend on `seed` and the sensors' names alone.

    Attributes:
        on_fault: Called with the error when a number of an entity is not finite. The entity has
            been removed then, and the world goes on without it. None: `step` raises the error.
        log_error: Why a log ended before it was stopped, or None.
        listeners: Called at the end of each step, in this order.
    """

    def __init__(self, model: Model, data: Data) -> None:
        """Run a model from a state, which the world owns from now on."""
        super().__init__(model, data, Runtime(model))
        self._command_timeout: float | None = None
        self._initial = data
        self._profile = Profile(PHASES)
        self._ticks = Ticks()
        self._recorder: Recorder | None = None
        self._trajectory: TrajectoryFiles | None = None
        # what each asker of `set_sensor_active` said last
        self._asked: WeakKeyDictionary[Any, dict[str, bool]] = WeakKeyDictionary()
        self.on_fault: Callable[[StepError], None] | None = None
        self.log_error: LogError | None = None
        self.listeners: list[StepListener] = []

    def __enter__(self) -> World:
        """Return self: `with load_world(...) as world` completes its files at the end."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the world, also after an error."""
        self.close()

    # ------------------------------------------------------------ time
    @property
    def command_timeout(self) -> float | None:
        """Age at which a velocity command expires and the vehicle stops [s]; None: never."""
        return self._command_timeout

    @command_timeout.setter
    def command_timeout(self, seconds: float | None) -> None:
        if seconds is not None:
            require_number("command_timeout", seconds, "s", least=0.0)
        self._command_timeout = seconds

    def step(self) -> None:
        """Advance by one tick.

        Raises:
            StepError: A number of the state is not finite, and there is no `on_fault`.
        """
        data, run, mark = self.data, self._runtime, self._profile.mark
        self._profile.start()
        if run.placed:
            self.check_overlaps()
        step_physics(self.model, run, data, self._timeout_ticks(), self._profile, self._take_out)
        if run.transfers:
            warn_of_tipping(run.entities(), data, self.dt)
        ticks = data.ticks
        self.new_readings = []
        if ticks >= run.sensors.next_tick:
            self.new_readings = run.sensors.sample(data, ticks, ticks * self.model.dt)
        mark(SENSORS)
        if self._recorder is not None or self._trajectory is not None:
            self._record()
            mark(RECORDING)
        if self.listeners:
            for listener in tuple(self.listeners):
                listener.after_step()
            mark(RECORDING)

    def _take_out(self, error: StepError) -> None:
        """Remove the entity of an error and report it; see `on_fault`."""
        if self.on_fault is None or error.entity not in self.data.entities:
            raise error
        self.remove(error.entity)
        self.on_fault(error)

    def run(self, seconds: float, *, progress: bool = False) -> None:
        """Advance by `seconds` of simulated time (whole ticks); `progress` shows a bar.

        Steps in which nothing but the physics is to be done are made in one compiled call, with
        the same numbers; `profile` divides their time like that of single steps.

        Raises:
            ArgumentError: `seconds` is negative or not finite.
            StepError: A number of the state is not finite, and there is no `on_fault`.
        """
        require_number("run: seconds", seconds, "s", least=0.0)
        left = round(seconds / self.dt)
        if not progress:
            while left > 0:
                left -= self._advance(left)
            return
        from rich.progress import Progress

        with Progress() as bars:
            bar = bars.add_task(f"simulating {seconds:g} s", total=left)
            while left > 0:
                done = self._advance(left)
                bars.advance(bar, done)
                left -= done

    def _advance(self, most: int) -> int:
        """Advance by one tick or more, at most `most`; return by how many."""
        run, data, done = self._runtime, self.data, 0
        free = min(most, run.sensors.next_tick - data.ticks - 1)
        watched = self.listeners or self._recorder is not None or self._trajectory is not None
        if free > 1 and not watched:
            limits = free, self._timeout_ticks()
            parts = self.model, run, data, limits, self._profile, self._take_out
            done = self._ticks.advance(*parts)
        if done == 0:
            self.step()
            return 1
        self.new_readings = []
        return done

    # ------------------------------------------------------------ contents
    def view(self, **options: Any) -> Viewer:
        """Show the world in a browser and return what does so, a context manager.

        Call its `after_step` after each step (docs/viewer.md).

        Args:
            options: Those of `mvsim_core.Viewer`.

        Raises:
            MvsimError: viser is not installed.
        """
        from mvsim_core import Viewer

        return Viewer(self, **options)

    def gui_view(self) -> View:
        """Return the camera pose of <gui>; without <gui>, a view of the whole world."""
        from mvsim_core.rendering.picture import view_of

        return view_of(self.model, self.data.entities.values(), self.data.bodies)

    def whole_view(self, size: tuple[int, int] = (1280, 720), *, top: bool = False) -> View:
        """Return a view of the whole world for a picture of a size; `top`: from above."""
        from mvsim_core.rendering.framing import whole_view
        from mvsim_core.rendering.picture import check_size

        check_size(size)
        return whole_view(self._runtime.scene3d, self.data, size, top=top)

    def view_of(self, vehicle: str) -> View:
        """Return a view from behind a vehicle, as it stands now.

        Raises:
            UnknownName: There is none of this name.
        """
        from mvsim_core.rendering.framing import follow_view

        row = self.data.entities[self.vehicles[vehicle].name].row
        return follow_view(self._runtime.scene3d, self.data, row)

    def picture(self, view: View | None = None, size: tuple[int, int] = (1280, 720)) -> Any:
        """Return a picture of the world now, (height, width, 3) uint8 RGB.

        Args:
            view: Camera pose; None: `gui_view()`.
            size: Width and height [pixel].

        Raises:
            GlMissingError: OpenGL is not available.
            ArgumentError: The size is 0, a number of the view is not finite, or its eye and
                target coincide.
        """
        from mvsim_core.rendering.picture import render

        return render(self._runtime.scene3d, self.data, view or self.gui_view(), size)

    @property
    def profile(self) -> dict[str, float]:
        """Wall seconds spent in each phase of the step so far."""
        return self._profile.sums()

    def clear_profile(self) -> None:
        """Set the sums of the profile to zero."""
        self._profile.clear()

    @property
    def file_state(self) -> FileState | None:
        """State of the world file for the next spawned text; None without a file."""
        state: FileState | None = self.data.file
        return state

    @file_state.setter
    def file_state(self, state: FileState) -> None:
        self.data.file = state

    # ------------------------------------------------------------ changes
    def add_vehicle(self, vehicle: Any, *, name: str | None = None, pose: Any = None) -> Vehicle:
        """Add a vehicle and return its handle.

        Args:
            vehicle: A VehicleSpec, or XML text of one <vehicle>.
            name: Overrides the name in the spec.
            pose: (x, y, yaw) [m, m, rad], overrides the pose in the spec.

        Raises:
            ArgumentError: It is neither of the two, or a number of the pose is not finite.
            BuildError: The name is taken.
            WorldFileError: The XML text has errors.
        """
        check_pose(pose)
        data = self.data
        assembler, taken = self.model.assembler, data.entities.keys()
        model, file = assembler.vehicle(data.file, vehicle, name, pose, taken)
        load_kernels(self.model, [model])
        (entity,) = self._insert([model])
        data.file = file
        self._runtime.ground.settle(entity, data)
        self._runtime.sensors.warm(data)
        self._runtime.placed.add(entity.row)
        self._follow_log()
        return self.vehicles[entity.name]

    def remove(self, name: str | Handle) -> None:
        """Remove a vehicle, block or actor; its handles become invalid.

        Raises:
            UnknownName: There is no entity of that name, or the handle is not valid here.
        """
        entity = self.entity(name)
        carried = self._carried_by(entity)
        islands.unweld_all(self.data, self._runtime.ground, self.gravity, entity.name)
        joints.remove_joints(self.data, entity)
        islands.remove_from_solver(self.data, entity)
        for sensor in self._runtime.sensors_of(entity):
            del self.data.sensors[sensor.full_name]
        self._runtime.remove(entity, self.ticks)
        self.data.free_rows(entity)
        self._note_removed(entity, f"was removed at {self.time:g} s")
        self._put_down(carried)
        self._runtime.placed.update(other.row for other in carried)
        self._follow_log()

    def set_sensor_active(self, sensor: Any, active: bool, asker: str = "") -> None:
        """Say whether an asker wants a sensor's readings; one that none of them wants is inactive.

        An inactive sensor computes nothing. No other number depends on it. A sensor that is active
        again reads what it would have read anyway; one that sweeps does so after a whole period.

        Raises:
            UnknownName: The sensor is not in this world.
        """
        name = getattr(sensor, "full_name", None)
        if name not in self.data.sensors:
            raise UnknownName("sensor", str(name or sensor), self.data.sensors)
        asked = self._asked.setdefault(sensor, {})
        asked[asker] = active
        self._runtime.sensors.set_active(sensor, any(asked.values()), self.ticks)

    def remove_sensors(self) -> None:
        """Remove all sensors, for runs that need only the motion."""
        self._runtime.remove_sensors(self.ticks)
        self.data.sensors.clear()

    def weld(self, a: str | Handle, b: str | Handle) -> None:
        """Join two bodies rigidly at their current poses: they become one island.

        Raises:
            UnknownName: There is no body of that name.
            BuildError: One of them cannot move freely, or both are the same.
        """
        names = [self.entity(name).name for name in (a, b)]
        if not islands.weld(self.data, self._runtime.ground, self.gravity, *names):
            warnings.warn(islands.tipping_text(*names), stacklevel=2)

    def unweld(self, a: str | Handle, b: str | Handle) -> None:
        """Remove the weld of two bodies, if there is one.

        Raises:
            UnknownName: There is no body of that name.
        """
        names = [self.entity(name).name for name in (a, b)]
        islands.unweld(self.data, self._runtime.ground, self.gravity, *names)

    # ------------------------------------------------------------ state
    def reset(self, seed: int | None = None) -> None:
        """Return to the state after loading; later additions and removals are undone.

        Handles of entities of the file stay valid. With the same seed all later numbers are equal
        to the byte, whatever happened before.

        Raises:
            ArgumentError: The seed is no whole number >= 0.
        """
        seed = self.data.seed if seed is None else seed
        require_number("reset: seed", seed, least=0, whole=True)
        self._adopt(self._initial.copy())
        self.data.seed = seed
        self._runtime.sensors.set_seed(seed)
        self._profile.clear()
        self._begin_logs()

    def state(self) -> Data:
        """Return a snapshot for `restore`: an independent copy of `Data`."""
        return self.data.copy()

    def replicate(self, count: int) -> Batch:
        """Return independent copies of the world as it is now, which are stepped together.

        Copy k gets seed + k. Vehicles can't be added, removed or welded in a copy.

        Args:
            count: How many, >= 1.

        Raises:
            ArgumentError: `count` is no whole number.
            BuildError: `count` is less than 1.
        """
        require_number("replicate: count", count, whole=True)
        from mvsim_core.world.batch import Batch

        return Batch(self.model, self.data, count, self.command_timeout)

    def restore(self, snapshot: Data) -> None:
        """Return to a snapshot of this world or of another one of the same file.

        Additions and removals since then are undone; the run continues as after the snapshot.
        """
        self._adopt(snapshot.copy())

    def begin(self, *, preload: bool = True) -> None:
        """Build the initial state and keep it for resets; the assembly calls this once."""
        data, run = self.data, self._runtime
        for k, fixture in enumerate(self.model.fixtures):
            islands.add_fixture_to_solver(data, -1 - k, fixture)
        self._insert(self.model.entities)
        run.ground.settle_all(data.entities.values(), data)
        for spec in self.model.spec.joints:
            if spec.type == "weld":
                self._weld_of_file(spec)
        for i, spec in enumerate(self.model.spec.joints):
            if spec.type != "weld":
                joints.add_joint(data, spec, spec.name or f"joint_{i + 1}")
        run.placed.update(entity.row for entity in data.entities.values())
        report_overlaps(self.model, run, data, loading=True)
        run.begin(data)
        if preload:
            self.load_kernels()
        self._initial = data.copy()
        self._begin_logs()

    def load_kernels(self) -> None:
        """Load or compile what steps can need, after `load_world(preload=False)`, once."""
        load_kernels(self.model, [entity.model for entity in self.data.entities.values()])
        self._runtime.sensors.warm(self.data)

    def _weld_of_file(self, spec: Any) -> None:
        names = spec.body_a, spec.body_b
        if not all(name in self.data.entities for name in names):
            return
        if not islands.weld(self.data, self._runtime.ground, self.gravity, *names):
            problem = Problem.at(spec.where, "joint", islands.tipping_text(*names), "warning")
            self.model.assembler.warnings.append(problem)

    def _insert(self, models: Sequence[EntityModel]) -> list[Entity]:
        """Add entities; all numbers are as if they were added one after the other."""
        data, run = self.data, self._runtime
        data.check_names(models)
        entities = data.add_rows(models)
        run.add(entities, data, new=True)
        heights = data.bodies["z"][[entity.row for entity in entities]].tolist()
        data.relief = data.relief or run.ground.gives_relief(entities, heights)
        run.schedule([sensor for e in entities for sensor in run.new_sensors(e)], data)
        islands.add_to_solver(data, entities)
        for entity in entities:
            if entity.token in run.animations:
                run.animations[entity.token].begin(data)
        return entities

    def _adopt(self, data: Data) -> None:
        """Replace the state."""
        for entity in self.data.entities.values():
            other = data.entities.get(entity.name)
            if other is None or other.token != entity.token:
                self._note_removed(entity, "is not in the state that was restored")
        self.data = data
        new = self._runtime.sync(data)
        load_kernels(self.model, [entity.model for entity in new])
        self._runtime.sensors.warm(data)
        self.new_readings = []
        self._follow_log()

    def _timeout_ticks(self) -> int:
        return 0 if not self.command_timeout else round(self.command_timeout / self.model.dt)

    # ------------------------------------------------------------ logs
    @property
    def logging(self) -> bool:
        """Whether a log is being written."""
        return self._recorder is not None

    def start_logging(
        self,
        folder: str | Path | None = None,
        every: int = 1,
        format: str = "csv",
        *,
        vehicles: Iterable[str | Handle] | None = None,
    ) -> list[Path]:
        """Log vehicles from now on, one row every `every` ticks; return the files.

        Args:
            folder: Where the files go; None: where the `log_path` of each vehicle says.
            every: 1 records each tick.
            format: "csv", "npz", or "parquet" if pyarrow is installed. NPZ and Parquet files are
                written when the log is stopped.
            vehicles: Those to log; None: all, also those that are added later.

        Raises:
            LogError: Files cannot be created, or an argument is invalid.
            UnknownName: There is no vehicle of that name.
        """
        names = None if vehicles is None else {self._vehicle(v).name for v in vehicles}
        recorder = Recorder(folder, every, format, names=names)
        self.stop_logging()
        self._bind(recorder)
        self._recorder = recorder
        return recorder.files

    def log_vehicle(self, vehicle: str | Handle, on: bool = True) -> None:
        """Record one vehicle in the current log from now on, or not.

        Its files go on after a gap in time. Without a log one is started where its `log_path`
        says, for this vehicle alone.

        Raises:
            LogError: A file cannot be created.
            UnknownName: There is no vehicle of that name.
        """
        entity = self._vehicle(vehicle)
        recorder = self._recorder
        if recorder is None:
            if not on:
                return
            recorder = Recorder(names=())
        recorder.switch(entity.name, on)
        self._bind(recorder)
        self._recorder = recorder

    def logs_vehicle(self, vehicle: str | Handle) -> bool:
        """Return whether a vehicle is being recorded.

        Raises:
            UnknownName: There is no vehicle of that name.
        """
        entity = self._vehicle(vehicle)
        return self._recorder is not None and self._recorder.records(entity)

    def clear_log(self, vehicle: str | Handle | None = None) -> None:
        """Discard what the current log has recorded so far, of one vehicle or of all.

        The files stay, with their names; recording goes on. Without a log it does nothing.

        Raises:
            LogError: A file cannot be written.
            UnknownName: There is no vehicle of that name.
        """
        chosen = self._vehicles() if vehicle is None else [self._vehicle(vehicle)]
        if self._recorder is not None:
            self._recorder.clear({entity.name for entity in chosen})

    def new_log_session(self) -> list[Path]:
        """Complete the files of the log and start new ones, which are returned.

        Raises:
            LogError: Nothing is being logged, or files cannot be written.
        """
        if self._recorder is None:
            raise LogError("no log to restart: call start_logging first")
        self._recorder.close()
        self._bind(self._recorder)
        return self._recorder.files

    def stop_logging(self) -> list[Path]:
        """Complete the files of the log, if there is one, and return them.

        Raises:
            LogError: The rest cannot be written.
        """
        recorder, self._recorder = self._recorder, None
        return [] if recorder is None else recorder.close()

    def close(self) -> None:
        """Complete all files that are being written, so that the process may end.

        Raises:
            LogError: The rest of a log cannot be written.
        """
        for listener in tuple(self.listeners):
            listener.close()
        self.listeners.clear()
        self.stop_logging()
        if self._trajectory is not None:
            self._trajectory.close()

    def _record(self) -> None:
        """Write what is due; a log that cannot be written any longer ends with a warning."""
        try:
            if self._recorder is not None:
                self._recorder.record(self.data.ticks)
        except LogError as error:
            self._recorder = None
            self._end_log(error)
        try:
            if self._trajectory is not None:
                data = self.data
                self._trajectory.record(data.entities.values(), data.bodies, data.ticks, self.time)
        except LogError as error:
            self._trajectory = None
            self._end_log(error)

    def _end_log(self, error: LogError) -> None:
        self.log_error = error
        warnings.warn(f"{error}; this log ends at {self.time:g} s", stacklevel=3)

    def _vehicles(self) -> list[Entity]:
        return [e for e in self.data.entities.values() if e.kind == "vehicle"]

    def _vehicle(self, vehicle: str | Handle) -> Entity:
        entity = self.entity(vehicle)
        if entity.kind != "vehicle":
            raise UnknownName("vehicle", entity.name, self.vehicles)
        return entity

    def _bind(self, recorder: Recorder) -> None:
        recorder.bind(self._vehicles(), self.data, self.model.dt)

    def _follow_log(self) -> None:
        """Adapt the log to vehicles that were added or removed."""
        if self._recorder is not None:
            self._bind(self._recorder)

    def _begin_logs(self) -> None:
        """Begin a log session; start logging if a vehicle of the file asks for it."""
        spec = self.model.spec
        if self._trajectory is not None:
            self._trajectory.close()
        if spec.save_ground_truth_trajectory:
            path, rate = spec.save_ground_truth_trajectory, spec.ground_truth_rate
            self._trajectory = TrajectoryFiles(path, rate, self.model.dt)
        if self._recorder is not None:
            self.new_log_session()
        elif any(v.spec.auto_start_recording for v in self._vehicles()):
            self._recorder = Recorder(only_auto=True, at_first_row=True)
            self._bind(self._recorder)
