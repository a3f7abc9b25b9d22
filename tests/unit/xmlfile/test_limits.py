# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Limits on what a file may expand to, and oddities of files, each with its message."""

from pathlib import Path

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.xmlfile import read_world
from tests.unit.xmlfile.reading import ORIGIN, texts, warnings

READER = "mvsim_core.xmlfile.reader"


def refused(folder: Path, body: str) -> str:
    """Return why a world file in a folder is refused."""
    file = folder / "w.world.xml"
    file.write_text(f"<mvsim_world>\n{body}</mvsim_world>")
    with pytest.raises(WorldFileError) as caught:
        read_world(file)
    return str(caught.value).replace(str(folder), "HERE")


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{READER}.MAX_FILE_SIZE", 2000)
    (tmp_path / "big.xml").write_text(f"<!--{'x' * 3000}-->")
    assert refused(tmp_path, '<include file="big.xml"/>') == (
        "w.world.xml:2: <include>: 'HERE/big.xml' is larger than 64 MiB"
    )


def test_too_many_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{READER}.MAX_ELEMENTS", 3)
    loop = f'<for var="i" from="1" to="9">\n<block>{ORIGIN}</block></for>'
    assert refused(tmp_path, loop) == (
        "w.world.xml:3: <init_pose>: the world has more than 3 elements"
    )


def test_too_many_includes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{READER}.MAX_INCLUDED", 3)
    (tmp_path / "a.xml").write_text("")
    loop = '<for var="i" from="1" to="9"><include file="a.xml"/></for>'
    assert refused(tmp_path, loop) == ("w.world.xml:2: <include>: more than 3 includes")


def test_includes_in_includes_without_end(tmp_path: Path) -> None:
    for i in range(40):
        (tmp_path / f"{i}.xml").write_text(f'<include file="{i + 1}.xml"/>')
    message = refused(tmp_path, '<include file="0.xml"/>')
    assert message.startswith(
        "29.xml:1: <include>: includes are nested deeper than 30 files\n    included from"
        " 28.xml:1\n"
    )
    assert message.endswith("included from w.world.xml:2")


def test_flow_in_flow_without_end(tmp_path: Path) -> None:
    begin, end = 60 * '<if condition="1">', 60 * "</if>"
    (tmp_path / "a.xml").write_text(f"{begin}<x/>{end}")
    body = f'{begin}<include file="a.xml"/>{end}'
    assert refused(tmp_path, body) == (
        "a.xml:1: <if>: nested deeper than 100 levels\n    included from w.world.xml:2"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            '<variable name="a" value="${b}"/><variable name="b" value="1"/>'
            "<gravity>${A|${B|${A|${B}}}}</gravity>",
            "w.world.xml:2: <variable>: value: undefined variable 'b'\n"
            "w.world.xml:2: <mvsim_world>: gravity: undefined variable 'B'. Did you mean 'b'?",
        ),
        (
            f"<server_address>{'${a|x}' * 30000}</server_address>",
            "w.world.xml:2: <mvsim_world>: server_address: more than 10000 substitutions in one"
            " value",
        ),
    ],
)
def test_replacements(tmp_path: Path, body: str, message: str) -> None:
    assert refused(tmp_path, body) == message


def test_arguments_that_refer_to_each_other_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MVSIM_TEST_LOOP", "${MVSIM_TEST_LOOP}")
    assert refused(tmp_path, "<gravity>${MVSIM_TEST_LOOP}</gravity>") == (
        "w.world.xml:2: <mvsim_world>: gravity: substitutions are nested deeper than 25 levels"
    )


def test_an_empty_loop_gives_a_warning() -> None:
    assert warnings('<for var="i" from="1" to="2"/>') == ["line 2: <for>: the loop has no content"]


def test_a_file_beside_another_include(tmp_path: Path) -> None:
    """As authors mean it who moved a file and left what it includes."""
    (tmp_path / "defs").mkdir()
    (tmp_path / "defs" / "a.xml").write_text("")
    (tmp_path / "defs" / "b.xml").write_text("")
    world = tmp_path / "w.world.xml"
    world.write_text(
        '<mvsim_world><include file="defs/a.xml"/>\n<include file="b.xml"/></mvsim_world>'
    )
    assert texts(read_world(world)[1], "warning") == [
        f"w.world.xml:2: <include>: 'b.xml' is not found from the folder of this file;"
        f" '{tmp_path}/defs/b.xml' is used"
    ]


def test_other_roots_give_a_warning() -> None:
    _, found = read_world(text="<world/>\n<robot/>\n<mvsim_world/>")
    assert texts(found, "warning") == [
        "line 1: <world>: <world> is read as <mvsim_world>, the name of the format",
        "line 2: <robot>: ignored, because it is outside of <mvsim_world>",
        "line 3: <mvsim_world>: ignored, because it is outside of <mvsim_world>",
    ]


def test_a_path_or_a_text_is_needed() -> None:
    for options in ({}, {"path": "a", "text": "b"}):
        with pytest.raises(TypeError, match="exactly one of path and text"):
            read_world(**options)  # type: ignore[arg-type]
