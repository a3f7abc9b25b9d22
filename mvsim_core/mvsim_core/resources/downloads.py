# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fetching one file by http into a folder, whole or not at all. No cache: see `remote_files`."""

from __future__ import annotations

import re
import shutil
import ssl
import time
import urllib.error
import urllib.request
import zipfile
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from mvsim_core.errors import MvsimError

#: Longest silence of a server, also while it is looked up and connected to [s].
SILENCE = 2.0
#: Longest time that one file may take [s].
LONGEST = 300.0
#: Largest file, and largest content of an archive [bytes]; most members of an archive.
LARGEST, LARGEST_CONTENT, MOST_MEMBERS = 500_000_000, 2_000_000_000, 20_000
CHUNK = 1 << 16


class DownloadError(MvsimError):
    """A file cannot be fetched; the text says why."""


class UnreachableError(DownloadError):
    """Its host does not answer at all."""


def download(address: str, folder: Path) -> Path:
    """Fetch a file into a folder and return its path.

    Raises:
        UnreachableError: The host is unknown, refuses or keeps silent.
        DownloadError: It answers with something else than the whole file.
    """
    target = folder / file_name(address)
    try:
        with _opener().open(_request(address), timeout=SILENCE) as answer:
            _check_kind(answer, target)
            _copy(answer, target)
    except urllib.error.HTTPError as error:
        raise DownloadError(f"the server answers {error.code} {error.reason}") from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, str | ssl.SSLError):  # a text: what it leads to is no address
            raise DownloadError(f"no connection is made ({error.reason})") from None
        raise UnreachableError(str(error.reason)) from None
    except (TimeoutError, ConnectionError) as error:
        raise UnreachableError(str(error) or type(error).__name__) from None
    except (HTTPException, ValueError) as error:
        raise DownloadError(f"the answer is damaged ({type(error).__name__})") from None
    return target


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip archive into a new folder; nothing of it lands elsewhere.

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
    """Return a harmless file name for what an address names, with its suffix."""
    name = unquote(urlsplit(address).path).rsplit("/", 1)[-1]
    name = re.sub(r"[^\w.+-]", "_", name).lstrip(".")
    return name[-100:] or "file"


def _opener() -> urllib.request.OpenerDirector:
    """Return an opener that knows http and https and nothing else, wherever it is redirected."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _request(address: str) -> urllib.request.Request:
    return urllib.request.Request(address, headers={"User-Agent": "mvsim"})


def _check_kind(answer: Any, target: Path) -> None:
    kind = answer.headers.get_content_type()
    if kind == "text/html" and target.suffix.lower() not in (".html", ".htm"):
        raise DownloadError("the server answers with a web page")


def _copy(answer: Any, target: Path) -> None:
    stated = answer.headers.get("Content-Length")
    limit = time.monotonic() + LONGEST
    with target.open("wb") as file:
        size = _pour(answer, file, limit)
    if size == 0 or (stated is not None and size != int(stated)):
        raise DownloadError(f"the file is incomplete ({size} bytes)")


def _pour(answer: Any, file: IO[bytes], limit: float) -> int:
    size = 0
    while chunk := answer.read(CHUNK):
        size += len(chunk)
        if size > LARGEST:
            raise DownloadError(f"the file is larger than {LARGEST // 1_000_000} MB")
        if time.monotonic() > limit:
            raise DownloadError(f"the file takes longer than {LONGEST:g} s")
        file.write(chunk)
    return size


def discard(folder: Path) -> None:
    """Remove a folder and all in it, if it is there."""
    shutil.rmtree(folder, ignore_errors=True)
