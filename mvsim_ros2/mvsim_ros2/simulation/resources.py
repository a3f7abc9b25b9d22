# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Resources of clients (URI or XML text) to the XML of one <vehicle>."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import quoteattr

from mvsim_core import UnknownName, World
from mvsim_core.resources.access import INCLUDED_SUFFIX
from mvsim_ros2.simulation.result_codes import (
    NO_RESOURCE,
    NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_FORMAT,
    RequestError,
)
from mvsim_ros2.simulation.trust import Trust

#: Native formats that can be spawned.
FORMATS = ("mvsim",)
#: Longest XML text that is read [characters].
MAX_TEXT = 1_000_000
#: Root elements and file suffixes of unsupported formats.
UNSUPPORTED_ROOTS = ("robot", "sdf", "mujoco", "mujocoinclude", "mujoco_model", "usd", "usda")
UNSUPPORTED_SUFFIXES = frozenset(
    (".urdf", ".xacro", ".sdf", ".mjcf", ".usd", ".usda", ".usdc", ".usdz", ".dae")
)
_FIRST_TAG = re.compile(r"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*)*<([\w:.-]+)", re.S)
_CLASS = re.compile(r"<vehicle:class\b[^>]*?\bname\s*=\s*[\"']([^\"']+)[\"']")
_VEHICLE = re.compile(r"<vehicle[\s/>]")
_REFERENCE = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|amp|lt|gt|quot|apos);")
_NAMED = re.compile(r"<vehicle\s[^>]*?\bname\s*=\s*[\"']([^\"']+)[\"']")


@dataclass(frozen=True, slots=True)
class VehicleSource:
    """XML of a vehicle to be spawned.

    Attributes:
        text: XML of one <vehicle>, with the class or include that it needs.
        base_name: Start of a generated name.
        name: Name that the XML itself gives, or "".
        foreign: Whether a client wrote the XML; else it stands in the user's files.
    """

    text: str
    base_name: str
    name: str = ""
    foreign: bool = False


def vehicle_source(world: World, uri: str, text: str, trust: Trust) -> VehicleSource:
    """Return the XML of a vehicle from the resource of a SpawnEntity request.

    Args:
        world: The world, for its vehicle classes and its folder.
        uri: A vehicle class of the world, or a file, with #class if it has several; or "".
        text: XML; used instead of the URI if both are given.
        trust: Which files clients may name.

    Raises:
        RequestError: With the code of SpawnEntity.
    """
    if text.strip():
        return replace(_from_text(text), foreign=True)
    if not uri.strip():
        raise RequestError(NO_RESOURCE, "both uri and resource_string are empty")
    known = class_names(world)
    if uri in known:
        return _of_class(uri)
    location, _, class_name = uri.partition("#")
    folders = (Path(trust.folder), Path.cwd())
    paths = [resolve_uri(location, folder) for folder in folders]
    allowed = [path for path in paths if trust.access.allows(str(path))]
    if not allowed and known and "/" not in location and not Path(location).suffix:
        raise RequestError(NOT_FOUND, str(UnknownName("vehicle class", uri, known)))
    path = next(filter(_is_file, allowed), None) or trust.check(paths[0])
    if path.suffix.lower() in UNSUPPORTED_SUFFIXES or (_is_file(path) and not is_xml(path)):
        raise RequestError(UNSUPPORTED_FORMAT, f"{path.name}: only MVSim's own XML can be spawned")
    if not _is_file(path):
        unknown = UnknownName("vehicle class", uri, known)
        raise RequestError(NOT_FOUND, f"no such file, and {unknown}")
    return _from_file(path, class_name)


def class_names(world: World) -> tuple[str, ...]:
    """Return the vehicle classes of a world."""
    return world.file_state.class_names() if world.file_state is not None else ()


def is_xml(path: Path) -> bool:
    """Return whether a file may hold worlds or classes; of others no content is read."""
    return path.suffix.lower() == INCLUDED_SUFFIX


def classes_in(path: Path) -> list[str]:
    """Return the vehicle classes that a file defines."""
    return _classes(_read(path))


def resolve_uri(uri: str, folder: Path) -> Path:
    """Return the path of a URI (file://…) or a path; relative ones start in a folder."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return folder / "?"
    return folder / (unquote(parts.path) if parts.scheme == "file" else uri)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # name too long, or a NUL in it
        return False


def _read(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(MAX_TEXT)


def _classes(text: str) -> list[str]:
    """Return the names of the vehicle classes that a text defines."""
    return [_decoded(name) for name in _CLASS.findall(text)]


def _name(text: str) -> str:
    """Return the name of the first vehicle of a text, or ""."""
    named = _NAMED.search(text)
    return _decoded(named[1]) if named else ""


def _decoded(value: str) -> str:
    """Return the value of an attribute with the references of XML replaced by characters."""
    return _REFERENCE.sub(lambda found: unescape(found[0]), value)


def _of_class(name: str, before: str = "") -> VehicleSource:
    return VehicleSource(f"{before}<vehicle class={quoteattr(name)}/>", name)


def _from_text(text: str) -> VehicleSource:
    if len(text) > MAX_TEXT:
        raise RequestError(PARSE_ERROR, f"the text must be at most {MAX_TEXT} characters long")
    first = _FIRST_TAG.match(text)
    if first is None:
        raise RequestError(PARSE_ERROR, 'expected XML such as <vehicle class="…"/>')
    if first[1] in UNSUPPORTED_ROOTS:
        raise RequestError(
            UNSUPPORTED_FORMAT, f"<{first[1]}>: only MVSim's own XML can be spawned"
        )
    classes = _classes(text)
    if len(classes) == 1 and not _VEHICLE.search(text):
        return _of_class(classes[0], text)
    return VehicleSource(text, classes[0] if classes else "vehicle", _name(text))


def _from_file(path: Path, class_name: str) -> VehicleSource:
    text = _read(path)
    include = f"<include file={quoteattr(str(path.resolve()))}/>"
    classes = _classes(text)
    if not class_name and _VEHICLE.search(text):
        return VehicleSource(include, path.name.partition(".")[0], _name(text))
    if class_name and class_name not in classes:
        raise RequestError(NOT_FOUND, str(UnknownName("vehicle class", class_name, classes)))
    if not class_name and len(classes) != 1:
        found = ", ".join(classes) or "none"
        raise RequestError(
            PARSE_ERROR,
            f"{path.name}: name the vehicle class as {path.name}#class; found: {found}",
        )
    return _of_class(class_name or classes[0], include)
