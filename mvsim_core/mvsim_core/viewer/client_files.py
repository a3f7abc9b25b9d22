# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The client of viser as a page and a script, so that browsers keep the script compiled.

viser serves one HTML file whose loader unpacks styles and script from an attribute, base 88 over
zstd, at each visit. Here the script has an address of its own, with a hash of its content, so that
browsers keep it and compile it beside the page's thread; the loader gets one line that imports it.

The script also has a picture of surroundings, for light until the server has sent another one. It
is left out: a page would decode and draw it before it hears that this scene has lights of its own.
And three.js is not to ask for the errors of shaders, which waits for the compilation of each.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import numpy as np

from mvsim_core.errors import MvsimError

#: What base 88 is written with: printable characters that need no escape in HTML or a script.
_ALPHABET = "".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in "\"&<>'`")
_BASE = len(_ALPHABET)
_LOADER = re.compile(r'<script data-p="([^"]+)" data-ss="(\d+)" data-cs="(\d+)">')
#: The only picture in the script: the light of the scene until a server has sent another one.
_PICTURE = re.compile(rb"`data:image/jpeg;base64,[A-Za-z0-9+/=]+`")
#: A setting of three.js, as its default and as it is served.
_CHECKED, _UNCHECKED = b"checkShaderErrors:!0", b"checkShaderErrors:!1"
#: A year, and no question whether it has changed.
_FOR_EVER = "max-age=31536000, immutable"
_LEVEL = 4


class UnknownClientError(MvsimError):
    """A page is not packed in the way that is known here."""


class ClientFiles:
    """What a client is loaded from.

    Args:
        page: The page of viser, one HTML file.

    Attributes:
        page: The page that imports the script.
        script: The script.
        path: Where it is.
    """

    def __init__(self, page: str) -> None:
        """Cut the page into two.

        Raises:
            UnknownClientError: It is not packed in the way that is known here.
        """
        import zstandard

        loaders = _LOADER.findall(page)
        if len(loaders) != 1:
            raise UnknownClientError("the page of viser has no loader that is known here")
        payload, of_styles, of_script = loaders[0][0], int(loaders[0][1]), int(loaders[0][2])
        try:
            content = zstandard.decompress(unpacked(payload), of_styles + of_script)
        except (ValueError, zstandard.ZstdError) as error:
            raise UnknownClientError(f"the page of viser cannot be unpacked: {error}") from None
        if len(content) != of_styles + of_script:
            raise UnknownClientError("the page of viser cannot be unpacked: other sizes")
        self.script, pictures = _PICTURE.subn(b"null", content[of_styles:])
        if pictures != 1:
            raise UnknownClientError(f"the script of viser has {pictures} pictures, expected one")
        self.script = self.script.replace(_CHECKED, _UNCHECKED)
        self.path = f"/client-{hashlib.sha256(self.script).hexdigest()[:16]}.js"
        address = f".{self.path}"  # relative: a proxy may serve the page in a folder
        line = f'import "{address}"'.encode()
        payload = packed(zstandard.compress(content[:of_styles] + line))
        loader = f'<script data-p="{payload}" data-ss="{of_styles}" data-cs="{len(line)}">'
        early = f'<link rel="modulepreload" href="{address}">'
        self.page = _LOADER.sub(lambda _: early + loader, page).encode()
        self._packed = cache(gzip.compress)

    def answered_before(self, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return a handler of requests for page and script, which leaves others to `answer`."""

        def process(connection: Any, request: Any) -> Any:
            path = request.path.partition("?")[0]
            if request.headers.get("Upgrade") is not None or path not in ("/", self.path):
                return answer(connection, request)
            accepted = request.headers.get("Accept-Encoding", "")
            return self._response(path, "gzip" in accepted)

        return process

    def _response(self, path: str, compressed: bool) -> Any:
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        is_page = path == "/"
        body = self.page if is_page else self.script
        headers = Headers()
        headers["Content-Type"] = f"text/{'html' if is_page else 'javascript'}; charset=utf-8"
        headers["Cache-Control"] = "no-cache" if is_page else _FOR_EVER
        headers["Vary"] = "Accept-Encoding"
        if compressed:
            body = self._packed(body, _LEVEL)
            headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(body))
        return Response(HTTPStatus.OK, "OK", headers, body)


def client_files() -> ClientFiles:
    """Return the files of the client that is installed.

    Raises:
        UnknownClientError: Its page is not packed in the way that is known here.
    """
    import viser

    page = Path(viser.__file__).parent / "client" / "build" / "index.html"
    return ClientFiles(page.read_text(encoding="utf-8"))


def unpacked(text: str) -> bytes:
    """Return bytes that are written in base 88: four in five characters, big endian."""
    values = np.zeros(128, np.uint64)
    values[[ord(c) for c in _ALPHABET]] = np.arange(_BASE)
    digits = values[np.frombuffer(text.encode("ascii"), np.uint8)]
    whole, rest = divmod(len(digits), 5)
    words = np.zeros(whole, np.uint64)
    for k in range(5):
        words = words * np.uint64(_BASE) + digits[k : 5 * whole : 5]
    last = 0
    for digit in digits[5 * whole :].tolist():
        last = last * _BASE + digit
    return words.astype(">u4").tobytes() + last.to_bytes(max(rest - 1, 0), "big")


def packed(data: bytes) -> str:
    """Return bytes in base 88; see `unpacked`."""
    whole, rest = divmod(len(data), 4)
    words = np.frombuffer(data[: 4 * whole], ">u4").astype(np.int64)
    digits = np.zeros((whole, 5), np.int64)
    for k in reversed(range(5)):
        words, digits[:, k] = np.divmod(words, _BASE)
    letters = np.frombuffer(_ALPHABET.encode("ascii"), np.uint8)
    text = letters[digits].tobytes().decode("ascii")
    last = int.from_bytes(data[4 * whole :], "big")
    end = ""
    for _ in range(rest + 1 if rest else 0):
        last, digit = divmod(last, _BASE)
        end = _ALPHABET[digit] + end
    return text + end
