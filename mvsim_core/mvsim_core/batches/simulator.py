# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One run after the other in a worker: load or reset a world, simulate, measure."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from mvsim_core.assembly.load import world_of
from mvsim_core.batches.files import FileLog
from mvsim_core.batches.meter import Meter
from mvsim_core.batches.outcome import Cell, RunOutcome
from mvsim_core.batches.plan import ALL, ERROR, Run, StudyPlan, column_of
from mvsim_core.errors import ArgumentError
from mvsim_core.specs.world import WorldSpec
from mvsim_core.world.world import World
from mvsim_core.xmlfile import UsedVariables, read_world_file
from mvsim_core.xmlfile.loader import WorldFile


class RunSimulator:
    """Carries out runs of a plan, in any order; each as if it were the only one.

    A world is reset instead of loaded where both are the same to the byte: the file uses no random
    numbers, and no function of the user had the world in its hands.
    """

    def __init__(self, plan: StudyPlan, files: FileLog | None = None) -> None:
        """Load the functions of a plan."""
        self._plan = plan
        self._files = files
        self._functions = {name: f.load() for name, f in plan.functions.items()}
        self._read: tuple[Any, WorldFile] | None = None  # key, file
        self._world: tuple[Any, World] | None = None  # variables, world

    def load(self, run: Run) -> World:
        """Return the world of a run, as after loading."""
        key, read = self._read_file(run)
        if self._world is not None and self._world[0] == (run.variables, key):
            world = self._world[1]
            world.reset(run.seed)
            assert world.file_state is not None
            world.file_state = replace(world.file_state, random=Random(run.seed).getstate())
            return world
        world = world_of(read.spec, seed=run.seed, file_state=_reseeded(read, run, key))
        reusable = key is None and not self._functions
        self._world = ((run.variables, key), world) if reusable else None
        return world

    def _read_file(self, run: Run) -> tuple[int | None, WorldFile]:
        """Return the world file of a run, and its seed if the content depends on it."""
        if self._read is not None and self._read[0] in (run.variables, run):
            read = self._read[1]
            return (None if self._read[0] == run.variables else run.seed), read
        given = UsedVariables(run.variables)
        read = read_world_file(self._plan.world, variables=given, seed=run.seed)
        read = read._replace(spec=_without_logs(read.spec))
        fixed = read.state.random == Random(run.seed).getstate()
        self._read = (run.variables if fixed else run), read
        return (None if fixed else run.seed), read

    def run(self, run: Run, loaded: Callable[[], object] = lambda: None) -> RunOutcome:
        """Carry out a run; an error in it is part of the outcome.

        Args:
            run: Which one.
            loaded: Called when the world is loaded.
        """
        files = self._files
        noting: AbstractContextManager[object] = files or nullcontext()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with noting:
                    world = self.load(run)
                loaded()
                row, error = self._simulate(world), None
        except (Exception, SystemExit, KeyboardInterrupt) as failure:
            row, error = {}, _text_of(failure)
            self._world = None
        return RunOutcome(run.number, row, error, files.new() if files else {})

    def _simulate(self, world: World) -> dict[str, Cell]:
        setup, drive, measure = (self._functions.get(n) for n in ("setup", "drive", "measure"))
        if setup is not None:
            setup(world)
        command_twists(world, dict(self._plan.twists))
        meter = Meter(world)
        for _ in range(round(self._plan.time / world.dt)):
            if drive is not None:
                if drive(world) is True:
                    break
                meter.follow()
            world.step()
            meter.record()
        row = meter.row()
        if measure is not None:
            given = ("seed", ERROR, *(column_of(name) for name, _ in self._plan.variables))
            row.update(_measured(measure(world), {*row, *given}))
        world.close()
        return row


def _reseeded(read: WorldFile, run: Run, key: int | None) -> Any:
    """Return the file state after reading with the seed of a run."""
    if key is not None:
        return read.state
    return replace(read.state, random=Random(run.seed).getstate())


def _without_logs(spec: WorldSpec) -> WorldSpec:
    """Return a spec that writes no files: many runs would write the same ones."""
    silent = tuple(
        replace(v, auto_start_recording=False) if v.auto_start_recording else v
        for v in spec.vehicles
    )
    return replace(spec, save_ground_truth_trajectory="", vehicles=silent)


def command_twists(world: World, twists: Mapping[str, tuple[float, float, float]]) -> None:
    """Command velocities by name of the vehicle; `ALL`: those that have none of their own.

    Raises:
        UnknownName: There is no vehicle of that name.
        CommandError: It takes no twist.
    """
    named = dict(twists)
    if ALL in named and ALL not in world.vehicles:
        everyone = named.pop(ALL)
        for name, vehicle in world.vehicles.items():
            if "twist" in vehicle.accepts:
                named.setdefault(name, everyone)
    for name, (vx, vy, wz) in named.items():
        world.vehicles[name].set_twist(vx=vx, vy=vy, wz=wz)


def _measured(result: Any, taken: Set[str]) -> dict[str, Cell]:
    """Return what `measure` returned as columns.

    Raises:
        ArgumentError: It cannot be written into a table.
    """
    if not isinstance(result, Mapping):
        raise ArgumentError(
            f"measure: expected a dict of names and values, got {type(result).__name__}"
        )
    return {_column(name, taken): _cell(name, value) for name, value in result.items()}


def _column(name: Any, taken: Set[str]) -> str:
    if not isinstance(name, str) or not name or name in taken:
        reason = "there is a column of that name" if name in taken else "expected a text"
        raise ArgumentError(f"measure: the name {name!r}: {reason}")
    return name


def _cell(name: str, value: Any) -> Cell:
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    fits = value is None or isinstance(value, bool | float)
    if isinstance(value, int):
        fits = -(2**63) <= value < 2**63
    elif isinstance(value, str):
        fits = value.isprintable() or value.encode(errors="replace").decode() == value
    if not fits:
        raise ArgumentError(
            f"measure: {name!r} must be a number, a text or None, got {value!r:.80}"
        )
    cell: Cell = value
    return cell


def _text_of(failure: BaseException) -> str:
    """Return an error as one line of text."""
    lines = str(failure).split("\n")
    text = lines[0] + (f" (and {len(lines) - 1} more lines)" if len(lines) > 1 else "")
    safe = text.encode(errors="replace").decode()
    return f"{type(failure).__name__}: {safe}" if safe else type(failure).__name__
