# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models and textures with an http address: a cache on disk, and a time budget for each load.

A downloaded file stays in the cache under its full address. Loading a world waits a few seconds in
total for missing files; longer downloads continue in the background and serve the next load. If
the first host cannot be reached, nothing else is tried for a while. An address may name a file in
a zip archive, `http://host/models.zip/inside/model.dae`; the archive is downloaded once.

Environment: `MVSIM_OFFLINE=1` turns downloads off, `MVSIM_CACHE_DIR` is the folder of the cache.

Pooch blocks until a file is complete, so the budget and the background thread are written here.
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

#: Download budget: how long one load of a world waits in total [s].
BUDGET = 4.0
#: After this time a failed address or host is tried again [s].
RETRY_AFTER = 300.0

_MEMBER = re.compile(r"^(https?://[^?#]*?\.zip)/([^?#]+)$", re.IGNORECASE)


class RemoteError(MvsimError):
    """A remote file is not available; the message names the address and the reason."""


@dataclass
class _Job:
    """Download of one file or archive."""

    address: str
    archive: bool
    done: threading.Event = field(default_factory=threading.Event)
    error: DownloadError | None = None
    ended: float = 0.0


class RemoteFiles:
    """A cache of remote files. Its methods belong to one thread; another one downloads.

    Args:
        folder: Where the files are kept; made by the first download.
        budget: How long it waits in total between two calls of `reset_budget` [s].
    """

    def __init__(self, folder: Path, budget: float = BUDGET) -> None:
        """Use the files that the folder holds already."""
        self.folder = folder
        self.budget = budget
        self._waited = 0.0
        self._jobs: dict[str, _Job] = {}
        self._queue: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._reached = False
        self._unreachable: dict[str, float] = {}  # hosts that do not answer, and since when
        self._offline_since = -math.inf

    def reset_budget(self) -> None:
        """Reset the download budget for the next world."""
        self._waited = 0.0

    def local_copy(self, address: str) -> Path:
        """Return the path of the local copy of a file, after downloading it if necessary.

        Raises:
            RemoteError: It is not in the cache and cannot be downloaded (in time).
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
        finished = job.done.wait(max(self.budget - self._waited, 0.0))
        self._waited += time.monotonic() - start
        if not finished:
            if not self._reached:
                self._offline_since = time.monotonic()
            raise RemoteError(f"{address}: it is still downloading; the next load may find it")
        if job.error is not None:
            raise RemoteError(f"{address}: not in the cache, and {job.error}")

    def _job(self, address: str, source: str, *, archive: bool) -> _Job:
        """Return the job of an address, a new one if there is none or it failed long ago."""
        try:
            host = urlsplit(source).netloc
        except ValueError as error:
            raise RemoteError(f"{address}: not a valid address ({error})") from None
        now = time.monotonic()
        job = self._jobs.get(source)
        if job is not None and (not job.done.is_set() or now - job.ended < RETRY_AFTER):
            return job
        if now - self._unreachable.get(host, now) >= RETRY_AFTER:
            del self._unreachable[host]
        if now - self._offline_since < RETRY_AFTER or host in self._unreachable:
            raise RemoteError(f"{address}: not in the cache, and its host could not be reached")
        job = self._jobs[source] = _Job(source, archive=archive)
        self._queue.put(job)
        if self._worker is None:
            # a daemon: a download that is not complete at exit starts again next time
            self._worker = threading.Thread(target=self._work, name="downloads", daemon=True)
            self._worker.start()
        return job

    def _work(self) -> None:
        while True:
            job = self._queue.get()
            host = urlsplit(job.address).netloc
            try:
                if host in self._unreachable:
                    raise UnreachableError(f"{host} could not be reached")
                self._store(job)
                self._reached = True
            except UnreachableError as error:
                self._unreachable[host] = time.monotonic()
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
        """Download into a temporary folder, which moves into the cache when it is complete."""
        self.folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".part-", dir=self.folder))
        try:
            file = download(job.address, work)
            if job.archive:
                unpack(file, work / "content")
                file.unlink()
            (work / "address.txt").write_text(job.address + "\n", encoding="utf-8")
            place = self._place(job.address)
            if not place.is_dir():  # unless another process was faster
                work.rename(place)
        finally:
            discard(work)


def cache_folder() -> Path:
    """Return where remote files are kept: `MVSIM_CACHE_DIR`, or `mvsim` in the user's cache."""
    chosen = os.environ.get("MVSIM_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path("~/.cache").expanduser()) / "mvsim"
    except RuntimeError:  # a user without a home
        return Path(tempfile.gettempdir()) / f"mvsim-cache-{os.getuid()}"


_files: dict[Path, RemoteFiles] = {}


def remote_files() -> RemoteFiles:
    """Return the cache of this process."""
    folder = cache_folder()
    return _files.setdefault(folder, RemoteFiles(folder))


def is_remote(address: str) -> bool:
    """Return whether an address is one of http or https."""
    return address.lower().startswith(("http://", "https://"))


def local_copy(address: str) -> Path:
    """Return the path of a local file, or of a local copy of a remote file or archive member.

    Raises:
        RemoteError: It is not in the cache and cannot be downloaded (in time), or its archive
            does not hold it.
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
