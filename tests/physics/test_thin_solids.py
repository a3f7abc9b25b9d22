# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Solids thinner than the contact solver's margin of 2 cm are where they are."""

import math

import numpy as np
import pytest

from mvsim_core import World, load_world
from mvsim_core.solver.contact_data import ContactData
from mvsim_core.solver.solve import solve
from mvsim_core.state.arrays import STATIC
from mvsim_core.state.entities import Inertia, Material, body_row

CAR = (
    '<vehicle name="r1"><init_pose>0 0 0</init_pose><dynamics class="differential">'
    '<controller class="twist_ideal"/></dynamics></vehicle>'
)
ALWAYS = (-math.inf, math.inf)
NO_MASS = Inertia(0.0, 0.0, 0.0, 0.0)


def plane(x0: float, y0: float, x1: float, y1: float) -> str:
    ends = f"<x0>{x0}</x0><y0>{y0}</y0><x1>{x1}</x1><y1>{y1}</y1>"
    return f'<element class="vertical_plane">{ends}<thickness>0.02</thickness></element>'


def world(body: str) -> World:
    return load_world(text=f"<mvsim_world>{body}{CAR}</mvsim_world>")


def test_planes_far_away_touch_nothing() -> None:
    rng = np.random.default_rng(0)
    planes = []
    for _ in range(300):
        x, y = rng.uniform(5, 90, 2)
        angle, length = rng.uniform(0, 2 * math.pi), rng.uniform(0.3, 3)
        planes.append(plane(x, y, x + length * math.cos(angle), y + length * math.sin(angle)))
    loaded = world("".join(planes))
    loaded.step()
    assert not loaded.contacts


@pytest.mark.parametrize("tilt", np.linspace(-0.3, 0.3, 7))
def test_a_thin_plane_stops_a_car_where_it_stands(tilt: float) -> None:
    loaded = world(plane(2.0 - tilt, -1.0, 2.0 + tilt, 1.0))
    loaded.vehicles["r1"].set_twist(1.0)
    loaded.run(4.0)
    assert loaded.vehicles["r1"].in_collision
    assert loaded.vehicles["r1"].pose.x + 0.6 == pytest.approx(2.0, abs=0.35)


@pytest.mark.parametrize("size", [0.001, 0.004, 0.01, 0.019, 0.021, 0.1])
@pytest.mark.parametrize("x", [0.0, 3.0, -40.0])
def test_small_posts_are_hit_where_they_are(size: float, x: float) -> None:
    corners = 0.5 * size * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    bodies = np.concatenate(
        [
            body_row((x, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), NO_MASS, STATIC),
            body_row((x - 1.0, 0, 0, 0, 0, 0), (0.5, 0.0, 0.0), Inertia(1.0, 0.0, 0.0, 0.1)),
        ]
    )
    contacts = ContactData()
    contacts.add_shape(0, 0, corners, Material(0.0, 0.0), ALWAYS)
    contacts.add_shape(1, 1, 20 * corners / size * 0.005, Material(0.0, 0.0), ALWAYS)
    for _ in range(400):
        bodies["cvx"][1] = 0.5
        assert solve(bodies, np.array([1]), contacts, 0.005) == -1
    assert bodies["x"][1] == pytest.approx(x - 0.05 - 0.5 * size, abs=2e-3)
