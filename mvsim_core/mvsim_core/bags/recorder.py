# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`record`: a world to an MCAP file, after each of its steps."""

from __future__ import annotations

import re
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import mvsim_core
from mvsim_core.bags.settings import RateSettings, StreamSettings
from mvsim_core.bags.topics import Topic
from mvsim_core.bags.world_stream import WorldStream
from mvsim_core.bags.writer import BagWriter
from mvsim_core.errors import BuildError, LogError
from mvsim_core.world.world import World
from mvsim_core.xmlfile import dump_world

#: Name of the metadata of a recording, and of the attachment with its world.
METADATA, WORLD_FILE = "mvsim", "world.xml"
#: Who wants the readings of the sensors that are recorded.
_ASKER = "recording"


def record(world: World, path: str | Path, **options: Any) -> BagRecorder:
    """Record a world from its next step on; `close` or a `with` block completes the file.

    Args:
        world: The world.
        path: The MCAP file, which is replaced if it exists.
        options: See `BagRecorder`.

    Raises:
        LogError: The file cannot be created, or the packages mcap and rosbags are missing.
    """
    return BagRecorder(world, path, **options)


class BagRecorder:
    """A recording of one world that is being written.

    When the file cannot be written any longer, the recording ends with a warning and
    `world.log_error`; the world goes on.

    Args:
        world: The world.
        path: The MCAP file.
        settings: Names of topics and frames, and rates; None: the node's defaults.
        compression: lz4, zstd or none.
        exclude: Regular expressions; topics whose whole name matches one are left out.
        derived: Whether to write the topics of depth cameras too whose content is in others: the
            cloud, and depths in millimetres.
        wake_sensors: Whether sensors that others, such as the node, have made inactive compute
            for the recording.
        resolve: From a topic name to the full name.
        namespaces: Returns the namespaces that were requested for spawned vehicles, by name.
        ns: From a tick of the world to a time [ns]; None: that of the world, which goes on where
            it was when the world is reset.

    Raises:
        LogError: The file cannot be created, or the packages mcap and rosbags are missing.
    """

    def __init__(  # noqa: PLR0913 (options, all by keyword)
        self,
        world: World,
        path: str | Path,
        *,
        settings: RateSettings | None = None,
        compression: str = "lz4",
        exclude: Iterable[str] = (),
        derived: bool = False,
        wake_sensors: bool = False,
        resolve: Callable[[str], str] | None = None,
        namespaces: Callable[[], Mapping[str, str]] = dict,
        ns: Callable[[int], int] | None = None,
    ) -> None:
        """Create the file and follow the world."""
        self._world = world
        self._exclude = [_pattern(text) for text in exclude]
        self.resolve = resolve or _absolute
        self._channels: dict[str, int] = {}
        self._offset = 0  # ticks before tick 0 of the world, after resets
        self._last = world.ticks
        self._wake = wake_sensors
        self._awake: list[Any] = []
        writer = self._writer = BagWriter(path, compression)
        self.write = writer.write  # takes messages at a time [ns], see `Sink`
        self._finalizer = weakref.finalize(self, _complete, writer)
        settings = settings or StreamSettings()
        try:
            self._stream = WorldStream(
                world, settings, self, ns or self._ns, derived=derived, namespaces=namespaces
            )
            self._write_world(settings)
        except BaseException:
            self._finalizer()
            raise
        self._wake_sensors()
        world.listeners.append(self)

    @property
    def path(self) -> Path:
        """The file."""
        return self._writer.path

    @property
    def messages(self) -> int:
        """Number of messages so far."""
        return self._writer.messages

    def __enter__(self) -> BagRecorder:
        """Return self."""
        return self

    def __exit__(self, *error: object) -> None:
        """Complete the file."""
        self.close()

    def after_step(self) -> None:
        """Write what is due; an error ends the recording, not the run."""
        ticks = self._world.ticks
        if ticks <= self._last:  # the world was reset or restored
            self._offset += self._last - ticks + 1
        self._last = ticks
        if self._stream.follow_vehicles():
            self._wake_sensors()
        self._stream.after_step()
        try:
            self._writer.poll()
        except LogError as error:
            self._stop_listening()
            self._finalizer.detach()
            self._world.log_error = error
            text = f"{error}; the recording ends at {self._world.time:g} s"
            warnings.warn(text, stacklevel=4)

    def close(self) -> None:
        """Complete the file.

        Raises:
            LogError: The rest cannot be written.
        """
        self._stop_listening()
        if self._finalizer.detach() is not None:
            self._writer.close()

    def _stop_listening(self) -> None:
        if self in self._world.listeners:
            self._world.listeners.remove(self)
        present = set(map(id, self._world.all_sensors()))
        for sensor in self._awake:
            if id(sensor) in present:
                self._world.set_sensor_active(sensor, False, _ASKER)
        self._awake = []

    def _wake_sensors(self) -> None:
        if self._wake:
            self._awake = list(self._stream.sensors())
            for sensor in self._awake:
                self._world.set_sensor_active(sensor, True, _ASKER)

    def _ns(self, ticks: int) -> int:
        return round((ticks + self._offset) * self._world.dt * 1e9)

    # ------------------------------------------------------------ sink of the messages
    def channel(self, topic: Topic, name: str) -> int:
        """Return the number of a topic; -1: it is left out."""
        full = self.resolve(name)
        if full not in self._channels:
            wanted = not any(pattern.fullmatch(full) for pattern in self._exclude)
            self._channels[full] = self._writer.add_channel(topic, full) if wanted else -1
        return self._channels[full]

    def _write_world(self, settings: RateSettings) -> None:
        world, writer = self._world, self._writer
        spec = world.spec
        values = {
            "version": mvsim_core.__version__,
            "world_file": spec.where.file,
            "seed": str(world.seed),
            "step": repr(world.dt),
            "frame": settings.common_frame,
        }
        try:
            writer.attach(WORLD_FILE, "application/xml", dump_world(spec).encode())
        except BuildError as error:
            values["problem"] = f"the world is not in this file: {error}"
        writer.add_metadata(METADATA, values)


def _complete(writer: BagWriter) -> None:
    """Complete a file that was not closed; an error becomes a warning."""
    try:
        writer.close()
    except LogError as error:
        warnings.warn(str(error), stacklevel=2)


def _absolute(name: str) -> str:
    return name if name.startswith("/") else f"/{name}"


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise LogError(f"{text!r} is no regular expression: {error}") from None
