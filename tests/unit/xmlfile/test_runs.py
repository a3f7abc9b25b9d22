# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks that are written alike are read together, with the results and messages of each alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mvsim_core import WorldFileError
from mvsim_core.xmlfile import (
    budget,
    loader,
    loops,
    patterns,
    read_world_file,
    reader,
    substitution,
)
from mvsim_core.xmlfile.block_runs import BlockRuns
from mvsim_core.xmlfile.budget import Budget
from mvsim_core.xmlfile.fill import Filler
from mvsim_core.xmlfile.markup import Node, parse
from mvsim_core.xmlfile.patterns import NodeRun, RunFinder, pattern_of

COUNT = 12
BLOCK = (
    '<block name="b{i}">\n<static>true</static>\n <init_pose>{i} 2 30</init_pose>{more}</block>\n'
)
CLASSES = (
    '<block:class name="k0"><mass>5</mass></block:class>'
    '<block:class name="k1"><static>true</static><zmax>3</zmax></block:class>'
)
SHAPE = "<shape><pt>0 0</pt><pt>{w} 0</pt>\n<pt>0 1</pt></shape>"
LINES = '<block\n  class="k{c}"\n\n  name="b{i}">\n<init_pose>{i} 0 0</init_pose></block>'


def some(text: str, count: int = COUNT, **more: Any) -> str:
    return "".join(text.format(i=i, c=i % 2, w=1 + i % 3, **more) for i in range(count))


def with_one(odd: str) -> str:
    """Return blocks with another one amid them."""
    return some(BLOCK, 8, more="") + odd + some(BLOCK.replace('"b', '"c'), 8, more="")


WORLDS = {
    "plain": some(BLOCK, more=""),
    "of two classes in turn": CLASSES + some(LINES),
    "of three shapes": some(BLOCK, more=SHAPE),
    "of one shape": some(BLOCK, more=SHAPE.replace("{w}", "2")),
    "of two patterns in turn": some(
        BLOCK.format(i="{i}", more="") + BLOCK.format(i="x{i}", more="<mass>3</mass>")
    ).replace("<init_pose>x", "<init_pose>"),
    "without names": some("<block><init_pose>{i} 0 0</init_pose></block>"),
    "some without names": some('<block name="{c}{i}"><init_pose>{i} 0 0</init_pose></block>')
    + some('<block name=""><init_pose>{i} 0 0</init_pose></block>', 6),
    "named like those without": some("<block><init_pose>{i} 0 0</init_pose></block>")
    + some('<block name="block02{i}"><init_pose>{i} 0 0</init_pose></block>', 6)
    + some("<block><init_pose>{i} 0 0</init_pose></block>", 20),
    "with comments": some(BLOCK, more="<!-- {i} -->").replace("-->", "--> <!--\n-->"),
    "with one comment": with_one(BLOCK.format(i=99, more="<!--\n\n-->")),
    "with entities": some(BLOCK.replace('"b', '"&lt;b'), more=""),
    "with one entity": with_one(BLOCK.format(i="&#65;", more="").replace(">&#65;", ">&#54;")),
    "with text": some(BLOCK, more="text"),
    "with an attribute given twice": some(BLOCK.replace("<block", '<block name="x"'), more=""),
    "closed by other names": some(BLOCK.replace("</block", "</brick"), more=""),
    "with numbers in all notations": "".join(
        BLOCK.format(i=i, more="").replace(f">{i} 2 30<", f">{text}<")
        for i, text in enumerate(
            (
                *("0 0 0", "1 2 3", "-1 +2 3e0", ".5 2. 30", " 1  2\t3 ", "1 2 -0.0", "1,2,3"),
                *("1 2 12.345678901234567", "1;2;3", "[1 2 3]", "--1 2 3", "1 2 0x3", "1 2 3_0"),
                *(
                    "1 2 nan",
                    "inf 2 3",
                    "1e16 2 3",
                    "1 2",
                    "1 2 3 4",
                    "1 2 3 4 5 6",
                    "",
                    "1 2 ; 3",
                ),
            )
        )
    ),
    "with a variable in a name": with_one(BLOCK.format(i="${v}", more="").replace(">${v}", ">7")),
    "with a formula in a pose": with_one(
        BLOCK.format(i=99, more="").replace(">99", ">$f{rand()}")
    ),
    "with a name given twice": with_one(BLOCK.format(i=3, more="")),
    "with two names given twice": some(BLOCK, more="") * 2,
    "with a wrong pose": with_one(BLOCK.format(i=99, more="").replace(">99", ">abc")),
    "with a wrong mass": with_one(BLOCK.format(i=99, more="<mass>-3</mass>")),
    "with an unknown class": some(LINES.replace("k{c}", "none")),
    "with an unknown element": some(BLOCK, more="<weight>{i}</weight>"),
    "with a class of random values": CLASSES.replace(">5<", ">$f{1+rand()}<") + some(LINES),
    "with a class that knows names": CLASSES.replace(">5<", ">1${NAME}<")
    + some(LINES.replace('"b{i}', '"{i}')),
    "in turns with a class": "".join(
        CLASSES.replace(">5<", f">{mass}<") + some(LINES.replace('"b', f'"m{mass}b'))
        for mass in (5, 6)
    ),
    "with poses of six numbers": some(BLOCK.replace("30", "1 2 3 4"), more=""),
    "at three-dimensional places": some(
        BLOCK.replace("init_pose>", "init_pose3d>").replace("30", "1 2 3 4"), more=""
    ),
    "with two poses": some(BLOCK, more="<init_pose>9 9 9</init_pose>"),
    "with animations": some(
        BLOCK,
        more="<animation><time_pose>0 0 0 0</time_pose>\n<time_pose>1 1 0 0</time_pose>"
        "</animation>",
    ),
    "not closed": some(BLOCK, more="") + '<block name="x">',
    "more than a world may have": some(BLOCK, 40, more=""),
}


def result(text: str) -> tuple[object, ...]:
    try:
        spec, problems, state = read_world_file(
            text=f"<mvsim_world>\n<variable name='v' value='w'/>{text}</mvsim_world>", seed=4
        )
    except WorldFileError as error:
        return (str(error),)
    return spec, [block.where for block in spec.blocks], problems, state


@pytest.mark.parametrize("rows", [3, patterns.MOST_ROWS])
@pytest.mark.parametrize("kind", WORLDS)
def test_reading_together_changes_no_spec_and_no_message(
    kind: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "MOST_BODIES", 35)
    monkeypatch.setattr(patterns, "MOST_ROWS", rows)
    found = result(WORLDS[kind])
    monkeypatch.setattr(reader, "RUNS", {})
    assert found == result(WORLDS[kind])


@pytest.mark.parametrize("kind", ["plain", "of two classes in turn", "of one shape"])
def test_of_equal_blocks_in_a_run_no_element_is_made(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes: list[int] = []
    filled: list[type] = []
    node, fill = NodeRun.node, Filler.fill

    def counted(filler: Filler, prototype: Any, *given: Any, **more: Any) -> Any:
        filled.append(type(prototype))
        return fill(filler, prototype, *given, **more)

    monkeypatch.setattr(
        NodeRun, "node", lambda run, index: nodes.append(index) or node(run, index)
    )
    monkeypatch.setattr(Filler, "fill", counted)
    spec = result(WORLDS[kind])[0]
    assert len(spec.blocks) == COUNT  # type: ignore[attr-defined]
    kinds = 2 if "two" in kind else 1
    assert len(nodes) == kinds
    assert [one.__name__ for one in filled].count("BlockSpec") == kinds


def test_parts_of_an_included_world_are_read_together_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = f"<mvsim_world>{some(BLOCK, more='')}</mvsim_world>"
    (tmp_path / "part.xml").write_text(part)
    (tmp_path / "w.world.xml").write_text(
        '<mvsim_world><include file="part.xml"/><vehicle/></mvsim_world>'
    )

    def read() -> object:
        try:
            spec, problems, _ = read_world_file(tmp_path / "w.world.xml")
            return spec, [block.where for block in spec.blocks], problems
        except WorldFileError as error:
            return str(error)

    found = read()
    monkeypatch.setattr(reader, "RUNS", {})
    assert found == read()


def test_a_layout_gives_the_nodes_that_the_parser_gives() -> None:
    text = some(LINES + BLOCK, more=SHAPE)
    whole = f"<mvsim_world>\n\n{text}</mvsim_world>"
    (top,), warnings = parse(whole, RunFinder({"mvsim_world": ("block",)}))
    (plain,), expected = parse(whole)
    runs = [child for child in top.children if isinstance(child, NodeRun)]
    assert runs
    children: list[Node] = []
    for child in top.children:
        if isinstance(child, NodeRun):
            children += [child.node(index) for index in range(len(child.rows))]
        else:
            children.append(child)
    assert children == plain.children
    assert warnings == expected


@pytest.mark.parametrize(
    "source",
    ["<a>", "<a><!-- --></a>", "<a>1<b/></a>", "<a b='1' b='2'/>", "<a>\n1</a>", "<a></b>"],
)
def test_what_is_written_in_another_way_has_no_layout(source: str) -> None:
    assert pattern_of(source) is None


POSE = "<init_pose>$f{2*i} 1 0</init_pose>"
PLAIN = f'<block name="b${{i}}">{POSE}<mass>3</mass></block>'
LOOPS = {
    "plain": PLAIN,
    "without names": f"<block>{POSE}</block>",
    "of a class": f'<block class="k1" name="b${{i}}">{POSE}</block>',
    "of a class that knows the variable": '<block class="k2"><init_pose>${i} 0 0</init_pose>'
    "</block>",
    "with all notations": '<block name=" x${ i } "><init_pose>[${i} $f{I/3} $f{i^2-i}]</init_pose>'
    "</block>",
    "with long angles": "<block><init_pose>0 0 $f{i/7000}</init_pose></block>",
    "with other variables": '<block name="b${i}"><init_pose>${n} $f{n*i} 0</init_pose></block>',
    "with a default": '<block name="b${i|7}"><init_pose>0 $f{i} 0</init_pose></block>',
    "with formulas of texts": '<block name="b${i}"><init_pose>$f{2*${i}} 0 0</init_pose></block>',
    "with random numbers": '<block name="b${i}"><init_pose>$f{rand()} $f{i} 0</init_pose></block>',
    "with names in formulas": '<block name="${i}"><init_pose>$f{NAME} ${NAME} 0</init_pose>'
    "</block>",
    "with values that differ": f'<block name="b${{i}}">{POSE}<mass>$f{{i+9}}</mass></block>',
    "with conditions": f'<block name="b${{i}}">{POSE}<if condition="$f{{i%2}}"><mass>2</mass></if>'
    "</block>",
    "with two blocks a turn": PLAIN + PLAIN.replace('"b', '"c'),
    "with a name given twice": f'<block name="b$f{{i%10}}">{POSE}</block>',
    "with a wrong formula": '<block name="b${i}"><init_pose>$f{1/(i-7)} 0 0</init_pose></block>',
    "with numbers out of range": '<block name="b${i}"><init_pose>$f{10^(2*i)} 0 0</init_pose>'
    "</block>",
    "with a wrong pose": '<block name="b${i}"><init_pose>${i} 0</init_pose></block>',
    "with a pose of six numbers": '<block name="b${i}"><init_pose>${i} 0 0 0 0 0</init_pose>'
    "</block>",
    "with an unknown variable": '<block name="b${i}"><init_pose>${j} 0 0</init_pose></block>',
    "with two poses": f'<block name="b${{i}}">{POSE}{POSE}</block>',
    "with an unknown element": f'<block name="b${{i}}">{POSE}<weight>2</weight></block>',
    "in a loop": f'<for var="k" from="1" to="3">{PLAIN.replace("b$", "b${k}_$")}</for>',
}
ENDS = ((1, 12), (-3, 5), (4, 4), (5, 4), (1, 40), (999999999999990, 999999999999999))


@pytest.mark.parametrize(("first", "last"), ENDS)
@pytest.mark.parametrize("kind", LOOPS)
def test_copying_in_loops_changes_no_spec_and_no_message(
    kind: str, first: int, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "MOST_BODIES", 35)
    k2 = '<block:class name="k2"><mass>$f{i+20}</mass></block:class>'
    text = (
        f'{CLASSES}{k2}<variable name="n" value="5"/>'
        f'<for var="i" from="{first}" to="{last}">\n{LOOPS[kind]}</for>'
        '<block name="after"><init_pose>${i|0} 0 $f{rand()}</init_pose></block>'
    )
    found = result(text)
    monkeypatch.setattr(BlockRuns, "read_loop", lambda _, loop: loops.all_turns(loop))
    assert found == result(text)


def test_work_in_loops_is_counted_as_turn_by_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []

    class Counted(Budget):
        def spend(self, work: int) -> None:
            super().spend(work)
            spent.append(work)

    monkeypatch.setattr(substitution, "Budget", Counted)
    text = f'<for var="i" from="1" to="30">{PLAIN}</for>'
    result(text)
    at_once, calls = sum(spent), len(spent)
    spent.clear()
    monkeypatch.setattr(BlockRuns, "read_loop", lambda _, loop: loops.all_turns(loop))
    result(text)
    assert at_once == sum(spent)
    assert calls < len(spent) / 5


@pytest.mark.parametrize("limit", ["MAX_STEPS", "MAX_LOOPS", "MAX_ELEMENTS", "LIMIT"])
def test_limits_hold_in_loops_too(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = {"MAX_STEPS": substitution, "LIMIT": budget}.get(limit, reader)
    for most in (10, 50, 1000, 5000):
        monkeypatch.undo()
        monkeypatch.setattr(module, limit, most)
        text = f'<for var="i" from="1" to="40">{PLAIN}</for>'
        found = result(text)
        monkeypatch.setattr(BlockRuns, "read_loop", lambda _, loop: loops.all_turns(loop))
        assert found == result(text)


def test_an_argument_hides_the_variable_of_a_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = '<for var="i" from="1" to="9"><block><init_pose>${i} $f{i} 0</init_pose></block></for>'
    (tmp_path / "part.xml").write_text(loop)
    (tmp_path / "w.world.xml").write_text(
        '<mvsim_world><include file="part.xml" i="7"/></mvsim_world>'
    )
    found = read_world_file(tmp_path / "w.world.xml").spec
    assert {block.init_pose[:2] for block in found.blocks} == {(7.0, 7.0)}
    monkeypatch.setattr(BlockRuns, "read_loop", lambda _, loop: loops.all_turns(loop))
    assert found == read_world_file(tmp_path / "w.world.xml").spec
