# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Worlds that can be loaded, and vehicles that can be spawned, by the files that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mvsim_core import MvsimError, World, WorldFileError, load_world
from mvsim_ros2.control.answers import (
    FAILED,
    NOT_FOUND,
    WORLD_FORMAT,
    WORLD_MISSING_ASSETS,
    WORLD_NO_RESOURCE,
    WORLD_PARSE_ERROR,
    Refused,
)
from mvsim_ros2.control.resources import FOREIGN_FILES, classes_in, file_of

#: Where worlds and vehicle classes of the package are.
PACKAGED = Path(__file__).resolve().parents[2] / "worlds"
WORLD_FILES = "*.world.xml"
VEHICLE_FILES = "*.vehicle.xml"
#: Most files that are looked at in one source.
MAX_FILES = 500


def loaded(uri: str, text: str, seed: int) -> World:
    """Return a new world.

    Args:
        uri: A world file.
        text: The XML itself; it wins.
        seed: Of its random numbers.

    Raises:
        Refused: With the code of LoadWorld.
    """
    if not text.strip() and not uri.strip():
        raise Refused(WORLD_NO_RESOURCE, "both uri and resource_string are empty")
    path = file_of(uri, Path.cwd())
    if not text.strip():
        if path.suffix.lower() in FOREIGN_FILES:
            raise Refused(WORLD_FORMAT, f"{path.name}: only MVSim's own XML can be loaded")
        if not _exists(path):
            raise Refused(NOT_FOUND, f"no such file: {path}")
    try:
        return load_world(text=text, seed=seed) if text.strip() else load_world(path, seed=seed)
    except WorldFileError as error:
        raise Refused(WORLD_PARSE_ERROR, str(error)) from None
    except MvsimError as error:
        raise Refused(WORLD_MISSING_ASSETS, str(error)) from None
    except (RecursionError, MemoryError, ValueError, OSError) as error:
        raise Refused(WORLD_PARSE_ERROR, f"cannot be loaded: {error}") from None


def available(present: str, sources: Iterable[str], *, lenient: bool) -> list[Path]:
    """Return the world files that can be loaded.

    Args:
        present: File of the present world, or "": its folder is searched, like the package's.
        sources: Further folders or files.
        lenient: Whether sources that cannot be searched are passed over.

    Raises:
        Refused: A source cannot be searched.
    """
    folders = [PACKAGED, *([Path(present).resolve().parent] if present else [])]
    found = [path for folder in folders for path in _files(folder, WORLD_FILES)]
    for source in sources:
        more = list(_files(file_of(source, Path.cwd()), WORLD_FILES))
        if not more and not lenient:
            raise Refused(FAILED, f"no world files in {source!r}")
        found += more
    return list(dict.fromkeys(path.resolve() for path in found))


def spawnables(sources: Iterable[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return (uri, description) of vehicle classes in files, and the sources without any."""
    found: list[tuple[str, str]] = []
    empty = []
    for source in sources:
        before = len(found)
        for path in _files(file_of(source, Path.cwd()), VEHICLE_FILES):
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
