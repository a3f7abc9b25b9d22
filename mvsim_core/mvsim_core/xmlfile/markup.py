# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of a file to text, and text to a tree of nodes, by the lenient rules of the original.

A strict XML parser rejects most existing world files: `vehicle:class` has an undeclared prefix,
closing tags have other names than opening ones, files have two roots, attributes contain `<`. So
this is a small tokenizer. It does not read DTDs: there are no entities to expand and nothing is
downloaded. What is accepted in spite of an oddity gives a warning; nothing is dropped silently.

A closing tag closes the innermost open element whatever its name, as in the original; a wrong
name is an error only if the file does not balance that way.

The encoding is taken from the byte order mark, then from the XML declaration, else it is UTF-8.
Text that is not valid in that encoding is read as Windows-1252 with a warning, because one wrong
accent in a comment is no reason to reject a world.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

MAX_DEPTH = 100

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is the beginning of this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NOT_FOR_FILES = ("unicode_escape", "raw_unicode_escape", "idna", "punycode", "undefined")
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_NAME = re.compile(r"[^\s<>/=?!&\"']+")
ATTRIBUTE = re.compile(r"""\s*([^\s<>/="']+)\s*=\s*("[^"]*"|'[^']*')""")
# Text and the tag after it in one match, including the whole of an element that holds only text.
# What does not match is a comment, unusual, or wrong.
TOKEN = re.compile(
    r"""([^<]*)<(?:/([^<>]*)>|([^\s<>/=?!&"']+)"""
    r"""((?:\s*[^\s<>/="']+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(?:(/)>|>(?:([^<]*)</\3\s*>)?))"""
)
_ENTITY = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(lt|gt|amp|quot|apos));")
_NO_LINES: dict[str, int] = {}  # shared by all nodes: replaced, never modified
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


class MarkupError(Exception):
    """The text cannot be parsed; `line` is the place."""

    def __init__(self, line: int, element: str, message: str) -> None:
        """Store line, element name and message."""
        super().__init__(message)
        self.line = line
        self.element = element
        self.message = message


@dataclass(slots=True)
class Node:
    """An element as written: raw attribute values and text, entities resolved.

    `lines` has the line of each attribute that is not on the tag's own line.
    """

    tag: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=lambda: _NO_LINES)
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def size(self) -> int:
        """Return the number of elements here, itself and all inside."""
        return 1 + sum(child.size() for child in self.children)


@dataclass(frozen=True, slots=True)
class MarkupWarning:
    """An oddity that is accepted."""

    line: int
    element: str
    message: str


def decode(data: bytes) -> tuple[str, str]:
    """Return the text with newlines as line ends, and a warning about the encoding or ""."""
    encoding, data = _encoding(data)
    warning = ""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        warning = f"the text is not valid {encoding.upper()}; it is read as Windows-1252"
    return text.replace("\r\n", "\n").replace("\r", "\n"), warning


def _encoding(data: bytes) -> tuple[str, bytes]:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding, data[len(mark) :]
    # UTF-16 without a mark has a zero byte beside the first "<".
    if data[:2] == b"<\0":
        return "utf-16-le", data
    if data[:2] == b"\0<":
        return "utf-16-be", data
    declared = _DECLARED.match(data[:1000])
    return _known(declared.group(1).decode("ascii")) if declared else "utf-8", data


def _known(name: str) -> str:
    """Return the encoding if it is one of text that begins like ASCII, else "utf-8"."""
    try:
        codec = codecs.lookup(name).name.replace("-", "_")
        # A declaration that is readable as ASCII cannot mean UTF-16. "zip" and "rot13" are codecs
        # too and raise here.
        plain = "<a>".encode(name) == b"<a>"
    except (LookupError, UnicodeError, ValueError):
        return "utf-8"
    return name if plain and codec not in _NOT_FOR_FILES else "utf-8"


class Runs(Protocol):
    """Finds elements that are written alike, and makes one node of many; see `patterns`."""

    tags: Mapping[str, Collection[str]]  # tags of such elements, by those of top nodes

    def follow(
        self, text: str, span: tuple[int, int], node: Node, line: int
    ) -> tuple[Node, int] | None:
        """Return the run that follows an element, and where it ends; None: there is none.

        Args:
            text: The whole text.
            span: Where the element begins and ends.
            node: The element.
            line: Line of its end.
        """


def parse(text: str, runs: Runs | None = None) -> tuple[list[Node], list[MarkupWarning]]:
    """Return the nodes at the top level and the warnings, or raise MarkupError.

    With `runs`, elements in the nodes at the top level may be joined to runs.
    """
    parser = _Parser(text, runs)
    parser.run()
    if parser.root.text:
        message = f"text outside of all elements: {parser.root.text.split()[0][:40]!r}"
        parser.warnings.append(MarkupWarning(0, "", message))
    return parser.root.children, parser.warnings


class _Parser:
    def __init__(self, text: str, runs: Runs | None) -> None:
        self.text = text
        self.runs = runs
        self.begin = 0  # of the last element inside a top node
        self.position = 0
        self.line = 1
        self.root = Node("", 0)
        self.stack = [self.root]
        self.chunks: list[list[str]] = [[]]
        self.warnings: list[MarkupWarning] = []
        self.mismatches: list[tuple[str, int, Node, bool]] = []

    def run(self) -> None:
        text = self.text
        while True:
            found = TOKEN.match(text, self.position)
            if found:
                self._tag(found)
                continue
            start = text.find("<", self.position)
            if start < 0:
                break
            self._data(text[self.position : start])
            if text.startswith(("<!", "<?"), start):
                self._skipped(start)
            else:
                self._move(start)
                element, message = _why_no_tag(text[start:])
                raise MarkupError(self.line, element or self.stack[-1].tag, message)
        self._data(text[self.position :])
        if len(self.stack) > 1:
            self._unbalanced(self.stack[-1], f"<{self.stack[-1].tag}> is never closed")
        self._close(self.root)

    def _move(self, position: int) -> None:
        self.line += self.text.count("\n", self.position, position)
        self.position = position

    def _data(self, data: str) -> None:
        if data and not data.isspace():
            self.chunks[-1].append(resolve_entities(data))

    def _tag(self, found: re.Match[str]) -> None:
        data, closing, name, attributes, closed, text = found.groups()
        if data:
            if not data.isspace():
                self.chunks[-1].append(resolve_entities(data))
            self.line += data.count("\n")
        if closing is not None:
            self.position = found.end(1)
            node = self.stack[-1]
            self._closing_tag(closing.strip())
            self._move(found.end())
            if self.runs is not None and len(self.stack) == 2:
                self._follow(node, self.runs)
            return
        node = Node(name, self.line)
        if attributes:
            self._attributes(node, attributes)
        if len(self.stack) > MAX_DEPTH:
            raise MarkupError(self.line, name, f"nested deeper than {MAX_DEPTH} levels")
        self.stack[-1].children.append(node)
        if text:
            node.text = resolve_entities(text.strip())
        elif text is None and not closed:
            if len(self.stack) == 2:
                self.begin = found.start(3) - 1
            self.stack.append(node)
            self.chunks.append([])
        self.position = found.end(1)
        self._move(found.end())

    def _follow(self, node: Node, runs: Runs) -> None:
        """Add the run that follows an element in a top node, if there is one."""
        top = self.stack[-1]
        if node.tag in runs.tags.get(top.tag, ()):
            found = runs.follow(self.text, (self.begin, self.position), node, self.line)
            if found is not None:
                top.children.append(found[0])
                self._move(found[1])

    def _skipped(self, start: int) -> None:
        text = self.text
        self._move(start)
        pairs = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))
        begin, end = next(pair for pair in pairs if text.startswith(pair[0], start))
        inside = start + len(begin)
        stop = text.find(end, inside)
        if begin == "<!":  # a DOCTYPE: its internal subset is skipped, entities included
            bracket = text.find("[", inside)
            if 0 <= bracket < stop:
                stop = text.find(end, text.find("]", bracket))
        if stop < 0:
            raise MarkupError(self.line, "", f"{begin!r} is not closed by {end!r}")
        if begin == "<![CDATA[":
            self.chunks[-1].append(text[inside:stop])
        self._move(stop + len(end))

    def _closing_tag(self, name: str) -> None:
        if len(self.stack) == 1:
            self._unbalanced(None, f"</{name[:60]}> closes nothing")
        node = self.stack.pop()
        self._close(node)
        if name != node.tag:
            open_above = any(name == outer.tag for outer in self.stack[1:])
            self.mismatches.append((name, self.line, node, open_above))
            message = f"closed by </{name[:60]}>, a different name"
            self.warnings.append(MarkupWarning(self.line, node.tag, message))

    def _close(self, node: Node) -> None:
        node.text = "".join(self.chunks.pop()).strip()

    def _attributes(self, node: Node, text: str) -> None:
        line = self.line
        position = 0
        for found in ATTRIBUTE.finditer(text):
            name, value = found.groups()
            line += text.count("\n", position, found.start(1))
            position = found.start(1)
            if name in node.attributes:
                message = f"{name} is given twice; the first value is used"
                self.warnings.append(MarkupWarning(line, node.tag, message))
                continue
            node.attributes[name] = resolve_entities(value[1:-1])
            if line != node.line:
                node.lines = {**node.lines, name: line}

    def _unbalanced(self, node: Node | None, message: str) -> None:
        """Raise for an element that stays open, or for one closing tag too many (node is None).

        The imbalance shows late; the first closing tag with a wrong name is the better place.
        """
        for name, line, closed, open_above in self.mismatches:
            if open_above and node is not None:
                message = f"never closed: </{name[:60]}> in line {line} comes first"
                raise MarkupError(closed.line, closed.tag, message)
            if not open_above and node is None:
                message = f"</{name[:60]}> closes nothing; <{closed.tag[:60]}> is open here"
                raise MarkupError(line, "", message)
        raise MarkupError(node.line if node else self.line, "", message)


def _why_no_tag(text: str) -> tuple[str, str]:
    """Return the element and why `text`, which begins with "<", does not begin with a tag."""
    if text.startswith("</"):
        return "", "a closing tag without its '>'"
    name = _NAME.match(text, 1)
    if name is None:
        return "", "'<' begins no element here; write &lt; for the character"
    position = name.end()
    while found := ATTRIBUTE.match(text, position):
        position = found.end()
    rest = text[position : position + 200].split()
    if not rest:
        return name.group()[:60], "the file ends inside this tag"
    return name.group()[:60], f"expected name=\"value\" or '>', got {rest[0][:40]!r}"


def resolve_entities(text: str) -> str:
    """Return `text` with the five named and the numeric entities resolved; others stay."""
    if "&" not in text:
        return text
    return _ENTITY.sub(_resolve_entity, text)


def _resolve_entity(found: re.Match[str]) -> str:
    decimal, hexadecimal, name = found.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return found.group()
    return chr(code)
