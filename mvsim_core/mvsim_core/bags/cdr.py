# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Messages to bytes in CDR, the encoding of ROS 2, little-endian.

Fields are written in the order of the message definition. A general serializer takes ten times as
long as these few functions, and a recording of many robots is made of many small messages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

#: Encapsulation: CDR, little-endian.
_ENCAPSULATION = b"\x00\x01\x00\x00"
_NANOSECONDS = 1_000_000_000
_PADS = [bytes(n) for n in range(8)]


@cache
def _packer(code: str, count: int) -> struct.Struct:
    return struct.Struct(f"<{count}{code}")


class Cdr:
    """The bytes of one message, which grow field by field."""

    __slots__ = ("data",)

    def __init__(self) -> None:
        """Begin a message."""
        self.data = bytearray(_ENCAPSULATION)

    def _align(self, size: int) -> None:
        self.data += _PADS[-(len(self.data) - 4) % size]

    def pack(self, code: str, *values: Any) -> None:
        """Append numbers of one type, given by its letter in `struct`."""
        packer = _packer(code, len(values))
        size = packer.size // len(values)
        if size > 1:
            self._align(size)
        self.data += packer.pack(*values)

    def doubles(self, values: Iterable[float]) -> None:
        """Append numbers of type float64."""
        self.pack("d", *values)

    def text(self, text: str) -> None:
        """Append a string."""
        encoded = text.encode()
        self.pack("I", len(encoded) + 1)
        self.data += encoded
        self.data += b"\0"

    def texts(self, texts: Iterable[str]) -> None:
        """Append a sequence of strings."""
        texts = list(texts)
        self.pack("I", len(texts))
        for text in texts:
            self.text(text)

    def stamp(self, ns: int) -> None:
        """Append a time [ns]."""
        sec, nanosec = divmod(ns, _NANOSECONDS)
        self.pack("I", sec, nanosec)

    def header(self, frame: str, ns: int) -> None:
        """Append a std_msgs/Header."""
        self.stamp(ns)
        self.text(frame)

    def array(self, values: npt.NDArray[Any]) -> None:
        """Append an array of fixed length."""
        self._align(values.itemsize)
        self.data += np.ascontiguousarray(values).view(np.uint8).data

    def sequence(self, values: npt.NDArray[Any]) -> None:
        """Append a sequence of numbers; one of bytes may come as an array of any kind."""
        self.pack("I", len(values))
        if len(values):
            self.array(values)

    def raw(self, values: npt.NDArray[Any]) -> None:
        """Append the bytes of an array as a uint8[]."""
        self.pack("I", values.nbytes)
        self.data += np.ascontiguousarray(values).reshape(-1).view(np.uint8).data

    def number_list(self, values: Iterable[float]) -> None:
        """Append a float64[]."""
        values = list(values)
        self.pack("I", len(values))
        if values:
            self.pack("d", *values)

    def done(self) -> bytes:
        """Return the message."""
        return bytes(self.data)
