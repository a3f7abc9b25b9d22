# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The chunks of an MCAP file and what is in each, also where the end of the file is missing.

A complete file has an index at its end. One whose writer was killed has none: it is read from its
beginning, up to the last complete chunk.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

from mvsim_core.bags.definitions import MISSING
from mvsim_core.errors import LogError

_MAGIC = b"\x89MCAP0\r\n"
#: Size of opcode and length before each record [bytes].
_HEAD = 9
#: Chunks that are kept decompressed.
MOST_CHUNKS = 8
#: Opcode of a message, and what stands before its data [bytes].
_MESSAGE, _MESSAGE_HEAD = 0x05, 22


class RawMessage(NamedTuple):
    """A message as it is in the file: number of its channel, time [ns], CDR."""

    channel: int
    ns: int
    data: bytes


class _OpenChunk:
    """A chunk that is decompressed, with times [ns] and places of its messages by channel."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.times: dict[int, list[int]] = {}
        self.places: dict[int, list[tuple[int, int]]] = {}
        for opcode, begin, end in _records(data):
            if opcode == _MESSAGE:
                channel = int.from_bytes(data[begin : begin + 2], "little")
                ns = int.from_bytes(data[begin + 6 : begin + 14], "little")
                self.times.setdefault(channel, []).append(ns)
                self.places.setdefault(channel, []).append((begin + _MESSAGE_HEAD, end))

    def message(self, channel: int, number: int) -> RawMessage:
        """Return a message of a channel."""
        begin, end = self.places[channel][number]
        return RawMessage(channel, self.times[channel][number], self.data[begin:end])


@dataclass
class _Channel:
    """Where the messages of a channel are: its chunks by time of their first message."""

    chunks: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)


class McapIndex:
    """Random access to the messages of an MCAP file.

    Attributes:
        path: The file.
        complete: Whether the end of the file is there.
        schemas: Schemas by number.
        channels: Channels by number.
        attachments: Content by name.
        metadata: Values by name.
        counts: Number of messages by channel.
        start: Time of the first message [ns].
        end: Time of the last message [ns].
    """

    def __init__(self, path: Path) -> None:
        """Read the index, or make one.

        Raises:
            LogError: The file cannot be read.
        """
        self.path = path
        self.complete = True
        self.schemas: dict[int, Any] = {}
        self.channels: dict[int, Any] = {}
        self.attachments: dict[str, bytes] = {}
        self.metadata: dict[str, dict[str, str]] = {}
        self.counts: dict[int, int] = {}
        self.start, self.end = 0, 0
        self._chunks: list[Any] = []  # ChunkIndex, in the order of the file
        self._of: dict[int, _Channel] = {}
        self._cache: OrderedDict[int, _OpenChunk] = OrderedDict()
        try:
            self._file: IO[bytes] = path.open("rb")
        except OSError as error:
            raise LogError(f"cannot read {path}: {error.strerror}") from None
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise
        self._sort()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # ------------------------------------------------------------ reading the index
    def _read(self) -> None:
        try:
            from mcap.exceptions import McapError
        except ImportError:
            raise LogError(MISSING) from None
        if self._file.read(len(_MAGIC)) != _MAGIC:
            raise LogError(f"{self.path} is no MCAP file")
        try:
            whole = self._read_summary()
        except (McapError, EOFError, ValueError, OSError, KeyError):
            whole = False
        if not whole:
            self.complete = False
            self._scan()

    def _read_summary(self) -> bool:
        from mcap.reader import SeekingReader

        self._file.seek(-len(_MAGIC), 2)
        if self._file.read(len(_MAGIC)) != _MAGIC:
            return False
        self._file.seek(0)
        reader = SeekingReader(self._file)
        summary = reader.get_summary()
        if summary is None or summary.statistics is None:
            return False
        if summary.statistics.chunk_count != len(summary.chunk_indexes):
            return False
        self.schemas, self.channels = dict(summary.schemas), dict(summary.channels)
        self._chunks = sorted(summary.chunk_indexes, key=lambda c: c.chunk_start_offset)
        statistics = summary.statistics
        self.counts = dict(statistics.channel_message_counts)
        self.start, self.end = statistics.message_start_time, statistics.message_end_time
        self.attachments = {a.name: bytes(a.data) for a in reader.iter_attachments()}
        self.metadata = {m.name: dict(m.metadata) for m in reader.iter_metadata()}
        return True

    def _scan(self) -> None:
        """Read all whole records from the beginning."""
        from mcap.opcode import Opcode

        size = self._file.seek(0, 2)
        position = len(_MAGIC)
        while position + _HEAD <= size:
            self._file.seek(position)
            head = self._file.read(_HEAD)
            length = int.from_bytes(head[1:], "little")
            if position + _HEAD + length > size or not head[0]:
                break
            if head[0] in (Opcode.DATA_END, Opcode.FOOTER):
                break
            self._take_record(head[0], position, self._file.read(length))
            position += _HEAD + length

    def _take_record(self, opcode: int, position: int, content: bytes) -> None:
        from mcap.data_stream import ReadDataStream
        from mcap.opcode import Opcode
        from mcap.records import Attachment, Channel, Chunk, Metadata, Schema

        stream = _stream(content, ReadDataStream)
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            self.schemas[schema.id] = schema
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(stream)
            self.channels[channel.id] = channel
        elif opcode == Opcode.ATTACHMENT:
            attachment = Attachment.read(stream)
            self.attachments[attachment.name] = bytes(attachment.data)
        elif opcode == Opcode.METADATA:
            metadata = Metadata.read(stream)
            self.metadata[metadata.name] = dict(metadata.metadata)
        elif opcode == Opcode.CHUNK:
            self._take_chunk(Chunk.read(stream), position, len(content))

    def _take_chunk(self, chunk: Any, position: int, length: int) -> None:
        """Index a chunk by what is in it; its own index may be missing."""
        from mcap.records import ChunkIndex

        index = ChunkIndex(
            message_start_time=chunk.message_start_time,
            message_end_time=chunk.message_end_time,
            chunk_start_offset=position,
            chunk_length=_HEAD + length,
            message_index_offsets={},
            message_index_length=0,
            compression=chunk.compression,
            compressed_size=len(chunk.data),
            uncompressed_size=chunk.uncompressed_size,
        )
        number = len(self._chunks)
        self._chunks.append(index)
        opened = self._open(number)
        for channel, times in opened.times.items():
            self.counts[channel] = self.counts.get(channel, 0) + len(times)
            index.message_index_offsets[channel] = 0
        for opcode, begin, end in _records(opened.data):
            if opcode != _MESSAGE:
                self._take_record(opcode, 0, opened.data[begin:end])
        begin, end = chunk.message_start_time, chunk.message_end_time
        self.start = min(self.start, begin) if number else begin
        self.end = max(self.end, end)

    def _sort(self) -> None:
        """Note the chunks of each channel."""
        for number, chunk in enumerate(self._chunks):
            for channel in chunk.message_index_offsets:
                of = self._of.setdefault(channel, _Channel())
                of.chunks.append(number)
                of.starts.append(chunk.message_start_time)

    # ------------------------------------------------------------ messages
    def _open(self, number: int) -> _OpenChunk:
        if number in self._cache:
            self._cache.move_to_end(number)
            return self._cache[number]
        chunk = self._chunks[number]
        head = chunk.chunk_start_offset + _HEAD + 8 + 8 + 8 + 4 + 4 + len(chunk.compression) + 8
        self._file.seek(head)
        data = _decompress(self._file.read(chunk.compressed_size), chunk.compression, self.path)
        opened = self._cache[number] = _OpenChunk(data)
        while len(self._cache) > MOST_CHUNKS:
            self._cache.popitem(last=False)
        return opened

    def messages(self, wanted: Callable[[int], bool]) -> Iterator[RawMessage]:
        """Yield the messages of some channels in the order of writing."""
        for number, chunk in enumerate(self._chunks):
            if not any(map(wanted, chunk.message_index_offsets)):
                continue
            data = self._open(number).data
            for opcode, begin, end in _records(data):
                if opcode != _MESSAGE:
                    continue
                channel = int.from_bytes(data[begin : begin + 2], "little")
                if wanted(channel):
                    ns = int.from_bytes(data[begin + 6 : begin + 14], "little")
                    yield RawMessage(channel, ns, data[begin + _MESSAGE_HEAD : end])

    def first(self, channel: int) -> RawMessage | None:
        """Return the first message of a channel."""
        of = self._of.get(channel)
        return None if of is None else self._open(of.chunks[0]).message(channel, 0)

    def last_before(self, channel: int, ns: int) -> RawMessage | None:
        """Return the last message of a channel at or before a time [ns]."""
        of = self._of.get(channel)
        if of is None:
            return None
        for k in range(bisect_right(of.starts, ns) - 1, -1, -1):
            opened = self._open(of.chunks[k])
            number = bisect_right(opened.times[channel], ns) - 1
            if number >= 0:
                return opened.message(channel, number)
        return None


def _records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield opcode, begin and end of the content of each record in a chunk."""
    position = 0
    while position + _HEAD <= len(data):
        begin = position + _HEAD
        length = int.from_bytes(data[position + 1 : begin], "little")
        yield data[position], begin, begin + length
        position = begin + length


def _stream(content: bytes, cls: Any) -> Any:
    from io import BytesIO

    return cls(BytesIO(content))


def _decompress(data: bytes, compression: str, path: Path) -> bytes:
    if compression == "":
        return data
    if compression == "lz4":
        lz4: Any = import_module("lz4.frame")
        return bytes(lz4.decompress(data))
    if compression == "zstd":
        zstandard: Any = import_module("zstandard")
        return bytes(zstandard.ZstdDecompressor().decompress(data))
    raise LogError(f"{path}: unknown compression {compression!r}")
