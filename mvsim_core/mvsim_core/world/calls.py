# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Calls of compiled kernels by their addresses, from other kernels.

A kernel that calls another one by name contains it, so that what is called from several places is
compiled several times. By address the same code is called, and results are equal to the byte.
Arrays are handed over by their addresses too: numba needs longer to unpack the structured arrays
of a tick than the tick takes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit
from numba import typeof as numba_typeof
from numba import types as numba_types
from numba.core import cgutils as numba_cgutils
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic
from numba.np import arrayobj

from mvsim_core.state.arrays import IntArray

#: Numba's stubs know these in part, and not that it gives the first argument of an intrinsic.
types: Any = numba_types
typeof: Any = numba_typeof
cgutils: Any = numba_cgutils
populate_array: Any = arrayobj.populate_array
native: Any = intrinsic
#: Stands for rows of any dtype: which fields they have is known to the kernel that is called.
ANY_ROWS = types.Array(types.int64, 1, "C")
_addresses: dict[Any, int] = {}


def address_of(kernel: Any, *arguments: Any) -> int:
    """Return the address of a kernel for arguments of these types; 0: it is not compiled code."""
    if not isinstance(kernel, Dispatcher):
        return 0
    address = _addresses.get(kernel)
    if address is None or len(kernel.overloads) != 1:
        kinds = tuple(typeof(argument) for argument in arguments)
        if kinds not in kernel.overloads:
            kernel.compile(kinds)
        compiled: Any = kernel.overloads[kinds]
        address = int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
        _addresses[kernel] = address
    return address


def place_of(rows: Any) -> int:
    """Return the address of the elements of an array.

    Raises:
        ValueError: They are not one after the other.
    """
    if rows.ndim != 1 or not rows.flags.c_contiguous:
        raise ValueError("the rows must be contiguous")
    return int(rows.ctypes.data)  # the interface of an array would list all fields of its rows


def note_rows(table: IntArray, row: int, rows: Any) -> None:
    """Write address, length and size [byte] of the elements of an array into a row of a table."""
    table[row] = place_of(rows), len(rows), rows.itemsize


@native
def call(typing: Any, address: Any, arguments: Any, result: Any) -> Any:
    """Call the kernel at an address with a tuple of arguments.

    Its result has the type of the last argument.
    """
    given = arguments.types
    wanted = tuple(types.unliteral(kind) for kind in given)
    returned = types.unliteral(result)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        """Emit the call and the check of its status."""
        target, packed, _ = values
        convention = context.call_conv
        function = convention.get_function_type(returned, wanted).as_pointer()
        parts = cgutils.unpack_tuple(builder, packed, len(given))
        parts = [
            context.cast(builder, part, one, other)
            for part, one, other in zip(parts, given, wanted, strict=True)
        ]
        status, value = convention.call_function(
            builder, builder.inttoptr(target, function), returned, wanted, parts
        )
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return value

    return returned(address, arguments, result), generate


@native
def rows_at(typing: Any, address: Any, count: Any, size: Any) -> Any:
    """Return `count` rows of `size` bytes at an address, for kernels that are called by `call`."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        """Emit an array without an owner."""
        where, length, itemsize = values
        array = context.make_array(ANY_ROWS)(context, builder)
        data = builder.inttoptr(where, array.data.type)
        populate_array(array, data, (length,), (itemsize,), itemsize, None)
        return array._getvalue()

    return ANY_ROWS(address, count, size), generate


@njit(inline="always")
def noted_rows(table: IntArray, row: int) -> Any:
    """Return the array that `note_rows` has written into a row of a table."""
    return rows_at(table[row, 0], table[row, 1], table[row, 2])
