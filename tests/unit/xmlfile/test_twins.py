# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks that are copied from an earlier one are what reading them would have given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mvsim_core import WorldFileError
from mvsim_core.xmlfile import read_world_file
from mvsim_core.xmlfile.fill import Filler
from mvsim_core.xmlfile.twins import Twins

BLOCK = '<block name="b{i}">\n<static>true</static><init_pose>{i} 2 30</init_pose>{more}</block>\n'
GEOMETRY = '<geometry type="box" lx="1" ly="2" lz="3"/>'
CLASS = '<block:class name="k"><mass>{mass}</mass><zmax>2</zmax></block:class>'
OF_CLASS = '<block class="k"><init_pose>{i} 0 0</init_pose></block>'


def three(text: str, **more: Any) -> str:
    return "".join(text.format(i=i, **more) for i in range(3))


WORLDS = {
    "plain": three(BLOCK, more=""),
    "with a geometry": three(BLOCK, more=GEOMETRY),
    "of two kinds in turn": three(
        BLOCK + BLOCK.replace('"b', '"c').replace("true", "false"), more=""
    ),
    "without names": three("<block><init_pose>{i} 0 0</init_pose></block>"),
    "of a class": CLASS.format(mass=5) + three(OF_CLASS),
    "of a class with random values": CLASS.format(mass="$f{1+rand()}") + three(OF_CLASS),
    "of a class that knows names": CLASS.format(mass="${NAME}")
    + three(OF_CLASS.replace("<block", '<block name="{i}7"')),
    "of a class that is defined again": CLASS.format(mass=5)
    + three(OF_CLASS)
    + CLASS.format(mass=6)
    + three(OF_CLASS),
    "with a value from a variable": '<variable name="m" value="1"/>'
    + three(BLOCK, more="<mass>${m}</mass>")
    + '<variable name="m" value="2"/>'
    + three(BLOCK.replace('"b', '"c'), more="<mass>${m}</mass>"),
    "at places of a variable": '<variable name="m" value="1"/>'
    + three(BLOCK.replace("{i} 2 30", "${{m}} {i} 0"), more="")
    + '<variable name="m" value="2"/>'
    + three(BLOCK.replace('"b', '"c').replace("{i} 2 30", "${{m}} {i} 0"), more=""),
    "at random places": three(BLOCK.replace("{i} 2 30", "$f{{rand()}} $f{{rand()}} 0"), more=""),
    "at three-dimensional places": three(
        BLOCK.replace("init_pose>", "init_pose3d>").replace("30", "1 0 0 0"), more=""
    ),
    "in a loop": '<for var="i" from="1" to="3">'
    + BLOCK.replace("{i}", "${{i}}").format(more="")
    + "</for>",
    "with conditions": '<for var="i" from="1" to="4"><block><init_pose>${i} 0 0</init_pose>'
    '<if condition="$f{i%2}"><mass>3</mass></if></block></for>',
    "with warnings": three(BLOCK, more="<weight>3</weight>"),
    "with hints": three(BLOCK, more="<publish><publish_topic>/t</publish_topic></publish>"),
    "with two poses": three(BLOCK, more="<init_pose>9 9 9</init_pose>"),
    "with a pose as an attribute": three('<block init_pose="{i} 0 0"/>'),
    "with a pose of six numbers": three(BLOCK.replace("30", "0 0 0 0"), more=""),
    "without a pose": three("<block><mass>{i}1</mass></block>"),
    "with a wrong pose": three(BLOCK, more="") + '<block name="x"><static>true</static>'
    "<init_pose>1 2</init_pose></block>",
    "with an unknown variable": three(BLOCK, more="") + '<block name="x"><static>true</static>'
    "<init_pose>${nothing} 2 0</init_pose></block>",
    "of one name": BLOCK.format(i=1, more="") * 2,
}


@pytest.mark.parametrize("kind", WORLDS)
def test_copying_changes_no_spec_and_no_message(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"<mvsim_world>\n{WORLDS[kind]}</mvsim_world>"

    def read() -> tuple[object, ...]:
        try:
            spec, problems, state = read_world_file(text=text, seed=4)
        except WorldFileError as error:
            return (str(error),)
        return spec, [block.where for block in spec.blocks], problems, state

    found = read()
    monkeypatch.setattr(Twins, "twin", lambda *_: None)
    assert found == read()


@pytest.mark.parametrize("kind", ["plain", "with a geometry", "of a class", "in a loop"])
def test_of_equal_blocks_one_is_read(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[type] = []
    fill = Filler.fill

    def counted(filler: Filler, prototype: Any, *given: Any, **more: Any) -> Any:
        filled.append(type(prototype))
        return fill(filler, prototype, *given, **more)

    monkeypatch.setattr(Filler, "fill", counted)
    blocks = read_world_file(text=f"<mvsim_world>{WORLDS[kind]}</mvsim_world>").spec.blocks
    assert len(blocks) == 3
    assert [one.__name__ for one in filled].count("BlockSpec") == 1
    assert all(block.geometry is blocks[0].geometry for block in blocks)


def test_files_in_two_folders_are_not_alike(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "block.xml").write_text(
            "<block><init_pose>0 0 0</init_pose>"
            "<visual><model_uri>own.dae</model_uri></visual></block>"
        )
    includes = '<include file="a/block.xml"/><include file="b/block.xml"/>'
    (tmp_path / "w.world.xml").write_text(f"<mvsim_world>{includes}</mvsim_world>")
    blocks = read_world_file(tmp_path / "w.world.xml").spec.blocks
    names = [block.visuals[0].model_uri.split("/")[-2] for block in blocks]
    assert names == ["a", "b"]
