# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes to text."""

import pytest

from mvsim_core.xmlfile.markup import decode

TEXT = '<a name="plano élé">±</a>'


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-32"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
    ],
)
def test_byte_order_marks(data: bytes) -> None:
    assert decode(data) == (TEXT, "")


def test_declared_encoding() -> None:
    text = f'<?xml version="1.0" encoding="ISO-8859-1"?>{TEXT}'
    assert decode(text.encode("latin-1")) == (text, "")


@pytest.mark.parametrize("name", ["zip", "rot13", "utf-16", "no-such", "unicode_escape", "idna"])
def test_declarations_that_cannot_be_meant(name: str) -> None:
    text = f'<?xml version="1.0" encoding="{name}"?>{TEXT}'
    assert decode(text.encode()) == (text, "")


def test_wrong_bytes_are_read_with_a_warning() -> None:
    text, warning = decode(TEXT.encode("latin-1"))
    assert text == TEXT
    assert warning == "the text is not valid UTF-8; it is read as Windows-1252"


def test_line_ends() -> None:
    assert decode(b"a\r\nb\rc\n")[0] == "a\nb\nc\n"
