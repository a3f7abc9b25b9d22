# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated time to stamps and /clock messages."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from rosgraph_msgs.msg import Clock

NANOSECONDS = 1_000_000_000


def stamp_of(nanoseconds: int) -> Time:
    """Return a simulated time [ns] as a stamp."""
    sec, nanosec = divmod(nanoseconds, NANOSECONDS)
    return Time(sec=sec, nanosec=nanosec)


def clock_message(stamp: Time) -> Clock:
    """Return the /clock message of a stamp."""
    return Clock(clock=stamp)
