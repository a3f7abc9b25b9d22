# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The client of viser as a page and a script: cut from the installed version, and served."""

from __future__ import annotations

import gzip
import http.client
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from mvsim_core.viewer import Server, client_files, server
from mvsim_core.viewer.client_files import ClientFiles, UnknownClientError, packed, unpacked

viser = pytest.importorskip("viser", reason="viser is not installed")
zstandard = pytest.importorskip("zstandard", reason="viser is not installed")

LOADER = re.compile(r'data-p="([^"]+)" data-ss="(\d+)" data-cs="(\d+)"')


@cache
def installed() -> str:
    """Return the page of the installed viser."""
    page = Path(viser.__file__).parent / "client" / "build" / "index.html"
    return page.read_text(encoding="utf-8")


def content(page: str) -> tuple[bytes, bytes]:
    """Return styles and script that the loader of a page unpacks."""
    ((payload, styles, script),) = LOADER.findall(page)
    raw = zstandard.decompress(unpacked(payload), int(styles) + int(script))
    return raw[: int(styles)], raw[int(styles) :]


@pytest.mark.parametrize("size", range(10))
def test_base_88_is_read_as_it_is_written(size: int) -> None:
    data = bytes(range(256 - size, 256))
    assert unpacked(packed(data)) == data
    assert len(packed(data)) == 5 * (size // 4) + (size % 4 + 1 if size % 4 else 0)


def test_it_is_written_as_viser_does() -> None:
    payload = LOADER.findall(installed())[0][0]
    assert packed(unpacked(payload)) == payload


def test_the_installed_client_is_cut_into_page_and_script() -> None:
    files = client_files.client_files()
    styles, script = content(installed())
    assert content(files.page.decode()) == (styles, f'import ".{files.path}"'.encode())
    shaders = files.script.count(b"checkShaderErrors:!1"), script.count(b"checkShaderErrors:!0")
    assert shaders == (1, 1)
    cut = files.script.replace(b"checkShaderErrors:!1", b"checkShaderErrors:!0")
    equal = [a == b for a, b in zip(script, cut, strict=False)]
    before = script[: equal.index(False)]
    assert cut.startswith(b"null", len(before))
    after = cut[len(before) + len(b"null") :]
    assert script.endswith(after)
    picture = script[len(before) : len(script) - len(after)]
    assert re.fullmatch(rb"`data:image/jpeg;base64,[A-Za-z0-9+/=]{10000,}`", picture)
    assert len(files.page) < 0.1 * len(installed())


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("<html></html>", "no loader"),
        ('<script data-p="AAAAA" data-ss="1" data-cs="1">', "cannot be unpacked"),
        (f'<script data-p="{packed(b"no zstd")}" data-ss="1" data-cs="1">', "cannot be unpacked"),
        (
            f'<script data-p="{packed(zstandard.compress(b"a{}b()"))}" data-ss="3" data-cs="3">',
            "0 pictures",
        ),
    ],
)
def test_a_client_of_another_kind_is_left_alone(page: str, why: str) -> None:
    with pytest.raises(UnknownClientError, match=why):
        ClientFiles(page)


def get(server: Server, path: str, encoding: str = "") -> tuple[bytes, Mapping[str, str]]:
    """Return the body and the headers of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10.0)
    connection.request("GET", path, headers={"Accept-Encoding": encoding})
    response = connection.getresponse()
    assert response.status == 200
    body = response.read()
    connection.close()
    return body, dict(response.headers)


def test_browsers_keep_the_script_and_ask_for_the_page() -> None:
    files = client_files.client_files()
    with Server(port=0) as server:
        for path, body in (("/", files.page), ("/?darkMode", files.page)):
            got, headers = get(server, path)
            assert got == body
            assert headers["Cache-Control"] == "no-cache"
            assert headers["Content-Type"] == "text/html; charset=utf-8"
        script, headers = get(server, files.path)
        assert script == files.script
        assert "immutable" in headers["Cache-Control"]
        assert headers["Content-Type"] == "text/javascript; charset=utf-8"
        small, headers = get(server, files.path, "br, gzip")
        assert headers["Content-Encoding"] == "gzip"
        assert len(small) < 0.4 * len(script)
        assert gzip.decompress(small) == script


def test_a_page_that_is_not_known_is_served_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> ClientFiles:
        raise UnknownClientError("")

    monkeypatch.setattr(server, "client_files", unknown)
    with Server(port=0) as running:
        assert get(running, "/")[0].decode() == installed()
