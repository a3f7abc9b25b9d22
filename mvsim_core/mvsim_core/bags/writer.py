# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes messages to an MCAP file in a second thread.

The stepping thread makes the messages and leaves them in a queue; the thread compresses and writes
them, which happens outside of Python's lock for the most part. A chunk is complete after 1 MiB or
one second, so that a killed process loses no more. The queue is bounded: a step waits only while
the disk is `PENDING` behind.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mvsim_core.bags.definitions import MISSING, channel_metadata, definition, typestore
from mvsim_core.bags.topics import Topic
from mvsim_core.errors import LogError

#: Size of a chunk before compression [bytes] and the longest wall time until it is written [s].
CHUNK_SIZE, CHUNK_TIME = 1 << 20, 1.0
#: Messages are handed to the thread when there are so many bytes of them, or after so long [s].
BATCH_SIZE, BATCH_TIME = 1 << 18, 0.1
#: Bytes that may wait for the thread.
PENDING = 256 << 20
#: Compression by name, see `mcap.writer.CompressionType`.
COMPRESSIONS = {"lz4": "LZ4", "zstd": "ZSTD", "none": "NONE"}


class _Channel(NamedTuple):
    topic: Topic
    name: str


class _Attachment(NamedTuple):
    name: str
    media_type: str
    data: bytes


class _Metadata(NamedTuple):
    name: str
    values: Mapping[str, str]


_END = object()


class BagWriter:
    """An MCAP file with ROS 2 messages.

    Args:
        path: The file, which is replaced if it exists.
        compression: lz4, zstd or none.

    Attributes:
        path: The file.
        error: Why nothing more is written, or None.
        messages: Number of messages that were given.
    """

    def __init__(self, path: str | Path, compression: str = "lz4") -> None:
        """Create the file.

        Raises:
            LogError: It cannot be created, a package is missing, or there is no such compression.
        """
        if compression not in COMPRESSIONS:
            known = ", ".join(COMPRESSIONS)
            raise LogError(f"unknown compression {compression!r}, expected one of {known}")
        try:
            from mcap.writer import CompressionType, Writer
        except ImportError:
            raise LogError(MISSING) from None
        typestore()  # before a file is replaced that could not be written
        self.path = Path(path)
        self.error: LogError | None = None
        self.messages = 0
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("wb")
        except (OSError, ValueError) as error:
            raise self._failure(error) from None
        kind = CompressionType[COMPRESSIONS[compression]]
        self._mcap: Any = Writer(self._file, chunk_size=CHUNK_SIZE, compression=kind)
        self._schemas: dict[str, int] = {}
        self._channels = 0
        self._sequences: list[int] = [0]
        self._batch: list[Any] = []
        self._batch_size = 0
        self._next = time.monotonic() + BATCH_TIME
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting = 0  # bytes in the queue
        self._room = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="mvsim-record", daemon=True)
        self._thread.start()

    # ------------------------------------------------------------ stepping thread
    def add_channel(self, topic: Topic, name: str) -> int:
        """Add a topic and return its number."""
        definition(topic.type_name)  # here, since no message can be made without it
        self._channels += 1
        self._batch.append(_Channel(topic, name))
        return self._channels

    def attach(self, name: str, media_type: str, data: bytes) -> None:
        """Add an attachment."""
        self._batch.append(_Attachment(name, media_type, data))

    def add_metadata(self, name: str, values: Mapping[str, str]) -> None:
        """Add metadata."""
        self._batch.append(_Metadata(name, values))

    def write(self, channel: int, data: bytes, ns: int) -> None:
        """Add a message of a channel at a time [ns]."""
        self._batch.append((channel, data, ns))
        self._batch_size += len(data)
        self.messages += 1

    def poll(self) -> None:
        """Hand over messages if there are enough, or old ones; after each step.

        Raises:
            LogError: The file cannot be written any longer.
        """
        if self._batch_size < BATCH_SIZE and time.monotonic() < self._next:
            return
        self._hand_over()
        if self.error is not None:
            raise self.error

    def _hand_over(self) -> None:
        batch, size = self._batch, self._batch_size
        self._batch, self._batch_size = [], 0
        self._next = time.monotonic() + BATCH_TIME
        if not batch:
            return
        with self._room:
            self._room.wait_for(lambda: self._waiting < PENDING or self.error is not None)
            self._waiting += size
        self._queue.put((batch, size))

    def close(self) -> None:
        """Complete the file.

        Raises:
            LogError: The rest cannot be written.
        """
        if self._closed:
            return
        self._closed = True
        self._hand_over()
        self._queue.put(_END)
        self._thread.join()
        if self.error is not None:
            raise self.error

    # ------------------------------------------------------------ second thread
    def _run(self) -> None:
        try:
            self._mcap.start(profile="ros2", library="mvsim")
            self._write_all()
        except OSError as error:
            self.error = self._failure(error)
        except Exception as error:  # a defect: the step reports it, and the run goes on
            self.error = LogError(f"cannot write {self.path}: {error!r}")
        finally:
            self._end()

    def _end(self) -> None:
        try:
            if self.error is None:
                self._mcap.finish()
        except OSError as error:
            self.error = self._failure(error)
        try:
            self._file.close()
        except OSError as error:  # what was buffered cannot be written either
            self.error = self.error or self._failure(error)
        with self._room:
            self._room.notify_all()

    def _write_all(self) -> None:
        flushed = time.monotonic()
        while True:
            try:
                item = self._queue.get(timeout=CHUNK_TIME)
            except queue.Empty:
                item = None
            if item is _END:
                return
            if item is not None:
                batch, size = item
                for entry in batch:
                    self._write_entry(entry)
                with self._room:
                    self._waiting -= size
                    self._room.notify_all()
            now = time.monotonic()
            if now - flushed >= CHUNK_TIME:
                self._mcap.flush()
                flushed = now

    def _write_entry(self, entry: Any) -> None:
        mcap = self._mcap
        if type(entry) is tuple:
            channel, data, ns = entry
            sequence = self._sequences[channel] = self._sequences[channel] + 1
            mcap.add_message(channel, ns, data, ns, sequence)
        elif isinstance(entry, _Attachment):
            mcap.add_attachment(0, 0, entry.name, entry.media_type, entry.data)
        elif isinstance(entry, _Metadata):
            mcap.add_metadata(entry.name, dict(entry.values))
        else:
            self._register(entry.topic, entry.name)

    def _register(self, topic: Topic, name: str) -> None:
        kind = definition(topic.type_name)
        if kind.name not in self._schemas:
            schema = self._mcap.register_schema(kind.name, "ros2msg", kind.text.encode())
            self._schemas[kind.name] = schema
        metadata = channel_metadata(topic)
        self._sequences.append(0)
        self._mcap.register_channel(name, "cdr", self._schemas[kind.name], metadata)

    def _failure(self, error: Exception) -> LogError:
        reason = getattr(error, "strerror", None) or str(error)
        return LogError(f"cannot write the recording {self.path}: {reason}")
