# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`Recording`: reads a recording, and puts a world into the state of any instant of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from mvsim_core.assembly.load import load_world
from mvsim_core.bags.definitions import MISSING
from mvsim_core.bags.mcap_index import McapIndex, RawMessage
from mvsim_core.bags.recorder import METADATA, WORLD_FILE
from mvsim_core.bags.replay import Replay
from mvsim_core.errors import BuildError, LogError, WorldFileError
from mvsim_core.specs.world import WorldSpec
from mvsim_core.world.world import World

NANO = 1e-9


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """One topic of a recording.

    Attributes:
        name: Its name.
        type: `package/msg/Name`.
        count: Number of messages.
        rate: Messages a second of the recording; 0: one message or none.
    """

    name: str
    type: str
    count: int
    rate: float


class Message(NamedTuple):
    """A message of a recording.

    Attributes:
        topic: Its topic.
        time: Seconds since the start of the recording.
        type: `package/msg/Name`.
        data: CDR.
        content: The message as rosbags reads it.
    """

    topic: str
    time: float
    type: str
    data: bytes
    content: Any


class Recording:
    """A recording in an MCAP file; times are seconds since its first message.

    A file whose writer was killed is read up to its last complete chunk.

    Attributes:
        path: The file.
    """

    def __init__(self, index: McapIndex) -> None:
        """Read from an index; use `open`."""
        self.path = index.path
        self._index = index
        self._store = _typestore(index)
        self._channels = {channel.topic: key for key, channel in index.channels.items()}
        self._replays: dict[int, Replay] = {}  # by id of the world, which they hold

    @classmethod
    def open(cls, path: str | Path) -> Recording:
        """Open a file.

        Raises:
            LogError: It cannot be read, or the packages mcap and rosbags are missing.
        """
        return cls(McapIndex(Path(path)))

    def close(self) -> None:
        """Close the file."""
        self._index.close()
        self._replays.clear()

    def __enter__(self) -> Recording:
        """Return self."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        self.close()

    # ------------------------------------------------------------ contents
    @property
    def complete(self) -> bool:
        """Whether the file was completed; if not, its writer was killed."""
        return self._index.complete

    @property
    def start(self) -> float:
        """Simulated time of the first message [s]."""
        return self._index.start * NANO

    @property
    def duration(self) -> float:
        """Time from the first message to the last [s]."""
        return (self._index.end - self._index.start) * NANO

    @property
    def metadata(self) -> dict[str, str]:
        """What the recording says about itself: version, world_file, seed, step."""
        return dict(self._index.metadata.get(METADATA, {}))

    @property
    def topics(self) -> dict[str, TopicInfo]:
        """The topics by name, sorted."""
        index, found = self._index, {}
        for name, key in sorted(self._channels.items()):
            count = index.counts.get(key, 0)
            rate = count / self.duration if count > 1 and self.duration > 0.0 else 0.0
            found[name] = TopicInfo(name, self._type_of(key), count, rate)
        return found

    @property
    def message_count(self) -> int:
        """Number of messages."""
        return sum(self._index.counts.values())

    def _type_of(self, channel: int) -> str:
        return str(self._index.schemas[self._index.channels[channel].schema_id].name)

    def messages(self, topics: Iterable[str] | None = None) -> Iterator[Message]:
        """Yield the messages of some topics, or of all, in the order of writing.

        Raises:
            LogError: There is no such topic, or the file is damaged.
        """
        if topics is None:
            chosen = set(self._index.channels)
        else:
            chosen = {self._channel(name) for name in topics}
        for raw in self._index.messages(chosen.__contains__):
            yield self.decode(raw)

    def at(self, topic: str, time: float) -> Message | None:
        """Return the last message of a topic at or before a time [s], or None.

        Raises:
            LogError: There is no such topic, or the file is damaged.
        """
        raw = self.raw_at(topic, time)
        return None if raw is None else self.decode(raw)

    def raw_at(self, topic: str, time: float) -> RawMessage | None:
        """Return the message of `at`, not yet decoded.

        Raises:
            LogError: There is no such topic, or the file is damaged.
        """
        ns = self._index.start + round(time / NANO)
        return self._index.last_before(self._channel(topic), ns)

    def first(self, topic: str) -> Message | None:
        """Return the first message of a topic, or None.

        Raises:
            LogError: There is no such topic, or the file is damaged.
        """
        raw = self._index.first(self._channel(topic))
        return None if raw is None else self.decode(raw)

    def _channel(self, topic: str) -> int:
        if topic not in self._channels:
            known = ", ".join(sorted(self._channels))
            raise LogError(f"{self.path} has no topic {topic!r}; it has: {known}")
        return self._channels[topic]

    def decode(self, raw: RawMessage) -> Message:
        """Return a message with its content."""
        kind = self._type_of(raw.channel)
        content = self._store.deserialize_cdr(raw.data, kind)
        topic = str(self._index.channels[raw.channel].topic)
        return Message(topic, (raw.ns - self._index.start) * NANO, kind, raw.data, content)

    # ------------------------------------------------------------ the world
    @property
    def world_text(self) -> str:
        """The world as XML, with its includes and variables resolved; paths are absolute.

        Raises:
            LogError: The recording has none.
        """
        if WORLD_FILE not in self._index.attachments:
            problem = self.metadata.get("problem", "it was not made by mvsim")
            raise LogError(f"{self.path} holds no world: {problem}")
        return self._index.attachments[WORLD_FILE].decode()

    def load_world(self) -> World:
        """Load the recorded world, for `seek`.

        Raises:
            LogError: It has none, or files that the world names, such as maps, are missing here.
        """
        seed = int(self.metadata.get("seed", "0"))
        try:
            return load_world(text=self.world_text, seed=seed, change=_without_logs)
        except (WorldFileError, BuildError) as error:
            raise LogError(
                f"the world of {self.path} cannot be loaded here; maps and 3D models are not in"
                f" recordings, only their paths:\n{error}"
            ) from None

    def seek(self, world: World, time: float) -> None:
        """Put a world into the recorded state of a time [s]: entities, poses, wheels, readings.

        `world.new_readings` are the sensors whose reading is another one than before. The world
        should be that of `load_world`. Between two states the former one counts.

        Raises:
            LogError: The recording has no states, or they are those of another world.
        """
        if id(world) not in self._replays:
            self._replays[id(world)] = Replay(self, world)
        self._replays[id(world)].seek(time)


def _without_logs(spec: WorldSpec) -> WorldSpec:
    """Return a world that writes no files: it is not simulated."""
    vehicles = tuple(replace(each, auto_start_recording=False) for each in spec.vehicles)
    return replace(spec, vehicles=vehicles, save_ground_truth_trajectory="")


def _typestore(index: McapIndex) -> Any:
    """Return the message types that the file defines."""
    try:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    except ImportError:
        raise LogError(MISSING) from None
    types: dict[str, Any] = {}
    for schema in index.schemas.values():
        if schema.encoding == "ros2msg":
            types |= get_types_from_msg(schema.data.decode(), schema.name)
    store = get_typestore(Stores.EMPTY)
    store.register(types)
    return store
