# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Forwarding of Python's `warnings` and `logging`, which the core uses, to the node's log."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from rclpy.impl.rcutils_logger import RcutilsLogger


class NodeLogHandler(logging.Handler):
    """Forwards warnings and errors of Python loggers to the log of a node."""

    def __init__(self, logger: RcutilsLogger) -> None:
        """Forward to `logger`."""
        super().__init__(logging.WARNING)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Forward a record."""
        # rclpy requires a call site of its own for each level.
        if record.levelno >= logging.ERROR:
            self._logger.error(self.format(record))
        else:
            self._logger.warning(self.format(record))


def forward_python_logs(logger: RcutilsLogger) -> None:
    """Send the process's Python warnings and log records to `logger`."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        logger.warning(str(message))

    warnings.showwarning = show
    # The core itself warns once for each vehicle; Python's own filter would also drop the warning
    # of a later vehicle with the same name.
    warnings.filterwarnings("always", category=UserWarning, module=r"mvsim_(core|ros2)\b")
    logging.getLogger().addHandler(NodeLogHandler(logger))
