# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readings: made quickly, and otherwise as dataclasses make them."""

import copy
import inspect
import pickle
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields

import pytest

import mvsim_core.sensors  # noqa: F401 - imports all kinds
from mvsim_core.sensors.readings import Reading, quick_init

KINDS = sorted(
    {kind for kind in Reading.__subclasses__() if hasattr(kind, "__slots__") and fields(kind)},
    key=lambda kind: kind.__name__,
)


@quick_init
@dataclass(frozen=True, slots=True)
class Sample(Reading):
    """Two fields, one with a default."""

    first: int
    second: str = "s"


def test_there_are_kinds() -> None:
    assert len(KINDS) > 10


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_field_is_set_by_place_and_by_name(kind: type[Reading]) -> None:
    names = [field.name for field in fields(kind)]
    assert list(inspect.signature(kind).parameters) == names
    values = [object() for _ in names]
    by_place, by_name = kind(*values), kind(**dict(zip(names, values, strict=True)))
    for reading in (by_place, by_name):
        assert [getattr(reading, name) for name in names] == values


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_field_without_default_is_asked_for(kind: type[Reading]) -> None:
    needed = [field.name for field in fields(kind) if field.default is MISSING]
    with pytest.raises(TypeError, match=needed[-1]):
        kind(*needed[:-1])
    reading = kind(*needed)
    for field in fields(kind)[len(needed) :]:
        assert getattr(reading, field.name) is field.default


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_nothing_in_a_reading_changes(kind: type[Reading]) -> None:
    reading = kind(*range(len(fields(kind))))
    with pytest.raises(FrozenInstanceError):
        setattr(reading, fields(kind)[0].name, 1)
    assert copy.deepcopy(reading) is reading


def test_a_reading_is_compared_shown_and_stored() -> None:
    reading = Sample(1)
    assert reading == Sample(first=1, second="s") != Sample(2)
    assert "Sample(first=1, second='s')" in repr(reading)
    again = pickle.loads(pickle.dumps(Sample(3, "t")))
    assert (again.first, again.second) == (3, "t")
