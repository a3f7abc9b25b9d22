# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where callbacks leave what the stepping thread shall do before its next step."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable

from mvsim_core import World

Action = Callable[[World], None]


class Mailbox:
    """One letter for each key; a new one replaces the one that has not been read.

    A flood of commands costs the stepping thread no more than one command a step.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = threading.Lock()
        self._letters: dict[Hashable, Action] = {}

    def post(self, key: Hashable, action: Action) -> None:
        """Leave an action; any thread may call it."""
        with self._lock:
            self._letters[key] = action

    def take(self) -> list[Action]:
        """Return the actions that wait, in the order of their keys' first letters."""
        if not self._letters:  # read without the lock: an action may wait for the next step
            return []
        with self._lock:
            letters, self._letters = self._letters, {}
        return list(letters.values())
