# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of blocks: those that differ from an earlier one in name and pose alone are copied at once.

What is unusual about a block, such as a name that is used already, is left to the reading of
single blocks, and so are all messages.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from itertools import chain, islice, repeat, takewhile
from operator import itemgetter
from typing import NamedTuple, TypeVar

from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.block import BlockSpec
from mvsim_core.specs.converters import Converter
from mvsim_core.specs.copying import copies
from mvsim_core.specs.params import Where
from mvsim_core.specs.pose_columns import read_poses
from mvsim_core.xmlfile.loops import Loop
from mvsim_core.xmlfile.markup import Node
from mvsim_core.xmlfile.names import EntityNames
from mvsim_core.xmlfile.patterns import MOST_ROWS, ElementPattern, NodeRun, Row
from mvsim_core.xmlfile.reader import FLOW_TAGS, Element, ElementRun
from mvsim_core.xmlfile.twins import POSES, Twins

T = TypeVar("T")
#: Makes the place of a file and a line, in half of the time that its constructor takes.
_where: Callable[[tuple[str, int]], Where] = partial(tuple.__new__, Where)


class Columns(NamedTuple):
    """Where the rows of a pattern have what differs between twins.

    Attributes:
        name: Column of the name; 0, where the blanks before the element are: they have none.
        pose: Column of the pose.
        converter: How poses are read.
        rest: Returns what twins have in common of a row.
        size: Number of elements of a block.
    """

    name: int
    pose: int
    converter: Converter[Pose]
    rest: Callable[[Row], Hashable]
    size: int


class _Kind(NamedTuple):
    first: BlockSpec
    columns: Columns


#: See `BlockRuns`.
World = tuple[Callable[[int, int], bool], Callable[[Sequence[BlockSpec], int], None]]
_Group = tuple[_Kind, Sequence[int] | None]


class BlockRuns:
    """Copies the blocks of runs.

    Args:
        twins: Knows which blocks may be copied.
        names: Names of all entities.
        world: Returns whether a world may have so many more blocks and elements; adds blocks in
            the order of the file, with the number of their elements.
    """

    def __init__(self, twins: Twins, names: EntityNames, world: World) -> None:
        """Know no pattern."""
        self._twins = twins
        self._names = names
        self._has_room, self._add = world
        self._columns: dict[int, tuple[Columns | None, ElementPattern]] = {}

    def read(self, elements: ElementRun) -> Iterator[Element]:
        """Copy the blocks of a run that can be copied; yield the others, in the same order.

        The caller reads each before it takes the next one.
        """
        keys = self._keys(elements.run)
        kinds: dict[Hashable, _Kind] = {}
        begin, count = 0, len(keys)
        while begin < count:
            found = map(kinds.get, islice(keys, begin, None))
            alike = [kind for kind in takewhile(bool, found) if kind is not None]
            end = begin + len(alike)
            if alike and not self._copied(elements, begin, alike):
                yield from map(elements.element, range(begin, end))
            if end < count:
                element = elements.element(end)
                yield element
                columns = self._columns_of(elements.run.patterns[end])
                latest = self._twins.latest
                if columns and keys[end] and latest is not None and latest[0] is element:
                    kinds[keys[end]] = _Kind(latest[1], columns)
            begin = end + 1

    def _columns_of(self, pattern: ElementPattern) -> Columns | None:
        known = self._columns.get(id(pattern))
        if known is None:
            known = self._columns[id(pattern)] = (columns_of(pattern), pattern)
        return known[0]

    def _keys(self, run: NodeRun) -> list[Hashable]:
        """Return of each row what it has in common with its twins; None: there can be none."""
        keys: list[Hashable] = []
        for pattern, rows in run.parts():
            columns = self._columns_of(pattern)
            if columns is None:
                keys += [None] * len(rows)
                continue
            texts = list(map(itemgetter(columns.name, columns.pose), rows))
            found = zip(repeat(id(pattern)), map(columns.rest, rows))
            if "$" in "".join(chain.from_iterable(texts)):
                keys += [
                    None if "$" in name or "$" in pose else key
                    for (name, pose), key in zip(texts, found, strict=False)
                ]
            else:
                keys += found
        return keys

    def _copied(self, elements: ElementRun, begin: int, kinds: Sequence[_Kind]) -> bool:
        """Add blocks of the rows from `begin` on, of some kinds; return False if that can't be."""
        span = slice(begin, begin + len(kinds))
        groups = _by_kind(kinds)
        rows = [(kind, _picked(elements.run.rows[span], places)) for kind, places in groups]
        names = _joined(groups, [_column(some, kind.columns.name) for kind, some in rows])
        if not self._names.are_new(names):
            return False
        size = sum(kind.columns.size * len(some) for kind, some in rows)
        try:
            poses = [
                read_poses(_column(some, kind.columns.pose), kind.columns.converter)
                for kind, some in rows
            ]
        except ValueError:  # or a notice; reading it alone says which
            return False
        if not self._has_room(len(kinds), size):
            return False
        where = list(map(_where, zip(repeat(elements.origin.file), elements.run.places[span])))
        names = self._named(names, where)
        blocks = [
            copies(
                kind.first,
                {
                    "name": _picked(names, places),
                    "init_pose": own,
                    "where": _picked(where, places),
                },
            )
            for (kind, places), own in zip(groups, poses, strict=True)
        ]
        self._add(_joined(groups, blocks), size)
        return True

    def _named(self, names: Sequence[str], where: Sequence[Where]) -> Sequence[str]:
        """Return names, which are new, with numbers where there is none; keep their places."""
        if not any(names):
            names = [self._names.next("block") for _ in names]
        self._names.places.update(zip(names, where, strict=True))
        return names

    def read_loop(self, loop: Loop) -> Iterator[Element]:
        """Copy the blocks of a loop that makes one a turn; else yield all that its turns make."""
        pose = _turning_pose(loop.node.children)
        values = loop.values
        done = 0
        if pose is not None and len(values) > 1:
            element = None
            for element in loop.turn(values[0]):
                yield element
            done, latest = 1, self._twins.latest
            while done < len(values) and latest is not None and latest[0] is element:
                turns = values[done : done + MOST_ROWS]
                if not self._turned(loop, pose, turns, latest[1]):
                    break
                done += len(turns)
        for value in values[done:]:
            yield from loop.turn(value)

    def _turned(self, loop: Loop, pose: Node, turns: range, first: BlockSpec) -> bool:
        """Add the blocks of turns, copies of the first one; return False if that can't be."""
        (node,) = loop.node.children
        name = self._twins.column(node.attributes.get("name", ""), loop, turns)
        place = self._twins.column(pose.text, loop, turns)
        if name is None or place is None:
            return False
        names, size = list(map(str.strip, name.texts)), node.size()
        try:
            poses = read_poses(place.texts, POSES[pose.tag])
        except ValueError:
            return False
        if not (self._names.are_new(names) and self._has_room(len(turns), len(turns) * size)):
            return False
        if not loop.spend(turns, name.steps + place.steps, name.work + place.work):
            return False
        where = [Where(loop.scope.origin.file, node.line)] * len(turns)
        fields = {"name": self._named(names, where), "init_pose": poses, "where": where}
        self._add(copies(first, fields), len(turns) * size)
        return True


def _turning_pose(nodes: Sequence[Node]) -> Node | None:
    """Return the pose of a block that differs from turn to turn in name and pose alone.

    None: the turns of a loop make something else.
    """
    if len(nodes) != 1 or nodes[0].tag != "block":
        return None
    poses = [child for child in nodes[0].children if child.tag in POSES]
    others = [child for child in nodes[0].children if child.tag not in POSES]
    texts = [value for name, value in nodes[0].attributes.items() if name != "name"]
    same = not any("$" in text for text in (nodes[0].text, *texts)) and all(map(_is_same, others))
    return poses[0] if same and len(poses) == 1 else None


def _is_same(node: Node) -> bool:
    """Return whether a node means the same in each turn of a loop."""
    texts = (node.text, *node.attributes.values())
    same = node.tag not in FLOW_TAGS and not any("$" in text for text in texts)
    return same and all(map(_is_same, node.children))


def columns_of(pattern: ElementPattern) -> Columns | None:
    """Return where a pattern of blocks has name and pose; None: they can have no twins."""
    part = pattern.part
    poses = [child for child in part.children if child.tag in POSES]
    if len(poses) != 1 or poses[0].attributes or poses[0].children or poses[0].text < 0:
        return None
    name = next((column for name, column, _ in part.attributes if name == "name"), 0)
    pose = poses[0].text
    same = [column for column in range(1, pattern.regex.groups) if column not in (name, pose)]
    rest = itemgetter(*same) if same else _nothing
    return Columns(name, pose, POSES[poses[0].tag], rest, pattern.size)


def _nothing(row: Row) -> Hashable:
    return ()


def _column(rows: Sequence[Row], column: int) -> list[str]:
    return list(map(str.strip, map(itemgetter(column), rows)))


def _by_kind(kinds: Sequence[_Kind]) -> list[_Group]:
    """Return each kind with the places where it is; None: everywhere."""
    if len(set(map(id, kinds))) == 1:
        return [(kinds[0], None)]
    found: dict[int, tuple[_Kind, list[int]]] = {}
    for place, kind in enumerate(kinds):
        found.setdefault(id(kind), (kind, []))[1].append(place)
    return list(found.values())


def _picked(values: Sequence[T], places: Sequence[int] | None) -> Sequence[T]:
    return values if places is None else [values[place] for place in places]


def _joined(groups: Sequence[_Group], values: Sequence[Sequence[T]]) -> Sequence[T]:
    """Return the values of all groups at their places."""
    if groups[0][1] is None:
        return values[0]
    found: dict[int, T] = {}
    for (_, places), own in zip(groups, values, strict=True):
        found.update(zip(places or (), own, strict=True))
    return [found[place] for place in range(len(found))]
