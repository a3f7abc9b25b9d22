# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Loops of world files: their turns, and what they make at least."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from mvsim_core.specs.converters import number
from mvsim_core.xmlfile.markup import Node
from mvsim_core.xmlfile.substitution import Scope

if TYPE_CHECKING:
    from mvsim_core.xmlfile.reader import Element

BODIES = ("vehicle", "block", "actor")


class Loop(NamedTuple):
    """A loop, turn by turn.

    Attributes:
        node: The loop.
        scope: Where it is written.
        variable: Its variable.
        values: The values of that.
        turn: Yields what a turn makes, by the value of the variable.
        spend: Called with turns that were made at once, with the substitutions and the work that
            each took; returns False if that is too much.
    """

    node: Node
    scope: Scope
    variable: str
    values: range
    turn: Callable[[int], Iterator[Element]]
    spend: Callable[[range, int, int], bool]


def all_turns(loop: Loop) -> Iterator[Element]:
    """Yield what all turns of a loop make."""
    return chain.from_iterable(map(loop.turn, loop.values))


class Counted(NamedTuple):
    """What a loop makes at least: turns of its own and inside it, bodies, vehicles among them."""

    turns: int
    bodies: int
    vehicles: int


def counted(node: Node, turns: int, most: int) -> Counted:
    """Count what a loop makes, before any turn is made.

    Counted are loops whose ends are numbers; counting ends when there are more than `most` turns.
    """
    inside, bodies, vehicles = 0, 0, 0
    waiting = [child for child in node.children if child.tag != "if"]
    while waiting and turns * (1 + inside) <= most:
        child = waiting.pop()
        bodies += child.tag in BODIES
        vehicles += child.tag == "vehicle"
        if child.tag != "for":
            waiting += [other for other in child.children if other.tag != "if"]
            continue
        try:
            first, last = (int(number(child.attributes.get(name, ""))) for name in ("from", "to"))
        except ValueError:
            continue
        if child.children and last >= first:
            more = counted(child, last - first + 1, most)
            inside += more.turns
            bodies += more.bodies
            vehicles += more.vehicles
    turns = max(turns, 0)
    return Counted(turns * (1 + inside), turns * bodies, turns * vehicles)
