# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The pieces of ground that are chosen around a place give the heights that all of a copy give."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.terrain.surface import MAP, NONE, PIECE, RAMP, choose_pieces, heights_at


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("origin", [0.0, 5e6])
def test_heights_of_chosen_pieces_are_those_of_all_of_the_copy(seed: int, origin: float) -> None:
    """Ramps, turned anyhow, at every distance from the places that are asked for."""
    rng = np.random.default_rng(seed)
    pieces = np.zeros(60, PIECE)
    pieces["kind"] = np.where(rng.random(60) < 0.1, NONE, RAMP)
    pieces["body"] = -1
    pieces["copy"] = rng.choice([-1, 3, 7], 60)  # copy of the world; -1: ground of each
    pieces["x1"], pieces["y1"] = rng.uniform(0.1, 1.5, (2, 60))
    pieces["x0"], pieces["y0"] = -pieces["x1"], -pieces["y1"]
    pieces["rise"] = rng.uniform(0.1, 1.0, 60)
    pieces["far"] = np.hypot(pieces["x1"], pieces["y1"])
    angle = rng.uniform(-math.pi, math.pi, 60)
    pieces["c"], pieces["s"] = np.cos(angle), np.sin(angle)
    pieces["px"], pieces["py"] = rng.uniform(-4.0, 4.0, (2, 60)) + origin
    rest = np.zeros((0, 2)), np.zeros(0, MAP), np.zeros(0)
    room, found = np.empty_like(pieces), 0
    for reach in (0.5, 1.5):
        chosen = choose_pieces(pieces, room, 3, origin, origin, reach + 1e-3).copy()
        assert 0 < len(chosen) < len(pieces)
        for direction in rng.uniform(-math.pi, math.pi, 200):
            x, y = origin + reach * math.cos(direction), origin + reach * math.sin(direction)
            want = heights_at(pieces[pieces["copy"] != 7], *rest, x, y, 0.5)
            assert heights_at(chosen, *rest, x, y, 0.5) == pytest.approx(want, abs=0, nan_ok=True)
            found += not math.isnan(want[0] + want[1])
    assert found > 0
