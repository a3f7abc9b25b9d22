# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""World files to specs and back: `read_world`, `read_vehicle`, `dump_world`.

Nothing here simulates, and no field of a spec is named here: what a tag means is declared in the
specs. A file becomes nodes (`markup`), these become elements (`reader`, with the values of
`substitution`), these become specs (`fill`); `loader` knows what a whole world consists of.
"""

from mvsim_core.xmlfile.loader import (
    FileState,
    UsedVariables,
    WorldFile,
    read_vehicle,
    read_world,
    read_world_file,
)
from mvsim_core.xmlfile.writing import dump_controller, dump_world

__all__ = [
    "FileState",
    "UsedVariables",
    "WorldFile",
    "dump_controller",
    "dump_world",
    "read_vehicle",
    "read_world",
    "read_world_file",
]
