# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models, images and maps inside zip archives on this machine."""

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core import BuildError, World, WorldFileError, load_world
from mvsim_core.meshes.readers import MeshError, read_mesh
from mvsim_core.resources.archives import ArchiveError, archive_of, check_member, extracted
from mvsim_core.resources.remote_files import cache_folder, local_copy

TETRAHEDRON = b"v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def picture(*rows: tuple[int, ...]) -> bytes:
    out = io.BytesIO()
    Image.fromarray(np.array(rows, np.uint8)).save(out, "PNG")
    return out.getvalue()


CONTENT = {
    "set/one.obj": TETRAHEDRON,
    "set/hill.png": picture((0, 0), (255, 255)),
    "set/map.yaml": b"image: map.png\nresolution: 0.5\norigin: [0, 0, 0]\nnegate: 0\n"
    b"occupied_thresh: 0.65\nfree_thresh: 0.196\n",
    "set/map.png": picture((0, 255), (255, 255)),
    "set/points.txt": b"1 2 3\n4 5 6\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an archive, and a cache of its own."""
    monkeypatch.setenv("MVSIM_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "files").mkdir()
    write(tmp_path / "files" / "models.zip", CONTENT)
    return tmp_path / "files"


def write(path: Path, content: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name, data in content.items():
            file.writestr(name, data)


def loaded(folder: Path, body: str) -> World:
    """Load a world file in a folder."""
    file = folder / "w.world.xml"
    file.write_text(f"<mvsim_world>\n{body}</mvsim_world>")
    return load_world(file)


def block(uri: str) -> str:
    return (
        '<block name="b"><init_pose>0 0 0</init_pose><shape_from_visual/><visual><model_uri>'
        f"{uri}</model_uri></visual></block>"
    )


@pytest.mark.parametrize("uri", ["models.zip/set/one.obj", "{folder}/models.zip/set/one.obj",
                                 "file://{folder}/models.zip/set/one.obj"])  # fmt: skip
def test_a_model_in_an_archive(folder: Path, uri: str) -> None:
    world = loaded(folder, block(uri.format(folder=folder)))
    assert world.warnings == ()
    assert world.blocks["b"].z_range == pytest.approx((0.0, 3.0))


def test_maps_images_and_points_in_an_archive(folder: Path) -> None:
    world = loaded(
        folder,
        '<element class="occupancy_grid"><file>models.zip/set/map.yaml</file></element>'
        '<element class="elevation_map">'
        "<elevation_image>models.zip/set/hill.png</elevation_image></element>"
        '<element class="pointcloud"><file>models.zip/set/points.txt</file></element>'
        '<element class="horizontal_plane"><texture>models.zip/set/map.png</texture></element>'
        '<block name="b"><init_pose3d>0.5 0 9 0 0 0</init_pose3d><static>true</static></block>',
    )
    assert world.warnings == ()
    assert world.blocks["b"].pose.z == pytest.approx(5.0)


def test_an_archive_is_unpacked_once_and_again_when_it_changes(folder: Path) -> None:
    address = f"{folder}/models.zip/set/one.obj"
    first = local_copy(address)
    os.utime(first, (1, 1))
    assert local_copy(address).stat().st_mtime == 1
    write(folder / "models.zip", {"set/one.obj": TETRAHEDRON.replace(b"0 0 3", b"0 0 33")})
    assert read_mesh(address).vertices[:, 2].max() == 33
    assert local_copy(address) != first
    assert {path.parent.parent.parent for path in (first, local_copy(address))} == {cache_folder()}


def test_a_folder_may_be_called_zip(folder: Path) -> None:
    (folder / "parts.zip").mkdir()
    (folder / "parts.zip" / "one.obj").write_bytes(TETRAHEDRON)
    assert archive_of(f"{folder}/parts.zip/one.obj") is None
    assert loaded(folder, block("parts.zip/one.obj")).warnings == ()


@pytest.mark.parametrize(
    ("member", "hint"),
    [
        ("one.obj", "did you mean 'set/one.obj'?"),
        ("SET/ONE.OBJ", "did you mean 'set/one.obj'?"),
        ("set/ones.obj", "did you mean 'set/one.obj'?"),
        ("../models.zip", f"it holds {', '.join(sorted(CONTENT))}"),
        ("set", f"it holds {', '.join(sorted(CONTENT))}"),
    ],
)
def test_what_an_archive_does_not_hold(folder: Path, member: str, hint: str) -> None:
    archive = f"{folder}/models.zip"
    with pytest.raises(ArchiveError) as caught:
        check_member(archive, member)
    assert str(caught.value) == f"{archive}: the archive has no file {member!r} ({hint})"


def test_of_many_names_some_are_listed(folder: Path) -> None:
    write(folder / "many.zip", {f"{i}.obj": TETRAHEDRON for i in range(10)})
    write(folder / "none.zip", {})
    with pytest.raises(ArchiveError, match=r"\(it holds 0.obj, .*, 7.obj, ...\)$"):
        check_member(f"{folder}/many.zip", "wheel")
    with pytest.raises(ArchiveError, match=r"\(it holds none\)$"):
        check_member(f"{folder}/none.zip", "wheel")


def test_what_has_a_place_in_the_file_names_it(folder: Path) -> None:
    """A missing model is a warning, as everywhere; a missing map is an error."""
    (problem,) = loaded(folder, "\n" + block("models.zip/one.obj")).warnings
    assert str(problem) == (
        f"w.world.xml:3: <visual>: {folder}/models.zip: the archive has no file 'one.obj' (did"
        " you mean 'set/one.obj'?): a box of 1 m is used instead"
    )
    with pytest.raises(WorldFileError) as caught:
        loaded(folder, '<element class="occupancy_grid"><file>models.zip/map.png</file></element>')
    assert str(caught.value) == (
        f"w.world.xml:2: <element>: file is not found: {folder}/models.zip: the archive has no"
        " file 'map.png' (did you mean 'set/map.png'?), got 'models.zip/map.png'"
    )


@pytest.mark.parametrize("content", [b"no archive", b""])
def test_what_is_no_archive(folder: Path, content: bytes) -> None:
    (folder / "bad.zip").write_bytes(content)
    with pytest.raises(MeshError) as caught:
        read_mesh(f"{folder}/bad.zip/one.obj")
    assert str(caught.value) == (
        f"{folder}/bad.zip: not a zip archive that can be read (File is not a zip file)"
    )
    with pytest.raises(WorldFileError, match=r"file is not found: .*bad\.zip: not a zip archive"):
        loaded(folder, '<element class="occupancy_grid"><file>bad.zip/a.png</file></element>')


def test_a_damaged_archive_is_named(folder: Path) -> None:
    data = bytearray((folder / "models.zip").read_bytes())
    data[data.index(TETRAHEDRON) + 3] ^= 0xFF
    (folder / "models.zip").write_bytes(data)
    with pytest.raises(ArchiveError, match=r"models\.zip: the archive is damaged \(Bad CRC-32"):
        extracted(f"{folder}/models.zip", "set/one.obj", cache_folder())
    assert not list(cache_folder().iterdir())


def test_a_cache_that_cannot_be_written_is_named(folder: Path) -> None:
    (folder / "file").write_text("in the way")
    with pytest.raises(ArchiveError, match=r"cannot be unpacked into the cache .*/file \("):
        extracted(f"{folder}/models.zip", "set/one.obj", folder / "file")


def test_nothing_is_written_elsewhere(folder: Path) -> None:
    write(folder / "evil.zip", {"../../../evil.obj": TETRAHEDRON, "ok.obj": TETRAHEDRON})
    assert local_copy(f"{folder}/evil.zip/ok.obj").is_file()
    found = list(folder.parent.glob("**/evil.obj"))
    assert all(cache_folder() in path.parents for path in found)


def test_an_image_inside_that_is_none_is_an_error_with_its_place(folder: Path) -> None:
    write(folder / "maps.zip", {"map.png": b"no picture"})
    with pytest.raises(BuildError, match=r"w\.world\.xml:2: <element>: .*not an image"):
        loaded(folder, '<element class="occupancy_grid"><file>maps.zip/map.png</file></element>')
