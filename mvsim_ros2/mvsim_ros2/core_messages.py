# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the core says through `warnings` and `logging`, into the node's log."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from rclpy.impl.rcutils_logger import RcutilsLogger


class NodeLog(logging.Handler):
    """Shows warnings and errors of Python loggers in the log of a node."""

    def __init__(self, logger: RcutilsLogger) -> None:
        """Forward to `logger`."""
        super().__init__(logging.WARNING)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Forward a record."""
        # rclpy wants one call for each level.
        if record.levelno >= logging.ERROR:
            self._logger.error(self.format(record))
        else:
            self._logger.warning(self.format(record))


def forward(logger: RcutilsLogger) -> None:
    """Send the process's Python warnings and log records to `logger`."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        logger.warning(str(message))

    warnings.showwarning = show
    # The core says what it says once itself; another vehicle of the same name may say it again.
    warnings.filterwarnings("always", category=UserWarning, module=r"mvsim_(core|ros2)\b")
    logging.getLogger().addHandler(NodeLog(logger))
