# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What values of parameters are taken for; what breaks the rule raises ValueError."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mvsim_ros2.start_poses import poses_in

#: The largest whole number that a parameter can hold.
LARGEST = 2**63 - 1
#: Limits of the real-time factor.
FACTORS = (0.0, 1e6)


def boolean(value: Any) -> bool:
    """Return true or false, which may be a text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError


def text(value: Any) -> str:
    """Return a text."""
    if isinstance(value, str):
        return value
    raise ValueError


def frame(value: Any) -> str:
    """Return the name of a frame, without a slash before it."""
    # tf2 refuses frame names that begin with a slash.
    name = text(value).lstrip("/")
    if not name or any(c.isspace() for c in name):
        raise ValueError
    return name


def no_spaces(value: Any) -> str:
    """Return what is part of frame names, perhaps empty."""
    name = text(value).lstrip("/")
    if any(c.isspace() for c in name):
        raise ValueError
    return name


def number(value: Any) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value)


def between(low: float, high: float) -> Callable[[Any], float]:
    """Return what takes numbers within limits, both allowed."""

    def convert(value: Any) -> float:
        found = number(value)
        if not low <= found <= high:
            raise ValueError
        return found

    return convert


def factor(value: Any) -> float:
    """Return a real-time factor; 0 for max."""
    if isinstance(value, str):
        if value.lower() == "max":
            return 0.0
        value = float(value)
    return between(*FACTORS)(value)


def whole(value: Any) -> int:
    """Return a whole number, at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise ValueError
    return value


def three_way(value: Any) -> str:
    """Return auto, true or false as a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.lower() in ("auto", "true", "false"):
        return value.lower()
    raise ValueError


def start_poses(value: Any) -> str:
    """Return poses as `mvsim_ros2.start_poses` reads them, still as a text."""
    poses_in(text(value))
    return str(value)


def no_hit(value: Any) -> str:
    """Return what scans say where nothing is met."""
    name = "inf" if value == math.inf else value  # YAML takes .inf for a number
    if name not in ("inf", "range_max", "beyond", "zero"):
        raise ValueError
    return str(name)


def odometry_start(value: Any) -> str:
    """Return where odometry starts."""
    if value not in ("zero", "spawn"):
        raise ValueError
    return str(value)
