# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Recordings as files: read by rosbags and by the mcap tools, complete or cut off."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from mcap.exceptions import EndOfFile
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from mcap_ros2.reader import read_ros2_messages
from rosbags.highlevel import AnyReader, AnyReaderError

from mvsim_core import World, load_world
from mvsim_core.bags import BagRecorder, Recording, record
from mvsim_core.bags.definitions import definition, typestore
from mvsim_core.bags.recovery import recover
from mvsim_core.bags.state_stream import STATE
from mvsim_core.errors import LogError
from tests.ros import worlds

#: (topic, time [ns], CDR) as given to the writer.
Written = list[tuple[str, int, bytes]]


def record_all(world: World, path: Path, seconds: float, **options: Any) -> Written:
    """Record a world and return what was written."""
    written: Written = []
    with record(world, path, **options) as recorder:
        keep(recorder, written)
        for vehicle in world.vehicles.values():
            if "twist" in vehicle.accepts:
                vehicle.set_twist(0.5, 0.0, 0.2)
        world.run(seconds)
    return written


def keep(recorder: BagRecorder, written: Written) -> None:
    """Keep what a recorder writes from now on."""
    write = recorder.write

    def keeping(channel: int, data: bytes, ns: int) -> None:
        names = {number: name for name, number in recorder._channels.items()}
        written.append((names[channel], ns, data))
        write(channel, data, ns)

    recorder.write = keeping


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Written]:
    folder = tmp_path_factory.mktemp("all")
    world = load_world(worlds.all_sensors(folder))
    path = folder / "run.mcap"
    return path, record_all(world, path, 1.0, derived=True)


def test_rosbags_reads_every_message(recorded: tuple[Path, Written]) -> None:
    path, written = recorded
    with AnyReader([path]) as reader:
        read = []
        for connection, ns, raw in reader.messages():
            message = reader.deserialize(raw, connection.msgtype)
            again = reader.typestore.serialize_cdr(message, connection.msgtype)
            assert bytes(again) == bytes(raw)
            read.append((connection.topic, ns, bytes(raw)))
        kinds = {connection.msgtype for connection in reader.connections}
    assert sorted(read) == sorted(written)
    assert len(kinds) >= 18  # every kind of sensor, and the world


def test_mcap_ros2_reads_every_message(recorded: tuple[Path, Written]) -> None:
    path, written = recorded
    with AnyReader([path]) as reader:
        others = [
            (connection.topic, ns, reader.deserialize(raw, connection.msgtype))
            for connection, ns, raw in reader.messages()
        ]
    read = [(m.channel.topic, m.log_time_ns, m.ros_msg) for m in read_ros2_messages(str(path))]
    assert Counter(t for t, _, _ in read) == Counter(t for t, _, _ in written)
    for (topic, ns, message), (its_topic, its_ns, other) in zip(
        sorted(read, key=lambda m: (m[1], m[0])),
        sorted(others, key=lambda m: (m[1], m[0])),
        strict=True,
    ):
        assert (topic, ns) == (its_topic, its_ns)
        assert_same(message, other)


def assert_same(message: Any, other: Any) -> None:
    """Check that a message of mcap_ros2 has the fields of one of rosbags."""
    if hasattr(other, "__msgtype__"):
        for name, value in vars(other).items():
            if not name.isupper() and name != "__msgtype__":
                assert_same(getattr(message, name), value)
    elif hasattr(other, "tobytes"):
        same = [a == b or (a != a and b != b) for a, b in zip(message, other, strict=True)]
        assert all(same)
    elif isinstance(other, list):
        for a, b in zip(message, other, strict=True):
            assert_same(a, b)
    else:
        assert message == other or (message != message and other != other)


def test_times_never_go_back_and_latched_topics_say_so(recorded: tuple[Path, Written]) -> None:
    path, _ = recorded
    with path.open("rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        assert summary is not None
        assert reader.get_header().profile == "ros2"
        times = [m.log_time for _, _, m in reader.iter_messages(log_time_order=False)]
    assert times == sorted(times)
    qos = {c.topic: c.metadata["offered_qos_profiles"] for c in summary.channels.values()}
    assert "transient_local" in qos["/r1/tf_static"]
    assert "volatile" in qos["/r1/odom"]
    schemas = {s.name: s for s in summary.schemas.values()}
    assert schemas["mvsim_msgs/msg/WheelStates"].encoding == "ros2msg"
    assert b"MSG: mvsim_msgs/WheelState" in schemas["mvsim_msgs/msg/WheelStates"].data


@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_other_compressions(compression: str, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    world = load_world(worlds.one_robot(tmp_path))
    written = record_all(world, path, 0.2, compression=compression)
    with Recording.open(path) as recording:
        assert [(m.topic, m.data) for m in recording.messages()] == [(t, d) for t, _, d in written]


def test_topics_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    world = load_world(worlds.all_sensors(tmp_path))
    record_all(world, path, 0.3, exclude=["/r1/(eye|pair|depth_cam)/.*", "/clock"])
    with Recording.open(path) as recording:
        assert "/r1/scanner" in recording.topics
        assert not [t for t in recording.topics if "eye" in t or "cam" in t or t == "/clock"]


@pytest.mark.parametrize(
    ("options", "words"),
    [({"exclude": ["("]}, "no regular expression"), ({"compression": "zip"}, "lz4, zstd, none")],
)
def test_wrong_options_are_errors(options: Any, words: str, tmp_path: Path) -> None:
    world = load_world(worlds.one_robot(tmp_path))
    with pytest.raises(LogError, match=words):
        record(world, tmp_path / "run.mcap", **options)
    assert not world.listeners


# --------------------------------------------------------------------------- cut off
RUN = """
import sys, time
from mvsim_core import load_world
from mvsim_core.bags import record
world = load_world(sys.argv[1])
with record(world, sys.argv[2]):
    print("ready", flush=True)
    while True:
        world.run(0.1)
        time.sleep(0.02)
"""


def start(world: Path, path: Path, seconds: float) -> subprocess.Popen[str]:
    """Start a process that records, and wait."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(world), str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(seconds)
    return process


def test_a_killed_process_leaves_all_but_the_last_second(tmp_path: Path) -> None:
    path, whole = tmp_path / "run.mcap", tmp_path / "whole.mcap"
    process = start(worlds.one_robot(tmp_path), path, 3.5)
    process.kill()
    process.wait()
    records = []
    with path.open("rb") as file, pytest.raises(EndOfFile):
        records.extend(StreamReader(file).records)  # insists on the end of the file
    with pytest.raises(AnyReaderError), AnyReader([path]):
        pass
    with Recording.open(path) as recording:
        assert not recording.complete
        count = recording.message_count
        # about 4 simulated seconds in each second; the last chunk is missing
        assert recording.duration > 4.0
        messages = [(m.topic, m.time, m.data) for m in recording.messages()]
        assert len(messages) == count > 1000
        world = recording.load_world()
        recording.seek(world, recording.duration)
        newest = [time for topic, time, _ in messages if topic == STATE.name][-1]
        assert world.ticks == round((recording.start + newest) / world.dt)
        assert messages[-1][1] - newest < 5.5 * world.dt  # states are as frequent as poses
    assert recover(path, whole) == count
    with AnyReader([whole]) as reader:
        assert sum(1 for _ in reader.messages()) == count
    with Recording.open(whole) as recording:
        assert recording.complete
        assert [(m.topic, m.time, m.data) for m in recording.messages()] == messages
        assert recording.world_text


def test_any_part_of_a_file_is_readable(recorded: tuple[Path, Written], tmp_path: Path) -> None:
    path, _ = recorded
    content, part = path.read_bytes(), tmp_path / "part.mcap"
    before = 0
    for percent in range(10, 101, 10):
        part.write_bytes(content[: len(content) * percent // 100 - 1])
        with Recording.open(part) as recording:
            assert not recording.complete
            count = sum(1 for _ in recording.messages())
            assert count == recording.message_count >= before
            before = count
    assert before > 0


def test_a_recording_that_is_interrupted_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    process = start(worlds.one_robot(tmp_path), path, 1.0)
    process.send_signal(signal.SIGINT)
    process.wait()
    with Recording.open(path) as recording:
        assert recording.complete
        assert recording.duration > 0.5


def test_a_recording_that_is_forgotten_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    code = RUN.replace("with record(world, sys.argv[2]):", "recorder = record(world, sys.argv[2])")
    code = code[: code.index("    print")] + "world.run(0.5)\n"
    arguments = [sys.executable, "-c", code, str(worlds.one_robot(tmp_path)), str(path)]
    subprocess.run(arguments, check=True)
    with Recording.open(path) as recording:
        assert recording.complete
        assert recording.duration == pytest.approx(0.5, abs=0.01)


def _run_until_error(world: World) -> None:
    deadline = time.monotonic() + 20.0
    while world.log_error is None and time.monotonic() < deadline:
        world.run(0.1)
        time.sleep(0.05)


def test_a_full_disk_ends_the_recording_and_not_the_run(tmp_path: Path) -> None:
    world = load_world(worlds.all_sensors(tmp_path))
    recorder = record(world, "/dev/full")
    text = r"/dev/full: No space left on device; the recording ends"
    with pytest.warns(UserWarning, match=text):
        _run_until_error(world)
    assert "No space left" in str(world.log_error)
    assert not world.listeners
    ticks = world.ticks
    world.run(0.1)
    assert world.ticks > ticks
    recorder.close()  # says nothing more


@pytest.mark.parametrize("module", ["mcap.writer", "rosbags.typesys"])
def test_missing_packages_are_named(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typestore.cache_clear()
    definition.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    world = load_world(worlds.one_robot(tmp_path))
    with pytest.raises(LogError, match=r"pip install 'mvsim_core\[record\]'"):
        record(world, tmp_path / "run.mcap")
    assert not world.listeners


def test_files_that_cannot_be_made_are_errors(tmp_path: Path) -> None:
    world = load_world(worlds.one_robot(tmp_path))
    with pytest.raises(LogError, match="Is a directory"):
        record(world, tmp_path)
    assert not world.listeners


@pytest.mark.parametrize("content", [b"", b"text", b"\x89MCAP0\r\n" + bytes(20)])
def test_other_files_are_errors_or_empty(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.mcap"
    path.write_bytes(content)
    if content.startswith(b"\x89"):
        with Recording.open(path) as recording:
            assert recording.message_count == 0
            with pytest.raises(LogError, match="holds no world"):
                recording.load_world()
    else:
        with pytest.raises(LogError, match="is no MCAP file"):
            Recording.open(path)
    with pytest.raises(LogError, match="No such file"):
        Recording.open(tmp_path / "none.mcap")


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is slower than the simulation holds it up; messages don't pile up."""
    from mvsim_core.bags import writer

    monkeypatch.setattr(writer, "PENDING", 60_000)
    monkeypatch.setattr(writer, "BATCH_SIZE", 20_000)
    world = load_world(worlds.all_sensors(tmp_path))
    with record(world, tmp_path / "run.mcap") as recorder:
        slow = recorder._writer._write_entry
        most = 0

        def write_slowly(entry: Any) -> None:
            time.sleep(3e-4)
            slow(entry)

        recorder._writer._write_entry = write_slowly  # type: ignore[method-assign]
        for _ in range(400):
            world.step()
            most = max(most, recorder._writer._waiting)
    assert 20_000 < most < 140_000  # a picture may be larger than a batch
    assert os.path.getsize(tmp_path / "run.mcap") > 100_000
