# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Garbage collection in processes that step a world in real time."""

import gc


def settle_heap() -> None:
    """Collect garbage now, and leave all that remains out of later collections.

    A full collection looks at each object of the process: 0.1 s for the imports alone, seconds for
    thousands of robots, in the middle of a step. For programs that own their process, after each
    load of a world; what was left out before is collected too.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
