# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Thousands of poses read at once, column by column, with the same values as one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat

from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.converters import MOST_NUMBER, POSE2D, POSE3D, Converter

#: Order of the numbers in a text, by converter; "a" are angles.
_COLUMNS = {id(POSE2D): ("x", "y", "yaw"), id(POSE3D): ("x", "y", "z", "yaw", "pitch", "roll")}
_ANGLES = ("yaw", "pitch", "roll")
#: Angles of more characters are not read by `math.radians` alone; see `converters.angle`.
_LONGEST_ANGLE = 17
#: Makes a pose of a tuple, in half of the time that its constructor takes.
_pose: Callable[[tuple[float, ...]], Pose] = partial(tuple.__new__, Pose)


def read_poses(texts: Sequence[str], converter: Converter[Pose]) -> list[Pose]:
    """Return the poses of texts, as `converter.read` returns each.

    Raises:
        ValueError: One of them is wrong, or gives a notice.
    """
    found = _plain(texts, _COLUMNS.get(id(converter), ()))
    if found is None:
        if converter.notice is not None and any(map(converter.notice, texts)):
            raise ValueError
        found = [converter.read(text) for text in texts]
    return found


def _plain(texts: Sequence[str], names: tuple[str, ...]) -> list[Pose] | None:
    """Return the poses of texts that are nothing but numbers and blanks; None for others."""
    joined = " ; ".join(texts)
    words, width = joined.split(), len(names) + 1
    # As the texts are kept apart by a word that is no number, all of them have this many words.
    if len(words) != width * len(texts) - 1 or words[width - 1 :: width].count(";") + 1 < len(
        texts
    ):
        return None
    if "_" in joined or "n" in joined or "N" in joined:  # 1_000, nan, inf
        return None
    columns: dict[str, list[float]] = {}
    for start, name in enumerate(names):
        column = words[start::width]
        if name in _ANGLES and max(map(len, column)) > _LONGEST_ANGLE:
            return None
        try:
            values = list(map(float, column))
        except ValueError:
            return None
        if max(values) > MOST_NUMBER or min(values) < -MOST_NUMBER:
            return None
        columns[name] = list(map(math.radians, values)) if name in _ANGLES else values
    given = (columns.get(name, repeat(0.0)) for name in Pose._fields)
    return list(map(_pose, zip(*given, strict=False)))
