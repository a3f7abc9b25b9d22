# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From what a client names to the text of one <vehicle>."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import quoteattr

from mvsim_core import UnknownName, World
from mvsim_ros2.control.answers import (
    NO_RESOURCE,
    NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_FORMAT,
    Refused,
)

#: Native formats that can be spawned.
FORMATS = ("mvsim",)
#: Longest description that is read [characters].
MAX_TEXT = 1_000_000
FOREIGN = ("robot", "sdf", "mujoco", "mujocoinclude", "mujoco_model", "usd", "usda")
FOREIGN_FILES = (".urdf", ".xacro", ".sdf", ".mjcf", ".usd", ".usda", ".usdc", ".usdz", ".dae")
_FIRST_TAG = re.compile(r"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<([\w:.-]+)", re.S)
_CLASS = re.compile(r"<vehicle:class\b[^>]*?\bname\s*=\s*[\"']([^\"']+)[\"']")
_VEHICLE = re.compile(r"<vehicle[\s/>]")
_NAMED = re.compile(r"<vehicle\s[^>]*?\bname\s*=\s*[\"']([^\"']+)[\"']")


@dataclass(frozen=True, slots=True)
class Description:
    """What shall be spawned.

    Attributes:
        text: XML of one <vehicle>, with what it needs.
        base: A name to begin with when one must be made up.
        name: The name that the description itself gives, or "".
    """

    text: str
    base: str
    name: str = ""


def description_of(world: World, uri: str, text: str) -> Description:
    """Return what a client wants to spawn.

    Args:
        world: Where; its vehicle classes can be named.
        uri: A vehicle class, or a file, with #class where it has several; or "".
        text: XML instead; it wins.

    Raises:
        Refused: With the code of SpawnEntity.
    """
    if text.strip():
        return _from_text(text)
    if not uri.strip():
        raise Refused(NO_RESOURCE, "both uri and resource_string are empty")
    known = class_names(world)
    if uri in known:
        return _of_class(uri)
    location, _, wanted = uri.partition("#")
    folders = (Path(world.spec.file).parent, Path.cwd())
    paths = [file_of(location, folder) for folder in folders]
    path = next(filter(_is_file, paths), paths[0])
    if path.suffix.lower() in FOREIGN_FILES:
        raise Refused(UNSUPPORTED_FORMAT, f"{path.name}: only MVSim's own XML can be spawned")
    if not _is_file(path):
        raise Refused(NOT_FOUND, f"no such file, and {UnknownName('vehicle class', uri, known)}")
    return _from_file(path, wanted)


def class_names(world: World) -> tuple[str, ...]:
    """Return the vehicle classes that a world knows."""
    return () if world.file_state is None else world.file_state.class_names()


def classes_in(path: Path) -> list[str]:
    """Return the vehicle classes that a file defines."""
    return _CLASS.findall(_read(path))


def file_of(uri: str, folder: Path) -> Path:
    """Return the path that a URI (file://…) or a path means; relative ones begin in a folder."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return folder / "?"
    return folder / (unquote(parts.path) if parts.scheme == "file" else uri)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or a zero in it
        return False


def _read(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(MAX_TEXT)


def _of_class(name: str, before: str = "") -> Description:
    return Description(f"{before}<vehicle class={quoteattr(name)}/>", name)


def _from_text(text: str) -> Description:
    if len(text) > MAX_TEXT:
        raise Refused(PARSE_ERROR, f"the text must be at most {MAX_TEXT} characters long")
    first = _FIRST_TAG.match(text)
    if first is None:
        raise Refused(PARSE_ERROR, 'expected XML such as <vehicle class="…"/>')
    if first[1] in FOREIGN:
        raise Refused(UNSUPPORTED_FORMAT, f"<{first[1]}>: only MVSim's own XML can be spawned")
    classes = _CLASS.findall(text)
    if len(classes) == 1 and not _VEHICLE.search(text):
        return _of_class(classes[0], text)
    named = _NAMED.search(text)
    return Description(text, classes[0] if classes else "vehicle", named[1] if named else "")


def _from_file(path: Path, wanted: str) -> Description:
    text = _read(path)
    include = f"<include file={quoteattr(str(path.resolve()))}/>"
    classes = _CLASS.findall(text)
    if not wanted and _VEHICLE.search(text):
        named = _NAMED.search(text)
        return Description(include, path.name.partition(".")[0], named[1] if named else "")
    if wanted and wanted not in classes:
        raise Refused(NOT_FOUND, str(UnknownName("vehicle class", wanted, classes)))
    if not wanted and len(classes) != 1:
        found = ", ".join(classes) or "none"
        raise Refused(
            PARSE_ERROR,
            f"{path.name}: name the vehicle class as {path.name}#class; found: {found}",
        )
    return _of_class(wanted or classes[0], include)
