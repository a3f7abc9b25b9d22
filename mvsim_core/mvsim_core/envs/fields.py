# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Layout of actions and observations: named fields with units and bounds, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box

Floats32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Field:
    """Some columns of an action or observation.

    Attributes:
        name: What they are.
        low: Least value, in `unit`.
        high: Greatest value.
        unit: Unit of the values when they are not scaled; scaled, `scale` is 1.
        size: Number of columns.
        scale: What becomes 1 in a scaled space; 0: the larger of the bounds' absolute values.
    """

    name: str
    low: float
    high: float
    unit: str
    size: int = 1
    scale: float = 0.0

    @property
    def one(self) -> float:
        """What becomes 1 in a scaled space."""
        return self.scale or max(abs(self.low), abs(self.high))


class Layout:
    """Fields side by side.

    Attributes:
        fields: From left to right.
        slices: Columns of each field, by its name.
        width: Number of columns.
        scaled: Whether values are divided by `Field.one`.
        one: (width,) float32, by which values in units are divided.
    """

    def __init__(self, fields: Sequence[Field], scaled: bool) -> None:
        """Lay fields out."""
        self.fields = tuple(fields)
        self.scaled = scaled
        self.slices: dict[str, slice] = {}
        at = 0
        for field in self.fields:
            self.slices[field.name] = slice(at, at + field.size)
            at += field.size
        self.width = at
        sizes = [field.size for field in self.fields]
        one = [field.one if scaled else 1.0 for field in self.fields]
        self.one: Floats32 = np.repeat(one, sizes).astype(np.float32)
        # (width,) bounds in units, of actions that are clipped
        self.least = np.repeat([field.low for field in self.fields], sizes)
        self.most = np.repeat([field.high for field in self.fields], sizes)
        self.low = self._repeated([field.low for field in self.fields])
        self.high = self._repeated([field.high for field in self.fields])

    def _repeated(self, values: Sequence[float]) -> Floats32:
        sizes = [field.size for field in self.fields]
        repeated: Floats32 = np.repeat(values, sizes).astype(np.float32) / self.one
        return repeated

    @property
    def space(self) -> Any:
        """Space of one agent, a `Box`."""
        return Box(self.low, self.high, dtype=np.float32)

    def table(self) -> str:
        """Return a Markdown table of the fields."""
        lines = ["| columns | field | unit | bounds |", "|---|---|---|---|"]
        for field in self.fields:
            part = self.slices[field.name]
            columns = str(part.start) if field.size == 1 else f"{part.start} … {part.stop - 1}"
            bounds = f"{field.low:.4g} … {field.high:.4g}"
            unit = f"{field.one:.4g} {field.unit}" if self.scaled else field.unit
            lines.append(f"| {columns} | {field.name} | {unit} | {bounds} |")
        return "\n".join(lines)
