# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Doors and windows of vertical planes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvsim_core import load_world
from mvsim_core.assembly.blocks import plane_solids
from mvsim_core.errors import BuildError
from mvsim_core.specs import OpeningSpec, VerticalPlaneSpec

LENGTH, HEIGHT = 10.0, 3.0
GRID = st.integers(0, 20).map(lambda k: k / 20)


@st.composite
def openings(draw: st.DrawFn) -> OpeningSpec:
    """Draw an opening whose edges lie on a grid, so that many touch and coincide."""
    z_min = HEIGHT * draw(GRID) - 0.5
    return OpeningSpec(
        position=draw(GRID),
        width=LENGTH * (draw(GRID) + 0.05),
        z_min=z_min,
        z_max=z_min + HEIGHT * (draw(GRID) + 0.05),
    )


def walled(spec: VerticalPlaneSpec, along: float, z: float) -> bool:
    """Tell whether no opening is at a place: the definition, asked point by point."""
    return not any(
        abs(along - o.position) < 0.5 * o.width / LENGTH and o.z_min < z < o.z_max
        for o in spec.openings
    )


@given(st.lists(openings(), max_size=8), st.lists(st.tuples(GRID, GRID), min_size=20))
def test_a_wall_is_where_no_opening_is(
    holes: list[OpeningSpec], places: list[tuple[float, float]]
) -> None:
    spec = VerticalPlaneSpec(x0=0, y0=0, x1=LENGTH, y1=0, height=HEIGHT, openings=tuple(holes))
    boxes = [(*s.points[:, 0][[0, 1]], *s.z_range) for s in plane_solids(spec)]
    for column, row in places:
        along, z = 0.95 * column + 0.0123, HEIGHT * (0.95 * row + 0.0123)  # never on an edge
        hits = sum(a < LENGTH * along < b and low < z < high for a, b, low, high in boxes)
        assert hits == walled(spec, along, z)


@pytest.mark.parametrize("widen", [0.0, 1.0], ids=["at one place", "one within the other"])
def test_openings_without_end_are_refused_with_their_place(widen: float) -> None:
    doors = "".join(
        f'<door width="{9 - widen * k / 1000}" z_min="{k / 500}" z_max="{(k + 0.5) / 500}"/>'
        for k in range(1000)
    )
    text = (
        '<mvsim_world>\n<element class="vertical_plane"><x0>0</x0><x1>10</x1>'
        f"{doors}</element></mvsim_world>"
    )
    with pytest.raises(BuildError) as raised:
        load_world(text=text)
    assert str(raised.value) == (
        "line 2: <element>: more than 100 doors and windows of different heights at one place,"
        " or more than 50000 pieces of wall between them; do they overlap by mistake?"
    )


def test_many_openings_of_one_height_are_one_gap() -> None:
    holes = tuple(OpeningSpec(position=0.5, width=5.0, z_max=1.0) for _ in range(500))
    spec = VerticalPlaneSpec(x0=0, y0=0, x1=LENGTH, y1=0, height=HEIGHT, openings=holes)
    assert len(plane_solids(spec)) == 3
