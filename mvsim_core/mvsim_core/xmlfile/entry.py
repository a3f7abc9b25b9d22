# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The two questions that can be asked: what is in this world, what is this vehicle."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from mvsim_core.errors import Problem
from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.params import Where
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.xmlfile.loader import Library, Loader, new_library
from mvsim_core.xmlfile.scope import Origin

Warnings = tuple[Problem, ...]


def read_world(
    path: str | os.PathLike[str] | None = None,
    *,
    text: str | None = None,
    variables: Mapping[str, object] | None = None,
    seed: int = 0,
    allow_shell: bool = False,
) -> tuple[WorldSpec, Warnings]:
    """Return the world of a file, or of a text, and the warnings, then the notes.

    `variables` are known in the file as `${NAME}` and win over its own. `seed` starts the random
    numbers of formulas. With `allow_shell`, commands in `$(...)` are run by a shell: only for
    files that you trust.

    Raises:
        WorldFileError: with all errors of the file at once.
    """
    if (path is None) == (text is None):
        raise TypeError("read_world takes a path or a text")
    named = {name: str(value) for name, value in (variables or {}).items()}
    if path is None:
        origin = Origin("", os.getcwd())
    else:
        file = os.path.abspath(os.fspath(path))
        origin = Origin(file, os.path.dirname(file))
    loader = Loader(new_library(origin, named, seed, allow_shell=allow_shell))
    reader = loader.reader
    nodes = reader.open(origin) if text is None else reader.read(text, origin)
    spec = loader.world(nodes)
    return spec, (*loader.problems.warnings(), *loader.problems.notes())


def read_vehicle(
    text: str,
    *,
    world: WorldSpec | None = None,
    name: str = "",
    pose: Pose | None = None,
    taken: Mapping[str, Where] | None = None,
) -> tuple[VehicleSpec, Warnings]:
    """Return the vehicle of a text such as `<vehicle class="jackal"/>`, and the warnings.

    The text may use classes and variables of `world`, a spec that was read from a file, and
    may itself include files and define classes. `name` and `pose` go before those of the text;
    `taken` are names that exist already, with their places.

    Raises:
        WorldFileError: with all errors of the text at once.
    """
    library = world.library if world is not None else None
    if not isinstance(library, Library):
        library = new_library(Origin("", os.getcwd()), {}, 0, allow_shell=False)
    loader = Loader(library)
    nodes = loader.reader.read(text, library.origin)
    spec = loader.vehicle(nodes, name, taken or {})
    warnings = loader.problems.warnings()
    return (spec if pose is None else replace(spec, init_pose=pose)), warnings
