# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Intensities of lidars on surfaces with pictures: those of the texels that the rays meet."""

import numpy as np
import pytest
from PIL import Image

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.scene3d import Hits, Material, Model, Part, Rays, solids
from mvsim_core.scene3d.textures import texture_of
from tests.unit.sensors3d.scenes import BACKENDS, body_rows, scene_of

#: Brightness of the picture, its upper row first.
LEVELS = np.array([[0, 100, 200], [50, 150, 250]])


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "levels.png"
    Image.fromarray(LEVELS.astype(np.uint8)).convert("RGB").save(path)
    return str(path)


def board(material: Material, repeats: float = 1.0) -> Model:
    """A board of 3 m by 2 m in the plane x = 0, seen from -x: its picture begins at y = 1.5."""
    corners = np.array([(0, 1.5, -1), (0, -1.5, -1), (0, -1.5, 1), (0, 1.5, 1)], float)
    places = repeats * np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
    faces = np.array([(0, 1, 2), (0, 2, 3)])
    return Model(corners, faces, (material,), texcoords=places)


def hits_of(scene, bodies, targets):
    """What rays from the origin to targets (n, 3) meet."""
    hits = Hits.empty(len(targets), 1)
    pose = np.append(np.eye(3).ravel(), np.zeros(3))[None]
    ways = np.asarray(targets, float)[:, None]
    scene.cast(Rays(ways, pose, 0, len(targets), 0.0, 10.0), bodies, hits)
    return hits


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("moves", [False, True])
def test_intensity_is_that_of_the_texel(backend, moves, picture):
    """Also on boards that are turned, that move, and beside other models with pictures."""
    white, _ = texture_of((1.0, 1.0, 1.0, 1.0), picture)
    green, _ = texture_of((0.0, 1.0, 0.0, 1.0), picture)
    frame = Pose(6.0, 0.5, -0.2, 0.4, -0.3, 0.2)
    turn, shift = rotation(frame), np.array(frame[:3])
    places = np.array([(0, 1.0 - column, 0.5 - row) for row in range(2) for column in range(3)])
    for material, share in ((white, 1.0), (green, 0.587)):
        other = Part(board(white, 5.0).moved(np.eye(3), (-6.0, 0.0, 0.0)))
        body = 0 if moves else -1
        mine = Part(board(material) if moves else board(material).moved(turn, shift), body=body)
        scene = scene_of(other, mine, backend=backend)
        hits = hits_of(scene, body_rows(frame), places @ turn.T + shift)
        np.testing.assert_allclose(hits.distance[:, 0], 1.0, atol=1e-6)
        expected = np.rint(share * LEVELS.ravel()) / 255.0
        np.testing.assert_allclose(hits.brightness[:, 0], expected, atol=1e-6)


def test_pictures_repeat_and_are_freed_with_their_model(picture):
    white, _ = texture_of((1.0, 1.0, 1.0, 1.0), picture)
    scene = scene_of(Part(board(white, 2.0).moved(np.eye(3), (5.0, 0.0, 0.0))))
    middles = (np.arange(6) + 0.5) / 2.0
    targets = [(5.0, 1.5 - y, -1.0 + z) for z in (0.25, 0.75, 1.25, 1.75) for y in middles]
    found = hits_of(scene, body_rows(), targets).brightness.reshape(4, 6)
    expected = np.tile(LEVELS[::-1], (2, 2)) / 255.0
    np.testing.assert_allclose(found, expected, atol=1e-6)
    pool = scene._pool
    sizes = [len(table) for table in pool.surfaces]
    for number in range(1, 4):  # another one takes the place of the first
        scene.remove(number - 1)
        scene.add(number, lambda: [Part(board(white).moved(np.eye(3), (5.0, 0.0, 0.0)))])
        hits_of(scene, body_rows(), targets)
    assert max(len(table) / size for table, size in zip(pool.surfaces, sizes, strict=True)) <= 2


def test_without_a_picture_it_is_that_of_the_material(tmp_path):
    """And where the picture cannot be read any longer, that of its mean colour."""
    path = tmp_path / "gone.png"
    Image.fromarray(LEVELS.astype(np.uint8)).convert("RGB").save(path)
    lost, _ = texture_of((1.0, 1.0, 1.0, 1.0), str(path))
    path.unlink()
    for material in (Material((0.5, 0.5, 0.5, 1.0)), lost):
        wall = Part(board(material).moved(np.eye(3), (5.0, 0.0, 0.0)))
        box = Part(solids.box((-6, -1, -1), (-5, 1, 1), material))
        found = hits_of(scene_of(wall, box), body_rows(), [(5, 0.2, 0.3), (-5, 0.2, 0.3)])
        np.testing.assert_allclose(found.brightness[:, 0], material.reflectivity, atol=1e-6)
