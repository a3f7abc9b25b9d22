# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Copies of specs that have other values of some fields, made without their constructors."""

from __future__ import annotations

import dataclasses
import inspect
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, TypeVar

from mvsim_core.specs.params import Spec

S = TypeVar("S", bound=Spec)

#: Of each spec class, what reads all fields, and name and setter of each; None: copies of it are
#: made by its constructor.
_Copier = tuple[Callable[[Any], tuple[Any, ...]], Mapping[str, Callable[..., None]]]
_COPIERS: dict[type[Spec], _Copier | None] = {}


def changed(spec: S, fields: Mapping[str, Any]) -> S:
    """Return a copy of a spec with other values of some fields.

    `dataclasses.replace` takes ten times as long, and worlds have thousands of specs.
    """
    cls = type(spec)
    if cls not in _COPIERS:
        _COPIERS[cls] = _copier_of(cls)
    copier = _COPIERS[cls]
    if copier is None:
        return dataclasses.replace(spec, **fields)
    values, setters = copier
    copy = object.__new__(cls)
    for put, value in zip(setters.values(), values(spec), strict=True):
        put(copy, value)
    for name, value in fields.items():
        setters[name](copy, value)
    return copy


def copies(spec: S, fields: Mapping[str, Sequence[Any]]) -> list[S]:
    """Return copies of a spec that have other values of some fields, each its own.

    Args:
        spec: The spec.
        fields: The values of each field, one a copy.
    """
    cls = type(spec)
    if cls not in _COPIERS:
        _COPIERS[cls] = _copier_of(cls)
    copier = _COPIERS[cls]
    if copier is None:
        columns = zip(*fields.values(), strict=True)
        return [
            dataclasses.replace(spec, **dict(zip(fields, row, strict=True))) for row in columns
        ]
    values, setters = copier
    count = len(next(iter(fields.values())))
    made: list[S] = list(map(object.__new__, repeat(cls, count)))
    for (name, put), value in zip(setters.items(), values(spec), strict=True):
        # field by field, for all copies: so the loops are those of the interpreter itself
        deque(map(put, made, fields.get(name, repeat(value))), maxlen=0)
    return made


def _copier_of(cls: type[Spec]) -> _Copier | None:
    fields = dataclasses.fields(cls)
    if hasattr(cls, "__post_init__") or not all(field.init for field in fields):
        return None
    names = [field.name for field in fields]
    slots = [getattr(cls, name) for name in names if hasattr(cls, name)]
    if len(slots) < max(len(names), 2) or not all(map(inspect.ismemberdescriptor, slots)):
        return None
    setters = {name: slot.__set__ for name, slot in zip(names, slots, strict=True)}
    return attrgetter(*names), setters
