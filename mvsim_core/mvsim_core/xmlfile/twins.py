# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks that are like an earlier one but for name and initial pose.

Large worlds have thousands of them. The first one is read; the others are copies of its spec with
another name, pose and line, which takes a fraction of the time. They share what is inside,
with the lines of the first one; messages name the line of the block.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from mvsim_core.specs.block import BlockSpec
from mvsim_core.specs.converters import Converter
from mvsim_core.specs.copying import changed
from mvsim_core.specs.params import Where, params
from mvsim_core.xmlfile.budget import BudgetError
from mvsim_core.xmlfile.loops import Loop
from mvsim_core.xmlfile.markup import Node
from mvsim_core.xmlfile.reader import FLOW_TAGS, Element
from mvsim_core.xmlfile.substitution import Column, Substitution, SubstitutionError

#: Kinds of blocks that are kept, and nodes of loops whose contents are.
MOST_KINDS = 1000


def _pose_tags() -> dict[str, Converter[Any]]:
    about = dict(params(BlockSpec))["init_pose"]
    return {alias.name: alias.converter or about.converter for alias in about.named("init_pose")}


#: Tags of the initial pose, and how each is read.
POSES = _pose_tags()


class Likeness(NamedTuple):
    """What twins have in common, and the pose of one of them."""

    key: Hashable
    pose: Node


class Twins:
    """Blocks that were read, by all that they consist of but name and pose.

    Attributes:
        latest: The element that was read or copied last, and its spec if it may have twins.
    """

    def __init__(self, substitution: Substitution) -> None:
        """Evaluate poses with `substitution`."""
        self.latest: tuple[Element, BlockSpec] | None = None
        self._substitution = substitution
        self._first: dict[Hashable, tuple[BlockSpec, Sequence[Element]]] = {}
        # Of nodes that stand in the document again with each turn of a loop.
        self._known: dict[int, tuple[Likeness | None, Node]] = {}

    def column(self, text: str, loop: Loop, turns: range) -> Column | None:
        """Return a text in turns of a loop; None: it is to be evaluated turn by turn."""
        return self._substitution.column(text, loop.scope, loop.variable, turns)

    def likeness(self, elements: Sequence[Element]) -> Likeness | None:
        """Return by what twins of a block are found; None: it can have none.

        Args:
            elements: The block and its class, if it has one.
        """
        head, *classes = elements
        if not head.repeated:
            content = _content(head.node)
        else:
            known = self._known.get(id(head.node))
            if known is None:
                known = (_content(head.node), head.node)
                if len(self._known) < MOST_KINDS:
                    self._known[id(head.node)] = known
            content = known[0]
        if content is None:
            return None
        return Likeness((content.key, id(head.origin), *map(id, classes)), content.pose)

    def twin(self, likeness: Likeness, head: Element, name: str) -> BlockSpec | None:
        """Return the spec of a block of a likeness that was read before; None: read it."""
        first = self._first.get(likeness.key)
        if first is None:
            return None
        pose, scope = likeness.pose, head.scope
        try:
            text = self._substitution.text(pose.text, scope, {"NAME": name}).strip()
            converter = POSES[pose.tag]
            value = converter.read(text)
        except (ValueError, SubstitutionError, BudgetError):
            return None
        if converter.notice is not None and converter.notice(text):
            return None
        where = Where(head.origin.file, head.line)
        self.latest = (head, first[0])
        return changed(first[0], {"name": name, "init_pose": value, "where": where})

    def keep(self, likeness: Likeness, spec: BlockSpec, elements: Sequence[Element]) -> None:
        """Keep a block without any problem, whose values are the same for all of its likeness."""
        if len(self._first) < MOST_KINDS and _is_plain(likeness.key):
            self._first[likeness.key] = (spec, elements)  # elements: their ids stay valid
            self.latest = (elements[0], spec)


def _content(node: Node) -> Likeness | None:
    """Return what a block consists of but its name; None unless it has one pose, as an element."""
    attributes, children = node.attributes, node.children
    found = [child for child in children if child.tag in POSES]
    if len(found) != 1 or found[0].attributes or found[0].children:
        return None
    pose = found[0]
    named = [item for item in attributes.items() if item[0] != "name"]
    inside = [pose.tag if child is pose else _whole(child) for child in children]
    return Likeness((node.text, tuple(named), tuple(inside)), pose)


def _whole(node: Node) -> Hashable:
    return (
        node.tag,
        node.text,
        tuple(node.attributes.items()) if node.attributes else (),
        tuple(map(_whole, node.children)) if node.children else (),
    )


def _is_plain(key: Any) -> bool:
    """Return whether a key has no substitutions and no elements of control flow."""
    if isinstance(key, str):
        return "$" not in key and key not in FLOW_TAGS
    return not isinstance(key, tuple) or all(map(_is_plain, key))
