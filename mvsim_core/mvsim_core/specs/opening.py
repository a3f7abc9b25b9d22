# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause

"""Doors and windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mvsim_core.specs.params import Spec, Variants, param


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OpeningSpec(Spec):
    """A door or a window: a gap in a vertical plane.

    `position` is its centre as a fraction of the wall's length; the heights are absolute [m].
    """

    kind: str = "door"
    name: str = param("", attribute=True)
    position: float = param(0.5, attribute=True, help="clamped to [0, 1]")
    width: float = param(
        1.0, unit="m", attribute=True, help="there is no opening if it is not > 0"
    )
    z_min: float = param(0.0, unit="m", also=("z_start",), attribute=True, help="lower edge")
    z_max: float = param(2.1, unit="m", also=("z_end",), attribute=True, help="upper edge")

    def errors(self) -> Iterator[str]:
        """Yield errors in the height range."""
        if self.z_min >= self.z_max:
            yield f"z_min ({self.z_min:g} m) must be below z_max ({self.z_max:g} m)"

    def warnings(self) -> Iterator[str]:
        """Yield values that are clamped and openings that are left out."""
        if self.width <= 0.0:
            yield f"width must be > 0 [m], got {self.width:g}; there is no {self.kind}"
        if not 0.0 <= self.position <= 1.0:
            end = min(max(self.position, 0.0), 1.0)
            yield (
                f"position must be in [0, 1], a fraction of the wall's length, got"
                f" {self.position:g}; {end:g} is used"
            )

    def finished(self) -> OpeningSpec:
        """Return self with the position clamped to the wall."""
        return replace(self, position=min(max(self.position, 0.0), 1.0))


OPENINGS = Variants(
    "opening", {"door": OpeningSpec(), "window": OpeningSpec(kind="window")}, base=OpeningSpec
)
