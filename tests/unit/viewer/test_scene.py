# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the viewer sends: each thing of a world, where it is, and nothing when nothing changes."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from PIL import Image
from scipy.spatial.transform import Rotation

from mvsim_core import World, load_world
from mvsim_core.scene3d import Material, solids
from mvsim_core.scene3d.textures import texture_of
from mvsim_core.viewer import Viewer
from mvsim_core.viewer.glb import glb_of, linear, speck
from mvsim_core.viewer.nodes import quaternions
from tests.unit.viewer.worlds import ROBOT, SMALL

pytest.importorskip("viser", reason="viser is not installed")


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    with Viewer(load_world(text=SMALL), port=0) as viewer:
        yield viewer


def sent(viewer: Viewer) -> int:
    """Return how many messages were sent to all browsers so far."""
    return int(viewer.server._websock_server._broadcast_buffer.message_counter)


def instances(viewer: Viewer) -> dict[str, list[tuple[Any, Any, Any]]]:
    """Return part, position and quaternion (w, x, y, z) of all instances by name."""
    found: dict[str, list[tuple[Any, Any, Any]]] = {}
    for batch in viewer.stage.nodes.batches:
        node = batch.node
        for part, place, turn in zip(
            batch.parts, node.batched_positions, node.batched_wxyzs, strict=True
        ):
            found.setdefault(part.name, []).append((part, place, turn))
    return found


def check_poses(viewer: Viewer) -> None:
    """Check that everything that can move is where it is in the world."""
    world, shown = viewer.world, instances(viewer)
    names = {*world.vehicles, *world.blocks, *world.actors}
    assert shown.keys() == names
    for name in names:
        handle = world.vehicles.get(name) or world.blocks.get(name) or world.actors[name]
        pose = handle.pose
        body = Rotation.from_euler("ZYX", (pose.yaw, pose.pitch, pose.roll))
        for part, place, (w, x, y, z) in shown[name]:
            turn, expected = body, np.array(pose[:3])
            if part.wheel >= 0:
                wheel = handle.wheels[part.wheel - world.entity(name).wheel0]
                row = world.data.wheels[part.wheel]
                expected = expected + body.apply([*wheel.position, float(row["radius"])])
                turn = body * Rotation.from_euler("ZY", (wheel.steering, wheel.phi))
            assert place == pytest.approx(expected, abs=1e-5)
            assert (turn * Rotation.from_quat([x, y, z, w]).inv()).magnitude() < 1e-5


def test_poses_are_those_of_the_world(viewer: Viewer) -> None:
    check_poses(viewer)
    world = viewer.world
    world.vehicles["r1"].set_twist(0.8, 0.0, 0.5)
    world.run(1.5)
    viewer.update()
    check_poses(viewer)
    world.vehicles["r2"].teleport(-3.0, 2.0, 3.0)
    viewer.update()
    check_poses(viewer)


def test_what_comes_goes_and_is_reset(viewer: Viewer) -> None:
    world = viewer.world
    state = world.state()
    world.add_vehicle('<vehicle class="bot"/>', name="guest", pose=(-2.0, 2.0, 1.0))
    world.remove("r2")
    viewer.update()
    check_poses(viewer)
    chassis = [b for b in viewer.stage.nodes.batches if b.parts[0].wheel < 0]
    assert [len(b.rows) for b in chassis if b.parts[0].label == "vehicle"] == [2]
    world.restore(state)
    viewer.update()
    check_poses(viewer)
    world.vehicles["r1"].set_twist(1.0)
    world.run(0.5)
    world.reset()
    viewer.update()
    check_poses(viewer)


def test_equal_things_are_one_node(viewer: Viewer) -> None:
    models = [(b.parts[0].label, len(b.rows)) for b in viewer.stage.nodes.batches]
    assert sorted(models) == [("block", 1), ("vehicle", 2), ("vehicle", 4)]


def test_nothing_is_sent_when_nothing_moves(viewer: Viewer) -> None:
    viewer.update()
    viewer.panel.update(everything=True)
    before = sent(viewer)
    viewer.update()
    viewer.panel.update(everything=True)
    assert sent(viewer) == before
    viewer.world.vehicles["r1"].teleport(1.0, 0.0, 0.0)
    viewer.stage.update()
    assert sent(viewer) > before


def test_only_what_moves_is_sent(viewer: Viewer) -> None:
    viewer.update()
    nodes = viewer.stage.nodes
    before = nodes.messages
    viewer.world.blocks["box"].teleport(-1.0, 0.0, 0.0)
    nodes.update()
    assert nodes.messages == before + 1


def test_nothing_is_computed_without_a_browser(viewer: Viewer) -> None:
    world = viewer.world
    world.vehicles["r1"].set_twist(1.0)
    before, chassis = sent(viewer), instances(viewer)["r1"][0][1].copy()
    for _ in range(100):
        world.step()
        viewer.after_step()
    assert sent(viewer) == before
    assert (instances(viewer)["r1"][0][1] == chassis).all()


ALL = f"""<mvsim_world version="1.0">
<element class="horizontal_plane"><z>0</z></element>
<element class="elevation_map">
  <elevation_data_matrix>0 0 1; 0 0 1; 0 0 1</elevation_data_matrix>
  <corner_min_x>20</corner_min_x> <corner_min_y>20</corner_min_y>
</element>
<element class="vertical_plane"><x0>5</x0> <y0>-5</y0> <x1>5</x1> <y1>5</y1></element>
<element class="occupancy_grid"><file>{{folder}}/map.png</file></element>
<element class="pointcloud"><file>{{folder}}/points.txt</file></element>
<element class="ground_grid"><color>#ff0000</color></element>
<element class="property_region">
  <property_name>friction_mu</property_name> <value_double>0.1</value_double>
</element>
<walls><shape><pt>-8 -8</pt> <pt>8 -8</pt></shape></walls>
{ROBOT}
<vehicle name="r1" class="bot"><init_pose>0 0 0</init_pose></vehicle>
<block name="box"><static>true</static> <init_pose>3 0 0</init_pose>
  <geometry type="cylinder" radius="0.3" length="1"/></block>
<actor name="person"><init_pose>-3 0 0</init_pose></actor>
</mvsim_world>"""


@pytest.fixture
def everything(tmp_path: Path) -> World:
    pixels = np.full((20, 20), 255, np.uint8)
    pixels[5:8, 5:8] = 0
    Image.fromarray(pixels).save(tmp_path / "map.png")
    (tmp_path / "points.txt").write_text("".join(f"{k} 1 2\n" for k in range(7)))
    return load_world(text=ALL.format(folder=tmp_path))


def test_each_thing_has_a_node(everything: World) -> None:
    with Viewer(everything, port=0) as viewer:
        nodes = viewer.stage.nodes
        expected = ["ground", "wall", "map", "points", "block", "actor", "vehicle"]
        assert nodes.labels == expected
        assert {label: len(shown) for label, shown in nodes.fixed.items()} == {
            "ground": 1,
            "wall": 1,
            "map": 1,
            "points": 1,
        }
        (cloud,) = nodes.fixed["points"]
        assert cloud.points == pytest.approx(np.array([(k, 1.0, 2.0) for k in range(7)]))
        check_poses(viewer)
        backdrop = viewer.stage.backdrop
        assert backdrop.grid.cell_color == (255, 0, 0)
        area, label = backdrop.regions
        assert area.vertices[:, :2].tolist() == [[-1, -1], [-1, 1], [1, -1], [1, 1]]
        assert label.text == "friction_mu: 0.1"
        nodes.show("wall", False)
        nodes.show("vehicle", False)
        assert [node.visible for node in nodes.fixed["wall"]] == [False]
        assert not any(b.node.visible for b in nodes.batches if b.parts[0].label == "vehicle")
        viewer.stage.overlays["Names"].update()
        assert viewer.stage.overlays["Names"].texts == ["r1", "person"]


def test_worlds_far_from_the_origin_are_shown_about_their_middle() -> None:
    far = SMALL.replace("<init_pose>0 0 0", "<init_pose>500000 4000000 0").replace(
        "<init_pose>0 -3 90", "<init_pose>500003 4000000 90"
    )
    start = far.index('<element class="horizontal_plane">')
    far = far[:start] + far[far.index("<vehicle:class") :]
    far = far.replace("<init_pose>2 2 0", "<init_pose>500002 4000002 0")
    with Viewer(load_world(text=far), port=0) as viewer:
        assert np.abs(viewer.stage.nodes.origin - (500000, 4000000, 0)).max() < 5
        ((_, place, _), *_) = instances(viewer)["r1"]
        assert np.abs(place).max() < 5
        assert viewer.stage.place(place) == pytest.approx((500000, 4000000, 0), abs=1e-3)


# ------------------------------------------------------------------ models
def test_a_model_as_gltf() -> None:
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    model = solids.prism(square, 0.0, 0.5, Material((0.5, 0.25, 1.0, 1.0)))
    scene = trimesh.load_scene(io.BytesIO(glb_of(model) or b""), file_type="glb")
    (mesh,) = scene.geometry.values()
    assert mesh.bounds.tolist() == [[-1, -1, 0], [1, 1, 0.5]]
    assert mesh.volume == pytest.approx(2.0)
    color = mesh.visual.vertex_attributes["color"][0, :3] / 65535
    assert color == pytest.approx(linear((0.5, 0.25, 1.0)), abs=1e-4)


def test_textures_come_with_the_model(tmp_path: Path) -> None:
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:4] = (250, 10, 10)  # the upper half is red
    Image.fromarray(pixels).save(tmp_path / "t.png")
    look, fault = texture_of((1.0, 1.0, 1.0, 1.0), str(tmp_path / "t.png"))
    assert fault == ""
    model = solids.rectangle((0, 1), (0, 1), 0.0, (1.0, 1.0), look)
    scene = trimesh.load_scene(io.BytesIO(glb_of(model) or b""), file_type="glb")
    (mesh,) = scene.geometry.values()
    image = np.asarray(mesh.visual.material.baseColorTexture.convert("RGB"))
    assert image.shape == (8, 8, 3)
    assert image[0, 0, 0] > 200 > image[7, 7, 0]


def test_glass_and_hidden_sides() -> None:
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    glass = glb_of(solids.prism(square, 0.0, 1.0, Material((1.0, 1.0, 1.0, 0.3)))) or b""
    assert b'"alphaMode":"BLEND"' in glass
    back = Material(cull_face="BACK")
    assert b'"doubleSided":false' in (glb_of(solids.prism(square, 0.0, 1.0, back)) or b"")
    assert glb_of(solids.prism(square, 0.0, 1.0, Material(cull_face="BOTH"))) is None


def test_the_speck_is_of_the_material_of_models() -> None:
    """A browser compiles one shader for both."""
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    small, large = document(speck()), document(glb_of(solids.prism(square, 0.0, 1.0)) or b"")
    assert small["materials"] == large["materials"]
    (one,), (other,) = (d["meshes"][0]["primitives"] for d in (small, large))
    assert one["attributes"].keys() == other["attributes"].keys()
    (of_one, of_other) = (
        [(a["type"], a["componentType"], a.get("normalized")) for a in d["accessors"]]
        for d in (small, large)
    )
    assert of_one == of_other


def document(glb: bytes) -> Any:
    """Return the description in a binary glTF."""
    return json.loads(glb[20 : 20 + int.from_bytes(glb[12:16], "little")])


def test_quaternions() -> None:
    turns = Rotation.from_euler(
        "ZYX", np.random.default_rng(1).uniform(-math.pi, math.pi, (200, 3))
    )
    extreme = Rotation.from_euler("xyz", [(math.pi, 0, 0), (0, math.pi, 0), (0, 0, math.pi)])
    for rotations in (turns, extreme):
        wxyz = quaternions(rotations.as_matrix())
        back = Rotation.from_quat(wxyz[:, [1, 2, 3, 0]])
        assert (back * rotations.inv()).magnitude().max() < 1e-6
