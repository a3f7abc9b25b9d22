# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What pictures show: textures and their orientation, glass, culled faces, limits, the sky."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mvsim_core import load_world
from mvsim_core.rendering.context import gl_context
from tests.opengl import has_gl

pytestmark = pytest.mark.skipif(not has_gl(), reason="no OpenGL here")

#: Colours of the quarters of a picture: upper left, upper right, lower left, lower right.
RED, GREEN, BLUE, YELLOW = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0)
QUARTERS = [RED, GREEN, BLUE, YELLOW]
AHEAD = "-90 0 -90"


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    """A picture whose quarters have colours of their own: no mirror image looks like it."""
    pixels = np.zeros((64, 64, 3), np.uint8)
    for color, (i, j) in zip(QUARTERS, np.ndindex(2, 2), strict=True):
        pixels[32 * i : 32 * i + 32, 32 * j : 32 * j + 32] = color
    Image.fromarray(pixels).save(tmp_path / "quarters.png")
    return tmp_path / "quarters.png"


def camera(pose: str, more: str = "", name: str = "c") -> str:
    """A camera of 200 x 200 pixels with 90 degrees of view, at x y z yaw pitch roll."""
    return (
        f'<sensor class="camera" name="{name}"><pose_3d>{pose}</pose_3d><ncols>200</ncols>'
        f"<nrows>200</nrows><fx>100</fx><fy>100</fy>{more}</sensor>"
    )


def shot(text: str, size: int = 1) -> Any:
    """The reading of a camera in a world without shadows; of a list of cameras, all of theirs."""
    world = load_world(
        text='<mvsim_world version="1.0"><simul_timestep>0.01</simul_timestep><lights>'
        f"<enable_shadows>false</enable_shadows></lights>{text}</mvsim_world>"
    )
    world.run(0.11)
    readings = [sensor.last for sensor in world.standalone_sensors.values()]
    return readings[0] if size == 1 else readings


def colors(rgb: Any, quarter: int = 25) -> list[tuple[int, ...]]:
    """Pure colours at the middles of the quarters of the middle of a picture."""
    found = []
    for i, j in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        pixel = rgb[100 + i * quarter, 100 + j * quarter].astype(int)
        found.append(tuple((255 * (pixel > 0.5 * pixel.max())).tolist()))
    return found


@pytest.mark.parametrize("ends", [((2, 1), (2, -1)), ((2, -1), (2, 1))])
def test_a_wall_shows_its_picture_upright_and_not_mirrored_on_both_sides(
    picture: Path, ends: Any
) -> None:
    (x0, y0), (x1, y1) = ends
    wall = (
        f'<element class="vertical_plane"><x0>{x0}</x0><y0>{y0}</y0><x1>{x1}</x1><y1>{y1}</y1>'
        f"<height>2</height><color>#ffffff</color><texture>{picture}</texture>"
        "<texture_size_x>2</texture_size_x><texture_size_y>2</texture_size_y></element>"
    )
    front, behind = camera(f"0 0 1 {AHEAD}"), camera("4 0 1 90 0 -90", name="d")
    for reading in shot(wall + front + behind, 2):
        assert colors(reading.rgb) == QUARTERS


def test_a_picture_runs_on_past_a_window(picture: Path) -> None:
    wall = (
        '<element class="vertical_plane"><x0>2</x0><y0>1</y0><x1>2</x1><y1>-1</y1>'
        f"<height>2</height><color>#ffffff</color><texture>{picture}</texture>"
        "<texture_size_x>2</texture_size_x><texture_size_y>2</texture_size_y>"
        '<window width="0.2" z_min="0.9" z_max="1.1"/></element>'
    )
    reading = shot(wall + camera(f"0 0 1 {AHEAD}"))
    assert colors(reading.rgb) == QUARTERS
    assert colors(reading.rgb, 15) == QUARTERS  # beside the window


FACES = "v 0 0.5 0\nv 0 -0.5 0\nv 0 -0.5 1\nv 0 0.5 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
COLLADA = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"
 version="1.4.1"><asset><up_axis>Y_UP</up_axis></asset>
<library_images><image id="i"><init_from>quarters.png</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON>
<newparam sid="s"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="t"><sampler2D><source>s</source></sampler2D></newparam>
<technique sid="x"><lambert><diffuse><texture texture="t" texcoord="UV"/></diffuse></lambert>
</technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0.5 0 0 -0.5 0 0 -0.5 1 0 0.5 1</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<source id="u"><float_array id="ua" count="8">0 0 1 0 1 1 0 1</float_array>
<technique_common><accessor source="#ua" count="4" stride="2"><param name="S" type="float"/>
<param name="T" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="2" material="m"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="TEXCOORD" source="#u" offset="1" set="0"/>
<p>0 0 1 1 2 2 2 2 3 3 0 0</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="vs"><node><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="m" target="#m"/></technique_common></bind_material>
</instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#vs"/></scene></COLLADA>"""


def panel(folder: Path, kind: str) -> Path:
    """An upright square of 1 m that faces -x, with the picture of the folder, as a mesh file."""
    path = folder / f"panel.{kind}"
    if kind == "obj":
        (folder / "panel.mtl").write_text("newmtl a\nKd 0.2 0.2 0.2\nmap_Kd quarters.png\n")
        path.write_text(f"mtllib panel.mtl\n{FACES}usemtl a\nf 1/1 2/2 3/3 4/4\n")
    elif kind == "dae":
        path.write_text(COLLADA)
    else:
        import trimesh

        material = trimesh.visual.material.PBRMaterial(
            baseColorTexture=Image.open(folder / "quarters.png")
        )
        uv = [(0, 0), (1, 0), (1, 1), (0, 1)]
        vertices = [(0, 0.5, 0), (0, -0.5, 0), (0, -0.5, 1), (0, 0.5, 1)]
        trimesh.Trimesh(
            vertices,
            [(0, 1, 2), (2, 3, 0)],
            visual=trimesh.visual.TextureVisuals(uv, material=material),
            process=False,
        ).export(path)
    return path


@pytest.mark.parametrize("kind", ["obj", "glb", "dae"])
def test_models_show_their_pictures(picture: Path, kind: str) -> None:
    file = panel(picture.parent, kind)
    block = (
        '<block name="p"><init_pose>1 0 0</init_pose><static>true</static><visual>'
        f"<model_uri>{file}</model_uri></visual></block>"
    )
    assert colors(shot(block + camera(f"0 0 0.5 {AHEAD}")).rgb) == QUARTERS


def test_the_first_row_of_a_ground_picture_lies_at_the_least_y(picture: Path) -> None:
    plane = (
        '<element class="horizontal_plane"><x_min>-1</x_min><x_max>1</x_max><y_min>-1</y_min>'
        f"<y_max>1</y_max><color>#ffffff</color><texture>{picture}</texture>"
        "<texture_size_x>2</texture_size_x><texture_size_y>2</texture_size_y></element>"
    )
    above = shot(plane + camera("0 0 2 -90 0 180")).rgb  # x to the top, y to the left
    seen = colors(above)
    assert dict(zip(("x+ y+", "x+ y-", "x- y+", "x- y-"), seen, strict=True)) == {
        "x- y-": RED,
        "x+ y-": GREEN,
        "x- y+": BLUE,
        "x+ y+": YELLOW,
    }


def test_the_picture_of_an_elevation_map_lies_as_its_heights_do(picture: Path) -> None:
    hills = (
        '<element class="elevation_map"><elevation_data_matrix>[0 0; 0 0.01]'
        "</elevation_data_matrix><resolution>2</resolution>"
        f"<texture_image>{picture}</texture_image></element>"
    )
    seen = colors(shot(hills + camera("0 0 2 -90 0 180")).rgb)
    assert dict(zip(("x+ y+", "x+ y-", "x- y+", "x- y-"), seen, strict=True)) == {
        "x- y-": RED,  # the first row and column
        "x- y+": GREEN,  # columns run along y
        "x+ y-": BLUE,  # rows run along x
        "x+ y+": YELLOW,
    }


def test_ground_without_its_picture_has_its_own_colour() -> None:
    hills = (
        '<element class="elevation_map"><elevation_data_matrix>[0 0; 0 0]</elevation_data_matrix>'
        "<resolution>9</resolution><mesh_color>#604020</mesh_color>"
        "<texture_image>/nowhere.png</texture_image></element>"
    )
    r, g, b = shot(hills + camera("0 0 2 -90 0 180")).rgb[100, 100].astype(float)
    assert (r / b, g / b) == pytest.approx((3.0, 2.0), rel=0.1)


def test_glass_tints_what_is_behind_it() -> None:
    """A red pane of a quarter's opacity, slab or sheet, static or not, and two of them."""
    green = (
        '<block name="behind"><init_pose>6 0 0</init_pose><static>true</static>'
        "<color>#00ff00</color><zmax>2</zmax></block>"
    )

    def pane(name: str, x: float, more: str) -> str:
        return f'<block name="{name}"><init_pose>{x} 0 0</init_pose>{more}<zmax>2</zmax></block>'

    look = camera(f"0 0 1 {AHEAD}", "<segmentation>true</segmentation>")
    bare = shot(green + look).rgb[100, 100].astype(float)
    for still in ("<static>true</static>", ""):
        glass = shot(green + pane("a", 3, f"{still}<color>#ff000040</color>") + look)
        r, g, b = glass.rgb[100, 100].astype(float)
        assert g == pytest.approx(0.75 * bare[1], abs=3)
        assert r == pytest.approx(0.25 * bare[1], abs=3)
        assert b == 0
        name, _ = glass.things[glass.segments[100, 100] - 1]
        assert name == "behind"
    panes = pane("a", 4.5, "<static>true</static><color>#0000ff80</color>")
    panes += pane("b", 3, "<static>true</static><color>#ff000080</color>")
    r, g, b = shot(green + panes + look).rgb[100, 100].astype(float) / bare[1]
    assert (r, g, b) == pytest.approx((0.5, 0.25, 0.25), abs=0.02)


def test_culled_faces_are_not_drawn_but_met_by_rays() -> None:
    """A ceiling and a wall that hide their front: one looks in from outside, not out of inside."""
    room = (
        '<element class="horizontal_plane"><z>3</z><cull_face>{c}</cull_face>'
        "<color>#ff0000</color></element>"
        '<element class="vertical_plane"><x0>5</x0><y0>9</y0><x1>5</x1><y1>-9</y1>'
        "<cull_face>{c}</cull_face><color>#0000ff</color></element>"
    )
    views = camera("0 0 9 -90 0 180", name="above") + camera("0 0 1 -90 0 0", name="below")
    views += camera(f"0 0 1 {AHEAD}", name="right") + camera("9 0 1 90 0 -90", name="left")
    lidar = (
        '<sensor class="lidar3d" name="l"><pose_3d>0 0 1 0 0 0</pose_3d>'
        "<motion_distortion>false</motion_distortion></sensor>"
    )
    for cull, drawn in (("NONE", "1111"), ("FRONT", "0101"), ("BACK", "1010")):
        *pictures, scan = shot(room.format(c=cull) + views + lidar, 5)
        seen = ""
        for reading, channel in zip(pictures, (0, 0, 2, 2), strict=True):
            pixel = reading.rgb[100, 100].astype(int)
            others = np.delete(pixel, channel)
            seen += "1" if pixel[channel] > 40 and (others < 20).all() else "0"
        assert seen == drawn, cull
        assert (np.abs(scan.xyz[:, 0] - 5.0) < 0.1).any()


def test_nothing_farther_than_clip_max_is_drawn() -> None:
    block = (
        '<block name="far"><init_pose>{x} 0 0</init_pose><color>#0000ff</color><zmax>3</zmax>'
        "</block>"
    )
    for x, seen in ((5.0, True), (12.0, False)):
        view = camera(f"0 0 1 {AHEAD}", "<clip_max>6</clip_max><segmentation>true</segmentation>")
        reading = shot(block.format(x=x) + view)
        r, g, b = reading.rgb[100, 100].astype(int)
        assert (b > 2 * max(r, g)) == seen
        assert (reading.segments[100, 100] > 0) == seen


def test_the_sky_box_is_as_its_pictures_were_taken(tmp_path: Path) -> None:
    """Six pictures of a panorama, each as seen from inside, give the panorama without seams."""
    ahead, left, up = np.eye(3)
    faces = {
        "Front": (ahead, -left, -up),
        "Back": (-ahead, left, -up),
        "Left": (left, ahead, -up),
        "Right": (-left, -ahead, -up),
        "Up": (up, -left, ahead),
        "Down": (-up, -left, -ahead),
    }

    def panorama(way: Any) -> Any:
        return 127 + 120 * way / np.linalg.norm(way, axis=-1, keepdims=True)

    u, v = np.meshgrid(*[(np.arange(128) + 0.5) / 64 - 1] * 2)
    for name, (forward, right, down) in faces.items():
        way = forward + u[..., None] * right + v[..., None] * down
        Image.fromarray(panorama(way).astype(np.uint8)).save(tmp_path / f"sky_{name}.png")
    sky = f'<element class="skybox"><textures>{tmp_path}/sky_%s.png</textures></element>'
    views = camera(f"0 0 1 {AHEAD}") + camera("0 0 1 -90 0 0", name="up")
    for reading, axes in zip(shot(sky + views, 2), (faces["Front"], faces["Up"]), strict=True):
        i, j = np.mgrid[:200, :200]
        x, y = (j - 100) / 100, (i - 100) / 100
        way = axes[0] + x[..., None] * axes[1] + y[..., None] * axes[2]
        assert np.abs(reading.rgb - panorama(way)).max() < 4.0


def test_far_from_the_origin_pictures_are_the_same() -> None:
    """At UTM coordinates, with nothing fixed in the world."""
    robot = (
        '<vehicle name="{n}"><init_pose>{x} {y} 0</init_pose><dynamics class="differential">'
        '<chassis zmin="0.05" zmax="0.6"/></dynamics>{s}</vehicle>'
    )
    pictures = []
    for x, y in ((0.0, 0.0), (553_484.0, 4_077_376.0)):
        text = robot.format(n="a", x=x, y=y, s=camera(f"0.6 0 0.6 {AHEAD}"))
        text += robot.format(n="b", x=x + 3.0, y=y + 0.25, s="")
        world = load_world(text=f'<mvsim_world version="1.0">{text}</mvsim_world>')
        world.run(0.11)
        pictures.append(world.vehicles["a"].sensors["c"].last.rgb.astype(int))
    differ = np.abs(pictures[0] - pictures[1]).max(axis=2) > 8
    assert differ.sum() < 40  # pixels at edges, of 40,000


def test_the_middle_of_a_picture_of_any_size_is_straight_ahead() -> None:
    block = (
        '<block name="b"><init_pose>5 0 0</init_pose><static>true</static><color>#ff0000</color>'
        "<zmin>0.9</zmin><zmax>1.1</zmax><shape><pt>-.1 -.1</pt><pt>.1 -.1</pt><pt>.1 .1</pt>"
        "<pt>-.1 .1</pt></shape></block>"
    )
    for size in ((640, 480), (1280, 720), (200, 300)):
        view = (
            f'<sensor class="camera" name="c"><pose_3d>0 0 1 {AHEAD}</pose_3d>'
            f"<ncols>{size[0]}</ncols><nrows>{size[1]}</nrows></sensor>"
        )
        reading = shot(block + view)
        assert (reading.camera.cx, reading.camera.cy) == (0.5 * size[0], 0.5 * size[1])
        y, x = np.nonzero(reading.rgb[..., 0].astype(int) > 2.0 * reading.rgb[..., 1] + 20)
        assert (x.mean(), y.mean()) == pytest.approx((0.5 * size[0], 0.5 * size[1]), abs=0.5)


def test_the_visual_of_a_sensor_is_seen_by_others() -> None:
    import trimesh

    def text(folder: Path) -> str:
        trimesh.creation.icosphere(radius=0.3).export(folder / "ball.stl")
        ball = f"<visual><model_uri>{folder}/ball.stl</model_uri></visual>"
        lidar = f'<sensor class="laser" name="top"><pose_3d>4 0 1.5 0 0 0</pose_3d>{ball}</sensor>'
        inside = (
            f'<sensor class="camera" name="own"><pose_3d>4 0 1.5 {AHEAD}</pose_3d>{ball}</sensor>'
        )
        return lidar + inside

    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        _, own, other = shot(text(Path(folder)) + camera(f"0 0 1.5 {AHEAD}", name="z"), 3)
    sky = other.rgb[100, 5].astype(int)
    assert np.abs(other.rgb[100, 100].astype(int) - sky).max() > 40
    assert own is not None
    assert np.abs(own.rgb[250, 320].astype(int) - own.rgb[250, 5].astype(int)).max() < 60


def living(kind: str) -> int:
    """Number of objects of a kind that OpenGL holds."""
    context = gl_context()
    context.use()
    return sum(bool(getattr(context.gl, f"glIs{kind}")(name)) for name in range(1, 400))


KINDS = ("Texture", "Buffer", "VertexArray", "Framebuffer", "Renderbuffer", "Program", "Shader")


def test_worlds_that_are_gone_leave_nothing_in_opengl(picture: Path) -> None:
    text = (
        f'<element class="horizontal_plane"><texture>{picture}</texture></element>'
        '<block name="b"><init_pose>5 0 0</init_pose></block>'
    )
    counts = []
    for _ in range(5):
        shot(text + camera(f"0 0 1 {AHEAD}"))
        gc.collect()
        counts.append({kind: living(kind) for kind in KINDS})
    assert counts[1:] == counts[:-1]


def test_what_is_removed_or_closed_is_freed_at_once() -> None:
    robot = (
        '<vehicle name="x"><dynamics class="differential">'
        '<chassis mass="5" zmin="0" zmax="1.23"/></dynamics></vehicle>'
    )
    world = load_world(text=f'<mvsim_world version="1.0">{camera(f"0 0 1 {AHEAD}")}</mvsim_world>')
    world.run(0.2)
    gc.collect()
    before = living("VertexArray")
    world.add_vehicle(robot, pose=(3.0, 0.0, 0.0))
    world.run(0.2)
    assert living("VertexArray") == before + 2  # chassis and wheel
    world.remove("x")
    world._runtime.scene3d.close()
    gc.collect()
    world.run(0.2)
    assert living("VertexArray") <= before
