# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim server`, `node`, `topic` and `service`: the message bus of a running simulation."""

from __future__ import annotations

import json
import statistics
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mvsim_core.cli.command import App, wrong
from mvsim_core.cli.options import MOST_PORTS

if TYPE_CHECKING:
    from mvsim_core.comms import Client

PORT = 23700  # comms.DEFAULT_PORT, which is imported only when a verb needs it

Address = Annotated[str, typer.Option(help="Host of the server.")]
Port = Annotated[
    int, typer.Option("--port", "-p", help="TCP port of the server.", min=1, max=MOST_PORTS)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seconds = Annotated[float, typer.Option(help="How long to wait for an answer [s].", min=0.01)]
Fields = Annotated[
    str, typer.Argument(metavar="JSON", help='Fields, such as \'{"objectId": "r1"}\'.')
]

node_app = App(help="Nodes of the message bus.")
topic_app = App(help="Topics of the message bus.")
service_app = App(help="Services of the message bus.")


def server(
    port: Annotated[
        int, typer.Option("--port", "-p", help="TCP port; 0: any.", min=0, max=MOST_PORTS)
    ] = PORT,
    bind: Annotated[
        str, typer.Option(help="Address to bind to; 0.0.0.0: all, there is no password.")
    ] = "127.0.0.1",
) -> None:
    """Run a server of the message bus alone, without a world, until Ctrl-C."""
    from mvsim_core.comms import Server

    with Server(port, bind) as running:
        print(f"message bus: server at {bind}:{running.port}", flush=True)
        try:
            while True:
                time.sleep(3600.0)
        except KeyboardInterrupt:
            pass


# ---------------------------------------------------------------- lists
@node_app.command("list")
def list_nodes(address: Address = "localhost", port: Port = PORT, json_: AsJson = False) -> None:
    """List the nodes."""
    with _client(address, port) as bus:
        found = [name for name in bus.nodes() if name != bus.name]
    _print(found, json_, lambda name: name)


@topic_app.command("list")
def list_topics(
    prefix: Annotated[str, typer.Argument(help="Only topics that start with this.")] = "",
    address: Address = "localhost",
    port: Port = PORT,
    details: Annotated[bool, typer.Option(help="Print publishers and endpoints.")] = False,
    json_: AsJson = False,
) -> None:
    """List the topics with their types."""
    with _client(address, port) as bus:
        topics = bus.topics(prefix)

    def line(info: dict[str, Any]) -> str:
        text = f"{info['name']}  [{info['type'] or 'no publisher'}]"
        shown = info["publishers"].items() if details else ()
        return text + "".join(f"\n    {node}  {endpoint}" for node, endpoint in shown)

    found = [{"name": t.name, "type": t.type, "publishers": t.publishers} for t in topics]
    _print(found, json_, line)


@service_app.command("list")
def list_services(
    address: Address = "localhost", port: Port = PORT, json_: AsJson = False
) -> None:
    """List the services with the types of request and answer."""
    with _client(address, port) as bus:
        services = bus.services()
    found = [
        {"name": s.name, "request": s.input_type, "answer": s.output_type, "node": s.node}
        for s in services
    ]
    _print(found, json_, lambda s: f"{s['name']}  [{s['request']} -> {s['answer']}]")


# ---------------------------------------------------------------- topics
@topic_app.command("echo")
def echo(
    topic: str,
    count: Annotated[int, typer.Option("--count", "-n", help="0: until Ctrl-C.", min=0)] = 0,
    timeout: Annotated[
        float,
        typer.Option(
            help="Wait at most this long for the next message [s]; 0: for ever.", min=0.0
        ),
    ] = 0.0,
    address: Address = "localhost",
    port: Port = PORT,
    json_: AsJson = False,
) -> None:
    """Print the messages of a topic."""
    from mvsim_core.errors import CommsError

    with _client(address, port) as bus, _Queue(bus, topic) as queue:
        shown = 0
        try:
            while not count or shown < count:
                arrived = queue.get(timeout)
                if arrived is None:
                    raise CommsError(f"no message on {topic} within {timeout:g} s")
                _, type_name, data = arrived
                print(_message_text(type_name, data, json_), flush=True)
                shown += 1
        except KeyboardInterrupt:
            pass


@topic_app.command("hz")
def rate(
    topic: str,
    seconds: Annotated[float, typer.Option(help="How long to measure [s].", min=0.1)] = 5.0,
    address: Address = "localhost",
    port: Port = PORT,
    json_: AsJson = False,
) -> None:
    """Measure the rate of a topic in wall time."""
    arrivals: list[float] = []
    size = 0
    with _client(address, port) as bus, _Queue(bus, topic) as queue:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            arrived = queue.get(left)
            if arrived is not None:
                arrivals.append(arrived[0])
                size += len(arrived[2])
    periods = [b - a for a, b in pairwise(arrivals)]
    found: dict[str, Any] = {"topic": topic, "messages": len(arrivals), "bytes": size}
    if periods:
        found["rate"] = len(periods) / (arrivals[-1] - arrivals[0])
        found |= {"period_min": min(periods), "period_max": max(periods)}
        found["period_std"] = statistics.pstdev(periods)
    if json_:
        print(json.dumps(found))
    elif not periods:
        print(f"{topic}: {len(arrivals)} messages in {seconds:g} s")
    else:
        print(
            f"{topic}: {found['rate']:.2f} Hz, period {found['period_min'] * 1e3:.1f} to"
            f" {found['period_max'] * 1e3:.1f} ms, deviation {found['period_std'] * 1e3:.1f} ms,"
            f" {size / len(arrivals):.0f} bytes a message"
        )
    if not arrivals:
        raise typer.Exit(1)


@topic_app.command("pub")
def publish(  # noqa: PLR0913 (one argument for each option)
    topic: str,
    message_type: Annotated[str, typer.Argument(metavar="TYPE", help="Such as Twist.")],
    fields: Fields,
    count: Annotated[int, typer.Option("--count", "-n", help="0: until Ctrl-C.", min=0)] = 1,
    rate: Annotated[float, typer.Option(help="Messages a second.", min=0.01)] = 10.0,
    wait: Annotated[float, typer.Option(help="Wait this long for a reader [s].", min=0.0)] = 2.0,
    address: Address = "localhost",
    port: Port = PORT,
) -> None:
    """Publish messages on a topic."""
    from mvsim_core.comms.client import new_message

    message = new_message(message_type, _fields(fields))
    with _client(address, port) as bus:
        publication = bus.advertise(topic, type(message))
        end = time.monotonic() + wait
        while not publication.readers and time.monotonic() < end:
            time.sleep(0.02)
        readers, sent = publication.readers, 0
        try:
            while not count or sent < count:
                bus.publish(topic, message)
                sent += 1
                if sent != count:
                    time.sleep(1.0 / rate)
        except KeyboardInterrupt:
            pass
    print(f"{topic}: {sent} published, {readers} readers")


# ---------------------------------------------------------------- services
@service_app.command("call")
def call(
    service: str,
    fields: Fields = "{}",
    timeout: Seconds = 5.0,
    address: Address = "localhost",
    port: Port = PORT,
    json_: AsJson = False,
) -> None:
    """Call a service and print the answer; the exit code is 1 if it says that it failed."""
    with _client(address, port) as bus:
        answer = bus.call(service, timeout=timeout, **_fields(fields))
    print(_text(answer, json_))
    if not getattr(answer, "success", True):
        raise typer.Exit(1)


# ---------------------------------------------------------------- internal
class _Queue:
    """Messages of a topic as they arrive: time, type name, bytes."""

    def __init__(self, bus: Client, topic: str) -> None:
        import queue

        self._bus = bus
        self._topic = topic
        self._arrived: queue.Queue[tuple[float, str, bytes]] = queue.Queue(1000)

    def __enter__(self) -> _Queue:
        self._bus.subscribe(self._topic, self._put, queue=100, raw=True)
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def _put(self, message: tuple[str, bytes]) -> None:
        if not self._arrived.full():
            self._arrived.put((time.monotonic(), *message))

    def get(self, timeout: float) -> tuple[float, str, bytes] | None:
        """Return the next message; None: there is none in time; 0: wait for ever."""
        import queue

        end = time.monotonic() + timeout if timeout else float("inf")
        while (left := end - time.monotonic()) > 0.0:
            try:
                return self._arrived.get(timeout=min(left, 0.2))  # Ctrl-C is heard in between
            except queue.Empty:
                continue
        return None


def _client(address: str, port: int) -> Client:
    import os

    from mvsim_core.comms import Client

    return Client(f"mvsim-cli-{os.getpid()}", address=address, port=port)


def _fields(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise wrong("JSON", f"expected a JSON object, got {text!r}: {error}") from None
    if not isinstance(found, dict):
        raise wrong("JSON", f"expected a JSON object, got {text!r}")
    return found


def _message_text(type_name: str, data: bytes, as_json: bool) -> str:
    from mvsim_core.comms.framing import parse
    from mvsim_core.errors import CommsError

    try:
        return _text(parse(type_name, data), as_json)
    except CommsError:
        unknown = {"type": type_name, "bytes": len(data)}
        return json.dumps(unknown) if as_json else f"{type_name}: {len(data)} bytes\n"


def _text(message: Any, as_json: bool) -> str:
    """Return a message as text; the bytes of an observation are summarized."""
    from google.protobuf import json_format, text_format

    values = json_format.MessageToDict(message, preserving_proto_field_name=True)
    blob = "mrptSerializedObservation"
    if blob in values:
        from mvsim_core.comms.mrpt import class_name

        data = getattr(message, blob)
        values[blob] = {"class": class_name(data), "bytes": len(data)}
        if not as_json:
            return "\n".join(f"{name}: {value}" for name, value in values.items()) + "\n"
    return json.dumps(values) if as_json else str(text_format.MessageToString(message))


def _print(found: list[Any], as_json: bool, line: Any) -> None:
    if as_json:
        print(json.dumps(found))
    else:
        for each in found:
            print(line(each))
