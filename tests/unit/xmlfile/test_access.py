# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Texts of clients: they read the files of some folders, and nothing else.

Not even the existence of another file may show, so each access to one is watched, not only what
the message says.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from mvsim_core import BuildError, WorldFileError, load_world, read_vehicle, read_world_file
from mvsim_core.resources.access import FileAccess
from mvsim_core.specs.params import Spec, index_of

DYNAMICS = "<dynamics class='differential'/>"
ROBOT = (
    "<vehicle:class name='robot'><visual><model_uri>{}</model_uri></visual>"
    f"{DYNAMICS}</vehicle:class>"
)
SECRET = "ssh-rsa AAAAsecret"
#: A text for each tag or attribute that names a file.
PLACES = {
    "include": "<include file='{}'/>",
    "model_uri": "<block><visual><model_uri>{}</model_uri></visual></block>",
    "walls": "<walls><model_uri>{}</model_uri></walls>",
    "file": "<element class='occupancy_grid'><file>{}</file></element>",
    "elevation_image": "<element class='elevation_map'><elevation_image>{}</elevation_image>"
    "</element>",
    "dem_xyzrgb_file": "<element class='elevation_map'><dem_xyzrgb_file>{}</dem_xyzrgb_file>"
    "</element>",
    "texture_image": "<element class='elevation_map'><elevation_data_matrix>[0 0;0 0]"
    "</elevation_data_matrix><texture_image>{}</texture_image></element>",
    "texture": "<element class='horizontal_plane'><texture>{}</texture></element>",
    "vertical": "<element class='vertical_plane'><texture>{}</texture></element>",
    "file_txt_2d": "<element class='pointcloud'><file_txt_2d>{}</file_txt_2d></element>",
    "file_txt_3d": "<element class='pointcloud'><file_txt_3d>{}</file_txt_3d></element>",
    "textures": "<element class='skybox'><textures>{}</textures></element>",
    "scan_pattern": "<sensor class='lidar3d'><scan_pattern>{}</scan_pattern></sensor>",
    "log_path": "<vehicle><log_path>{}</log_path></vehicle>",
    "auto_start_recording": "<vehicle><auto_start_recording>true<!--{}--></auto_start_recording>"
    "</vehicle>",
    "save_to_rawlog": "<save_to_rawlog>{}</save_to_rawlog>",
    "save_ground_truth_trajectory": "<save_ground_truth_trajectory>{}"
    "</save_ground_truth_trajectory>",
}
WRITTEN = ("auto_start_recording", "log_path", "save_to_rawlog", "save_ground_truth_trajectory")

_watched: list[str] = []
_touched: list[str] = []


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    opened = event in ("open", "os.listdir", "os.scandir")
    if _watched and opened and str(arguments[0]).startswith(_watched[-1]):
        _touched.append(str(arguments[0]))


sys.addaudithook(_watch)


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    """Fail if anything below a folder is opened inside the block."""
    _touched.clear()
    _watched.append(str(folder))
    try:
        yield
    finally:
        _watched.pop()
    assert _touched == []


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """A folder that may be read, with a world, beside one that may not."""
    folder = tmp_path / "inside"
    folder.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    for suffix in ("xml", "txt", "png", "yaml", "dae", "csv"):
        (outside / f"secret.{suffix}").write_text(SECRET)
    (folder / "link").symlink_to(outside)
    (folder / "link.xml").symlink_to(outside / "secret.xml")
    (folder / "robot.vehicle.xml").write_text(ROBOT.format("robot.stl"))
    return folder


def access(inside: Path, **changes: object) -> FileAccess:
    limited = FileAccess((str(inside),), str(inside), folders_hint="see X", remote_hint="see Y")
    return replace(limited, **changes)


def refusal(read: Callable[[], object]) -> str:
    with pytest.raises(WorldFileError) as error:
        read()
    return str(error.value)


def world_refusal(text: str, limited: FileAccess) -> str:
    return refusal(
        lambda: read_world_file(text=f"<mvsim_world>{text}</mvsim_world>", access=limited)
    )


def test_every_param_that_names_a_file_is_here() -> None:
    def below(kind: type[Spec]) -> Iterator[type[Spec]]:
        for spec in kind.__subclasses__():
            yield from (spec, *below(spec))

    names = {
        aliases[0].name
        for spec in below(Spec)
        for _, about, aliases in index_of(spec).params
        if any((alias.converter or about.converter).path for alias in aliases)
    }
    assert {"file", "model_uri", "log_path"} <= names <= set(PLACES)


@pytest.mark.parametrize("place", PLACES)
def test_no_other_file_is_named(place: str, inside: Path) -> None:
    outside = inside.parent / "outside"
    suffix = "xml" if place == "include" else "png"
    names = (f"{outside}/secret.{suffix}", f"../outside/secret.{suffix}", f"{outside}/none")
    for path in (*names, f"link/secret.{suffix}", f"file://{outside}/secret.{suffix}"):
        with untouched(outside):
            message = world_refusal(PLACES[place].format(path), access(inside))
        assert SECRET not in message
        wanted = "files be written" if place in WRITTEN else "outside the folders"
        assert wanted in message, message
        assert place in WRITTEN or "(see X)" in message


@pytest.mark.parametrize("place", ["model_uri", "texture", "textures"])
def test_addresses_are_read_only_if_allowed(place: str, inside: Path) -> None:
    text = PLACES[place].format("http://localhost:1/a_%s.dae")
    message = world_refusal(text, access(inside))
    assert "web address" in message
    assert "(see Y)" in message
    world = f"<mvsim_world>{text}</mvsim_world>"
    read_world_file(text=world, access=access(inside, remote=True))


@pytest.mark.parametrize(
    "value",
    ["$env{MVSIM_TEST_SECRET}", "${MVSIM_TEST_SECRET}", "$(echo secret)", "$(ros2 pkg prefix a)"],
)
@pytest.mark.parametrize(
    "text", ["<block class='{}'/>", "<variable name='A' value='{}'/><block class='${{A}}'/>"]
)
def test_no_environment_and_no_command(
    value: str, text: str, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MVSIM_TEST_SECRET", "AAAAsecret")
    assert "AAAAsecret" not in world_refusal(text.format(value), access(inside))
    included = f"<include file='robot.vehicle.xml' A='{value}'/><block class='${{A}}'/>"
    assert "AAAAsecret" not in world_refusal(included, access(inside))


def test_no_content_of_a_file_is_quoted_by_an_include(inside: Path) -> None:
    (inside / "key").write_text(SECRET)
    assert "must end with .xml" in world_refusal("<include file='key'/>", access(inside))


def test_files_of_the_folders_serve(inside: Path) -> None:
    text = "<mvsim_world><include file='robot.vehicle.xml'/><vehicle class='robot'/></mvsim_world>"
    for file in ("robot.vehicle.xml", str(inside / "robot.vehicle.xml")):
        spec = read_world_file(
            text=text.replace("robot.vehicle.xml", file), access=access(inside)
        ).spec
        assert spec.vehicles[0].visuals[0].model_uri == str(inside / "robot.stl")


def test_the_user_may_do_all_of_this(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MVSIM_TEST_NAME", "mine")
    outside = inside.parent / "outside"
    world = inside / "own.world.xml"
    world.write_text(
        f"<mvsim_world>{ROBOT.format(outside / '$env{MVSIM_TEST_NAME}.dae')}"
        f"<vehicle class='robot'><log_path>{outside}/log</log_path></vehicle></mvsim_world>"
    )
    read = read_world_file(world)
    assert read.spec.vehicles[0].visuals[0].model_uri == str(outside / "mine.dae")
    # A client may use the class as it is, though not name its files itself.
    spec, _, state = read_vehicle("<vehicle class='robot'/>", read.state, access=access(inside))
    assert spec.visuals[0].model_uri == str(outside / "mine.dae")
    assert state.classes == read.state.classes


def test_a_stranger_changes_no_class_of_the_user(inside: Path) -> None:
    outside = inside.parent / "outside"
    world = inside / "own.world.xml"
    name = "${MESH|robot}"
    text = f"<mvsim_world>{ROBOT.format(f'{name}.stl')}</mvsim_world>"
    world.write_text(text)
    state = read_world_file(world).state
    limited = access(inside)
    define = f"<variable name='MESH' value='{outside}/secret'/>"
    with untouched(outside):
        message = refusal(
            lambda: read_vehicle(f"{define}<vehicle class='robot'/>", state, access=limited)
        )
    assert "outside the folders" in message
    own = "<variable name='MESH' value='other'/><vehicle class='robot'/>"
    own += f"<vehicle:class name='robot'>{DYNAMICS}</vehicle:class>"
    _, _, after = read_vehicle(own, state, access=limited)
    spec, _, _ = read_vehicle("<vehicle class='robot'/>", after)
    assert spec.visuals[0].model_uri == str(inside / "robot.stl")


def test_a_world_of_a_stranger_limits_later_texts(inside: Path) -> None:
    text = f"<mvsim_world>{ROBOT.format('$env{HOME}')}</mvsim_world>"
    state = read_world_file(text=text, access=access(inside)).state
    message = refusal(lambda: read_vehicle("<vehicle class='robot'/>", state))
    assert os.environ["HOME"] not in message
    assert "no environment variables" in message


def test_errors_of_maps_are_marked(inside: Path) -> None:
    """What they quote stays in the process, see `Problem.quotes`."""
    (inside / "map.yaml").write_text(f"image: [{SECRET}\n")
    text = f"<mvsim_world>{PLACES['file'].format('map.yaml')}</mvsim_world>"
    with pytest.raises(BuildError) as error:
        load_world(text=text, access=access(inside))
    assert SECRET in str(error.value)
    assert all(problem.quotes for problem in error.value.problems)


def test_a_file_without_end_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.xml"
    os.mkfifo(pipe)
    message = refusal(
        lambda: read_world_file(text=f"<mvsim_world><include file='{pipe}'/></mvsim_world>")
    )
    assert "not a file" in message


@pytest.mark.parametrize("content", ["root:x:0:0::/root:/bin/sh\n", "\x7fELF", ""])
def test_a_text_without_a_vehicle_is_an_error(tmp_path: Path, content: str) -> None:
    """A warning about the file must not hide that there is no vehicle in it."""
    (tmp_path / "other.xml").write_text(content)
    assert "expected one <vehicle>" in refusal(
        lambda: read_vehicle(f"<include file='{tmp_path}/other.xml'/>")
    )
