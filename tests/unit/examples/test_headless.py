# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The short example runs."""

from __future__ import annotations

import pytest

from tests.unit.examples.loading import load


def test_headless(capsys: pytest.CaptureFixture[str]) -> None:
    load("headless")
    assert capsys.readouterr().out.startswith("t = 10.0 s: Pose(")
