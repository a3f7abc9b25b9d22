# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs of elements that are written alike: the same tags, names and line breaks, other values.

Large worlds are thousands of such elements. One of them becomes a regular expression that
matches the next ones whole, so that their values are read without a node for each. What does not
match, such as an element with a comment or an entity in it, is read as usual.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from mvsim_core.xmlfile.markup import ATTRIBUTE, TOKEN, Node

#: Elements in one run; longer ones are several, so that what differs in one delays few others.
MOST_ROWS = 8192
#: Elements of one structure before a pattern is made of one, and patterns made for one text.
WORTH_A_PATTERN, MOST_PATTERNS = 4, 16
#: Values in one element.
MOST_VALUES = 60

Row = tuple[str, ...]


class PatternElement(NamedTuple):
    """An element in a pattern.

    Attributes:
        tag: Its name.
        line: Its line, from 0 for that of the outermost element.
        attributes: Name, column of the value in a row, and line of each attribute.
        text: Column of its text; -1: it has none.
        children: The elements inside it.
    """

    tag: str
    line: int
    attributes: tuple[tuple[str, int, int], ...]
    text: int
    children: tuple[PatternElement, ...]

    def node(self, row: Row, line: int) -> Node:
        """Return the element with the values of a row; `line` is that of the outermost one."""
        own = line + self.line
        node = Node(self.tag, own)
        for name, column, offset in self.attributes:
            node.attributes[name] = row[column]
            if offset != self.line:
                node.lines = {**node.lines, name: line + offset}
        if self.text >= 0:
            node.text = row[self.text].strip()
        node.children = [child.node(row, line) for child in self.children]
        return node


class ElementPattern(NamedTuple):
    """How an element is written.

    Attributes:
        regex: Matches the space before such an element, the first value of a row, and itself.
        part: The element.
        size: Number of elements with all inside.
        height: Number of line breaks inside.
    """

    regex: re.Pattern[str]
    part: PatternElement
    size: int
    height: int


@dataclass(slots=True)
class NodeRun(Node):
    """Elements that follow one another, each with its pattern, the values in it and its line.

    Those from one number of `begins` to the next have one pattern.
    """

    begins: list[int] = field(default_factory=list)
    patterns: list[ElementPattern] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def node(self, index: int) -> Node:
        """Return one of the elements."""
        return self.patterns[index].part.node(self.rows[index], self.places[index])

    def parts(self) -> Iterator[tuple[ElementPattern, list[Row]]]:
        """Yield each pattern with the values of the elements that have it, until another one."""
        for begin, end in pairwise((*self.begins, len(self.rows))):
            yield self.patterns[begin], self.rows[begin:end]


class RunFinder:
    """Finds the runs in one text, by the patterns of elements before them.

    Args:
        tags: Tags of the elements that are looked at, by those of the top nodes around them.
    """

    def __init__(self, tags: Mapping[str, Collection[str]]) -> None:
        """Know no pattern."""
        self.tags = tags
        self._patterns: list[ElementPattern] = []
        self._met: Counter[Hashable] = Counter()

    def follow(
        self, text: str, span: tuple[int, int], node: Node, line: int
    ) -> tuple[NodeRun, int] | None:
        """Return the run that follows an element, and where it ends; None: there is none.

        Args:
            text: The whole text.
            span: Where the element begins and ends.
            node: The element.
            line: Line of its end.
        """
        found = self._run(text, span[1], line)
        if found is None and len(self._patterns) < MOST_PATTERNS:
            structure = _structure(node)
            self._met[structure] += 1
            if self._met[structure] % WORTH_A_PATTERN == 0:
                pattern = pattern_of(text[slice(*span)])
                if pattern is not None:
                    self._patterns.insert(0, pattern)
                    found = self._run(text, span[1], line)
        return found

    def _run(self, text: str, position: int, line: int) -> tuple[NodeRun, int] | None:
        rows: list[Row] = []
        patterns: list[ElementPattern] = []
        begins = []
        while len(rows) < MOST_ROWS:
            matches = ((one, one.regex.match(text, position)) for one in self._patterns)
            pattern, found = next((pair for pair in matches if pair[1] is not None), (None, None))
            if pattern is None:
                break
            first, match = len(rows), pattern.regex.match
            while found is not None and len(rows) < MOST_ROWS:
                rows.append(found.groups())
                position = found.end()
                found = match(text, position)
            begins.append(first)
            patterns += [pattern] * (len(rows) - first)
        if not rows:
            return None
        run = NodeRun(patterns[0].part.tag, 0, begins=begins, patterns=patterns, rows=rows)
        for pattern, some in run.parts():
            for row in some:
                line += row[0].count("\n")
                run.places.append(line)
                line += pattern.height
        run.line = run.places[0]
        return run, position


def _structure(node: Node) -> Hashable:
    """Return the names in an element, as they are nested."""
    return node.tag, tuple(node.attributes), tuple(map(_structure, node.children))


class _UnfitError(Exception):
    """An element is written in a way that no pattern has."""


def pattern_of(source: str) -> ElementPattern | None:
    """Return the pattern of an element, or None if it is written in another way.

    Values are to stand on one line and have no entities; there are no comments and no text beside
    elements.
    """
    maker = _PatternMaker(source)
    try:
        part = maker.element()
    except _UnfitError:
        return None
    if maker.position != len(source) or maker.columns > MOST_VALUES:
        return None
    regex = re.compile("".join(maker.regex))
    if regex.fullmatch(source) is None:
        return None
    return ElementPattern(regex, part, maker.size, maker.line)


class _PatternMaker:
    """Reads one element and writes the pattern of others like it."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self.regex = [r"(\s*)"]
        self.columns = 1
        self.line = 0
        self.size = 0

    def element(self) -> PatternElement:
        """Return the element at the present position."""
        found = TOKEN.match(self.source, self.position)
        if found is None or found.group(1) or found.group(2) is not None:
            raise _UnfitError
        self.size += 1
        line, column = self.line, -1
        children: tuple[PatternElement, ...] = ()
        self.position = found.start(3)
        self._literal("<")
        self._until(found.end(3))
        attributes = self._attributes(found)
        if found.group(6) is not None:
            self._until(found.start(6))
            column = self._value("")
            self.position = found.end(6)
        self._until(found.end())
        if found.group(6) is None and not found.group(5):
            children = self._children(found.group(3))
        return PatternElement(found.group(3), line, attributes, column, children)

    def _attributes(self, tag: re.Match[str]) -> tuple[tuple[str, int, int], ...]:
        begin = tag.start(4)
        values = []
        for found in ATTRIBUTE.finditer(tag.group(4)):
            self._until(begin + found.start(1))
            line = self.line
            self._until(begin + found.start(2) + 1)
            values.append((found.group(1), self._value(found.group(2)[0]), line))
            self.position = begin + found.end(2) - 1
        if len({name for name, *_ in values}) < len(values):
            raise _UnfitError
        return tuple(values)

    def _children(self, tag: str) -> tuple[PatternElement, ...]:
        children = []
        while True:
            token = TOKEN.match(self.source, self.position)
            if token is None or (token.group(1) and not token.group(1).isspace()):
                raise _UnfitError
            self._until(token.end(1))
            if token.group(2) is not None:
                break
            children.append(self.element())
        if token.group(2).strip() != tag:
            raise _UnfitError
        self._until(token.end())
        return tuple(children)

    def _until(self, end: int) -> None:
        """Take all up to a position as it is."""
        self._literal(self.source[self.position : end])
        self.position = end

    def _literal(self, text: str) -> None:
        self.regex.append(re.escape(text))
        self.line += text.count("\n")

    def _value(self, besides: str) -> int:
        """Add a value of any characters but some, and return its column."""
        self.regex.append(f"([^<&\\n{besides}]*)")
        self.columns += 1
        return self.columns - 1
