# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""File names, URIs and ROS packages to paths, without running a command."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator

from mvsim_core.resources.access import FileAccess
from mvsim_core.resources.archives import ArchiveError, archive_of, check_member
from mvsim_core.xmlfile.problems import Origin

_ABSOLUTE = re.compile(r"^(?:[/\\]|[A-Za-z]:[/\\])")
_REMOTE = re.compile(r"^https?://", re.IGNORECASE)
_PACKAGE = re.compile(r"^package://([^/]+)/?(.*)$", re.DOTALL)
#: Package of the C++ original, and the prefix that stands for it where it is not installed.
ORIGINAL, NOT_INSTALLED = "mvsim", "/mvsim-is-not-installed"
#: Folder of definitions in that package, and in ours (below its share folder or the source tree).
DEFINITIONS = "definitions"
OURS, OUR_DEFINITIONS = "mvsim_core", os.path.join("worlds", DEFINITIONS)
_SOURCE_TREE = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
_LEVELS_UP = 8
_SIBLINGS = 500


class PathError(Exception):
    """A path cannot be resolved; the message has the reason."""


class Packages:
    """ROS packages by name: installed prefixes first, then the source tree around a file."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._shares: dict[tuple[str, str], str | None] = {}

    def prefix(self, name: str) -> str | None:
        """Return the install prefix of a package, as `ros2 pkg prefix` prints it, or None."""
        for prefix in _prefixes():
            marker = os.path.join(prefix, "share", "ament_index", "resource_index", "packages")
            manifest = os.path.join(prefix, "share", name, "package.xml")
            if os.path.isfile(os.path.join(marker, name)) or os.path.isfile(manifest):
                return prefix
        return None

    def stand_in(self, path: str) -> str | None:
        """Return our definition of the same name in place of one that does not exist, or None.

        Args:
            path: Of a file; only those in a folder called definitions have one.
        """
        folder, name = os.path.split(path)
        if os.path.basename(folder) != DEFINITIONS:
            return None
        prefix = self.prefix(OURS)
        roots = [os.path.join(prefix, "share", OURS)] if prefix else []
        candidates = (os.path.join(r, OUR_DEFINITIONS, name) for r in [*roots, _SOURCE_TREE])
        return next(filter(os.path.isfile, candidates), None)

    def share(self, name: str, directory: str) -> str | None:
        """Return the share folder of a package, or its source folder near `directory`."""
        key = (name, directory)
        if key not in self._shares:
            prefix = self.prefix(name)
            self._shares[key] = (
                os.path.join(prefix, "share", name) if prefix else _source(name, directory)
            )
        return self._shares[key]


def _prefixes() -> Iterator[str]:
    yield from filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    yield sys.prefix  # where pip puts the share folders of packages


def _source(name: str, directory: str) -> str | None:
    """Return the folder of the package `name` among the parents of `directory` and their own."""
    folder = directory
    for _ in range(_LEVELS_UP):
        if _is_package(folder, name):
            return folder
        try:
            siblings = sorted(os.listdir(folder))[:_SIBLINGS]
        except OSError:
            siblings = []
        for sibling in siblings:
            if _is_package(os.path.join(folder, sibling), name):
                return os.path.join(folder, sibling)
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return None


def _is_package(folder: str, name: str) -> bool:
    try:
        with open(os.path.join(folder, "package.xml"), encoding="utf-8", errors="replace") as file:
            manifest = file.read(20_000)
    except OSError:
        return False
    return re.search(rf"<name>\s*{re.escape(name)}\s*</name>", manifest) is not None


def is_remote(text: str) -> bool:
    """Whether the text is an http or https address."""
    return _REMOTE.match(text) is not None


def local_path(
    text: str, origin: Origin, packages: Packages, access: FileAccess | None = None
) -> str:
    """Return the absolute path of a local file named in a world file.

    A relative path starts from the folder of the file that it is written in; if there is no such
    file, from the folders of the files that include that one, as in the original. With `access`,
    no other file is even looked for.
    """
    if is_remote(text):
        raise PathError("must be a local file, not a web address")
    if "\0" in text:
        raise PathError("must not contain a zero character")
    package = _PACKAGE.match(text)
    if package and access is not None:
        prefix = packages.prefix(package.group(1))
        share = os.path.join(prefix, "share", package.group(1)) if prefix else None
        if share is None or not access.allows(os.path.join(share, package.group(2))):
            raise PathError(access.outside)
        return os.path.normpath(os.path.join(share, package.group(2)))
    if package:
        share = packages.share(package.group(1), origin.directory)
        if share is None and package.group(1) == ORIGINAL:
            share = os.path.join(NOT_INSTALLED, "share", ORIGINAL)
        if share is None:
            raise PathError(
                f"is in the ROS package {package.group(1)!r}, which is not found in"
                " AMENT_PREFIX_PATH or near the world file"
            )
        return os.path.normpath(os.path.join(share, package.group(2)))
    if text.lower().startswith("file://"):
        text = text[len("file://") :]
    if _ABSOLUTE.match(text):
        candidates = [os.path.normpath(text)]
    else:
        candidates = [
            os.path.normpath(os.path.join(place.directory, text)) for place in origin.chain()
        ]
    if access is not None:
        candidates = [path for path in candidates if access.allows(path)]
        if not candidates:
            raise PathError(access.outside)
    return next((path for path in candidates if _exists(path)), candidates[0])


def uri(text: str, origin: Origin, packages: Packages, access: FileAccess | None = None) -> str:
    """Return the address of a mesh or image: http(s) as it is, anything else a local path."""
    if is_remote(text) and access is not None and not access.remote:
        raise PathError(access.no_address)
    if is_remote(text) or not text:
        return text
    if text.startswith("model://"):
        raise PathError("must be a path, package://, file:// or http(s)://, not model://")
    return local_path(text, origin, packages, access)


def resolved(
    text: str, kind: str, origin: Origin, packages: Packages, access: FileAccess | None
) -> str:
    """Return what a value that names a file means; `kind` is that of its `Converter.path`.

    Raises:
        PathError: There is no such file, or `access` does not permit it.
    """
    if kind == "output":
        if access is not None:
            raise PathError("must not be given by a message: it makes files be written")
        return text
    if kind == "uri":
        return uri(text, origin, packages, access)
    path = local_path(text, origin, packages, access)
    inside = archive_of(path)
    if inside is not None:
        try:
            check_member(*inside)
        except ArchiveError as error:
            # Names in the archive are not for clients.
            reason = f": {error}" if access is None else " in the archive"
            raise PathError(f"is not found{reason}") from None
    elif not os.path.isfile(path):
        raise PathError(f"is not found at {path!r}")
    return path


def _exists(path: str) -> bool:
    # A skybox names six files by one pattern.
    return os.path.exists(path.replace("%s", "Up")) or archive_of(path) is not None
