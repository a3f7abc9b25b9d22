# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A short run of the fuzzer of the message bus."""

from tests.fuzz import bus


def test_clients_that_mean_harm(monkeypatch) -> None:
    monkeypatch.setattr(bus, "ALONE", 0.5)
    monkeypatch.setattr(bus, "ATTACKED", 5.0)
    fuzz = bus.Fuzz(robots=2, seed=3)
    try:
        fuzz.round()
    finally:
        fuzz.close()
    assert fuzz.faults == []
    assert fuzz.messages > 100
    assert len(fuzz.attacked.taken) > 100
