# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause

"""Doors and windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mvsim_core.specs.params import Spec, Variants, param


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningSpec(Spec):
    """A door (free for bodies) or window (free for rays) in a vertical plane.

    `position` is its centre along the wall, 0 to 1; the heights are absolute [m].
    """

    kind: str = "door"
    name: str = param("", attribute=True)
    position: float = param(0.5, attribute=True, help="limited to 0 ... 1")
    width: float = param(1.0, unit="m", attribute=True, help="none is cut if it is not > 0")
    z_min: float = param(0.0, unit="m", also=("z_start",), attribute=True)
    z_max: float = param(2.1, unit="m", also=("z_end",), attribute=True)

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the height range."""
        if self.z_min >= self.z_max:
            yield f"z_min ({self.z_min:g} m) must be below z_max ({self.z_max:g} m)"

    def doubts(self) -> Iterator[str]:
        """Yield what is mended or left out."""
        if self.width <= 0.0:
            yield f"no {self.kind} is cut, because its width is not > 0 [m], but {self.width:g}"
        if not 0.0 <= self.position <= 1.0:
            end = min(max(self.position, 0.0), 1.0)
            yield (
                f"position is a share of the wall's length, 0 to 1, got {self.position:g};"
                f" {end:g} is taken"
            )

    def finished(self) -> OpeningSpec:
        """Return self with its position on the wall."""
        return replace(self, position=min(max(self.position, 0.0), 1.0))


OPENINGS = Variants(
    "opening", {"door": OpeningSpec(), "window": OpeningSpec(kind="window")}, base=OpeningSpec
)
