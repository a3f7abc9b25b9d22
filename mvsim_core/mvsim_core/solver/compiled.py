# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""How functions of the solver are compiled, so that the first step does not wait for long.

`inner` functions are called by kernels only: without the wrappers that make them callable from
Python, which unpack dozens of arrays, they compile in half the time; without reference counts of
the arrays that they are handed (they allocate nothing, and the kernel's caller holds the arrays),
they run in half the time where many small functions take many arrays. Numbers that are handed to
them have the type of ZERO or of a field, as each literal would compile them once more. None calls
itself: numba's cache cannot restore that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit as typed_njit

#: Its stubs do not know all of its options.
njit: Any = typed_njit

#: A kernel called from Python.
kernel: Any = njit(cache=True, nogil=True, error_model="numpy")
#: A function called from kernels only.
inner: Any = njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    no_cpython_wrapper=True,
    no_cfunc_wrapper=True,
    _nrt=False,
)
#: Where counters start.
ZERO: Any = np.int64(0)
