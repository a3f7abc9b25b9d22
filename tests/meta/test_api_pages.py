# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the Python API name every public name and every reading."""

import re
from pathlib import Path

import pytest

import mvsim_core
from mvsim_core import sensors

DOCS = Path(__file__).resolve().parents[2] / "docs"
API = (DOCS / "api.md").read_text()
READINGS = (DOCS / "readings.md").read_text()
SHOWN = re.compile(r"^\.\. auto(?:class|function|exception):: (\w+)$", re.MULTILINE)


def test_every_public_name_is_on_the_page() -> None:
    shown = {*SHOWN.findall(API), *API.split("`")}
    assert {name for name in mvsim_core.__all__ if name not in shown} == set()


def test_every_reading_is_on_the_page() -> None:
    readings = {name for name in sensors.__all__ if name.endswith("Reading") and name != "Reading"}
    assert readings <= set(SHOWN.findall(READINGS))
    assert set(re.findall(r"^\| `\w+` \| `(\w+)` \|$", READINGS, re.MULTILINE)) == readings


def test_every_class_of_sensors_is_in_the_table() -> None:
    classes = set(re.findall(r"^\| `(\w+)` \| `\w+` \|$", READINGS, re.MULTILINE))
    assert classes == set(mvsim_core.SENSORS.registered())


@pytest.mark.parametrize("name", sorted(set(SHOWN.findall(READINGS)) - {"Sensor", "Pinhole"}))
def test_every_field_of_a_reading_is_described(name: str) -> None:
    cls = getattr(sensors, name)
    fields = getattr(cls, "__dataclass_fields__", None) or cls._fields
    described = set(re.findall(r"^        (\w+): ", cls.__doc__ or "", re.MULTILINE))
    assert set(fields) <= described
