# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The error of a step that computes a number that is not finite or far out of range."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mvsim_core.errors import StepError
from mvsim_core.state.arrays import Row, Rows

if TYPE_CHECKING:
    from mvsim_core.state.entities import Entity

BODY_FIELDS = ("cvx", "cvy", "wz", "x", "y", "yaw")
WHEEL_FIELDS = ("omega", "torque", "fx", "fy")
#: Beyond it a number counts as not finite: single precision has no digits left [SI].
HUGE = 1e30


def body_error(entities: Iterable[Entity], bodies: Rows, row: int, tick: int) -> StepError:
    """Return the error for a row of BODY in a tick."""
    name = next(e.name for e in entities if e.row == row)
    return _error(name, name, bodies[row], BODY_FIELDS, tick)


def wheel_error(entities: Iterable[Entity], wheels: Rows, row: int, tick: int) -> StepError:
    """Return the error for a row of WHEEL in a tick."""
    owner = next(e for e in entities if 0 <= row - e.wheel0 < e.n_wheels)
    k = row - owner.wheel0
    specs = getattr(owner.spec.dynamics, "wheels", ())
    label = specs[k].name if k < len(specs) else f"wheel {k + 1}"
    return _error(owner.name, f"{owner.name}: {label}", wheels[row], WHEEL_FIELDS, tick)


def _error(entity: str, part: str, row: Row, fields: tuple[str, ...], tick: int) -> StepError:
    for field in fields:
        if not abs(row[field]) < HUGE:
            text = (
                f"{part}: {field} is {row[field]:g} in tick {tick};"
                " a torque, mass or time step may be far out of range"
            )
            return StepError(text, entity)
    return StepError(f"{part}: not finite in tick {tick}", entity)
