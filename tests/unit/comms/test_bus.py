# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Nodes, topics and services between clients and a server."""

import random
import socket
import subprocess
import sys
import time

import pytest
import zmq

from mvsim_core.comms import Client, Server, messages
from mvsim_core.comms.endpoints import own_endpoint, resolved
from mvsim_core.comms.framing import pack, parse, unpack
from mvsim_core.comms.publishing import QUEUE, Publication
from mvsim_core.comms.socket_thread import MOST_IN_A_ROUND, REQUESTS_SHARE, SocketThread
from mvsim_core.errors import CommandError, CommsError
from tests.unit.comms.conftest import NewClient, until


def _answer(value: float) -> messages.SrvGetPoseAnswer:  # type: ignore[name-defined]
    return messages.SrvGetPoseAnswer(
        success=True, pose=messages.pose(value), objectIsInCollision=False
    )


def test_messages_reach_all_subscribers(new_client: NewClient) -> None:
    early, source, late = new_client("early"), new_client("source"), new_client("late")
    got: dict[str, list[float]] = {"early": [], "late": []}
    early.subscribe("/p", lambda m: got["early"].append(m.x))
    publication = source.advertise("/p", messages.Pose)
    late.subscribe("/p", lambda m: got["late"].append(m.x))
    until(lambda: publication.readers == 2)
    for x in range(10):
        source.publish("/p", messages.pose(x))
    until(lambda: len(got["early"]) == len(got["late"]) == 10)
    assert got["early"] == got["late"] == [float(x) for x in range(10)]
    assert late.nodes() == ["early", "late", "source"]
    assert late.nodes("l") == ["late"]
    (topic,) = late.topics("/")
    assert (topic.name, topic.type, list(topic.publishers)) == (
        "/p",
        "mvsim_msgs.Pose",
        ["source"],
    )
    assert late.topics("/q") == []


def test_the_last_message_of_who_leaves_arrives(new_client: NewClient) -> None:
    """The server tells a reader that a publisher left while its messages are on their way."""
    reader = new_client("reader")
    got: list[float] = []
    reader.subscribe("/p", lambda m: got.append(m.x))
    for x in range(30):
        source = new_client("source")
        publication = source.advertise("/p", messages.Pose)
        until(lambda publication=publication: publication.readers == 1)  # type: ignore[misc]
        source.publish("/p", messages.pose(x))
        source.close()
    until(lambda: len(got) == 30)
    assert sorted(got) == [float(x) for x in range(30)]


def test_a_flood_of_subscriptions_is_read_little_by_little() -> None:
    """What a peer sends to the socket of a topic does not keep the thread from publishing."""
    thread = SocketThread("publishing")  # not started: this test is the thread
    thread.call = lambda work, timeout=0.0: work()  # type: ignore[method-assign, assignment]
    publication = Publication(thread, "/p", messages.Pose, "127.0.0.1", QUEUE)
    context = zmq.Context()
    peer = context.socket(zmq.XSUB)
    peer.connect(publication.endpoint)
    floods = 20 * MOST_IN_A_ROUND
    for _ in range(floods):
        peer.send(b"\1")
    rounds = 0
    while publication.readers < floods:
        before = publication.readers
        publication.admit()
        assert publication.readers - before <= MOST_IN_A_ROUND
        rounds += 1
        assert rounds < 100_000
    peer.close(0)
    context.term()
    publication.close()
    thread.close()


def test_what_does_not_fit_is_refused(new_client: NewClient) -> None:
    one, two = new_client("one"), new_client("two")
    one.advertise("/p", messages.Pose)
    with pytest.raises(CommsError, match="advertised by this node already"):
        one.advertise("/p", messages.Pose)
    with pytest.raises(CommsError, match=r"has type mvsim_msgs.Pose, it cannot be published as"):
        two.advertise("/p", messages.Twist)
    with pytest.raises(CommsError, match=r"has type mvsim_msgs.Pose, got mvsim_msgs.Twist"):
        one.publish("/p", messages.twist())
    with pytest.raises(CommsError, match="missing: y"):
        one.publish("/p", messages.Pose(x=1.0, z=0.0, yaw=0.0, pitch=0.0, roll=0.0))
    with pytest.raises(CommsError, match="was not advertised"):
        one.publish("/q", messages.pose())
    with pytest.raises(CommsError, match="the name of a topic has 1 to 256 bytes, got 257"):
        one.subscribe("x" * 257, print)
    with pytest.raises(CommsError, match=r"there is no service 'fly'"):
        one.call("fly")


def test_services(new_client: NewClient) -> None:
    offers, calls = new_client("offers"), new_client("calls")

    def handler(request: object) -> object:
        name = request.objectId  # type: ignore[attr-defined]
        if name == "bad":
            raise CommandError("no such thing")
        if name == "worse":
            raise ValueError("a fault of the handler")
        return _answer(float(len(name)))

    types = messages.SrvGetPose, messages.SrvGetPoseAnswer
    offers.offer("get_pose", *types, handler)
    assert calls.call("get_pose", objectId="four").pose.x == 4.0
    with pytest.raises(CommsError, match="no such thing"):
        calls.call("get_pose", objectId="bad")
    with pytest.raises(CommsError, match="a fault of the handler"):
        calls.call("get_pose", objectId="worse")
    (service,) = calls.services()
    assert (service.name, service.input_type, service.node) == (
        *("get_pose", "mvsim_msgs.SrvGetPose", "offers"),
    )
    with pytest.raises(CommsError, match=r"'get_pose' has the types"):
        calls.offer("get_pose", messages.SrvSetPose, messages.SrvGetPoseAnswer, handler)
    with pytest.raises(CommsError, match="SrvGetPose"):
        calls.call("get_pose", wrong="x")
    offers.close()
    assert calls.services() == []
    with pytest.raises(CommsError, match="get_pose"):
        calls.call("get_pose", objectId="x", timeout=0.3)


def test_a_service_moves_with_its_node(new_client: NewClient) -> None:
    calls, types = new_client("calls"), (messages.SrvGetPose, messages.SrvGetPoseAnswer)
    for value in (1.0, 2.0):
        node = new_client("offers")
        node.offer("get_pose", *types, lambda _, value=value: _answer(value))
        calls._endpoints.clear()
        assert calls.call("get_pose", objectId="x").pose.x == value


def test_a_killed_node_is_forgotten(server: Server, new_client: NewClient) -> None:
    code = (
        "import sys; from mvsim_core.comms import Client, messages as m;"
        f"c = Client('victim', port={server.port}).connect(); c.advertise('/v', m.Pose);"
        "c.subscribe('/w', print); print('ready', flush=True); sys.stdin.read()"
    )
    victim = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    assert victim.stdout.readline() == "ready\n"
    watcher = new_client("watcher")
    assert watcher.nodes() == ["victim", "watcher"]
    victim.kill()
    victim.communicate()
    until(lambda: watcher.nodes() == ["watcher"])
    assert watcher.topics() == []
    assert server._notifiers == {}
    watcher.advertise("/w", messages.Pose)  # no one waits for the dead subscriber


def test_a_node_that_is_gone_before_it_is_heard_is_not_listed(
    server: Server, new_client: NewClient
) -> None:
    client, context = new_client("here"), zmq.Context()
    server._thread.post(lambda: time.sleep(0.3))  # as behind a flood of requests
    gone = context.socket(zmq.REQ)
    gone.connect(f"tcp://127.0.0.1:{server.port}")
    gone.send(pack(messages.RegisterNodeRequest(nodeName="gone")))
    time.sleep(0.15)
    context.destroy(linger=0)
    time.sleep(0.3)
    assert client.nodes() == ["here"]


def test_a_slow_subscriber_gets_the_newest(new_client: NewClient) -> None:
    source, slow = new_client("source"), new_client("slow")
    got: list[float] = []

    def callback(message: object) -> None:
        if not got:
            time.sleep(0.5)
        got.append(message.x)  # type: ignore[attr-defined]

    subscription = slow.subscribe("/p", callback, queue=3)
    publication = source.advertise("/p", messages.Pose)
    until(lambda: publication.readers)
    for x in range(200):
        source.publish("/p", messages.pose(x))
        time.sleep(0.001)
    until(lambda: got and got[-1] == 199.0)
    assert len(got) == 4
    assert subscription.dropped == 196


def test_a_subscriber_that_stands_still_holds_nobody_up(
    server: Server, new_client: NewClient
) -> None:
    """It subscribes over raw sockets and reads neither its updates nor its messages."""
    context = zmq.Context()
    request, updates, data = (context.socket(k) for k in (zmq.REQ, zmq.PAIR, zmq.SUB))
    updates.bind("tcp://127.0.0.1:*")
    request.connect(f"tcp://127.0.0.1:{server.port}")
    subscribe = messages.SubscribeRequest(
        topic="/p", updatesEndpoint=updates.get_string(zmq.LAST_ENDPOINT)
    )
    request.send(pack(subscribe))
    assert parse(*unpack(request.recv())).success
    source = new_client("source")
    publication = source.advertise("/p", messages.Pose)
    data.setsockopt(zmq.RCVHWM, 1)
    data.setsockopt(zmq.SUBSCRIBE, b"")
    data.connect(publication.endpoint)
    until(lambda: publication.readers)
    got: list[float] = []
    new_client("reads").subscribe("/p", lambda m: got.append(m.x), queue=5000)
    until(lambda: publication.readers == 2)
    for x in range(2000):
        source.publish("/p", messages.pose(x))
        if x % QUEUE == 0:
            until(lambda: not publication._queue)
    until(lambda: got and got[-1] == 1999.0)
    context.destroy(linger=0)


def test_many_come_late(server: Server, new_client: NewClient) -> None:
    """100 subscribers, of which most vanish without a word."""
    source = new_client("source")
    publication = source.advertise("/p", messages.Pose)
    context = zmq.Context()
    context.set(zmq.MAX_SOCKETS, 4096)
    sockets = []
    for k in range(100):
        request, updates = context.socket(zmq.REQ), context.socket(zmq.PAIR)
        updates.bind("tcp://127.0.0.1:*")
        request.connect(f"tcp://127.0.0.1:{server.port}")
        for message in (
            messages.RegisterNodeRequest(nodeName=f"n{k}"),
            messages.SubscribeRequest(
                topic="/p", updatesEndpoint=updates.get_string(zmq.LAST_ENDPOINT)
            ),
        ):
            request.send(pack(message))
            assert parse(*unpack(request.recv())).success
        sockets.append((request, updates))
    for _, updates in sockets:
        assert updates.poll(10_000)
        info = parse(*unpack(updates.recv()))
        assert list(info.publisherEndpoint) == [publication.endpoint]
    assert len(source.nodes("n")) == 100
    context.destroy(linger=0)
    until(lambda: source.nodes() == ["source"])
    until(lambda: server._notifiers == {})


@pytest.mark.parametrize("limited", [True, False])
def test_requests_take_a_part_of_the_time_only(limited: bool) -> None:
    thread, served, others = SocketThread("test"), [], []

    def serve() -> None:  # and never receives: there is always more
        start = time.monotonic()
        time.sleep(0.0005)
        served.append(time.monotonic() - start)
        thread.post(lambda: others.append(time.monotonic()))

    near, far = thread.context.socket(zmq.PAIR), thread.context.socket(zmq.PAIR)
    near.bind("inproc://flood")
    far.connect("inproc://flood")
    far.send(b"")
    thread.watch(near, serve, limited=limited)
    start = time.monotonic()
    thread.start()
    until(lambda: len(served) > 100)
    part = sum(served) / (time.monotonic() - start)
    thread.close()
    assert len(others) > 50  # what is not limited goes on
    assert part < 1.2 * REQUESTS_SHARE if limited else part > 2.0 * REQUESTS_SHARE


def test_garbage_is_harmless(server: Server, new_client: NewClient) -> None:
    victim, watcher = new_client("victim"), new_client("watcher")
    victim.subscribe("/p", print)
    publication = victim.advertise("/q", messages.Pose)
    types = messages.SrvGetPose, messages.SrvGetPoseAnswer
    victim.offer("get_pose", *types, lambda _: _answer(1.0))
    assert watcher.call("get_pose", objectId="x").pose.x == 1.0
    random_ = random.Random(1)
    main = f"tcp://127.0.0.1:{server.port}"
    endpoints = [main, publication.endpoint, watcher._endpoints["get_pose"]]
    context = zmq.Context()
    seeds = [
        pack(messages.RegisterNodeRequest(nodeName="x" * 40)),
        pack(messages.SubscribeRequest(topic="/p", updatesEndpoint="ipc:///tmp/x")),
        pack(messages.CallService(serviceName="get_pose", serializedInput=b"\xff")),
        pack(messages.ListTopicsRequest()),
    ]
    for endpoint in endpoints:
        # a peer that the other side talks to
        kind = zmq.XSUB if endpoint == publication.endpoint else zmq.DEALER
        peer = context.socket(kind)
        peer.connect(endpoint)
        for _ in range(200):
            frame = bytearray(random_.choice(seeds))
            for _ in range(random_.randrange(4)):
                frame[random_.randrange(len(frame))] = random_.randrange(256)
            frames = [b""] * random_.randrange(3) + [bytes(frame)] * random_.randrange(1, 3)
            peer.send_multipart(frames)
        host, port = endpoint.removeprefix("tcp://").split(":")
        for _ in range(20):  # and no ZeroMQ at all
            with socket.create_connection((host, int(port))) as raw:
                raw.sendall(random_.randbytes(random_.randrange(1, 300)))
    until(lambda: "victim" in watcher.nodes())
    assert watcher.call("get_pose", objectId="x").pose.x == 1.0
    with pytest.raises(CommsError, match=r"expected tcp://A.B.C.D:PORT, got 'ipc:///tmp/x'"):
        watcher._ask(
            messages.SubscribeRequest(topic="/p", updatesEndpoint="ipc:///tmp/x"),
            messages.SubscribeAnswer,
        )
    context.destroy(linger=0)


def test_only_the_sender_s_own_address_is_taken() -> None:
    assert own_endpoint("tcp://127.0.0.1:5", "127.0.0.1") == "tcp://127.0.0.1:5"
    assert own_endpoint("tcp://0.0.0.0:5", "127.0.0.1") == "tcp://0.0.0.0:5"
    assert own_endpoint("tcp://0.0.0.0:5", "10.0.0.2") == "tcp://10.0.0.2:5"
    assert resolved("tcp://0.0.0.0:5", "10.0.0.1") == "tcp://10.0.0.1:5"
    for wrong in ("tcp://10.0.0.3:5", "tcp://127.0.0.1:5"):
        with pytest.raises(CommsError, match="not at the address of its sender"):
            own_endpoint(wrong, "10.0.0.2")
    for wrong in (
        "ipc:///etc/passwd",
        "inproc://x",
        "tcp://host:5",
        "tcp://1.2.3.4:0",
        "tcp://*:5",
    ):
        with pytest.raises(CommsError, match="expected tcp://"):
            own_endpoint(wrong, "127.0.0.1")


def test_errors_of_connecting(server: Server) -> None:
    with pytest.raises(CommsError, match=r"mvsim run WORLD --server"):
        Client("x", port=1, timeout=0.1).connect()
    with pytest.raises(CommsError, match="is another server running"):
        Server(port=server.port).start()
    client = Client("x", port=server.port)
    with pytest.raises(CommsError, match="not connected"):
        client.nodes()
    client.close()
