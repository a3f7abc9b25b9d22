# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The handle of an actor."""

from __future__ import annotations

import math

from mvsim_core.handles import Handle
from mvsim_core.walking import RUNNING_PART, WALKING


class Actor(Handle):
    """Somebody who walks along a path; the world moves it, and it pushes what is in its way."""

    @property
    def gait(self) -> str:
        """What it does now: "idle", "walk" or "run"."""
        speed = math.hypot(float(self._body["vx"]), float(self._body["vy"]))
        if speed > RUNNING_PART * self.spec.running_speed:
            return "run"
        return "walk" if speed > WALKING else "idle"
