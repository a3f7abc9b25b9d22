# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of an XML file to text, whatever editor wrote them.

The byte order mark decides, then the XML declaration, then UTF-8. Text that is not what it says
it is gets read as Windows-1252 with a remark, because a stray accent in a comment is no reason
to refuse a world.
"""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is the beginning of this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NOT_FOR_FILES = ("unicode_escape", "raw_unicode_escape", "idna", "punycode", "undefined")
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def decode(data: bytes) -> tuple[str, str]:
    """Return the text, its lines ended by newlines only, and a remark on its encoding, or ""."""
    encoding, data = _encoding(data)
    remark = ""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        remark = f"the text is not valid {encoding.upper()}; it is read as Windows-1252"
    return text.replace("\r\n", "\n").replace("\r", "\n"), remark


def _encoding(data: bytes) -> tuple[str, bytes]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, data[len(mark) :]
    # Without a mark, UTF-16 shows by the zero beside the first "<".
    if data[:2] == b"<\0":
        return "utf-16-le", data
    if data[:2] == b"\0<":
        return "utf-16-be", data
    declared = _DECLARED.match(data[:1000])
    return _known(declared.group(1).decode("ascii")) if declared else "utf-8", data


def _known(name: str) -> str:
    """Return the encoding if it is one of text that begins like ASCII, else "utf-8"."""
    try:
        codec = codecs.lookup(name).name.replace("-", "_")
        # UTF-16 cannot be meant by a declaration that was readable as ASCII; "zip" and "rot13"
        # are codecs too, and raise here.
        plain = "<a>".encode(name) == b"<a>"
    except (LookupError, UnicodeError, ValueError):
        return "utf-8"
    return name if plain and codec not in _NOT_FOR_FILES else "utf-8"
