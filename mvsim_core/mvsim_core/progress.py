# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long work, such as loading a large world: lines of text for a callback, or a bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")
Report = Callable[[str], object]

#: Time until the first line, so that quick work reports nothing, and between lines [s].
FIRST_REPORT, PERIOD = 2.0, 1.0
#: Items between two readings of the clock: reading it for each would cost more than most items.
STRIDE = 64


class Bar(Protocol):
    """Shows how far a piece of work is; for terminals."""

    def show(self, work: str, done: int, total: int | None) -> None:
        """Show that `done` of `total` parts are done; None: how many there are is not known."""

    def end(self) -> None:
        """Take the bar away: the work is done."""


class _Reporter:
    def __init__(self, report: Report, bar: Bar | None = None) -> None:
        self.report = report
        self.bar = bar
        self.due = time.monotonic() + FIRST_REPORT
        self.announced: set[str] = set()

    def report_if_due(self, text: Callable[[], str], period: float = PERIOD) -> None:
        now = time.monotonic()
        if now >= self.due:
            self.due = now + period
            self.report(text())


_REPORTER: ContextVar[_Reporter | None] = ContextVar("reporter", default=None)


@contextmanager
def reporting(report: Report, bar: Bar | None = None) -> Iterator[None]:
    """Call `report` with one line about once a second while long work runs inside the block.

    With a `bar`, work whose parts are counted is shown by it instead.
    """
    token = _REPORTER.set(_Reporter(report, bar))
    try:
        yield
    finally:
        _REPORTER.reset(token)
        if bar is not None:
            bar.end()


@contextmanager
def reporting_too(report: Report) -> Iterator[None]:
    """Call `report` with the lines that are reported inside the block, as well."""
    outer = _REPORTER.get()
    if outer is None:
        with reporting(report):
            yield
        return

    def both(line: str) -> None:
        report(line)
        if line not in outer.announced:
            outer.report(line)

    inner = _Reporter(both, outer.bar)
    token = _REPORTER.set(inner)
    try:
        yield
    finally:
        _REPORTER.reset(token)
        outer.announced |= inner.announced


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


def count(work: str, done: int, total: int | None = None, period: float = PERIOD) -> None:
    """Report that `done` of `total` parts of some work are done, if a report is due."""
    reporter = _REPORTER.get()
    if reporter is None:
        return
    if reporter.bar is not None:
        if time.monotonic() >= reporter.due:  # quick work shows nothing
            reporter.bar.show(work, done, total)
        return
    reporter.report_if_due(
        lambda: f"{work}: {done}" + ("" if total is None else f" of {total}"), period
    )


def end_count() -> None:
    """Report that the counted work is done."""
    reporter = _REPORTER.get()
    if reporter is not None and reporter.bar is not None:
        reporter.bar.end()


def restart() -> None:
    """Begin a new piece of work: its first line is due after `FIRST_REPORT` again."""
    reporter = _REPORTER.get()
    if reporter is not None:
        reporter.due = time.monotonic() + FIRST_REPORT


def tracked(items: Iterable[T], work: str) -> Iterator[T]:
    """Iterate over `items`; inside `reporting`, report lines such as `work: 1200 of 5000`."""
    if _REPORTER.get() is None:
        yield from items
        return
    total = len(items) if isinstance(items, Sized) else None
    for done, item in enumerate(items):
        if done > 0 and done % STRIDE == 0:
            count(work, done, total)
        yield item
    end_count()
