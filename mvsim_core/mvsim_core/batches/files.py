# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The files that results depend on."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from mvsim_core.batches.plan import StudyPlan


class FileLog:
    """Paths and hashes of the files that loading reads; one for a process.

    A world names includes, maps and models, and these may name others: what is opened is the only
    complete list.
    """

    def __init__(self) -> None:
        """Listen to all files that this process opens from now on."""
        self._opened: set[str] = set()
        self._reported: set[str] = set()
        self._on = False
        paths = sysconfig.get_paths()
        own = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
        kernels = os.environ.get("NUMBA_CACHE_DIR")
        self._ignored = (*own, "/proc/", "/sys/", "/dev/", *([kernels] if kernels else []))
        sys.addaudithook(self._listen)

    def _listen(self, event: str, args: tuple[Any, ...]) -> None:
        if self._on and event == "open" and isinstance(args[0], str | bytes):
            flags = args[2] if isinstance(args[2], int) else 0
            if not flags & (os.O_WRONLY | os.O_RDWR):
                self._opened.add(os.path.abspath(os.fsdecode(args[0])))

    def __enter__(self) -> None:
        """Take note of files from now on."""
        self._on = True

    def __exit__(self, *error: object) -> None:
        """Take no more notes."""
        self._on = False

    def new(self) -> dict[str, str]:
        """Return the hashes of the files that were not returned before."""
        found = sorted(self._opened - self._reported)
        self._reported |= self._opened
        ours = (
            path
            for path in found
            if not path.startswith(self._ignored) and not path.endswith((".py", ".pyc", ".so"))
        )
        return {path: digest for path in ours if (digest := hash_of(path)) is not None}


def hash_of(path: str) -> str | None:
    """Return the hash of a regular file, None if it is none or cannot be read."""
    try:
        if not os.path.isfile(path):
            return None
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()
    except OSError:
        return None


def files_of_functions(plan: StudyPlan) -> dict[str, str]:
    """Return paths and hashes of the files that the user's functions come from."""
    paths = {str(Path(p).absolute()) for f in plan.functions.values() for p in f.files()}
    return {path: digest for path in sorted(paths) if (digest := hash_of(path)) is not None}
