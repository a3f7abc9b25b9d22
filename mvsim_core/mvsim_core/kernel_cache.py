# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The folder in which numba keeps compiled kernels.

Numba recompiles a kernel when its own file changed, but not when a function that it inlines
from another file did, so that after an update the old kernel would run. It also refuses to
import a cached kernel where it can write neither beside the sources nor to the user's cache: a
simulator that is installed by root and run by a user without a home, as containers do. Not a cache
of its own: it only sets `NUMBA_CACHE_DIR`, to a folder for each version of the sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"
SOURCES = Path(__file__).parent
#: Versions that are kept, so that several branches and installations each keep their cache.
KEEP = 4
#: Rooms above all kernels (docs/ARCHITECTURE.md): what they say is in no kernel.
WITHOUT_KERNELS = (
    *("assembly", "bags", "batches", "bench", "cli", "comms", "envs", "tuning", "viewer"),
)


def choose_kernel_cache() -> None:
    """Set `NUMBA_CACHE_DIR` if it is not set. Must run before numba is imported."""
    if VARIABLE in os.environ:
        return
    places = [SOURCES / "__pycache__" / "kernels"]
    cache = _user_cache()
    if cache is not None:
        places.append(cache / "mvsim" / "kernels")
    base = next((p for p in places if _writable(p)), None) or _private_folder()
    folder = base / _version(SOURCES)
    if not folder.exists():
        _remove_oldest(base)
    os.environ[VARIABLE] = str(folder)


def _version(sources: Path) -> str:
    """Return a hash of the sizes and times of all source files that kernels can depend on.

    Sizes and times are what numba decides by too.
    """
    digest = hashlib.sha256()
    for path, status in sorted(_sources_below(str(sources), WITHOUT_KERNELS)):
        digest.update(f"{path} {status}\n".encode())
    return digest.hexdigest()[:16]


def _sources_below(folder: str, left_out: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield path, and size and time, of each source file; `Path.rglob` takes ten times as long."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                yield entry.path, f"{status.st_size} {status.st_mtime_ns}"
            elif entry.name not in left_out and entry.is_dir() and entry.name != "__pycache__":
                yield from _sources_below(entry.path)


def _remove_oldest(base: Path) -> None:
    """Remove the oldest versions below `base` to make room for one more."""
    found = [p for p in base.glob("*") if p.is_dir()]
    found.sort(key=lambda p: p.stat().st_mtime, reverse=True)
    for old in found[KEEP - 1 :]:
        shutil.rmtree(old, ignore_errors=True)


def _user_cache() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base)
    try:
        return Path("~/.cache").expanduser()
    except RuntimeError:  # a user without a home
        return None


def _writable(folder: Path) -> bool:
    """Whether a folder can be written to, or be made."""
    # os.path.exists: Path.exists raises an error in a home that may not be read
    existing = next((p for p in (folder, *folder.parents) if os.path.exists(p)), None)
    usable = os.R_OK | os.W_OK | os.X_OK
    return existing is not None and os.path.isdir(existing) and os.access(existing, usable)


def _private_folder() -> Path:
    """A temporary folder, the same on each start, that only this user can write to.

    Compiled kernels are code, so a folder that another user made is refused.
    """
    folder = Path(tempfile.gettempdir()) / f"mvsim-kernels-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    private = status.st_uid == os.getuid() and not status.st_mode & 0o022
    return folder if private and not folder.is_symlink() else Path(tempfile.mkdtemp())
