# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Garbage collection in processes that step a world in real time."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage inside the block until `settle_heap`.

    For programs that own their process: the imports and the first load of a world make next to
    none, and looking for it takes a tenth of their time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def settle_heap() -> None:
    """Collect garbage now, and leave all that remains out of later collections.

    A full collection looks at each object of the process: 0.1 s for the imports alone, seconds for
    thousands of robots, in the middle of a step. For programs that own their process, after each
    load of a world; what was left out before is collected too. Where collections are off, as
    `without_collections` turns them, nothing is collected, and they are on from now.
    """
    if gc.isenabled():
        gc.unfreeze()
        gc.collect()
    gc.freeze()
    gc.enable()
