# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A folder for compiled kernels where numba finds none.

Numba keeps them beside the sources or in the user's cache, and refuses to import a cached kernel
where it can write to neither: a simulator that is installed by root and run by a user without a
home, as containers do. Not a cache of its own: it only sets `NUMBA_CACHE_DIR`.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"


def choose_kernel_cache() -> None:
    """Set `NUMBA_CACHE_DIR` if it is not set and numba's own places are not writable.

    Must run before numba is imported.
    """
    if VARIABLE in os.environ or _writable(Path(__file__).parent) or _writable(_user_cache()):
        return
    os.environ[VARIABLE] = str(_private_folder())


def _user_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) if base else Path("~/.cache").expanduser()


def _writable(folder: Path) -> bool:
    """Whether a folder can be written to, or be made."""
    existing = next((p for p in (folder, *folder.parents) if p.exists()), None)
    return existing is not None and os.access(existing, os.W_OK)


def _private_folder() -> Path:
    """A temporary folder that is the same on each start and that nobody else can write to.

    Compiled kernels are code, so a folder that another user has put there is not taken.
    """
    folder = Path(tempfile.gettempdir()) / f"mvsim-kernels-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    private = status.st_uid == os.getuid() and not status.st_mode & 0o022
    return folder if private and not folder.is_symlink() else Path(tempfile.mkdtemp())
