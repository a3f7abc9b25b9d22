# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long work in a terminal; without a terminal, lines of text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mvsim_core import progress

if TYPE_CHECKING:
    from rich.progress import Progress


class TerminalBar:
    """One bar on the standard error stream; it disappears when its work is done."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._progress: Progress | None = None
        self._work = ""

    def show(self, work: str, done: int, total: int | None) -> None:
        """Show that `done` of `total` parts are done."""
        if self._progress is None or work != self._work:
            self.end()
            self._progress = _new_progress(total)
            self._progress.add_task(work, total=total)
            self._progress.start()
            self._work = work
        self._progress.update(self._progress.task_ids[0], completed=done, total=total)

    def end(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = None

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        if self._progress is not None:
            self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr, flush=True)


def _new_progress(total: int | None) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    how_far: list[Any] = [BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    if total is None:
        how_far = [TextColumn("{task.completed}"), TimeElapsedColumn()]
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), *how_far]
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def progress_shown() -> Iterator[None]:
    """Show the progress of long work inside the block, in a terminal by a bar."""
    bar = TerminalBar() if sys.stderr.isatty() else None
    with progress.reporting(bar.line if bar else _print, bar):
        yield


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
