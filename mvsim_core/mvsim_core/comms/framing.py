# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One message on the wire: the name of its type and its bytes, each after a 32-bit length.

That is how MRPT's archives write two texts, little-endian.
"""

from __future__ import annotations

import struct
from typing import Any

from google.protobuf.message import DecodeError

from mvsim_core.comms import messages
from mvsim_core.errors import CommsError

#: Longest name of a type, a topic, a node, a service or an endpoint [bytes].
LONGEST_NAME = 256
#: Largest message between nodes and the server, and of service calls [bytes].
LARGEST_REQUEST = 1 << 20
#: Largest message on a topic [bytes].
LARGEST_MESSAGE = 256 << 20

_LENGTH = struct.Struct("<I")


def pack(message: Any) -> bytes:
    """Return a message as it is sent.

    Raises:
        CommsError: A required field is missing.
    """
    if not message.IsInitialized():
        missing = ", ".join(message.FindInitializationErrors())
        raise CommsError(f"{message.DESCRIPTOR.name}: missing: {missing}")
    return pack_parts(message.DESCRIPTOR.full_name, message.SerializeToString())


def pack_parts(type_name: str, data: bytes) -> bytes:
    """Return a message of a type from its bytes as it is sent."""
    name = type_name.encode()
    return b"".join((_LENGTH.pack(len(name)), name, _LENGTH.pack(len(data)), data))


def unpack(frame: bytes | memoryview) -> tuple[str, bytes]:
    """Return type name and bytes of a message as it was received.

    Raises:
        CommsError: It is not a message.
    """
    try:
        (length,) = _LENGTH.unpack_from(frame, 0)
        if length > LONGEST_NAME:
            raise CommsError(f"a type name has at most {LONGEST_NAME} bytes, got {length}")
        name = bytes(frame[4 : 4 + length]).decode()
        (size,) = _LENGTH.unpack_from(frame, 4 + length)
    except (struct.error, UnicodeDecodeError):
        raise CommsError(f"{len(frame)} bytes that are not a message") from None
    data = bytes(frame[8 + length :])
    if len(data) != size:
        raise CommsError(f"{name[:60]!r}: expected {size} bytes, got {len(data)}")
    return name, data


def parse(type_name: str, data: bytes, expected: Any = None) -> Any:
    """Return a message from its type name and bytes.

    Args:
        type_name: Name of its type.
        data: Its bytes.
        expected: The class that it must be of; None: any class of `messages`.

    Raises:
        CommsError: The type is another one or not known, or the bytes do not fit it.
    """
    cls = expected or messages.find(type_name)
    if cls is None:
        raise CommsError(f"unknown type {type_name[:60]!r}")
    if cls.DESCRIPTOR.full_name != type_name:
        raise CommsError(f"expected {cls.DESCRIPTOR.full_name}, got {type_name[:60]!r}")
    try:
        message = cls.FromString(data)
    except (DecodeError, UnicodeDecodeError):
        raise CommsError(f"{type_name}: {len(data)} bytes that cannot be read") from None
    if not message.IsInitialized():
        missing = ", ".join(message.FindInitializationErrors())
        raise CommsError(f"{type_name}: missing: {missing}")
    if not _is_text(message):
        raise CommsError(f"{type_name}: a text is not UTF-8")
    return message


def _is_text(message: Any) -> bool:
    """Return whether all texts are UTF-8: proto2 hands out what is not as bytes."""
    for field, value in message.ListFields():
        if field.cpp_type == field.CPPTYPE_STRING and field.type == field.TYPE_STRING:
            values = (value,) if isinstance(value, str | bytes) else value
            if not all(isinstance(text, str) for text in values):
                return False
        elif field.cpp_type == field.CPPTYPE_MESSAGE:
            parts = (value,) if hasattr(value, "ListFields") else value
            if not all(_is_text(part) for part in parts):
                return False
    return True
