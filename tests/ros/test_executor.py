# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The executor thread while a request waits for the result of another thread."""

import threading
import time
from collections.abc import Iterator

import pytest
from rclpy.context import Context
from rclpy.node import Node
from std_srvs.srv import SetBool

from mvsim_ros2.runtime.executor import PAUSE, ExecutorThread, PendingResult, Waits
from tests.ros.node_process import Observer, connect, eventually

pytestmark = pytest.mark.ros


class Server:
    """A node with a service that answers when another thread says so."""

    def __init__(self, domain: int) -> None:
        self._context = Context()
        self._context.init(args=[], domain_id=domain, initialize_logging=False)
        self._node = Node("server", context=self._context, use_global_arguments=False)
        self.waits = Waits()
        self.pending: list[PendingResult[bool]] = []
        self._node.create_service(SetBool, "wait", self._wait)
        self._node.create_service(SetBool, "at_once", lambda request, response: response)
        self._executor = ExecutorThread(self._node, self.waits)

    async def _wait(self, request: SetBool.Request, response: SetBool.Response) -> object:
        self.pending.append(PendingResult(self.waits))
        response.success = bool(await self.pending[-1])
        return response

    def close(self) -> None:
        self._executor.close()
        self._node.destroy_node()
        self._context.try_shutdown()


@pytest.fixture
def server(domain: int) -> Iterator[Server]:
    server = Server(domain)
    yield server
    server.close()


def test_requests_that_wait_cost_little_and_delay_no_other(domain: int, server: Server) -> None:
    observer = Observer(domain)
    try:
        slow = connect(observer.node, SetBool, "wait")
        quick = connect(observer.node, SetBool, "at_once")
        waiting = [slow.call_async(SetBool.Request()) for _ in range(5)]
        eventually(lambda: server.waits.number == 5, "five requests that wait")
        polls, begin = server.waits.polls, time.monotonic()
        time.sleep(0.2)
        polls = server.waits.polls - polls
        assert polls <= 6 * ((time.monotonic() - begin) / PAUSE + 1)
        answers = [quick.call_async(SetBool.Request()) for _ in range(5)]
        eventually(lambda: all(a.done() for a in answers), "answers of the other service")
        assert not any(w.done() for w in waiting)
        for result in reversed(server.pending):
            threading.Thread(target=result.set_result, args=(True,)).start()
        eventually(lambda: all(w.done() for w in waiting), "answers of those that waited")
        assert all(w.result().success for w in waiting)
        assert server.waits.number == 0
    finally:
        observer.close()
