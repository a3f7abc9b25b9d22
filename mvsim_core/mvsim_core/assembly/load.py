# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`load_world`: from a file, a text or a spec to a running world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from mvsim_core import progress
from mvsim_core.assembly import compilation
from mvsim_core.assembly.guard import building
from mvsim_core.assembly.world import Assembler
from mvsim_core.errors import Problem, require_number
from mvsim_core.heap import loading
from mvsim_core.resources.access import FileAccess
from mvsim_core.specs.world import WorldSpec
from mvsim_core.world.data import Data
from mvsim_core.world.world import World
from mvsim_core.xmlfile import FileState, read_world_file


def load_world(  # noqa: PLR0913 (one keyword for each way to load)
    path: str | Path | None = None,
    *,
    text: str | None = None,
    variables: Mapping[str, str] | None = None,
    seed: int = 0,
    change: Callable[[WorldSpec], WorldSpec] | None = None,
    access: FileAccess | None = None,
    preload: bool = True,
) -> World:
    """Load a world file and make it ready to step.

    Args:
        path: A `.world.xml` file.
        text: The XML itself, instead of a file; relative paths start in the working directory.
        variables: Values for `${NAME}` in the file; they win over the file's own.
        seed: Random seed of the file and of the sensors.
        change: Function that maps the spec of the file to the spec that is built.
        access: What a text from a client may read; None: everything.
        preload: Whether to load all kernels that steps may need, so that none of them waits for
            one (10 ms, or seconds where it is to be compiled). False: `World.load_kernels` may do
            it later, else each is loaded when it is needed.

    Raises:
        WorldFileError: The file has errors; the message holds all of them.
        BuildError: The described world cannot be built.
    """
    require_number("seed", seed, least=0, whole=True)
    progress.restart()
    with loading():
        spec, problems, state = read_world_file(
            path, text=text, variables=variables, seed=seed, access=access
        )
        spec = spec if change is None else change(spec)
        return world_of(spec, seed=seed, warnings=problems, file_state=state, preload=preload)


def world_of(
    spec: WorldSpec,
    *,
    seed: int = 0,
    warnings: tuple[Problem, ...] = (),
    file_state: FileState | None = None,
    preload: bool = True,
) -> World:
    """Return the running world of a spec, which may have been written in Python.

    Hints among the warnings are left out. `file_state` is the state of the world file after
    reading: vehicles that are added as text may use its classes and variables. `preload` is as of
    `load_world`.

    Raises:
        BuildError: The described world cannot be built.
    """
    compilation.report()
    shown = [problem for problem in warnings if problem.severity != "hint"]
    with building(spec.where, "mvsim_world"):
        model = Assembler(spec, shown).model()
        world = World(model, Data(seed, file_state))
        world.begin(preload=preload)
    return world
