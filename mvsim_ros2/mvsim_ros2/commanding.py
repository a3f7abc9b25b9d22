# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From commands that arrive to vehicles that follow them in the next step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from weakref import WeakKeyDictionary

from rclpy.impl.rcutils_logger import RcutilsLogger

from mvsim_core import CommandError, Vehicle, World
from mvsim_ros2.conversions.commands import (
    AckermannCommand,
    TwistCommand,
    follow_twist,
    not_finite,
)
from mvsim_ros2.mailbox import Mailbox

#: Shortest wall time [s] between two warnings about commands that are no numbers.
THROTTLE = 1.0


class Commanding:
    """Posts commands for the next step; the newest of each vehicle counts.

    Args:
        mailbox: Where commands are left.
        logger: Where it says what cannot be followed.
        angle: The parameter cmd_angle_instead_rotvel.
    """

    def __init__(self, mailbox: Mailbox, logger: RcutilsLogger, *, angle: bool) -> None:
        """Wait for commands."""
        self._mailbox = mailbox
        self._logger = logger
        self._angle = angle
        self._refused: WeakKeyDictionary[Vehicle, set[str]] = WeakKeyDictionary()

    def twist(self, name: str, command: TwistCommand) -> None:
        """Let a vehicle follow a velocity; any thread may call it."""
        self._post(name, command, partial(follow_twist, command=command, angle=self._angle))

    def ackermann(self, name: str, command: AckermannCommand) -> None:
        """Let a vehicle follow speed and steering; any thread may call it."""
        self._post(name, command, lambda vehicle: vehicle.set_ackermann(*command))

    def _post(
        self,
        name: str,
        command: TwistCommand | AckermannCommand,
        follow: Callable[[Vehicle], None],
    ) -> None:
        bad = not_finite(command)
        if bad:
            text = f"{name}: command refused, not a finite number: {bad}"
            self._logger.warning(text, throttle_duration_sec=THROTTLE)
            return
        self._mailbox.post(name, partial(self._follow, name, follow))

    def _follow(self, name: str, follow: Callable[[Vehicle], None], world: World) -> None:
        vehicle = world.vehicles.get(name)
        if vehicle is None:  # it was deleted in the meantime
            return
        try:
            follow(vehicle)
        except CommandError as error:
            self._refuse(vehicle, str(error))

    def _refuse(self, vehicle: Vehicle, text: str) -> None:
        """Say why a vehicle does not follow a command, once for each reason."""
        known = self._refused.setdefault(vehicle, set())
        if text not in known:
            known.add(text)
            self._logger.warning(text)
