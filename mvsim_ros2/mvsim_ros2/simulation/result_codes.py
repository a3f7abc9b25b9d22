# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Result codes of `simulation_interfaces`, and the error that carries one."""

from __future__ import annotations

from mvsim_core import MvsimError

UNSUPPORTED, OK, NOT_FOUND, INCORRECT_STATE, FAILED = range(5)

# Codes above 100 have a meaning for each service.
NAME_NOT_UNIQUE, NAME_INVALID, UNSUPPORTED_FORMAT, NO_RESOURCE = 101, 102, 103, 104
NAMESPACE_INVALID, PARSE_ERROR, MISSING_ASSETS = 105, 106, 107
SPAWN_POSE_INVALID, POSE_INVALID, SPAWN_FAILED = 109, 101, 150
ALREADY_IN_STATE, INCORRECT_TRANSITION = 101, 103
NO_WORLD = 101
WORLD_FORMAT, WORLD_NO_RESOURCE, WORLD_PARSE_ERROR, WORLD_MISSING_ASSETS = 101, 102, 103, 104


class RequestError(MvsimError):
    """A service request fails.

    Attributes:
        code: Result code of the interface.
    """

    def __init__(self, code: int, message: str) -> None:
        """Hold the code; the message is the text of the exception."""
        super().__init__(message)
        self.code = code
