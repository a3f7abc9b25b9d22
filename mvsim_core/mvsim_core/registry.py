# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A name → class table that third parties extend by entry points.

It is for kinds of things that a world file chooses by name (`class="twist_pid"`). It is *not* a
plug-in manager: nothing is loaded, unloaded or configured here.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.metadata import EntryPoints, entry_points
from typing import Any, Generic, TypeVar

from mvsim_core.errors import UnknownName

T = TypeVar("T")
_log = logging.getLogger(__name__)
#: All registries by their entry-point group: specs look there for classes of a running program.
REGISTRIES: dict[str, Registry[Any]] = {}


class Registry(Generic[T]):
    """Classes of one kind by name.

    Args:
        kind: What the entries are, for messages ("friction model").
        group: Entry-point group from which further entries are loaded on first use.
    """

    def __init__(self, kind: str, group: str) -> None:
        """Make an empty registry; entry points are read on the first look-up."""
        self.kind = kind
        self.group = group
        self._classes: dict[str, type[T]] = {}
        self._loaded = False
        REGISTRIES[group] = self

    def register(self, name: str) -> Callable[[type[T]], type[T]]:
        """Return a class decorator that registers the class as `name`.

        A class that is defined again, as by a cell of a notebook, replaces its earlier self.

        Raises:
            ValueError: The name is taken by another class.
        """

        def enter(cls: type[T]) -> type[T]:
            if name in self._classes and not _same_place(self._classes[name], cls):
                raise ValueError(f"{self.kind} {name!r} is registered twice")
            self._classes[name] = cls
            return cls

        return enter

    def get(self, name: str) -> type[T]:
        """Return the class called `name`.

        Raises:
            UnknownName: There is none; the message names the nearest ones.
        """
        self._load()
        if name in self._classes:
            return self._classes[name]
        raise UnknownName(self.kind, name, self._classes)

    def items(self) -> Iterator[tuple[str, type[T]]]:
        """Iterate over all entries, third-party ones included."""
        self._load()
        return iter(dict(self._classes).items())

    def registered(self) -> dict[str, type[T]]:
        """Return the classes that are registered so far, without loading entry points."""
        return dict(self._classes)

    def __contains__(self, name: object) -> bool:
        """Return whether there is an entry of that name."""
        self._load()
        return name in self._classes

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        for point in plugins(self.group):
            try:
                cls: Any = point.load()
                if self._classes.get(point.name) is not cls:  # it may have registered itself
                    self.register(point.name)(cls)
            except Exception:  # a broken plug-in must not stop the simulator
                _log.exception("%s plug-in %r could not be loaded", self.kind, point.name)


def plugins(group: str) -> EntryPoints:
    """Return the entry points of a group.

    All installed packages are looked through once for all groups, which takes 30 ms.
    """
    found: EntryPoints = _all_plugins(tuple(sys.path)).select(group=group)
    return found


@lru_cache(maxsize=1)
def _all_plugins(path: tuple[str, ...]) -> Any:
    """Return the entry points of all packages on sys.path, which is `path`."""
    return entry_points()


def _same_place(a: type[Any], b: type[Any]) -> bool:
    """Return whether two classes are the same one, defined twice, and not one registered twice."""
    return a is not b and (a.__module__, a.__qualname__) == (b.__module__, b.__qualname__)
