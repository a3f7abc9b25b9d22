# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Work in a thread of its own, with its reports and errors."""

from threading import get_ident

import pytest

from mvsim_core import progress
from mvsim_ros2.runtime.background import in_background


def test_reports_and_errors_come_out() -> None:
    lines: list[str] = []

    def work() -> int:
        progress.announce("working")
        return get_ident()

    assert in_background(work, lines.append).result() != get_ident()
    assert lines == ["working"]
    with pytest.raises(ZeroDivisionError):
        in_background(lambda: 1 // 0, print).result()
