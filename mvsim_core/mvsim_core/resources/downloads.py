# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Download of one file by http into a folder, complete or not at all. Cache: see `remote_files`.

Pooch transfers the file; the limits on size, time and kind of answer are set here.
"""

from __future__ import annotations

import re
import shutil
import time
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from mvsim_core.errors import MvsimError

if TYPE_CHECKING:
    from requests import Response

#: Longest time in which a server sends nothing, also while connecting [s].
SILENCE = 2.0
#: Longest time that one file may take [s].
LONGEST = 300.0
#: Largest file, and largest content of an archive [bytes]; most members of an archive.
LARGEST, LARGEST_CONTENT, MOST_MEMBERS = 500_000_000, 2_000_000_000, 20_000
CHUNK = 1 << 16


class DownloadError(MvsimError):
    """A file cannot be downloaded; the message gives the reason."""


class UnreachableError(DownloadError):
    """The host does not answer at all."""


def download(address: str, folder: Path) -> Path:
    """Download a file into an empty folder and return its path.

    Raises:
        UnreachableError: The host is unknown, refuses the connection or does not answer in time.
        DownloadError: It answers with something else than the complete file.
    """
    import pooch  # with requests 0.2 s, which only worlds with remote files need to spend
    from requests import exceptions as failures

    pooch.get_logger().setLevel("WARNING")  # it would print a line for each file
    target = folder / file_name(address)
    transfer = pooch.HTTPDownloader(
        progressbar=_Limits(folder),
        chunk_size=CHUNK,
        timeout=SILENCE,
        headers={"User-Agent": "mvsim"},
        hooks={"response": partial(_check_kind, target)},
    )
    try:
        pooch.retrieve(address, None, fname=target.name, path=folder, downloader=transfer)
    except failures.HTTPError as error:
        answer: Any = error.response  # never None: raise_for_status made the error from it
        raise DownloadError(f"the server answers {answer.status_code} {answer.reason}") from None
    except (failures.SSLError, failures.InvalidSchema, failures.TooManyRedirects) as error:
        raise DownloadError(f"no connection is made ({error})") from None
    except (failures.ConnectionError, failures.Timeout) as error:
        raise UnreachableError(_reason(error)) from None
    except (failures.RequestException, ValueError) as error:
        raise DownloadError(f"the answer is damaged ({type(error).__name__})") from None
    if target.stat().st_size == 0:
        raise DownloadError("the file is incomplete (0 bytes)")
    return target


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip archive into a new folder; nothing of it is written elsewhere.

    Raises:
        DownloadError: It is damaged or too large.
    """
    try:
        with zipfile.ZipFile(archive) as file:
            members = file.infolist()
            if len(members) > MOST_MEMBERS or sum(m.file_size for m in members) > LARGEST_CONTENT:
                raise DownloadError("the archive is too large")
            folder.mkdir()
            file.extractall(folder)  # drops leading slashes and all `..`
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError) as error:
        raise DownloadError(f"the archive is damaged ({error})") from None


def file_name(address: str) -> str:
    """Return a safe file name for what an address names, with its suffix."""
    name = unquote(urlsplit(address).path).rsplit("/", 1)[-1]
    name = re.sub(r"[^\w.+-]", "_", name).lstrip(".")
    return name[-100:] or "file"


def discard(folder: Path) -> None:
    """Remove a folder with its content, if it exists."""
    shutil.rmtree(folder, ignore_errors=True)


def _check_kind(target: Path, answer: Response, **_: Any) -> None:
    """Refuse a web page in place of a file, which servers send where a login is missing."""
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if not answer.ok or answer.is_redirect or target.suffix.lower() in (".html", ".htm"):
        return
    if kind == "text/html":
        raise DownloadError("the server answers with a web page")


def _reason(error: Exception) -> str:
    """Return the innermost cause: requests wraps it in several exceptions with long texts."""
    inner: BaseException = error
    while (cause := getattr(inner, "reason", None) or inner.__context__) is not None:
        if not isinstance(cause, BaseException):
            break
        inner = cause
    return getattr(inner, "strerror", None) or str(inner) or type(inner).__name__


class _Limits:
    """Stops a transfer that is too large or takes too long; pooch calls it after each part.

    Args:
        folder: Where the partial file grows; the sizes that pooch reports are those of buffers.
    """

    total = 0

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._end = time.monotonic() + LONGEST

    def update(self, _size: int) -> None:
        if sum(file.stat().st_size for file in self._folder.iterdir()) > LARGEST:
            raise DownloadError(f"the file is larger than {LARGEST // 1_000_000} MB")
        if time.monotonic() > self._end:
            raise DownloadError(f"the file takes longer than {LONGEST:g} s")

    def reset(self) -> None:
        """Pooch calls it at the end, to fill a bar that is drawn."""

    def close(self) -> None:
        """Pooch calls it at the end."""
