# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Energy never grows without a motor, whatever the vehicle, the friction and the step."""

from __future__ import annotations

import pytest

from tests.property.random_vehicles import CLASSES, crowd_growth, growth


@pytest.mark.filterwarnings("ignore:r1 (lifts|would tip)")
@pytest.mark.parametrize("kind", range(len(CLASSES)))
def test_energy_never_grows(kind: int) -> None:
    """Motion and spin, over each dynamics class, friction model and steps of 1 to 20 ms."""
    for seed in range(kind, 20 * len(CLASSES), len(CLASSES)):
        assert growth(seed) <= 1e-9, seed


#: Worlds whose energy grew near rest: casters and rollers that resist more than the vehicle's
#: inertia allows, rolling resistance on a wheel whose vehicle moves otherwise, drag.
NEAR_REST = (3928, 3963, 4109, 4516, 4669, 5019, 5756, 6104, 8142, 8989, 9329, 11340, 201110)


@pytest.mark.filterwarnings("ignore:r1 (lifts|would tip)")
@pytest.mark.parametrize("seed", NEAR_REST)
def test_energy_never_grows_near_rest(seed: int) -> None:
    """Also where the vehicle is as good as at rest."""
    assert growth(seed) <= 1e-9


#: A fast world whose drag of the ground exceeded the grip.
FAST = (208309,)


@pytest.mark.filterwarnings("ignore:r1 (lifts|would tip)")
@pytest.mark.parametrize("seed", FAST)
def test_energy_never_grows_at_speed(seed: int) -> None:
    assert growth(seed) <= 1e-9


@pytest.mark.filterwarnings("ignore:r1 (lifts|would tip)")
@pytest.mark.parametrize("slope", [5.0, 20.0])
def test_energy_never_grows_on_slopes(slope: float) -> None:
    """Height included, in any direction."""
    for seed in range(49):
        assert growth(seed, slope) <= 1e-9, seed


#: Worlds on 20 degrees whose energy grew: rollers askew, some of whose wheels are slow, and what
#: comes to rest uphill, or turns back downhill, within a step.
ON_SLOPES = (83, 90, 166, 223, 285, 306, 369, 692, 796, 839, 915)


@pytest.mark.filterwarnings("ignore:r1 (lifts|would tip)")
@pytest.mark.parametrize("seed", ON_SLOPES)
def test_energy_never_grows_for_rollers_on_slopes(seed: int) -> None:
    assert growth(seed, 20.0) <= 1e-9


@pytest.mark.filterwarnings("ignore:r1 (lifts|would tip)")
def test_energy_never_grows_by_a_turn_round_on_a_slope() -> None:
    """A car on 10 degrees whose slip across turned round within a step."""
    assert growth(303979, 10.0) <= 1e-9


#: Worlds on 30 degrees whose vehicles left the plane of their ground: fast ones with small wheels.
FAST_ON_SLOPES = (107770, 108358)


@pytest.mark.filterwarnings("ignore:r1 (lifts|would tip)")
@pytest.mark.parametrize("seed", FAST_ON_SLOPES)
def test_energy_never_grows_for_fast_vehicles_on_slopes(seed: int) -> None:
    assert growth(seed, 30.0) <= 1e-9


@pytest.mark.filterwarnings("ignore::UserWarning")  # what lifts, and what is put into each other
def test_energy_never_grows_in_contacts() -> None:
    """Vehicles, blocks and walls that hit, rub, press and overlap, with any restitution."""
    touched = 0
    for seed in range(42):
        worst, contacts = crowd_growth(seed)
        assert worst <= 1e-9, seed
        touched += contacts > 0
    assert touched > 21
