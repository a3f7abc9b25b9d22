# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that fuzzing chose because each takes its own way through the reader."""

import time
from pathlib import Path

import pytest

from tests.fuzz.rules import check

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_input_keeps_the_rules(path: Path, tmp_path: Path) -> None:
    start = time.process_time()
    check(path.read_bytes(), tmp_path / "w.world.xml")
    assert time.process_time() - start < 2.0
