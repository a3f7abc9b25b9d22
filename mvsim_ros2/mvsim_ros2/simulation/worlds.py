# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""World files that can be loaded, and vehicle classes in files that can be spawned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import mvsim_ros2
from mvsim_core import MvsimError, World, WorldFileError, load_world
from mvsim_ros2.simulation.resources import UNSUPPORTED_SUFFIXES, classes_in, resolve_uri
from mvsim_ros2.simulation.result_codes import (
    FAILED,
    NOT_FOUND,
    WORLD_FORMAT,
    WORLD_MISSING_ASSETS,
    WORLD_NO_RESOURCE,
    WORLD_PARSE_ERROR,
    RequestError,
)

#: Folder of the worlds and vehicle classes of the package.
PACKAGE_WORLDS = Path(mvsim_ros2.__file__).resolve().parents[1] / "worlds"
WORLD_FILES = "*.world.xml"
VEHICLE_FILES = "*.vehicle.xml"
#: Most files that are listed from one source.
MAX_FILES = 500


def load(uri: str, text: str, seed: int) -> World:
    """Return a new world from the resource of a LoadWorld request.

    Args:
        uri: A world file.
        text: XML; used instead of the URI if both are given.
        seed: Random seed.

    Raises:
        RequestError: With the code of LoadWorld.
    """
    if not text.strip() and not uri.strip():
        raise RequestError(WORLD_NO_RESOURCE, "both uri and resource_string are empty")
    path = resolve_uri(uri, Path.cwd())
    if not text.strip():
        if path.suffix.lower() in UNSUPPORTED_SUFFIXES:
            raise RequestError(WORLD_FORMAT, f"{path.name}: only MVSim's own XML can be loaded")
        if not _exists(path):
            raise RequestError(NOT_FOUND, f"no such file: {path}")
    try:
        return load_world(text=text, seed=seed) if text.strip() else load_world(path, seed=seed)
    except WorldFileError as error:
        raise RequestError(WORLD_PARSE_ERROR, str(error)) from None
    except MvsimError as error:
        raise RequestError(WORLD_MISSING_ASSETS, str(error)) from None
    except Exception as error:
        text = f"cannot be loaded: {type(error).__name__}: {error}"
        raise RequestError(WORLD_PARSE_ERROR, text) from error


def available_worlds(
    present: str, sources: Iterable[str], *, continue_on_error: bool
) -> list[Path]:
    """Return the world files that can be loaded.

    Args:
        present: File of the present world, or ""; its folder is searched as well as the package's.
        sources: Further folders or files.
        continue_on_error: Whether sources that cannot be searched are skipped.

    Raises:
        RequestError: A source cannot be searched.
    """
    folders = [PACKAGE_WORLDS, *([Path(present).resolve().parent] if present else [])]
    found = [path for folder in folders for path in _files(folder, WORLD_FILES)]
    for source in sources:
        more = list(_files(resolve_uri(source, Path.cwd()), WORLD_FILES))
        if not more and not continue_on_error:
            raise RequestError(FAILED, f"no world files in {source!r}")
        found += more
    return list(dict.fromkeys(path.resolve() for path in found))


def spawnables(sources: Iterable[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return (uri, description) of vehicle classes in files, and the sources without any."""
    found: list[tuple[str, str]] = []
    empty = []
    for source in sources:
        before = len(found)
        for path in _files(resolve_uri(source, Path.cwd()), VEHICLE_FILES):
            found += [(f"{path}#{name}", f"class of {path.name}") for name in classes_in(path)]
        if len(found) == before:
            empty.append(source)
    return found, empty


def _files(place: Path, pattern: str) -> Iterator[Path]:
    try:
        if place.is_file():
            yield place
        elif place.is_dir():
            yield from sorted(place.glob(pattern))[:MAX_FILES]
    except (OSError, ValueError):
        return


def _exists(path: Path) -> bool:
    return next(_files(path, "*"), None) is not None and path.is_file()
