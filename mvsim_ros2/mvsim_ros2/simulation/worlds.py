# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""World files that can be loaded, and vehicle classes in files that can be spawned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import mvsim_ros2
from mvsim_core import MvsimError, World, WorldFileError, load_world
from mvsim_ros2.simulation.name_lengths import check_names
from mvsim_ros2.simulation.resources import (
    MAX_TEXT,
    UNSUPPORTED_SUFFIXES,
    classes_in,
    is_xml,
    resolve_uri,
)
from mvsim_ros2.simulation.result_codes import (
    FAILED,
    NOT_FOUND,
    WORLD_FORMAT,
    WORLD_MISSING_ASSETS,
    WORLD_NO_RESOURCE,
    WORLD_PARSE_ERROR,
    RequestError,
)
from mvsim_ros2.simulation.trust import Trust, encodable, public_text

#: Folder of the worlds and vehicle classes of the package.
PACKAGE_WORLDS = Path(mvsim_ros2.__file__).resolve().parents[1] / "worlds"
WORLD_FILES = "*.world.xml"
VEHICLE_FILES = "*.vehicle.xml"
#: Most files that are listed from one source.
MAX_FILES = 500


def load(uri: str, text: str, seed: int, trust: Trust) -> World:
    """Return a new world from the resource of a LoadWorld request.

    Args:
        uri: A world file.
        text: XML; used instead of the URI if both are given.
        seed: Random seed.
        trust: Which files clients may name.

    Raises:
        RequestError: With the code of LoadWorld.
    """
    if not text.strip() and not uri.strip():
        raise RequestError(WORLD_NO_RESOURCE, "both uri and resource_string are empty")
    try:
        if text.strip():
            if len(text) > MAX_TEXT:
                message = f"the text must be at most {MAX_TEXT} characters long"
                raise RequestError(WORLD_PARSE_ERROR, message)
            world = load_world(text=text, seed=seed, access=trust.access)
        else:
            world = load_world(_world_file(uri, trust), seed=seed)
        try:
            check_names(world.spec.vehicles, world.spec.sensors)
        except MvsimError:
            world.close()
            raise
        return world
    except RequestError:
        raise
    except WorldFileError as error:
        raise RequestError(WORLD_PARSE_ERROR, public_text(error)) from None
    except MvsimError as error:
        raise RequestError(WORLD_MISSING_ASSETS, public_text(error)) from None
    except Exception as error:
        text = f"cannot be loaded: {type(error).__name__}"
        raise RequestError(WORLD_PARSE_ERROR, text) from error


def _world_file(uri: str, trust: Trust) -> Path:
    path = resolve_uri(uri, Path.cwd())
    if path.suffix.lower() in UNSUPPORTED_SUFFIXES:
        raise RequestError(WORLD_FORMAT, f"{path.name}: only MVSim's own XML can be loaded")
    if not trust.access.allows(str(path)) and trust.access.allows(
        str(beside := resolve_uri(uri, Path(trust.folder)))
    ):
        path = beside
    trust.check(path)
    if not _exists(path):
        raise RequestError(NOT_FOUND, f"no such file: {path}")
    if not is_xml(path):
        raise RequestError(WORLD_FORMAT, f"{path.name}: only MVSim's own XML can be loaded")
    return path


def available_worlds(
    present: str, sources: Iterable[str], trust: Trust, *, continue_on_error: bool
) -> list[Path]:
    """Return the world files that can be loaded.

    Args:
        present: File of the present world, or ""; its folder is searched as well as the package's.
        sources: Further folders or files.
        trust: Which of them clients may name.
        continue_on_error: Whether sources that cannot be searched are skipped.

    Raises:
        RequestError: A source cannot be searched.
    """
    folders = [PACKAGE_WORLDS, *([Path(present).resolve().parent] if present else [])]
    found = [path for folder in folders for path in _files(folder, WORLD_FILES)]
    for source in sources:
        place = resolve_uri(source, Path.cwd())
        if not continue_on_error:
            trust.check(place)
        more = list(_files(place, WORLD_FILES)) if trust.access.allows(str(place)) else []
        if not more and not continue_on_error:
            raise RequestError(FAILED, f"no world files in {source!r}")
        found += more
    return list(dict.fromkeys(path.resolve() for path in found))


def spawnables(sources: Iterable[str], trust: Trust) -> tuple[list[tuple[str, str]], list[str]]:
    """Return (uri, description) of vehicle classes in files, and the sources without any.

    Raises:
        RequestError: Clients may not name a source.
    """
    found: list[tuple[str, str]] = []
    empty = []
    for source in sources:
        before = len(found)
        for path in _files(trust.check(resolve_uri(source, Path.cwd())), VEHICLE_FILES):
            found += [(f"{path}#{name}", f"class of {path.name}") for name in classes_in(path)]
        if len(found) == before:
            empty.append(source)
    return found, empty


def _files(place: Path, pattern: str) -> Iterator[Path]:
    try:
        if place.is_file():
            yield from [place] if is_xml(place) else []
        elif place.is_dir():
            yield from sorted(filter(_has_utf8_name, place.glob(pattern)))[:MAX_FILES]
    except (OSError, ValueError):
        return


def _has_utf8_name(path: Path) -> bool:
    """Return whether a message can hold a path."""
    return encodable(str(path)) == str(path)


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
