# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The topic names of vehicles that come and go."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from mvsim_ros2.frames import Names, names_of, topic_token, unique_tokens
from mvsim_ros2.parameters import Settings


class Roster:
    """Gives each vehicle its topic names, and the same ones again when it comes back.

    Names are never changed while a vehicle is there: a robot that was alone at the start, and so
    has bare names, keeps them when others come. Those that come later have a namespace.

    Args:
        settings: Parameters of the node.
        vehicles: Names at the start.
    """

    def __init__(self, settings: Settings, vehicles: Iterable[str]) -> None:
        """Give names to the vehicles of the start."""
        self._settings = settings
        tokens = unique_tokens(vehicles)
        alone = len(tokens) == 1
        self._known = {
            name: names_of(settings, token, alone=alone) for name, token in tokens.items()
        }

    def names(self, vehicle: str, namespace: str = "") -> Names:
        """Return the topic names of a vehicle, in a namespace of its own choice if given."""
        if namespace:
            space = f"{namespace.rstrip('/')}/"
            shared = "" if self._settings.frame_prefix else space
            return Names(space, f"{shared}tf", f"{shared}tf_static")
        if vehicle not in self._known:
            token = self._free(topic_token(vehicle))
            self._known[vehicle] = names_of(self._settings, token, alone=False)
        return self._known[vehicle]

    def _free(self, token: str) -> str:
        taken = {names.namespace for names in self._known.values()}
        if f"{token}/" not in taken:
            return token
        return next(f"{token}_{i}" for i in count(2) if f"{token}_{i}/" not in taken)
