# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The mailbox between callbacks and the stepping thread."""

import threading
from typing import Any

from mvsim_ros2.runtime.runner import Mailbox


def test_the_last_action_of_a_key_wins() -> None:
    mailbox = Mailbox()
    done: list[str] = []
    for key, text in (("r1", "a"), ("r2", "b"), ("r1", "c")):
        mailbox.post(key, lambda _, text=text: done.append(text))
    world: Any = None
    for action in mailbox.take():
        action(world)
    assert done == ["c", "b"]
    assert mailbox.take() == []


def test_nothing_is_lost_between_threads() -> None:
    mailbox = Mailbox()
    seen: set[int] = set()

    def write() -> None:
        for number in range(5000):
            mailbox.post(number, lambda _, number=number: seen.add(number))

    writer = threading.Thread(target=write)
    writer.start()
    world: Any = None
    while writer.is_alive():
        for action in mailbox.take():
            action(world)
    for action in mailbox.take():
        action(world)
    assert seen == set(range(5000))
