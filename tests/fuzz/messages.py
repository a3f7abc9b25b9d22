# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random ROS messages of any type."""

import importlib
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

FLOATS = (
    *(0.0, 0.0, 1.0, -1.0, 0.5, 1e-9, 3.0, 100.0, 1e6, -1e9, 1e15, 1e30, -1e38),
    *(float("nan"), float("inf"), float("-inf")),
)
INTEGERS = (0, 1, 2, 3, 4, 5, 6, 7, 100, 255, -1, 1000, 2**31 - 1, 2**63 - 1, 2**64 - 1)
#: Bits and sign of integers by their names in messages.
WHOLE = re.compile(r"(u?)int(\d+)")
ARRAY = re.compile(r"(.+)\[(\d+)\]")
SEQUENCE = re.compile(r"sequence<([^,]+)(?:, (\d+))?>")


class Filler:
    """Fills messages.

    Args:
        choices: Source of all choices.
        texts: What makes the text of a field, by the field's name; "" for all others.
    """

    def __init__(self, choices: random.Random, texts: Mapping[str, Callable[[], str]]) -> None:
        self._random = choices
        self._texts = texts

    def fill(self, message: Any) -> Any:
        """Give each field a value, some of them their default, and return the message."""
        for field, kind in message.get_fields_and_field_types().items():
            if self._random.random() < 0.1:
                continue
            try:
                setattr(message, field, self._value(kind, field, getattr(message, field)))
            except AssertionError:  # outside the range of the field
                continue
        return message

    def _value(self, kind: str, field: str, present: Any) -> Any:
        if found := ARRAY.fullmatch(kind):
            each, number = found.groups()
            return [self._value(each, field, None) for _ in range(int(number))]
        if found := SEQUENCE.fullmatch(kind):
            each, most = found.groups()
            number = self._random.choice((0, 0, 1, 2, 3, 4, 200))
            return [self._value(each, field, None) for _ in range(min(number, int(most or 1000)))]
        if kind.startswith(("string", "wstring")):
            return self._texts.get(field, self._texts[""])()
        if kind == "boolean":
            return self._random.random() < 0.5
        if kind in ("double", "float"):
            if self._random.random() < 0.6:
                return self._random.uniform(-3.0, 3.0)
            return self._random.choice(FLOATS)
        if kind == "octet":
            return bytes([self._random.randrange(256)])
        if found := WHOLE.fullmatch(kind):
            return self._whole(int(found[2]), signed=not found[1])
        return self.fill(message_type(kind)() if present is None else present)

    def _whole(self, bits: int, *, signed: bool) -> int:
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        return min(max(self._random.choice(INTEGERS), low), high)


def message_type(name: str) -> Any:
    """Return the class of a type of a field, such as geometry_msgs/Pose."""
    package, kind = name.split("/")
    for folder in ("msg", "action", "srv"):
        try:
            module = importlib.import_module(f"{package}.{folder}")
        except ImportError:
            continue
        if hasattr(module, kind):
            return getattr(module, kind)
        for owner, _, part in (kind.partition("_"),):  # such as SimulateSteps_Goal
            if part and hasattr(module, owner):
                return getattr(getattr(module, owner), part)
    raise LookupError(name)


def interface_type(name: str) -> Any:
    """Return the class of a topic or service by the name that the graph has of it."""
    package, folder, kind = name.split("/")
    module = importlib.import_module(f"{package}.{folder}")
    if folder != "action":
        return getattr(module, kind)
    owner, _, part = kind.partition("_")  # such as SimulateSteps_SendGoal
    implementation = getattr(module, owner).Impl
    return getattr(implementation, part if part.endswith("Message") else f"{part}Service")
