# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readings: what sensors hand out, never to be changed by anybody."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T", bound=np.generic)
S = TypeVar("S")
C = TypeVar("C", bound=type)


class Reading:
    """Base of readings, which derive from it as frozen dataclasses with slots and `quick_init`.

    Since nothing in a reading can change, a copy of a world shares it with the original. Arrays
    in readings are made read-only by `read_only`.
    """

    __slots__ = ()

    def __copy__(self: S) -> S:
        """Return itself."""
        return self

    def __deepcopy__(self: S, memo: dict[int, Any]) -> S:
        """Return itself."""
        return self


def read_only(array: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return an array after making it refuse to be written to."""
    array.setflags(write=False)
    return array


def quick_init(cls: C) -> C:
    """Give a frozen dataclass with slots an ``__init__`` that takes half the time.

    That of `dataclasses` sets each field through ``object.__setattr__``, which looks the field up
    by its name. A thousand lidars make ten thousand readings a second.
    """
    slow: Any = cls.__init__  # type: ignore[misc]
    scope: dict[str, Any] = {f"_set_{f.name}": getattr(cls, f.name).__set__ for f in fields(cls)}
    parameters = ["self"]
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.default is parameter.empty:
            parameters.append(name)
        else:
            scope[f"_default_{name}"] = parameter.default
            parameters.append(f"{name}=_default_{name}")
    body = "".join(f"    _set_{f.name}(self, {f.name})\n" for f in fields(cls))
    exec(f"def __init__({', '.join(parameters)}):\n{body}", scope)
    quick = scope["__init__"]
    quick.__qualname__, quick.__annotations__ = slow.__qualname__, slow.__annotations__
    cls.__init__ = quick  # type: ignore[misc]
    return cls
