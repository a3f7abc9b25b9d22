# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim map`: the map of a world, as Nav2 reads it back."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mvsim_core.assembly.floor_plan import floor_plan
from mvsim_core.elements.grid_writing import save_nav2
from mvsim_core.elements.occupancy_grid import GridMap, load_grid
from mvsim_core.errors import BuildError
from mvsim_core.xmlfile import read_world
from tests.unit.cli.conftest import Outcome

ROBOT = (
    '<vehicle name="r1"><init_pose>{} 0</init_pose><dynamics class="differential"/>'
    '<sensor class="laser" name="scan"><pose_3d>0 0 0.3 0 0 0</pose_3d></sensor></vehicle>'
)
ROOM = (
    "<walls><shape><pt>-3 -2</pt><pt>3 -2</pt><pt>3 -2</pt><pt>3 2</pt><pt>3 2</pt><pt>-3 2</pt>"
    "<pt>-3 2</pt><pt>-3 -2</pt></shape></walls>"
)


def plan(body: str, **options: float) -> GridMap:
    spec, _ = read_world(text=f"<mvsim_world>{body}</mvsim_world>")
    return floor_plan(spec, **options).grid


def at(grid: GridMap, x: float, y: float) -> int:
    column = int((x - grid.origin.x) / grid.resolution)
    return int(grid.cells[int((y - grid.origin.y) / grid.resolution), column])


def test_a_room_is_free_inside_and_unknown_outside() -> None:
    grid = plan(ROOM + ROBOT.format("0 0"))
    assert grid.resolution == 0.05
    assert at(grid, 0, 0) == 0
    assert at(grid, 2.9, 1.9) == 0
    assert at(grid, 3.0, 0.0) == 100
    assert at(grid, 3.5, 0.0) == -1


def test_without_vehicles_the_outside_is_free() -> None:
    grid = plan(ROOM)
    assert at(grid, 3.5, 0.0) == 0
    assert at(grid, 0.0, 0.0) == -1


def test_height_decides() -> None:
    low = (
        '<block name="low"><init_pose>1 0 0</init_pose><static>true</static>'
        "<zmin>0</zmin><zmax>0.25</zmax></block>"
    )
    assert at(plan(low + ROBOT.format("-2 0")), 1, 0) == 0  # the lidar is at 0.3 m
    assert at(plan(low + ROBOT.format("-2 0"), z=0.2), 1, 0) == 100
    assert at(plan(low), 1, 0) == 100  # 0.2 m without a lidar


def test_what_can_be_pushed_is_not_in_it() -> None:
    block = '<block name="b"><init_pose>1 0 0</init_pose></block>'
    assert at(plan(block), 1, 0) == 0


def test_the_extent_is_that_of_all_bodies_at_all_heights() -> None:
    high = (
        '<block name="high"><init_pose>9 0 0</init_pose><zmin>5</zmin><zmax>6</zmax>'
        "<static>true</static></block>"
    )
    grid = plan(high + ROBOT.format("-4 0"))
    assert grid.origin == pytest.approx((-5.4, -1.6, 0.0))
    assert (grid.height, grid.width) == (64, 318)
    assert (grid.cells == 0).all()


@pytest.mark.parametrize(("z", "found"), [(0.2, 0), (2.5, 100)])
def test_doors_are_open_below_their_top(z: float, found: int) -> None:
    plane = (
        '<element class="vertical_plane"><x0>0</x0><y0>-3</y0><x1>0</x1><y1>3</y1>'
        '<door position="0.5" width="1"/></element>'
    )
    grid = plan(plane, z=z)
    assert at(grid, 0, 0) == found
    assert at(grid, 0, 2) == 100


def test_the_map_of_a_map_is_the_map(tmp_path: Path) -> None:
    cells = np.zeros((30, 40), np.int8)
    cells[[0, -1]] = cells[:, [0, -1]] = 100
    cells[10:14, 5:30] = 100
    cells[20:25, 30:35] = -1
    save_nav2(GridMap(cells, 0.1, (-1.3, -0.7, 0.0)), tmp_path / "in.yaml")  # type: ignore[arg-type]
    own = f'<element class="occupancy_grid"><file>{tmp_path}/in.yaml</file></element>'
    grid = plan(own + ROBOT.format("0.3 0"))
    np.testing.assert_array_equal(grid.cells, cells)
    assert tuple(grid.origin) == (-1.3, -0.7, 0.0)
    assert grid.resolution == 0.1


def test_writing_and_reading_gives_the_same_cells(
    mvsim: Callable[..., Outcome], tmp_path: Path
) -> None:
    world, output = tmp_path / "w.world.xml", tmp_path / "it's here.yaml"
    world.write_text(f"<mvsim_world>{ROOM}{ROBOT.format('0.3 0.1')}</mvsim_world>")
    code, out, err = mvsim("map", str(world), "-o", str(output), "--resolution", "0.02")
    assert (code, err) == (0, "")
    assert " cells of 0.02 m at z = 0.3 m, " in out
    expected = floor_plan(read_world(world)[0], resolution=0.02).grid
    back = load_grid(output)
    assert back.warnings == ()
    assert set(np.unique(back.cells)) == {-1, 0, 100}
    np.testing.assert_array_equal(back.cells, expected.cells)
    assert back.resolution == 0.02
    assert back.origin == expected.origin
    assert output.with_suffix(".pgm").read_bytes().startswith(b"P5\n")


def test_wrong_use(mvsim: Callable[..., Outcome], tmp_path: Path) -> None:
    world = tmp_path / "w.world.xml"
    world.write_text(f"<mvsim_world>{ROOM}</mvsim_world>")
    assert mvsim("map", str(world), "-o", "map.pgm")[0] == 2
    code, _, err = mvsim("map", str(world), "-o", str(tmp_path / "no" / "map.yaml"))
    assert code == 1
    assert "map.pgm: cannot be written (No such file or directory)" in err
    code, _, err = mvsim("map", str(world), "-o", str(tmp_path / "m.yaml"), "--resolution", "-1")
    assert code == 2
    assert "--resolution" in err
    with pytest.raises(BuildError, match=r"resolution must be > 0 \[m\], got -1"):
        floor_plan(read_world(world)[0], resolution=-1.0)


def test_too_fine_a_map_is_refused() -> None:
    with pytest.raises(BuildError, match="choose a coarser resolution"):
        plan(ROOM, resolution=1e-4)


def test_maps_of_the_original_worlds(mvsim_worlds: Path, tmp_path: Path) -> None:
    paths = sorted(mvsim_worlds.rglob("*turtlebot*.world.xml"))
    assert paths
    for path in paths:
        grid = floor_plan(read_world(path)[0]).grid
        save_nav2(grid, tmp_path / "m.yaml")
        np.testing.assert_array_equal(load_grid(tmp_path / "m.yaml").cells, grid.cells)
        assert 0.1 < (grid.cells == 0).mean() < 0.9
