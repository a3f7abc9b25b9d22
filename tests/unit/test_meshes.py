# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reading 3D models and finding their collision outlines."""

import ast
import math
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

from mvsim_core.geometry.poses import area_of
from mvsim_core.meshes.footprint import MAX_CORNERS, SQUARES, footprint
from mvsim_core.meshes.readers import MeshError, read_mesh
from mvsim_core.specs.visual import VisualSpec

BOX_FACES = [
    (0, 2, 1), (0, 3, 2), (4, 5, 6), (4, 6, 7), (0, 1, 5), (0, 5, 4),
    (1, 2, 6), (1, 6, 5), (2, 3, 7), (2, 7, 6), (3, 0, 4), (3, 4, 7),
]  # fmt: skip


def box_corners(low, high):
    (x0, y0, z0), (x1, y1, z1) = low, high
    ring = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return [(x, y, z) for z in (z0, z1) for x, y in ring]


def write_obj(path, vertices, faces=BOX_FACES):
    lines = [f"v {x} {y} {z}" for x, y, z in vertices]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_stl(path, vertices, faces=BOX_FACES):
    data = bytes(80) + struct.pack("<I", len(faces))
    for face in faces:
        data += struct.pack("<12fH", 0, 0, 0, *(c for i in face for c in vertices[i]), 0)
    path.write_bytes(data)
    return path


def write_ply(path, vertices, faces=BOX_FACES):
    head = (
        f"ply\nformat ascii 1.0\nelement vertex {len(vertices)}\nproperty float x\n"
        f"property float y\nproperty float z\nelement face {len(faces)}\n"
        "property list uchar int vertex_indices\nend_header\n"
    )
    lines = [f"{x} {y} {z}" for x, y, z in vertices] + [f"3 {a} {b} {c}" for a, b, c in faces]
    path.write_text(head + "\n".join(lines) + "\n")
    return path


def write_dae(path, vertices, *, up="Z_UP", metre=1.0, faces=BOX_FACES, lines=()):
    numbers = " ".join(str(c) for vertex in vertices for c in vertex)
    source = '<input semantic="VERTEX" source="#v" offset="0"/>'
    flat = " ".join(str(i) for face in faces for i in face)
    pairs = " ".join(str(i) for line in lines for i in line)
    drawn = (
        f'<triangles count="{len(faces)}">{source}<p>{flat}</p></triangles>' if faces else ""
    ) + (f'<lines count="{len(lines)}">{source}<p>{pairs}</p></lines>' if lines else "")
    path.write_text(
        f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified>
<unit name="u" meter="{metre}"/><up_axis>{up}</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="s"><float_array id="a" count="{3 * len(vertices)}">{numbers}</float_array>
<technique_common><accessor source="#a" count="{len(vertices)}" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
</accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
{drawn}</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="vs"><node id="n">
<translate>1 0 0</translate><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#vs"/></scene></COLLADA>"""
    )
    return path


def outline(path, **keywords):
    options = {key: keywords.pop(key) for key in ("zmin", "zmax", "scale") if key in keywords}
    warnings = []
    visual = VisualSpec(model_uri=str(path), **keywords)
    return footprint([visual], warn=warnings.append, **options), warnings


def bounds(polygon):
    return [*polygon.min(axis=0).tolist(), *polygon.max(axis=0).tolist()]


BOX = box_corners((-0.5, -0.25, 0.1), (1.0, 0.25, 0.7))
SQUARE = math.hypot(1.5, 0.5) / SQUARES


@pytest.mark.parametrize(
    ("name", "write"), [("b.obj", write_obj), ("b.stl", write_stl), ("b.ply", write_ply)]
)
def test_formats_are_taken_as_they_are(tmp_path, name, write):
    found, warnings = outline(write(tmp_path / name, BOX))
    assert warnings == []
    assert bounds(found.polygon) == pytest.approx([-0.5, -0.25, 1.0, 0.25], abs=SQUARE)
    assert (found.zmin, found.zmax) == pytest.approx((0.1, 0.7))
    assert len(found.polygon) == 4
    assert area_of(found.polygon).area == pytest.approx(1.5 * 0.5, rel=0.05)


def test_glb_with_a_scene_graph(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box((1.0, 2.0, 3.0)), transform=np.diag([2, 1, 1, 1.0]))
    scene.export(tmp_path / "b.glb")
    mesh = read_mesh(tmp_path / "b.glb")
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([2.0, 2.0, 3.0])
    assert len(mesh.triangles) == 12


@pytest.mark.parametrize(
    ("up", "expected"),
    [("Y_UP", (1, 2, 3)), ("Z_UP", (1, 3, -2)), ("X_UP", (-2, 1, 3))],
)
def test_collada_is_turned_y_up_and_scaled_to_metres(tmp_path, up, expected):
    vertices = [(0, 0, 0), (0, 2000, 3000), (-1000, 0, 0)]
    path = write_dae(tmp_path / "m.dae", vertices, up=up, metre=0.001, faces=[(0, 1, 2)])
    # The node's shift of one unit comes before unit and axis.
    shifted = read_mesh(path).vertices[1] - read_mesh(path).vertices[2]
    assert shifted == pytest.approx(np.array(expected, dtype=float))


def test_a_collada_model_drawn_z_up_comes_upright_by_a_roll(tmp_path):
    path = write_dae(tmp_path / "m.dae", BOX)
    found, _ = outline(path, model_roll=math.pi / 2)
    assert bounds(found.polygon) == pytest.approx([0.5, -0.25, 2.0, 0.25], abs=SQUARE)
    assert (found.zmin, found.zmax) == pytest.approx((0.1, 0.7))


def test_collada_lines_are_kept(tmp_path):
    corners = [(0, 0, 0), (4, 0, 0), (4, 3, 0), (4, 3, 2)]
    path = write_dae(
        tmp_path / "m.dae", corners, up="Y_UP", faces=[], lines=[(0, 1), (1, 2), (2, 3)]
    )
    mesh = read_mesh(path)
    assert mesh.lines.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert len(mesh.triangles) == 0
    found, _ = outline(path)
    assert area_of(found.polygon).area == pytest.approx(6.0, rel=0.05)


def test_walls_of_the_original_are_lines(mvsim_worlds):
    mesh = read_mesh(mvsim_worlds / "mvsim_tutorial" / "testWalls.dae")
    assert len(mesh.lines) > 0


def test_scale_offset_and_turn(tmp_path):
    path = write_obj(tmp_path / "b.obj", BOX)
    found, _ = outline(
        path, model_scale=2.0, model_yaw=math.pi / 2, model_offset_x=5.0, model_offset_z=1.0
    )
    assert bounds(found.polygon) == pytest.approx([4.5, -1.0, 5.5, 2.0], abs=2 * SQUARE)
    assert (found.zmin, found.zmax) == pytest.approx((1.2, 2.4))
    other, _ = outline(path, model_scale=7.0, scale=1.0)
    assert bounds(other.polygon) == pytest.approx([-0.5, -0.25, 1.0, 0.25], abs=SQUARE)


def test_only_what_is_between_the_limits_counts(tmp_path):
    # A wedge: 4 m wide at z = 0, a ridge at z = 2.
    corners = [(-2, -1, 0), (2, -1, 0), (2, 1, 0), (-2, 1, 0), (0, -1, 2), (0, 1, 2)]
    faces = [
        (0, 1, 2),
        (0, 2, 3),
        (0, 1, 4),
        (3, 2, 5),
        (1, 2, 5),
        (1, 5, 4),
        (0, 4, 5),
        (0, 5, 3),
    ]
    path = write_obj(tmp_path / "w.obj", corners, faces)
    found, _ = outline(path, zmin=1.0, zmax=1.5)
    size = math.hypot(4, 2) / SQUARES
    assert bounds(found.polygon) == pytest.approx([-1.0, -1.0, 1.0, 1.0], abs=size)
    assert (found.zmin, found.zmax) == (1.0, 1.5)
    nothing, warnings = outline(path, zmin=5.0, zmax=6.0)
    assert nothing is None
    assert "has no volume between z = 5 and 6 m" in warnings[0]


def test_round_models_get_twelve_corners_at_most(tmp_path):
    angle = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    ring = np.column_stack((np.cos(angle), np.sin(angle)))
    vertices = [(*p, z) for z in (0.0, 1.0) for p in ring]
    faces = [(i, (i + 1) % 64, 64 + i) for i in range(64)]
    found, _ = outline(write_obj(tmp_path / "c.obj", vertices, faces))
    assert len(found.polygon) == MAX_CORNERS
    assert area_of(found.polygon).area == pytest.approx(np.pi, rel=0.06)


def test_outlines_are_convex_and_counter_clockwise(tmp_path):
    rng = np.random.default_rng(5)
    for k in range(20):
        points = rng.normal(size=(30, 3)) * rng.uniform(0.1, 3, 3)
        faces = rng.integers(0, 30, (40, 3)).tolist()
        found, _ = outline(write_obj(tmp_path / f"{k}.obj", points.tolist(), faces))
        p = found.polygon
        edge = np.roll(p, -1, axis=0) - p
        follow = np.roll(edge, -1, axis=0)
        assert (edge[:, 0] * follow[:, 1] - edge[:, 1] * follow[:, 0] > 0).all()
        assert 3 <= len(p) <= MAX_CORNERS


def test_a_stray_vertex_far_from_everything_does_not_count(tmp_path):
    stray = [*BOX, (5.0, 5.0, 0.3)]
    found, _ = outline(write_obj(tmp_path / "s.obj", stray, [*BOX_FACES, (8, 8, 8)]))
    assert bounds(found.polygon)[2] == pytest.approx(1.0, abs=0.1)


def test_the_jackal_has_the_inertia_of_the_original(mvsim_worlds, reference):
    text = (reference / "csv" / "03_jackal_pid.vehicle.txt").read_text()
    line = re.search(r"chassis polygon: (.*) zmax=(\S+)", text)
    expected = np.array([ast.literal_eval(pair) for pair in line[1].split()])
    model = mvsim_worlds / "models" / "jackal_description" / "jackal.dae"
    found, warnings = outline(model, model_roll=math.pi / 2)
    assert warnings == []
    assert found.zmax == pytest.approx(float(line[2]), abs=1e-6)
    assert len(found.polygon) == len(expected)
    assert area_of(found.polygon).area == pytest.approx(area_of(expected).area, rel=1e-5)
    expected_moment = area_of(expected).second_moment
    assert area_of(found.polygon).second_moment == pytest.approx(expected_moment, rel=1e-5)


def test_several_visuals_make_one_outline(tmp_path):
    path = write_obj(tmp_path / "b.obj", BOX)
    warnings = []
    visuals = [
        VisualSpec(model_uri=str(path)),
        VisualSpec(model_uri=f"file://{path}", model_offset_x=2.0),
        VisualSpec(model_uri=str(path), model_offset_x=20.0, enabled=False),
        VisualSpec(),
        VisualSpec(model_uri=str(tmp_path / "gone.obj")),
    ]
    found = footprint(visuals, warn=warnings.append)
    assert bounds(found.polygon) == pytest.approx([-0.5, -0.25, 3.0, 0.25], abs=2.5 * SQUARE)
    assert len(warnings) == 1
    assert "gone.obj: the model file does not exist" in warnings[0]


def test_a_model_is_read_again_when_its_file_changes(tmp_path):
    path = write_obj(tmp_path / "b.obj", BOX)
    assert read_mesh(path) is read_mesh(path)
    first, _ = outline(path)
    write_obj(path, box_corners((-9.0, -9.0, 0.0), (9.0, 9.0, 1.0)))
    second, _ = outline(path)
    assert area_of(second.polygon).area > 100 * area_of(first.polygon).area


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("http://host/m.dae", None, "not in the cache, and MVSIM_OFFLINE is set"),
        ("gone.dae", None, "does not exist"),
        ("m.blend", b"x", r"models of type '.blend' cannot be read, only .dae, .glb"),
        ("m.dae", b"", "the model is damaged"),
        ("m.dae", b"<html>", "the model is damaged"),
        ("m.stl", b"hello", "the model is empty"),
        ("m.ply", b"hello", "the model is damaged"),
        ("m.glb", b"hello", "the model is damaged"),
        ("m.obj", b"", "the model is empty"),
        ("m.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
    ],
)
def test_what_cannot_be_used_is_one_warning(tmp_path, name, content, reason):
    path = name if "://" in name else str(tmp_path / name)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(MeshError, match=reason):
        read_mesh(path)
    found, warnings = outline(path)
    assert found is None
    assert len(warnings) == 1
    assert warnings[0].startswith(path)


def test_flat_models_have_no_volume(tmp_path):
    found, warnings = outline(
        write_obj(tmp_path / "f.obj", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    )
    assert found is None
    assert "has no volume" in warnings[0]


def test_the_libraries_are_loaded_late():
    code = (
        "import sys, mvsim_core.meshes.footprint; print({'trimesh', 'collada'} & set(sys.modules))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.strip() == "set()", answer.stderr
