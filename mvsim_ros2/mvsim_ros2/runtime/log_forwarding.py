# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What goes to the node's log: Python's `warnings` and `logging`, and faults of the node.

The log is a topic, which clients read; tracebacks may quote what clients must not see and go to
standard error.
"""

from __future__ import annotations

import inspect
import logging
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.serialization import serialize_message


class NodeLogHandler(logging.Handler):
    """Forwards warnings and errors of Python loggers to the log of a node."""

    def __init__(self, logger: RcutilsLogger) -> None:
        """Forward to `logger`."""
        super().__init__(logging.WARNING)
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Forward a record."""
        if record.exc_info:
            traceback.print_exception(*record.exc_info)
        # rclpy requires a call site of its own for each level.
        if record.levelno >= logging.ERROR:
            self._logger.error(record.getMessage())
        else:
            self._logger.warning(record.getMessage())


def log_fault(logger: RcutilsLogger, error: Exception) -> str:
    """Log an exception that no input should cause; return what an answer may say of it."""
    traceback.print_exception(error)
    text = f"internal error: {type(error).__name__}"
    logger.error(f"{text}; standard error has the traceback")
    return text


def forward_python_logs(logger: RcutilsLogger) -> None:
    """Send the process's Python warnings and log records to `logger`."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        logger.warning(str(message))

    warnings.showwarning = show
    # The core itself warns once for each vehicle; Python's own filter would also drop the warning
    # of a later vehicle with the same name.
    warnings.filterwarnings("always", category=UserWarning, module=r"mvsim_(core|ros2)\b")
    logging.getLogger().addHandler(NodeLogHandler(logger))


def answering(callback: Callable[[Any, Any], Any], logger: RcutilsLogger) -> Callable[..., Any]:
    """Return a callback of a service that answers every request.

    rclpy leaves a request whose callback raises, such as one that sets a parameter of no type,
    without an answer and sends the traceback to /rosout. It crashes where the response of a
    coroutine cannot be written, as one with a text that has no UTF-8.
    """

    def checked(response: Any) -> Any:
        serialize_message(response)
        return response

    if inspect.iscoroutinefunction(callback):

        async def answer_later(request: Any, response: Any) -> Any:
            try:
                return checked(await callback(request, response))
            except Exception as error:
                return _failure(response, log_fault(logger, error))

        return answer_later

    def answer(request: Any, response: Any) -> Any:
        try:
            return checked(callback(request, response))
        except Exception as error:
            return _failure(response, log_fault(logger, error))

    return answer


def _failure(response: Any, text: str) -> Any:
    """Return a response of the same type that says why there is no other."""
    failure: Any = type(response)()
    if hasattr(failure, "result") and hasattr(failure.result, "error_message"):
        result = failure.result
        result.result, result.error_message = result.RESULT_OPERATION_FAILED, text
    return failure
