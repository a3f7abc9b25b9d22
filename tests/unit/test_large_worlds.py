# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Small files that ask for much: they load in proportion to what they ask for, or say no."""

import gzip
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mvsim_core import BuildError, WorldFileError, load_world
from mvsim_core.geometry.polygons import convex_parts
from mvsim_core.progress import FIRST_REPORT, reporting, tracked
from mvsim_core.terrain.nearby import Nearby
from mvsim_core.xmlfile import read_world

PLACE = "<init_pose>$f{i%100*2} $f{floor(i/100)*2} 0</init_pose>"


def world(content: str) -> str:
    return f"<mvsim_world>{content}</mvsim_world>"


def many(count: int, content: str) -> str:
    return f'<for var="i" from="1" to="{count}">{content}</for>'


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


STATIC = f'<block name="b${{i}}"><static>true</static>{PLACE}</block>'
HUB = '<block name="hub"><init_pose>-5 -5 0</init_pose></block>'
PLANE = '<element class="vertical_plane"><x0>{}</x0><x1>{}</x1>'
#: What stands before, what is repeated, what stands after.
KINDS = {
    "blocks": ("", f'<block name="b${{i}}">{PLACE}</block>', ""),
    "static blocks": ("", STATIC, ""),
    "blocks of all heights": (
        "",
        f"<block>{PLACE}<zmin>0</zmin><zmax>$f{{0.5+i/500}}</zmax></block>",
        "",
    ),
    "ropes": (
        HUB,
        STATIC.replace("<static>true</static>", "")
        + '<joint type="rope" body_a="b${i}" body_b="hub" anchor_a="0 0" anchor_b="0 0"'
        ' max_length="900"/>',
        "",
    ),
    "planes": ("", PLANE.format("$f{3*i}", "$f{3*i+1}") + "</element>", ""),
    "doors": (
        PLANE.format(0, 8000),
        '<door position="$f{i/4000}" width="0.9" z_max="$f{2+i%3/10}"/>',
        "</element>",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_time_grows_with_the_number_not_its_square(kind: str) -> None:
    before, repeated, after = KINDS[kind]
    once, fourfold = (world(before + many(n, repeated) + after) for n in (1000, 4000))
    load_world(text=once)
    little = much = float("inf")
    for _ in range(5):  # another program may slow any one of them down
        little = min(little, seconds(lambda: load_world(text=once)))
        much = min(much, seconds(lambda: load_world(text=fourfold)))
        if much < 10 * little:  # 16 times, and far more, if each asked all others
            return
    pytest.fail(f"1,000 take {little:.3f} s, 4,000 {much:.3f} s")


def test_walls_of_many_points_load_soon_and_close_their_corners() -> None:
    points = "".join(f"<pt>{i} {i % 2}</pt><pt>{i + 1} {(i + 1) % 2}</pt>" for i in range(3000))
    walls = world(f"<walls><shape>{points}</shape></walls>")
    start = time.process_time()
    loaded = load_world(text=walls)
    assert time.process_time() - start < 10.0  # about 1 s; a minute if each asked all before it
    (fixture,) = loaded.model.fixtures
    lengths = [np.ptp(s.points @ [[1.0], [-1.0]]) for s in fixture.solids]
    assert len(fixture.solids) == 3000
    assert lengths[0] < lengths[1]  # which is drawn out over the end of the first


def test_hundreds_of_bodies_in_one_place_are_refused() -> None:
    for kind in ("", "<static>true</static>"):
        text = world(many(3000, f"<block><init_pose>5 6 0</init_pose>{kind}</block>"))
        with pytest.raises(BuildError) as caught:
            load_world(text=text)
        assert str(caught.value) == (
            "line 1: 'block301' and 300 others begin at the same place, about (5 6) [m];"
            " does <init_pose> lack a loop variable, as in $f{2*i}?"
        )


def test_a_shape_of_too_many_points_is_refused_at_once() -> None:
    points = "".join(f"<pt>{i} {i % 2}</pt>" for i in range(50_000))
    block = f"<block><init_pose>0 0 0</init_pose><shape>{points}</shape></block>"
    start = time.process_time()
    with pytest.raises(WorldFileError, match="shape must have 3 to 2000 different points"):
        read_world(text=world(block))
    assert time.process_time() - start < 5.0


def test_the_finest_shape_is_cut_into_convex_parts_soon() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 2000, endpoint=False)
    radius = np.where(np.arange(2000) % 2, 1.0, 0.8)
    star = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    start = time.process_time()
    parts = convex_parts(star)
    assert time.process_time() - start < 10.0  # 0.7 s on an idle core
    x, y = star.T
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    pieces = [0.5 * (np.dot(p[:, 0], np.roll(p[:, 1], -1)) - np.dot(p[:, 1], np.roll(p[:, 0], -1)))
              for p in parts]  # fmt: skip
    assert sum(pieces) == pytest.approx(area)
    assert min(pieces) > 0.0


def test_misspelt_names_among_thousands_are_reported_soon() -> None:
    joints = '<joint type="pin" body_a="x${i}" body_b="y${i}"/>'
    text = world(many(3000, f"{STATIC}{joints}"))
    start = time.process_time()
    with pytest.raises(WorldFileError, match="there is no vehicle or tangible block 'x1'"):
        read_world(text=text)
    assert time.process_time() - start < 10.0  # about 1 s


@pytest.mark.parametrize("reach", [0.0, 1e-3, 0.5, 1.0, 3.0, 700.0, 1e12])
def test_nearby_finds_what_holds_a_point(reach: float) -> None:
    rng = np.random.default_rng(1)
    centers = rng.uniform(-4 * reach - 1, 4 * reach + 1, (300, 2))
    nearby = Nearby()
    for i, (x, y) in enumerate(centers.tolist()):
        nearby.add(i, x, y, reach)
    for x, y in [*rng.uniform(-4 * reach, 4 * reach, (50, 2)).tolist(), *centers[:5].tolist()]:
        away = np.hypot(centers[:, 0] - x, centers[:, 1] - y)
        assert sorted(nearby.at(x, y)) == np.flatnonzero(away <= reach + 1e-6).tolist()


def test_long_loading_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    now = iter(range(1000))
    monkeypatch.setattr("mvsim_core.progress.time.monotonic", lambda: float(next(now)))
    monkeypatch.setattr("mvsim_core.xmlfile.block_runs.MOST_ROWS", 50)
    with reporting(lines.append):
        load_world(text=world(many(200, KINDS["blocks"])))
    assert "reading elements: 151" in lines
    assert "placing blocks: 64 of 200" in lines


def test_what_loads_at_once_says_nothing() -> None:
    lines: list[str] = []
    with reporting(lines.append):
        load_world(text=world(many(100, KINDS["blocks"])))
    assert lines == []
    assert list(tracked([1, 2], "counting")) == [1, 2]
    assert FIRST_REPORT <= 2.0


def robot(sensor: str) -> str:
    return (
        '<vehicle name="r"><init_pose>0 0 0</init_pose><dynamics class="differential"/>'
        f"{sensor}</vehicle>"
    )


def element(kind: str, content: str) -> str:
    return f'<element class="{kind}">{content}</element>'


TOO_LARGE = {
    "rays": (
        robot('<sensor class="laser" name="s"><nrays>1000000000</nrays></sensor>'),
        "line 1: <sensor>: nrays must be in [2, 10000000], got '1000000000'",
    ),
    "steps": (
        "<simul_timestep>1e-300</simul_timestep>",
        "line 1: <mvsim_world>: simul_timestep must be 0 or in [1e-6, 10] [s], got '1e-300'",
    ),
    "rays of all rings": (
        robot(
            '<sensor class="lidar3d" name="s"><vert_nrays>9000</vert_nrays>'
            "<horz_nrays>9000</horz_nrays></sensor>"
        ),
        "line 1: <sensor>: vert_nrays x horz_nrays must be <= 10000000,"
        " got 9000 x 9000 = 81000000",
    ),
    "pixels": (
        robot('<sensor class="camera" name="s"><ncols>16384</ncols><nrows>16384</nrows></sensor>'),
        "line 1: <sensor>: ncols x nrows must be <= 10000000, got 16384 x 16384 = 268435456",
    ),
    "pixels of a depth camera": (
        robot(
            '<sensor class="rgbd_camera" name="s"><depth_ncols>16384</depth_ncols>'
            "<depth_nrows>700</depth_nrows></sensor>"
        ),
        "line 1: <sensor>: depth_ncols x depth_nrows must be <= 10000000,"
        " got 16384 x 700 = 11468800",
    ),
    "sides": (
        "<block><init_pose>0 0 0</init_pose><shape_from_visual/>"
        '<geometry type="cylinder" radius="1" length="1" vertex_count="100000000"/></block>',
        "line 1: <geometry>: vertex_count must be in [0, 1000], got '100000000'",
    ),
    "heights of an image": (
        element("elevation_map", "<elevation_image>10k.png</elevation_image>"),
        "line 1: <element>: HERE/10k.png: 10000 x 10000 heights are too many, at most 16000000"
        " are allowed; scale the map down and choose a larger <resolution>",
    ),
    "heights between points": (
        element("elevation_map", "<dem_xyzrgb_file>far.txt</dem_xyzrgb_file>"),
        "line 1: <element>: HERE/far.txt: 1000000 x 1000000 heights are too many, at most"
        " 16000000 are allowed; scale the map down and choose a larger <resolution>",
    ),
    "cells of an image": (
        element("occupancy_grid", "<file>13k.png</file>"),
        "line 1: <element>: HERE/13k.png: 13000 x 13000 cells: too many cells, at most 150000000"
        " are allowed; scale the map down and choose a larger resolution",
    ),
    "cells beyond what the image library opens": (
        element("occupancy_grid", "<file>90k.png</file>"),
        "line 1: <element>: HERE/90k.png: too many cells, at most 150000000 are allowed; scale the"
        " map down and choose a larger resolution",
    ),
    "bytes in an archive": (
        element("occupancy_grid", "<file>bomb.gridmap.gz</file>"),
        "line 1: <element>: HERE/bomb.gridmap.gz: holds more than 300001000 bytes when unpacked",
    ),
    "includes of includes": (
        '<include file="i0.xml"/>',
        "i16.xml:1: <include>: more than 20000 includes",
    ),
}


def picture_of(side: int) -> bytes:
    """Return a PNG file of a size, without its pixels."""
    head = b"IHDR" + struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    parts = (head, b"IDAT", b"IEND")
    chunks = [struct.pack(">I", len(p) - 4) + p + struct.pack(">I", zlib.crc32(p)) for p in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("large")
    (here / "10k.png").write_bytes(picture_of(10_000))
    (here / "13k.png").write_bytes(picture_of(13_000))
    (here / "90k.png").write_bytes(picture_of(90_000))
    (here / "far.txt").write_text("0 0 0 1 1 1\n1000000 1000000 1 1 1 1\n")
    with gzip.open(here / "bomb.gridmap.gz", "wb", compresslevel=1) as file:
        for _ in range(310):
            file.write(bytes(1_000_000))
    for i in range(25):
        (here / f"i{i}.xml").write_text(f'<include file="i{i + 1}.xml"/>' * 2)
    (here / "i25.xml").write_text("")
    return here


@pytest.mark.parametrize("kind", TOO_LARGE)
def test_what_is_too_large_is_refused_before_it_is_made(
    kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, message = TOO_LARGE[kind]
    monkeypatch.chdir(folder)
    start = time.process_time()
    with pytest.raises((BuildError, WorldFileError)) as caught:
        load_world(text=world(content))
    assert time.process_time() - start < 10.0  # below 2 s on an idle core
    first = str(caught.value).split("\n")[0].replace(str(folder), "HERE")
    if kind == "includes of includes":  # which file it was then is of no interest
        first = f"i16.xml{first[first.index(':') :]}"
    assert first == message


@pytest.mark.parametrize("place", ["attributes", "elements", "elements in a block"])
def test_thousands_of_unknown_names_are_reported_soon(place: str) -> None:
    names = [f"name{i}" for i in range(30_000)]
    contents = {
        "attributes": "<gui " + " ".join(f'{name}="1"' for name in names) + "/>",
        "elements": "".join(f"<{name}/>" for name in names),
        "elements in a block": "<block><init_pose>0 0 0</init_pose>"
        f"{''.join(f'<{name}/>' for name in names)}</block>",
    }
    start = time.process_time()
    _, problems = read_world(text=world(contents[place]))
    assert time.process_time() - start < 10.0  # about 1 s; minutes with advice on each
    warnings = [problem for problem in problems if problem.severity == "warning"]
    assert len(warnings) == 1001
    assert warnings[-1].message.endswith("more warnings are not shown")
