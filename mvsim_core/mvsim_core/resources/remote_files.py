# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models and textures with an http address: a cache on disk, and a little patience.

What was fetched once is kept for ever under its full address. Loading a world waits a few seconds
in all for what is missing; what takes longer goes on in the background and is there for the next
load. Where the first host cannot be reached nothing else is tried for a while. An address may name
a file in a zip archive, `http://host/models.zip/inside/model.dae`; the archive is fetched once.

Environment: `MVSIM_OFFLINE=1` fetches nothing, `MVSIM_CACHE_DIR` is where the cache is.
"""

from __future__ import annotations

import hashlib
import math
import os
import queue
import re
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mvsim_core.errors import MvsimError
from mvsim_core.resources.archives import ArchiveError, archive_of, extracted, no_member
from mvsim_core.resources.downloads import (
    DownloadError,
    UnreachableError,
    discard,
    download,
    file_name,
    unpack,
)

#: What one load of a world waits in all [s].
PATIENCE = 4.0
#: After this time a failed address or host is tried again [s].
GRUDGE = 300.0

_MEMBER = re.compile(r"^(https?://[^?#]*?\.zip)/([^?#]+)$", re.IGNORECASE)


class RemoteError(MvsimError):
    """A remote file is not to be had; the message names the address and the reason."""


@dataclass
class _Job:
    """One file or archive on its way."""

    address: str
    archive: bool
    done: threading.Event = field(default_factory=threading.Event)
    error: DownloadError | None = None
    ended: float = 0.0


class RemoteFiles:
    """A cache of remote files. Its methods belong to one thread; it fetches in another.

    Args:
        folder: Where the files are kept; made when the first one comes.
        patience: What it waits between two calls of `begin` [s].
    """

    def __init__(self, folder: Path, patience: float = PATIENCE) -> None:
        """Start with what the folder holds."""
        self.folder = folder
        self.patience = patience
        self._waited = 0.0
        self._jobs: dict[str, _Job] = {}
        self._queue: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._reached = False
        self._away: dict[str, float] = {}  # hosts that do not answer, and since when
        self._offline_since = -math.inf

    def begin(self) -> None:
        """Be patient anew: another world is loaded."""
        self._waited = 0.0

    def local_copy(self, address: str) -> Path:
        """Return the path of the local copy of a file, fetching it if need be.

        Raises:
            RemoteError: It is not in the cache and cannot be fetched (in time).
        """
        match = _MEMBER.match(address)
        source, member = match.groups() if match else (address, "")
        place = self._place(source)
        if not place.is_dir():
            self._fetch(address, source, archive=bool(member))
        if not member:
            return place / file_name(source)
        path = place / "content" / unquote(member)
        if ".." in path.parts or not path.is_file():
            files = (place / "content").rglob("*")
            names = [f.relative_to(place / "content").as_posix() for f in files if f.is_file()]
            raise RemoteError(f"{address}: {no_member(unquote(member), names)}")
        return path

    def _place(self, source: str) -> Path:
        return self.folder / hashlib.sha256(source.encode()).hexdigest()[:32]

    def _fetch(self, address: str, source: str, *, archive: bool) -> None:
        if os.environ.get("MVSIM_OFFLINE", "0") not in ("", "0"):
            raise RemoteError(f"{address}: not in the cache, and MVSIM_OFFLINE is set")
        job = self._job(address, source, archive=archive)
        start = time.monotonic()
        came = job.done.wait(max(self.patience - self._waited, 0.0))
        self._waited += time.monotonic() - start
        if not came:
            if not self._reached:
                self._offline_since = time.monotonic()
            raise RemoteError(f"{address}: it is still on its way; the next load may have it")
        if job.error is not None:
            raise RemoteError(f"{address}: not in the cache, and {job.error}")

    def _job(self, address: str, source: str, *, archive: bool) -> _Job:
        """Return the job of an address, a new one if there is none or it failed long ago."""
        now = time.monotonic()
        job = self._jobs.get(source)
        if job is not None and (not job.done.is_set() or now - job.ended < GRUDGE):
            return job
        host = urlsplit(source).netloc
        if now - self._away.get(host, now) >= GRUDGE:
            del self._away[host]
        if now - self._offline_since < GRUDGE or host in self._away:
            raise RemoteError(f"{address}: not in the cache, and its host could not be reached")
        job = self._jobs[source] = _Job(source, archive=archive)
        self._queue.put(job)
        if self._worker is None:
            # a daemon: what is half fetched when the program ends is fetched anew next time
            self._worker = threading.Thread(target=self._work, name="downloads", daemon=True)
            self._worker.start()
        return job

    def _work(self) -> None:
        while True:
            job = self._queue.get()
            host = urlsplit(job.address).netloc
            try:
                if host in self._away:
                    raise UnreachableError(f"{host} could not be reached")
                self._store(job)
                self._reached = True
            except UnreachableError as error:
                self._away[host] = time.monotonic()
                if not self._reached:
                    self._offline_since = time.monotonic()
                job.error = DownloadError(f"{host} cannot be reached ({error})")
            except DownloadError as error:
                self._reached = True
                job.error = error
            except OSError as error:
                job.error = DownloadError(f"the cache {self.folder} cannot be written ({error})")
            job.ended = time.monotonic()
            job.done.set()

    def _store(self, job: _Job) -> None:
        """Fetch into a folder of its own, which takes its place in the cache when it is whole."""
        self.folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".part-", dir=self.folder))
        try:
            file = download(job.address, work)
            if job.archive:
                unpack(file, work / "content")
                file.unlink()
            (work / "address.txt").write_text(job.address + "\n", encoding="utf-8")
            place = self._place(job.address)
            if not place.is_dir():  # another process may have been faster
                work.rename(place)
        finally:
            discard(work)


def cache_folder() -> Path:
    """Return where remote files are kept: `MVSIM_CACHE_DIR`, or `mvsim` in the user's cache."""
    chosen = os.environ.get("MVSIM_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "mvsim"


_files: dict[Path, RemoteFiles] = {}


def remote_files() -> RemoteFiles:
    """Return the cache of this process."""
    folder = cache_folder()
    return _files.setdefault(folder, RemoteFiles(folder))


def is_remote(address: str) -> bool:
    """Return whether an address has to be fetched."""
    return address.lower().startswith(("http://", "https://"))


def local_copy(address: str) -> Path:
    """Return the path of a file that has an http address, lies in a local archive, or is there.

    Raises:
        RemoteError: It is not in the cache and cannot be fetched (in time), or not in its archive.
    """
    if is_remote(address):
        return remote_files().local_copy(address)
    path = address.removeprefix("file://")
    inside = archive_of(path)
    if inside is None:
        return Path(path)
    try:
        return extracted(*inside, cache_folder())
    except ArchiveError as error:
        raise RemoteError(str(error)) from None
