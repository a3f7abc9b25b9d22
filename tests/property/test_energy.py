# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Energy never grows without a motor, whatever the vehicle, the friction and the step."""

from __future__ import annotations

import pytest

from tests.property.random_vehicles import CLASSES, growth


@pytest.mark.filterwarnings("ignore:r1 (lifts|would tip)")
@pytest.mark.parametrize("kind", range(len(CLASSES)))
def test_energy_never_grows(kind: int) -> None:
    """Motion and spin, over each dynamics class, friction model and steps of 1 to 20 ms."""
    for seed in range(kind, 20 * len(CLASSES), len(CLASSES)):
        assert growth(seed) <= 1e-9, seed
