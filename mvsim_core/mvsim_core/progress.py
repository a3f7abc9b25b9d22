# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long work, such as loading a large world, as lines of text for a callback."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Report = Callable[[str], object]

#: Time until the first line, so that quick work reports nothing, and between lines [s].
FIRST_REPORT, PERIOD = 2.0, 1.0
#: Items between two readings of the clock: reading it for each would cost more than most items.
STRIDE = 64


class _Reporter:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.due = time.monotonic() + FIRST_REPORT
        self.announced: set[str] = set()

    def report_if_due(self, text: Callable[[], str], period: float = PERIOD) -> None:
        now = time.monotonic()
        if now >= self.due:
            self.due = now + period
            self.report(text())


_REPORTER: ContextVar[_Reporter | None] = ContextVar("reporter", default=None)


@contextmanager
def reporting(report: Report) -> Iterator[None]:
    """Call `report` with one line about once a second while long work runs inside the block."""
    token = _REPORTER.set(_Reporter(report))
    try:
        yield
    finally:
        _REPORTER.reset(token)


def announce(text: str) -> None:
    """Report a line at once, inside `reporting`."""
    reporter = _REPORTER.get()
    if reporter is not None:
        reporter.report(text)


def announce_once(text: str) -> None:
    """Report a line at once, inside `reporting`, but only the first time."""
    reporter = _REPORTER.get()
    if reporter is not None and text not in reporter.announced:
        reporter.announced.add(text)
        reporter.report(text)


def report_if_due(text: Callable[[], str], period: float = PERIOD) -> None:
    """Report a line, inside `reporting`, if the last one was before `period` [s]."""
    reporter = _REPORTER.get()
    if reporter is not None:
        reporter.report_if_due(text, period)


def restart() -> None:
    """Begin a new piece of work: its first line is due after `FIRST_REPORT` again."""
    reporter = _REPORTER.get()
    if reporter is not None:
        reporter.due = time.monotonic() + FIRST_REPORT


def tracked(items: Iterable[T], work: str) -> Iterator[T]:
    """Iterate over `items`; inside `reporting`, report lines such as `work: 1200 of 5000`."""
    reporter = _REPORTER.get()
    if reporter is None:
        yield from items
        return
    total = f" of {len(items)}" if isinstance(items, Sized) else ""
    for count, item in enumerate(items):
        if count > 0 and count % STRIDE == 0:
            reporter.report_if_due(
                lambda done=count: f"{work}: {done}{total}"  # type: ignore[misc]
            )
        yield item
