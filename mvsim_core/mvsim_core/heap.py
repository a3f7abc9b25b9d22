# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Garbage collection in processes that step a world in real time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Objects that loads may make before one of them looks for garbage first.
MANY_OBJECTS = 500_000


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


class _Made:
    """How many objects loads have made since the last full collection, the `number`th."""

    objects = 0
    number = 0
    settled = False  # by `settle_heap`, which keeps what it left out of collections


@contextmanager
def loading() -> Iterator[None]:
    """Collect no garbage while a world is loaded, and let what is made count as old at once.

    Loading makes no cycles; collecting would cost a third more, and the first collection after it
    would look at all that was made. So that worlds which are not used any longer do not add up,
    garbage is collected before a load if those before it made many objects.
    """
    was_on = gc.isenabled()
    number = gc.get_stats()[2]["collections"]
    if number != _Made.number:
        _Made.objects, _Made.number = 0, number
    if was_on and _Made.objects > MANY_OBJECTS:
        gc.collect()
        _Made.objects, _Made.number = 0, number + 1
    gc.disable()
    try:
        yield
    finally:
        # else the program has its own way; counting what is frozen takes 50 ms where it is much
        if was_on and not _Made.settled and gc.get_freeze_count() == 0:
            _Made.objects += gc.get_count()[0]
            gc.freeze()
            gc.unfreeze()
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
    _Made.settled = True
