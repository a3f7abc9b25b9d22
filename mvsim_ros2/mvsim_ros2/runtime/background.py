# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Long work in a thread of its own: loading a world may compile kernels for a minute.

Signals are handled in the main thread between two instructions of Python, which a compiler does
not return to for seconds; and requests wait for the stepping thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from mvsim_core.progress import reporting
from mvsim_core.rendering.context import release_context

T = TypeVar("T")


def in_background(work: Callable[[], T], report: Callable[[str], object]) -> Future[T]:
    """Call `work()` in a thread that does not keep the process alive.

    Args:
        work: What to do. It may use OpenGL, if the thread that has its context has released that;
            another one may use it again when the work is done.
        report: Called with lines about the progress, in that thread.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            with reporting(report):
                result = work()
        except BaseException as error:
            release_context()
            future.set_exception(error)
        else:
            release_context()
            future.set_result(result)

    threading.Thread(target=run, name="mvsim_background", daemon=True).start()
    return future
