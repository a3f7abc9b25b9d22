# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Topic names and namespaces of vehicles and sensors, made from their names in the world file."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from itertools import count

from mvsim_core.bags.settings import NameSettings

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_]")


def topic_token(name: str) -> str:
    """Return a name as one level of a ROS topic: letters, digits and single underscores.

    World files allow any name, such as "front laser" or "laser-1"; ROS does not.
    """
    # A leading underscore hides a topic; a trailing one would double when a number is added.
    token = re.sub("_+", "_", _NOT_ALLOWED.sub("_", name)).strip("_") or "unnamed"
    return f"n{token}" if token[0].isdigit() else token


def unique_tokens(names: Iterable[str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """Return a topic token for each name; equal tokens are numbered.

    Names that ROS allows are their own tokens, whatever others are called.

    Args:
        names: Names in the world file.
        reserved: Tokens that are in use already.
    """
    names = list(names)
    tokens: dict[str, str] = {}
    taken = set(reserved)
    exact = {name for name in names if topic_token(name) == name} - taken
    taken |= exact
    for name in names:
        if name in exact:
            tokens[name] = name
            continue
        base = token = topic_token(name)
        number = 2
        while token in taken:
            token = f"{base}_{number}"
            number += 1
        taken.add(token)
        tokens[name] = token
    return tokens


def changed(tokens: Mapping[str, str]) -> dict[str, str]:
    """Return those tokens that differ from their names."""
    return {name: token for name, token in tokens.items() if token != name}


@dataclass(frozen=True, slots=True)
class TopicNames:
    """Topic names of one vehicle, relative to the node's namespace."""

    namespace: str  # "" or "r1/"
    tf: str
    tf_static: str

    def topic(self, name: str) -> str:
        """Return the name of a topic of the vehicle."""
        return self.namespace + name


def topic_names_of(settings: NameSettings, token: str, *, only_vehicle: bool) -> TopicNames:
    """Return the topic names of a vehicle.

    Args:
        settings: Parameters of names.
        token: Topic token of the vehicle.
        only_vehicle: Whether the world has no other vehicle.
    """
    bare = only_vehicle and not settings.force_publish_vehicle_namespace
    return _topic_names(settings, "" if bare else f"{token}/")


def _topic_names(settings: NameSettings, namespace: str) -> TopicNames:
    # With a frame prefix all vehicles share one /tf.
    tf_namespace = "" if settings.frame_prefix else namespace
    return TopicNames(namespace, f"{tf_namespace}tf", f"{tf_namespace}tf_static")


#: Vehicles that are gone whose names are kept.
MOST_GONE = 1000


class VehicleTopicNames:
    """Topic names of all vehicles; a vehicle that is spawned again gets its former ones.

    Names never change while a vehicle exists: the only vehicle of the world file has bare names
    and keeps them when others are spawned. Spawned vehicles have a namespace.

    Args:
        settings: Parameters of names.
        vehicles: Vehicle names in the world file.
    """

    def __init__(self, settings: NameSettings, vehicles: Iterable[str]) -> None:
        """Choose the names of the vehicles in the world file."""
        self._settings = settings
        tokens = unique_tokens(vehicles)
        only = len(tokens) == 1
        self._names = {
            name: topic_names_of(settings, token, only_vehicle=only)
            for name, token in tokens.items()
        }
        self._requested: dict[str, str] = {}  # by vehicle

    def of(self, vehicle: str, namespace: str = "") -> TopicNames:
        """Return the topic names of a vehicle, in a requested namespace if one is given."""
        if namespace:
            self._requested[vehicle] = f"{namespace.strip('/')}/"
            return _topic_names(self._settings, f"{namespace.rstrip('/')}/")
        if vehicle not in self._names:
            token = self._free(topic_token(vehicle))
            self._names[vehicle] = topic_names_of(self._settings, token, only_vehicle=False)
        return self._names[vehicle]

    def drop_oldest(self, present: Container[str]) -> None:
        """Give up the names of vehicles that are gone, but for the newest `MOST_GONE`."""
        for names in (self._names, self._requested):
            gone = [vehicle for vehicle in names if vehicle not in present]
            for vehicle in gone[:-MOST_GONE]:
                del names[vehicle]

    def _free(self, token: str) -> str:
        taken = {names.namespace for names in self._names.values()}
        taken.update(self._requested.values())
        if f"{token}/" not in taken:
            return token
        return next(f"{token}_{i}" for i in count(2) if f"{token}_{i}/" not in taken)
