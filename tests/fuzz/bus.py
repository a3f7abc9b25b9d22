# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzing of all sockets of the message bus while a world is stepped in real time.

    nice -n 10 python -m tests.fuzz.bus --minutes 10 --robots 25

Beside a reader of all topics, processes send garbage to each socket, subscribe and are killed or
stopped in the middle, and join a hundred at a time without ever reading. The world is stepped in
this process. Phases with and without these clients alternate, so that their steps compare. All
share the processors of the machine: for how long a step waited for one is said apart. With
`--apart` the world has the first half of them to itself, as if all clients were on other machines.
"""

import argparse
import gc
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import zmq

from mvsim_core import load_world
from mvsim_core.comms import Client, messages
from mvsim_core.comms.bus import WorldBus
from mvsim_core.comms.framing import pack
from mvsim_core.errors import CommsError
from mvsim_core.heap import settle_heap
from mvsim_core.world.request_queue import RequestQueue

DT = 0.01
#: Seed of the reader that means no harm.
HONEST = -1
#: Clients that join at once.
JOINERS = 100
#: What a phase with clients that mean harm lasts, and one without [s].
ATTACKED, ALONE = 8.0, 4.0
#: Longest time without a message for the reader of all topics, and for an answer [s].
PATIENCE = 10.0
#: Part by which memory may grow after a third of the time.
GROWTH = 0.05

ROBOT = """<vehicle:class name="cart"><dynamics class="differential">
    <controller class="twist_ideal"/></dynamics>
  <publish>
    <publish_pose_topic>/${NAME}/pose</publish_pose_topic>
    <publish_pose_period>0.05</publish_pose_period>
    <publish_odometry_topic>/${NAME}/odom</publish_odometry_topic></publish>
  <sensor class="laser" name="laser"><nrays>181</nrays><sensor_period>0.1</sensor_period>
    <publish><publish_topic>/${PARENT_NAME}/${NAME}</publish_topic></publish></sensor>
  <sensor class="imu" name="imu"><sensor_period>0.05</sensor_period>
    <publish><publish_topic>/${PARENT_NAME}/${NAME}</publish_topic></publish></sensor>
  <sensor class="gnss" name="gnss"><sensor_period>0.2</sensor_period>
    <publish><publish_topic>/${PARENT_NAME}/${NAME}</publish_topic></publish></sensor>
</vehicle:class>"""


def world_of(robots: int) -> str:
    """Return a world of robots that publish all they have."""
    vehicles = "".join(
        f'<vehicle name="r{k}" class="cart"><init_pose>{3 * (k % 5)} {3 * (k // 5)} 0</init_pose>'
        "</vehicle>"
        for k in range(robots)
    )
    return (
        f"<mvsim_world><simul_timestep>{DT}</simul_timestep>"
        "<georeference><latitude>36.8</latitude><longitude>-2.4</longitude></georeference>"
        '<element class="vertical_plane"><x0>-4</x0><y0>-3</y0><x1>-4</x1><y1>9</y1></element>'
        f"{ROBOT}{vehicles}</mvsim_world>"
    )


# -------------------------------------------------------------------- clients, in their processes
def read_all(port: int, seed: int) -> None:
    """Subscribe to all topics and print the number of messages each second."""
    count = [0]

    def take(_: object) -> None:
        count[0] += 1

    with Client(f"reader{seed}", port=port, timeout=PATIENCE) as client:
        for topic in client.topics():
            client.subscribe(topic.name, take)
        while True:
            time.sleep(1.0)
            say(str(count[0]))


def endpoints_of(client: Client, port: int) -> list[str]:
    """Return the sockets of a server and of all that publish there."""
    topics = {endpoint for topic in client.topics() for endpoint in topic.publishers.values()}
    return [f"tcp://127.0.0.1:{port}", *sorted(topics)]


def send_garbage(port: int, seed: int) -> None:
    """Send frames that are nearly right, and bytes that are no ZeroMQ, to each socket."""
    choose = random.Random(seed)
    seeds = [
        pack(messages.RegisterNodeRequest(nodeName="x" * 40)),
        pack(messages.UnregisterNodeRequest(nodeName="world")),
        pack(messages.SubscribeRequest(topic="/r0/pose", updatesEndpoint="ipc:///tmp/x")),
        pack(messages.SubscribeRequest(topic="/r0/pose", updatesEndpoint="tcp://127.0.0.1:1")),
        pack(messages.AdvertiseTopicRequest(topicName="/r0/pose", nodeName="x")),
        pack(messages.CallService(serviceName="set_pose", serializedInput=b"\xff" * 30)),
        pack(messages.GetServiceInfoRequest(serviceName="get_pose")),
        pack(messages.ListTopicsRequest()),
        choose.randbytes(60),
        bytes(1 << 16),
    ]
    with Client(f"garbage{seed}", port=port, timeout=PATIENCE) as client:
        endpoints = endpoints_of(client, port)
    context = zmq.Context()
    while True:
        endpoint = choose.choice(endpoints)
        peer = context.socket(choose.choice((zmq.DEALER, zmq.XSUB, zmq.PAIR, zmq.PUSH)))
        peer.setsockopt(zmq.LINGER, 0)
        peer.setsockopt(zmq.SNDTIMEO, 100)
        peer.connect(endpoint)
        try:
            for _ in range(choose.randrange(200)):
                frame = bytearray(choose.choice(seeds))
                for _ in range(choose.randrange(4)):
                    frame[choose.randrange(len(frame))] = choose.randrange(256)
                frames = [b""] * choose.randrange(3) + [bytes(frame)] * choose.randrange(1, 3)
                peer.send_multipart(frames)
        except zmq.ZMQError:
            pass  # the other side does not take them
        host, number = endpoint.removeprefix("tcp://").split(":")
        for _ in range(5):
            try:
                with socket.create_connection((host, int(number)), 1.0) as raw:
                    raw.sendall(choose.randbytes(choose.randrange(1, 300)))
            except OSError:
                pass
        time.sleep(0.01)
        peer.close()


def join_late(port: int, seed: int) -> None:
    """Join many at a time, subscribe to what all readers read, and never read."""
    del seed
    while True:
        context = zmq.Context()
        context.set(zmq.MAX_SOCKETS, 4096)
        kept = []
        for k in range(JOINERS):
            request, updates = context.socket(zmq.REQ), context.socket(zmq.PAIR)
            request.setsockopt(zmq.RCVTIMEO, int(PATIENCE * 1000))
            updates.bind("tcp://127.0.0.1:*")
            request.connect(f"tcp://127.0.0.1:{port}")
            endpoint = updates.get_string(zmq.LAST_ENDPOINT)
            for message in (
                messages.RegisterNodeRequest(nodeName=f"late{k}"),
                messages.SubscribeRequest(topic="/r0/laser", updatesEndpoint=endpoint),
            ):
                request.send(pack(message))
                request.recv()
            kept.append((request, updates))
        time.sleep(1.0)
        context.destroy(linger=0)


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


ROLES = {"read": read_all, "garbage": send_garbage, "join": join_late}


#: A client leaves the world's processors, if it may have others, before it imports anything. Not
#: between fork and exec: copying the tables of this process's memory would stop its steps.
STEP_ASIDE = """
import os, runpy, sys
cores, niceness = sys.argv.pop(1), int(sys.argv.pop(1))
os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
os.nice(niceness)
runpy.run_module("tests.fuzz.bus", run_name="__main__", alter_sys=True)
"""


def start(role: str, port: int, seed: int) -> subprocess.Popen[bytes]:
    """Start a client in a process of its own; those that mean harm are nice.

    What takes the processor is none of the bus's faults.
    """
    here = os.sched_getaffinity(0)
    cores = here if len(here) == (os.cpu_count() or 1) else _halves()[1]
    aside = [",".join(map(str, cores)), "0" if seed == HONEST else "19"]
    return subprocess.Popen(
        [sys.executable, "-c", STEP_ASIDE, *aside, "--role", role, str(port), str(seed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parents[2],
    )


# -------------------------------------------------------------------- the world
def resident() -> float:
    """Return the resident memory of this process [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@dataclass
class Steps:
    """How long steps took from when they were due, publishing included [s]."""

    taken: list[float] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)  # of that, for a processor [s]

    def __str__(self) -> str:
        """Return the figures in a line."""
        ordered = sorted(self.taken) or [0.0]
        own = sorted(a - b for a, b in zip(self.taken, self.waited, strict=True)) or [0.0]
        part = ordered[len(ordered) * 99 // 100]
        return (
            f"{len(ordered)} steps, median {1e3 * ordered[len(ordered) // 2]:.2f} ms,"
            f" 99 % {1e3 * part:.2f} ms, longest {1e3 * ordered[-1]:.1f} ms,"
            f" {_late(ordered):.2f} % longer than {1e3 * DT:g} ms;"
            f" without waiting for a processor {_late(own):.2f} %, longest {1e3 * own[-1]:.1f} ms"
        )


def _late(times: list[float]) -> float:
    """Return the percentage of times [s] beyond that of a step."""
    return 100.0 * sum(t > DT for t in times) / len(times)


def open_statistics() -> int:
    """Open what the scheduler says of this thread; return the file's number."""
    return os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)


def waited_for_processor(statistics: int) -> float:
    """Return for how long a thread was ready to run and did not [s]."""
    return int(os.pread(statistics, 100, 0).split()[1]) * 1e-9


class Fuzz:
    """A world on the bus among clients that mean harm.

    Attributes:
        faults: What was wrong, one sentence each.
        alone: Steps of phases without such clients.
        attacked: Steps of the other phases.
        memory: Resident memory after each round [MB].
    """

    def __init__(self, robots: int, seed: int) -> None:
        """Load the world and start the honest reader."""
        self.faults: list[str] = []
        self.alone, self.attacked = Steps(), Steps()
        self.memory: list[float] = []
        self._random = random.Random(seed)
        self._statistics = open_statistics()
        self._world = load_world(text=world_of(robots))
        self._requests = RequestQueue()
        self._bus = WorldBus(
            self._world, self._requests.submit, lambda: None, port=0, on_demand=True
        )
        self._reader = start("read", self._bus.port, HONEST)
        assert self._reader.stdout is not None
        os.set_blocking(self._reader.stdout.fileno(), False)
        self.messages, self.simulated = 0, 0.0
        self.begin = self._heard_at = time.monotonic()
        self._run(2.0, Steps())
        settle_heap()  # as programs that step a world in real time do

    def round(self) -> None:
        """Run a phase without and one with clients that mean harm."""
        self._run(ALONE, self.alone)
        clients = [
            start(role, self._bus.port, self._random.randrange(10**6))
            for role in ("garbage", "join", "read", "read")
        ]
        self._run(ATTACKED / 2, self.attacked)
        os.kill(clients[-1].pid, signal.SIGSTOP)
        clients[-2].kill()
        self._run(ATTACKED / 2, self.attacked)
        for client in clients:
            client.kill()
            client.wait()
        self._ask()
        gc.collect()
        self.memory.append(resident())

    def _run(self, seconds: float, steps: Steps) -> None:
        """Step in real time; what a step lacks is not caught up."""
        end = time.monotonic() + seconds
        due = time.monotonic()
        while due < end:
            waited = waited_for_processor(self._statistics)
            time.sleep(max(0.0, due - time.monotonic()))
            self._requests.process()
            self._world.step()
            self._bus.after_step()
            now = time.monotonic()
            steps.taken.append(now - due)
            steps.waited.append(waited_for_processor(self._statistics) - waited)
            self.simulated += DT
            due = max(due + DT, now)
        self._hear()

    def _hear(self) -> None:
        """Look whether the honest reader still reads."""
        assert self._reader.stdout is not None
        try:
            lines = os.read(self._reader.stdout.fileno(), 1 << 16).split()
        except BlockingIOError:
            lines = []
        now = time.monotonic()
        if lines and int(lines[-1]) > self.messages:
            self.messages, self._heard_at = int(lines[-1]), now
        elif now - self._heard_at > PATIENCE:
            self.faults.append(f"the reader has had no message for {now - self._heard_at:.0f} s")
            self._heard_at = now
        if self._reader.poll() is not None:
            self.faults.append("the reader has ended")

    def _ask(self) -> None:
        """Ask server and world, as a new client does, while the world is stepped."""
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(self._question)
            while not answer.done():  # each of its waits ends
                self._run(0.1, Steps())
        if answer.result():
            self.faults.append(answer.result())

    def _question(self) -> str:
        """Return what is wrong with the answers, or nothing."""
        try:
            with Client("question", port=self._bus.port, timeout=PATIENCE) as client:
                if not client.call("get_pose", objectId="r0").success:
                    return "get_pose of r0 has failed"
                end = time.monotonic() + PATIENCE
                while any(name.startswith(("late", "garbage")) for name in client.nodes()):
                    if time.monotonic() > end:
                        return f"dead nodes are still listed: {client.nodes()[:5]}"
                    time.sleep(0.1)
        except CommsError as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def close(self) -> None:
        """End the reader and the bus."""
        self._reader.kill()
        self._reader.wait()
        self._bus.close()
        os.close(self._statistics)


def _halves() -> tuple[list[int], list[int]]:
    """Return the processors of a world that is apart, and those of all clients."""
    all_of_them = range(os.cpu_count() or 1)
    half = max(1, len(all_of_them) // 2)
    return list(all_of_them[:half]), list(all_of_them[half:] or all_of_them)


def main() -> int:
    """Run for some minutes; return the number of faults."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--robots", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--apart", action="store_true")
    given = parser.parse_args()
    if given.apart:
        os.sched_setaffinity(0, set(_halves()[0]))
    fuzz = Fuzz(given.robots, given.seed)
    end = fuzz.begin + 60.0 * given.minutes
    shown = 0
    try:
        while time.monotonic() < end:
            fuzz.round()
            for fault in fuzz.faults[shown:]:
                say(f"FAULT {fault}")
            shown = len(fuzz.faults)
            say(
                f"{(time.monotonic() - fuzz.begin) / 60:.1f} min: {fuzz.messages} messages read,"
                f" {fuzz.memory[-1]:.0f} MB"
            )
    finally:
        fuzz.close()
    took = time.monotonic() - fuzz.begin
    say(f"without clients that mean harm: {fuzz.alone}")
    say(f"with them:                      {fuzz.attacked}")
    say(f"simulated {fuzz.simulated:.0f} s in {took:.0f} s; {len(fuzz.faults)} faults")
    third = max(1, len(fuzz.memory) // 3)
    grown = fuzz.memory[-1] / fuzz.memory[third] - 1.0 if len(fuzz.memory) > third else 0.0
    say(f"memory after a third of the time and at the end: {100 * grown:+.1f} %")
    return int(bool(fuzz.faults) or grown > GROWTH)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--role"]:
        role, port, seed = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
        ROLES[role](port, seed)
    else:
        sys.exit(main())
