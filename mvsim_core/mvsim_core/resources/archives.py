# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Files inside local zip archives, addressed like files in a folder: `models.zip/car.dae`.

A complete archive is unpacked, because models refer to textures beside them, and only once: into
the cache, under a key of its path, modification time and size.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import zipfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePosixPath

from mvsim_core.errors import MvsimError, nearest
from mvsim_core.resources.downloads import DownloadError, discard, unpack

#: Names of an archive that a message lists.
SHOWN = 8
_INSIDE = re.compile(r"^(.*?\.zip)[/\\](.+)$", re.IGNORECASE | re.DOTALL)


class ArchiveError(MvsimError):
    """A file in an archive is not available; the message names archive, member and reason."""


def archive_of(path: str) -> tuple[str, str] | None:
    """Return the archive and the member that a path names, or None if it names no archive.

    A folder whose name ends with `.zip` is no archive.
    """
    found = _INSIDE.match(path)
    if found is None or not os.path.isfile(found.group(1)):
        return None
    return found.group(1), PurePosixPath(found.group(2).replace("\\", "/")).as_posix()


def check_member(archive: str, member: str) -> None:
    """Raise ArchiveError unless `archive` is a zip archive that holds the file `member`."""
    names = _names(archive, _stamp(archive))
    if member not in names:
        raise ArchiveError(f"{archive}: {no_member(member, names)}")


def extracted(archive: str, member: str, cache: Path) -> Path:
    """Return the path of a copy of `member`, after unpacking its archive if necessary.

    Raises:
        ArchiveError: It is no zip archive, holds no such file, or the cache cannot be written.
    """
    check_member(archive, member)
    key = f"{os.path.abspath(archive)}\0{_stamp(archive)}"
    place = cache / f"zip-{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    if not place.is_dir():
        _unpack(archive, place)
    return place / member


def no_member(member: str, names: Iterable[str]) -> str:
    """Return the message for a missing member, with the name that was probably meant."""
    names = sorted(names)
    base = PurePosixPath(member).name.lower()
    same = [name for name in names if PurePosixPath(name).name.lower() == base]
    meant = same[0] if same else nearest(member, names)
    if meant is not None:
        hint = f"did you mean {meant!r}?"
    else:
        more = ", ..." if len(names) > SHOWN else ""
        hint = f"it holds {', '.join(names[:SHOWN]) or 'none'}{more}"
    return f"the archive has no file {member!r} ({hint})"


def _unpack(archive: str, place: Path) -> None:
    """Unpack into a temporary folder, which moves into the cache when it is complete."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".part-", dir=place.parent))
        try:
            unpack(Path(archive), work / "content")
            if not place.is_dir():  # unless another process was faster
                (work / "content").rename(place)
        finally:
            discard(work)
    except DownloadError as error:
        raise ArchiveError(f"{archive}: {error}") from None
    except OSError as error:
        raise ArchiveError(
            f"{archive}: cannot be unpacked into the cache {place.parent} ({error.strerror})"
        ) from None


def _stamp(archive: str) -> tuple[int, int]:
    try:
        stat = os.stat(archive)
    except OSError as error:
        raise ArchiveError(f"{archive}: cannot be read ({error.strerror})") from None
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=64)
def _names(archive: str, stamp: tuple[int, int]) -> frozenset[str]:
    del stamp  # part of the key only
    try:
        with zipfile.ZipFile(archive) as file:
            return frozenset(name for name in file.namelist() if not name.endswith("/"))
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise ArchiveError(f"{archive}: not a zip archive that can be read ({error})") from None
