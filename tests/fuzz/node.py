# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzing of all services and topics of a running node.

    nice -n 10 python -m tests.fuzz.node --minutes 30
    nice -n 10 python -m tests.fuzz.node --minutes 5 --strace

A client that means harm calls each service and publishes on each topic of a node. The node must
live and answer, /clock must go on, no file outside its folders may be read or written, and no
message may hold a value of the environment or the content of such a file. `--strace` records
each file that the node opens, and lists those outside its folders.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rcl_interfaces.srv import SetParameters
from rclpy.node import NodeNameNonExistentError
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from simulation_interfaces import srv
from simulation_interfaces.msg import SimulationState

from mvsim_ros2.services.server import SERVICES
from mvsim_ros2.simulation.worlds import PACKAGE_WORLDS
from tests.conftest import DomainPool
from tests.fuzz.messages import Filler, interface_type
from tests.fuzz.mutations import HOSTILE, WORDS, Mutator
from tests.ros.node_process import START, NodeProcess, Observer, eventually, known, nanoseconds
from tests.ros.worlds import CAR, COURIER, crowded, three_robots
from tests.soak.soak import memory
from tests.unit.xmlfile.test_fuzz import PROPER

#: Secret that stands in the environment of the node, and in files outside its folders.
SECRET = "QvSecretOfTheUserZx"
#: Longest time [s] that an answer may take; a load takes 2 s on an idle machine.
ANSWER = 60.0
#: Time between two looks for an answer [s].
POLL = 0.002
#: Time between two looks after which this process was stopped in between [s].
PAUSED = 5.0
#: A goal's result comes at its end, and a service of a vehicle ends with it.
SILENT = ("get_result", "set_brake")
#: Actions between two checks.
ROUND = 40
NAMES = ("r1", "car", "crate", "laser", "x", "r2", "", "courier", "r1/x", "a" * 130, "é", "map")
PATTERNS = ("", ".*", "(a|aa)+$", "(", "[", "^r", "x{1000}", "((((a*)*)*)*)*", "\\C", "r1|car")
#: Opened while a process starts, or by libraries for the machine's own facts.
SYSTEM = re.compile(
    r"^/(usr|lib|lib64|proc|sys|dev/(shm|urandom|null|tty|pts)|etc/(ld\.so|localtime|nsswitch|host"
    r"|passwd|resolv|gai|ssl|fonts|machine-id|drirc|glvnd|OpenCL|timezone|group|python|os-release)"
    r"|run/|var/cache/fontconfig|opt/|root/\.cache|home/[^/]+/\.cache)"
)
#: Written by every node: caches of Python and of kernels, shared memory of DDS, the log of ROS.
WRITTEN = re.compile(
    r"/__pycache__/|^/dev/(null|tty|shm/(sem\.)?fastdds_|shm/sem\.\w{6}$)|/\.ros/log/"
)
OPENED = re.compile(r"(?:openat|open|creat|rename\w*|unlink\w*|mkdir\w*)\((.*)")


@dataclass
class Seen:
    """What was seen.

    Attributes:
        clock: Newest /clock [ns].
        messages: Number of messages and answers.
        faults: Broken rules, in words.
        codes: How often each service gave each result.
    """

    clock: int = 0
    messages: int = 0
    faults: list[str] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)

    def take_clock(self, message: Clock) -> None:
        """Take a /clock."""
        self.clock = nanoseconds(message.clock)


class Interrupted(Exception):  # noqa: N818 (no error)
    """This process was stopped for a while."""


class Client:
    """Calls services and publishes, all of them by chance.

    Args:
        domain: ROS domain of the node.
        folder: Folder of the node's world.
        seed: Of the choices.
    """

    def __init__(self, domain: int, folder: Path, seed: int) -> None:
        self.seen = Seen()
        self._domain = domain
        self._random = random.Random(seed)
        worlds = [path.read_text() for path in sorted(folder.glob("*.world.xml"))]
        self._worlds = Mutator(seed, [*worlds, PROPER.decode()], (*WORDS, *HOSTILE))
        vehicles = [COURIER.format(sensors=""), CAR, "<vehicle class='courier'/>"]
        self._vehicles = Mutator(seed, vehicles, (*WORDS, *HOSTILE))
        files = [str(path) for path in sorted(folder.glob("*")) if path.name.isprintable()]
        self._uris = ["courier", "car", "c", *files, *HOSTILE, *(f"{f}#courier" for f in files)]
        self._texts = {
            "resource_string": self._xml,
            "uri": lambda: self._random.choice(("", *self._uris)),
            "sources": lambda: self._random.choice(self._uris),
            "filter": lambda: self._random.choice(PATTERNS),
            "": self._word,
        }
        for name in ("name", "entity", "frame_id", "entity_namespace"):
            self._texts[name] = self._name
        self._filler = Filler(self._random, self._texts)
        self._secrets = secrets()
        self.calls: deque[str] = deque(maxlen=20)
        self._connect()

    def _connect(self) -> None:
        self._observer = Observer(self._domain)
        self._node = self._observer.node
        self._services: dict[str, Any] = {}
        self._publishers: dict[str, tuple[Any, Any]] = {}
        self._listeners: dict[str, Any] = {}
        self._node.create_subscription(Clock, "/clock", self.seen.take_clock, 100)

    def close(self) -> None:
        """Leave the domain."""
        self._observer.close()

    # ------------------------------------------------------------------- texts
    def _word(self) -> str:
        return self._random.choice((*NAMES, *WORDS, *HOSTILE)).replace("\0", "")

    def _name(self) -> str:
        return self._random.choice(NAMES) if self._random.random() < 0.8 else self._word()

    def _xml(self) -> str:
        source = self._random.choice((self._worlds, self._worlds, self._vehicles))
        text = source.world() if self._random.random() < 0.8 else ""
        return text.replace("\0", "").encode("utf-8", "replace").decode()

    # ----------------------------------------------------------------- actions
    def act(self) -> None:
        """Call a service, or publish some messages."""
        if self._random.random() < 0.5:
            self._publish()
        else:
            self._call()

    def _call(self) -> None:
        services = known(self._node.get_service_names_and_types_by_node)
        name, (kind, *_) = self._random.choice(sorted(services))
        service = interface_type(kind)
        if name not in self._services:
            self._services[name] = self._node.create_client(service, name)
        if not self._services[name].service_is_ready():
            return
        request = self._filler.fill(service.Request())
        if (
            getattr(getattr(request, "state", None), "state", None)
            == SimulationState.STATE_QUITTING
        ):
            return  # a client may end the node
        self.ask(name, request)

    def ask(self, name: str, request: Any) -> Any:
        """Return the answer to a request; None: there is none."""
        self.calls.append(f"{name} {str(request)[:3000]}")
        future = self._services[name].call_async(request)
        polls, paused, before = 0, False, time.monotonic()
        while not future.done() and polls * POLL < ANSWER:
            time.sleep(POLL)
            polls += 1
            now = time.monotonic()
            # Both processes were stopped: DDS drops a peer, and its answer, after 20 s.
            paused |= now - before > PAUSED
            before = now
        if paused and not future.done() and not name.endswith(SILENT):
            raise Interrupted
        if not future.done():
            if not name.endswith(SILENT):
                self.seen.faults.append(f"no answer of {name} to {str(request)[:2000]}")
            return None
        answer = future.result()
        self._check(f"answer of {name}", str(answer).encode())
        code = getattr(getattr(answer, "result", None), "result", "-")
        self.seen.codes[f"{name.rpartition('/')[2]} {code}"] += 1
        return answer

    def _publish(self) -> None:
        try:
            topics = self._node.get_subscriber_names_and_types_by_node("mvsim", "/")
        except NodeNameNonExistentError:
            topics = []
        if not topics:  # there is no world
            return
        name, kinds = self._random.choice(sorted(topics))
        if name not in self._publishers:
            kind = interface_type(self._random.choice(kinds))  # a participant has one a topic
            self._publishers[name] = kind, self._node.create_publisher(kind, name, 10)
        kind, publisher = self._publishers[name]
        self.calls.append(name)
        for _ in range(self._random.choice((1, 1, 5, 30))):
            publisher.publish(self._filler.fill(kind()))

    def reconnect(self) -> None:
        """Join again: after a pause DDS has dropped this client or the node."""
        self.close()
        self._connect()

    # ------------------------------------------------------------------ checks
    def listen(self) -> None:
        """Subscribe to all that the node publishes."""
        topics = known(self._node.get_publisher_names_and_types_by_node)
        for gone in self._listeners.keys() - {name for name, _ in topics}:
            self._node.destroy_subscription(self._listeners.pop(gone))
        qos = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
        for name, (kind, *_) in topics:
            if name not in self._listeners:

                def check(message: bytes, name: str = name) -> None:
                    self._check(name, message)

                self._listeners[name] = self._node.create_subscription(
                    interface_type(kind), name, check, qos, raw=True
                )

    def _check(self, where: str, data: bytes) -> None:
        self.seen.messages += 1
        for secret in self._secrets:
            if secret in data:
                self.seen.faults.append(f"{where} holds {secret!r}: {data[:2000]!r}")

    def play(self) -> None:
        """Bring the simulation to play in real time, and wait until the clock goes on."""
        self._set_parameter("realtime_factor", 1.0)
        state = self._service("GetSimulationState")
        assert state is not None, "the state of the simulation is not answered"
        if state.state.state == SimulationState.STATE_NO_WORLD:
            self._service("LoadWorld", uri="test.world.xml")
        self._service("SetSimulationState", state=SimulationState(state=1))
        before = self.seen.clock
        begin = time.monotonic()
        try:
            eventually(lambda: self.seen.clock != before, "the clock goes on", ANSWER)
        except AssertionError as error:
            state = self._service("GetSimulationState")  # raises after a pause
            if time.monotonic() - begin > 1.5 * ANSWER:
                raise Interrupted from None
            self.seen.faults.append(f"{error}; state {state}")

    def _service(self, kind: str, **fields: Any) -> Any:
        service = getattr(srv, kind)
        name = "/" + re.sub("(?<!^)([A-Z])", r"_\1", kind).lower()
        if name not in self._services:
            self._services[name] = self._node.create_client(service, name)
            self._services[name].wait_for_service(ANSWER)
        return self.ask(name, service.Request(**fields))

    def _set_parameter(self, name: str, value: Any) -> None:
        service = "/mvsim/set_parameters"
        if service not in self._services:
            self._services[service] = self._node.create_client(SetParameters, service)
            self._services[service].wait_for_service(ANSWER)
        message = Parameter(name, value=value).to_parameter_msg()
        self.ask(service, SetParameters.Request(parameters=[message]))


def secrets() -> tuple[bytes, ...]:
    """Return what no message may hold: values of the environment, and the secret of files."""
    folders = (str(PACKAGE_WORLDS), tempfile.gettempdir())
    values = {v for v in os.environ.values() if len(v) >= 12}
    return tuple(
        value.encode()
        for value in sorted({SECRET, *values})
        if not any(folder.startswith(value) or value.startswith(folder) for folder in folders)
    )


def listing(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder with what they hold, logs and caches left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".ros", ".cache"} & set(path.parts)
    }


def prepare(top: Path) -> Path:
    """Fill a folder with worlds, and with files that a client must not reach; return the world."""
    for name in ("world", "secret", "home", "start"):
        (top / name).mkdir()
    three_robots(top / "world").rename(top / "world" / "other.world.xml")
    world = crowded(top / "world")
    (top / "secret" / "secret.txt").write_text(SECRET)
    (top / "start" / "secret.txt").write_text(SECRET)
    not_utf8 = os.fsdecode(b"\xff.world.xml")
    (top / "world" / not_utf8).write_text("<mvsim_world/>")
    (top / "secret" / "secret.vehicle.xml").write_text(f"<vehicle><mass>{SECRET}</mass></vehicle>")
    return world


def fuzz(
    go_on: Callable[[int], bool],
    seed: int,
    *,
    trace: Path | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> Seen:
    """Run a node and let a client do its worst.

    Args:
        go_on: Whether to go on after a number of actions.
        seed: Of the choices.
        trace: Where strace writes the files that the node opens; None: no strace.
        report: Called with a line from time to time.

    Returns:
        What was seen; its `faults` say which rules were broken.
    """
    pool = DomainPool()
    domain = pool.take()
    with tempfile.TemporaryDirectory(prefix="fuzz_") as name:
        top = Path(name)
        world = prepare(top)
        os.environ["MVSIM_FUZZ_SECRET"] = SECRET
        before = listing(top)
        command = tracer(trace) if trace else ()
        node = NodeProcess(domain, world, command=command, folder=top / "start")
        client = Client(domain, world.parent, seed)
        try:
            eventually(lambda: client.seen.clock, "/clock", START)
            _rounds(client, node, go_on, report)
            seen = client.seen
            if node.process.poll() is None:
                code, _ = node.interrupt(times=1)
                if code != 0:
                    seen.faults.append(f"exit code {code}")
            seen.faults += _faults_of_output(node.output)
            after = listing(top)
            seen.faults += [
                f"file {path} was changed"
                for path in sorted(before.keys() | after.keys())
                if before.get(path) != after.get(path)
            ]
            if trace:
                seen.faults += opened_elsewhere(trace, top)
            return seen
        finally:
            client.close()
            node.close()
            pool.close()


def tracer(trace: Path) -> tuple[str, ...]:
    """Return the words before a command that record in a file what it opens.

    The command is the process that starts (-D): signals and its end reach it and not strace,
    which ends with it.
    """
    return ("strace", "-D", "-f", "-qq", "-e", "trace=%file", "-o", str(trace))


def _rounds(
    client: Client, node: NodeProcess, go_on: Callable[[int], bool], report: Callable[[str], None]
) -> None:
    actions = 0
    seen = client.seen
    while go_on(actions):
        try:
            client.listen()
            for _ in range(ROUND):
                if node.process.poll() is not None or not go_on(actions):
                    break
                actions += 1
                client.act()
            client.play()
        except Interrupted:
            report("this process was stopped for a while")
            client.reconnect()
        except AssertionError as error:
            calls = "\n  ".join(client.calls)
            seen.faults.append(f"{error}; the last calls:\n  {calls}")
            report(seen.faults[-1])
        if node.process.poll() is not None:
            code = node.process.poll()
            seen.faults.append(f"the node ended with {code}: {node.output[-3000:]}")
            return
        resident, _ = memory(node.process.pid)
        report(f"{actions} actions, {seen.messages} messages, {resident:.0f} MB")
    if not seen.messages:
        seen.faults.append("no message came")


def _faults_of_output(output: str) -> list[str]:
    lines = output.splitlines()
    bad = [i for i, line in enumerate(lines) if "Traceback" in line]
    found = ["\n".join(lines[i : i + 40]) for i in bad]
    found = [text for text in found if "Parameter.from_parameter_msg" not in text]  # rclpy's own
    if SECRET in output:
        found.append("the output of the node holds the secret")
    return found


def opened_elsewhere(trace: Path, top: Path) -> list[str]:
    """Return the files outside its folders that a node opened, and what it wrote, by strace."""
    found: Counter[str] = Counter()
    allowed = (str(top / "world"), *map(str, sys.path[1:]), sys.prefix, sys.base_prefix)
    roots = (*allowed, str(PACKAGE_WORLDS.parent), "/tmp/mvsim_node_")
    for line in trace.read_text(errors="replace").splitlines():
        call = OPENED.search(line)
        if call is None or "= -1" in line:
            continue
        path = re.search(r"\"([^\"]*)\"", call[1])
        if path is None or not path[1].startswith("/"):
            continue
        writes = re.search(r"O_WRONLY|O_RDWR|O_CREAT|unlink|rename|mkdir|creat", line)
        if path[1].startswith(roots) and not writes:
            continue
        if (SYSTEM.match(path[1]) and not writes) or path[1] == str(top / "start"):
            continue
        if writes and WRITTEN.search(path[1]):
            continue
        found[f"{'wrote' if writes else 'opened'} {path[1]}"] += 1
    return [f"{what} ({number} times)" for what, number in found.most_common()]


def main() -> int:
    """Fuzz for the time that is given on the command line."""
    parser = argparse.ArgumentParser(description="Let a client do its worst to a node.")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strace", action="store_true")
    options = parser.parse_args()
    begin = 0.0

    def report(text: str) -> None:
        sys.stdout.write(f"{time.monotonic() - begin:6.0f} s  {text}\n")
        sys.stdout.flush()

    def go_on(_: int) -> bool:
        nonlocal begin
        begin = begin or time.monotonic()  # the start of the node does not count
        return time.monotonic() - begin < 60.0 * options.minutes

    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace") if options.strace else None
        seen = fuzz(go_on, options.seed, trace=trace, report=report)
    for name, number in sorted(seen.codes.items()):
        sys.stdout.write(f"{number:6} {name}\n")
    never = {s.name for s in SERVICES} - {name.split()[0] for name in seen.codes}
    sys.stdout.write(f"never called: {sorted(never)}\n")
    sys.stdout.writelines(f"FAULT {fault}\n" for fault in seen.faults)
    sys.stdout.write(f"{len(seen.faults)} faults, {seen.messages} messages\n")
    return 1 if seen.faults else 0


if __name__ == "__main__":
    sys.exit(main())
