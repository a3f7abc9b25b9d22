# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Says how far long work is, to whoever listens: what loads at once says nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Tell = Callable[[str], object]

#: From when on, and how often, there is something to say [s].
PATIENCE, PERIOD = 2.0, 1.0
#: How many things pass between two looks at the clock.
STRIDE = 64


class _Listener:
    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.due = time.monotonic() + PATIENCE

    def look(self, text: Callable[[], str]) -> None:
        now = time.monotonic()
        if now >= self.due:
            self.due = now + PERIOD
            self.tell(text())


_LISTENER: ContextVar[_Listener | None] = ContextVar("listener", default=None)


@contextmanager
def told(tell: Tell) -> Iterator[None]:
    """Call `tell` with one line about once a second while long work goes on inside."""
    token = _LISTENER.set(_Listener(tell))
    try:
        yield
    finally:
        _LISTENER.reset(token)


def begin() -> None:
    """Start work that is long by itself, whatever was done before: a listener is patient again."""
    listener = _LISTENER.get()
    if listener is not None:
        listener.due = time.monotonic() + PATIENCE


def watched(items: Iterable[T], work: str) -> Iterator[T]:
    """Iterate over `items`; a listener hears `work: 1200 of 5000`."""
    listener = _LISTENER.get()
    if listener is None:
        yield from items
        return
    total = f" of {len(items)}" if isinstance(items, Sized) else ""
    for count, item in enumerate(items):
        if count > 0 and count % STRIDE == 0:
            listener.look(lambda done=count: f"{work}: {done}{total}")  # type: ignore[misc]
        yield item
