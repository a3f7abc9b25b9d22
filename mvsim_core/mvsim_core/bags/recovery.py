# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Completes a recording whose writer was killed, for readers that need the end of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mvsim_core.bags.definitions import MISSING
from mvsim_core.bags.mcap_index import McapIndex
from mvsim_core.bags.writer import CHUNK_SIZE
from mvsim_core.errors import LogError


def recover(path: str | Path, output: str | Path) -> int:
    """Write all whole chunks of a file into a new, complete file; return the number of messages.

    Raises:
        LogError: The file cannot be read, or the output not be written.
    """
    try:
        from mcap.writer import CompressionType, Writer
    except ImportError:
        raise LogError(MISSING) from None
    source, target = Path(path), Path(output)
    index = McapIndex(source)
    if target.exists() and target.samefile(source):
        raise LogError(f"{target} is the file to be recovered: name another one")
    try:
        with target.open("wb") as file:
            writer: Any = Writer(file, chunk_size=CHUNK_SIZE, compression=CompressionType.LZ4)
            writer.start(profile="ros2", library="mvsim")
            _copy(index, writer)
            writer.finish()
    except OSError as error:
        raise LogError(f"cannot write {target}: {error.strerror}") from None
    finally:
        index.close()
    return sum(index.counts.values())


def _copy(index: McapIndex, writer: Any) -> None:
    for name, content in index.attachments.items():
        writer.add_attachment(0, 0, name, "application/octet-stream", content)
    for name, values in index.metadata.items():
        writer.add_metadata(name, values)
    schemas = {
        key: writer.register_schema(schema.name, schema.encoding, schema.data)
        for key, schema in index.schemas.items()
    }
    channels = {
        key: writer.register_channel(
            channel.topic, channel.message_encoding, schemas[channel.schema_id], channel.metadata
        )
        for key, channel in index.channels.items()
    }
    for message in index.messages(channels.__contains__):
        writer.add_message(channels[message.channel], message.ns, message.data, message.ns)
