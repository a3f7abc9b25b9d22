# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim worlds`: where the worlds that come with the suite are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mvsim_core.errors import ArgumentError, suggestion

SUFFIX = ".world.xml"
PACKAGE, FOLDER = "mvsim_core", "worlds"


def worlds(
    name: Annotated[
        str | None, typer.Argument(help="Print this one only, such as warehouse.")
    ] = None,
) -> None:
    """Print the paths of the worlds that come with the suite."""
    found = {path.name.removesuffix(SUFFIX): path for path in shipped_worlds()}
    if name is None:
        print("\n".join(str(path) for path in found.values()))
    elif name in found:
        print(found[name])
    else:
        raise ArgumentError(f"no world {name!r} comes with the suite{suggestion(name, found)}")


def shipped_worlds() -> list[Path]:
    """Return the world files of the source tree or of the installed package, sorted."""
    from mvsim_core.xmlfile.paths import Packages

    folders = [Path(__file__).parents[3] / FOLDER]
    prefix = Packages().prefix(PACKAGE)
    if prefix is not None:
        folders.append(Path(prefix, "share", PACKAGE, FOLDER))
    for folder in folders:
        if found := sorted(folder.glob(f"*{SUFFIX}")):
            return found
    return []
