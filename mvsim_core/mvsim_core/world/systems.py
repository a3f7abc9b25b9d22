# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Systems of one kind: one for each class in use; it serves all its users in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class SystemGroups:
    """Controllers or friction models of a world, made with the first user of a class.

    Attributes:
        systems: Those that have users, each with `apply(state, gravity, dt)`.
    """

    def __init__(self) -> None:
        """Start without systems."""
        self._systems: dict[Any, Any] = {}
        self._users: dict[Any, dict[int, Any]] = {}
        self.systems: list[Any] = []

    def add(self, key: Any, cls: type[Any], spec: Any, rows: Sequence[int]) -> None:
        """Add rows that share a spec to the system of a key."""
        users = self._users.setdefault(key, {})
        users |= dict.fromkeys(rows, spec)
        system = self._systems.get(key)
        if system is not None and hasattr(system, "add"):
            system.add(spec, rows)
            return
        self._renew(key, cls)

    def remove(self, key: Any, rows: Sequence[int]) -> None:
        """Remove rows; a system without users is removed too."""
        users, system = self._users[key], self._systems[key]
        for row in rows:
            del users[row]
        if not users:
            del self._users[key], self._systems[key]
            self.systems = list(self._systems.values())
        elif hasattr(system, "remove"):
            system.remove(rows)
        else:
            self._renew(key, type(system))

    def _renew(self, key: Any, cls: type[Any]) -> None:
        users = self._users[key]
        self._systems[key] = cls(list(users.values()), np.array(list(users), dtype=np.int64))
        self.systems = list(self._systems.values())
