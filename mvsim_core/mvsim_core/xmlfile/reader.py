# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Files to a stream of elements, with `include`, `variable`, `for` and `if` carried out.

The stream is lazy and in document order: a caller that evaluates the values of each element
before it takes the next one gets variables and random numbers in the order of the file. Flow
control works at every depth, in every file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mvsim_core.resources.access import INCLUDED_SUFFIX
from mvsim_core.specs.converters import number
from mvsim_core.specs.simulable import MOST_BODIES, MOST_VEHICLES, TOO_MANY_BODIES
from mvsim_core.xmlfile.budget import TURN, BudgetError
from mvsim_core.xmlfile.loops import Loop, all_turns, counted
from mvsim_core.xmlfile.markup import MarkupError, MarkupWarning, Node, decode, parse
from mvsim_core.xmlfile.paths import Packages, PathError, local_path
from mvsim_core.xmlfile.patterns import NodeRun, RunFinder
from mvsim_core.xmlfile.problems import Origin, Problems
from mvsim_core.xmlfile.substitution import (
    ReportedError,
    Scope,
    Substitution,
    SubstitutionError,
)

MAX_FILE_SIZE = 64 * 2**20  # bytes
MAX_INCLUDES = 30
MAX_INCLUDED = 20_000
MAX_DEPTH = 100
MAX_LOOPS = 200_000
MAX_ELEMENTS = 1_000_000

CLASS_TAGS = ("vehicle:class", "block:class", "actor:class")
FLOW_TAGS = ("include", "variable", "for", "if")
#: Elements that worlds have thousands of, by the top nodes around them.
RUNS = {"mvsim_world": ("block",), "world": ("block",)}

_TRUE = frozenset(("y", "yes", "true", "on"))
_FALSE = frozenset(("n", "no", "false", "off", ""))


_NO_CHILDREN: dict[str, list[Element]] = {}  # shared by all elements without children


@dataclass(slots=True)
class Element:
    """A node at one place of the expanded document, its values not yet evaluated.

    Elements are not modified after they are made, so copies of a world share them. `children` are
    in document order, `by_tag` has them by tag with those from includes first. `included` means
    that the element came into its parent by an include, `in_class` that it is part of a class,
    `shared` that it holds no substitution and stands in the document again with each turn of a
    loop or each include of its file, `repeated` that other elements of its node may have other
    values, but not other children.
    """

    node: Node
    scope: Scope
    children: list[Element]
    included: bool
    in_class: bool
    shared: bool = field(default=False, compare=False)
    repeated: bool = field(default=False, compare=False)
    by_tag: dict[str, list[Element]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Index the children."""
        if not self.children:
            self.by_tag = _NO_CHILDREN
            return
        self.by_tag = {}
        for child in self.included_first():
            self.by_tag.setdefault(child.node.tag, []).append(child)

    def included_first(self) -> list[Element]:
        """Return the children, those from includes before the others."""
        if not any(child.included for child in self.children):
            return self.children
        return sorted(self.children, key=lambda child: not child.included)

    @property
    def tag(self) -> str:
        """The tag's name."""
        return self.node.tag

    @property
    def line(self) -> int:
        """The line of the tag, from 1."""
        return self.node.line

    @property
    def origin(self) -> Origin:
        """The file that the element is written in."""
        return self.scope.origin

    def attribute_line(self, name: str) -> int:
        """Return the line of an attribute."""
        return self.node.lines.get(name, self.node.line)


@dataclass(frozen=True, slots=True)
class _Place:
    """The present place: scope without version, depth, whether in an include, in a class.

    `repeated`: whether in a loop or an include, where nodes are expanded more than once.
    """

    scope: Scope
    depth: int
    included: bool = False
    in_class: bool = False
    repeated: bool = False


#: Element, its origin and node, which must stay alive, and the number of elements.
_Known = tuple[Element, Origin, Node, int]


class ElementRun(NamedTuple):
    """The elements of a run, which are made when they are asked for."""

    run: NodeRun
    origin: Origin
    element: Callable[[int], Element]


class Reader:
    """Opens files and expands their nodes into elements.

    Attributes:
        incomplete: Whether something is left out because of an error. What it may contain, such as
            a class, is then not reported as missing.
        in_runs: Called with each run; yields those of its elements that are still to be read.
        in_loops: Called with each loop; likewise.
    """

    def __init__(self, problems: Problems, substitution: Substitution, packages: Packages) -> None:
        """Report to `problems`, evaluate with `substitution`."""
        self.problems = problems
        self.substitution = substitution
        self.packages = packages
        self.incomplete = False
        self.in_runs: Callable[[ElementRun], Iterator[Element]] = _all_of
        self.in_loops: Callable[[Loop], Iterator[Element]] = all_turns
        self._parsed: dict[str, tuple[list[Node], list[MarkupWarning]]] = {}
        self._loops = 0
        self._included = 0
        self._elements = 0
        # Elements without substitutions in loops and includes, by node, origin, place.
        self._known: dict[tuple[int, int, int, bool], _Known] = {}
        self._plain: dict[int, tuple[bool, Node]] = {}
        self._static: dict[int, tuple[bool, Node]] = {}
        self._origins: dict[Origin, Origin] = {}
        flow = (self._include, self._variable, self._for, self._if)
        self._flow: dict[str, Callable[[Node, _Place], Iterator[Element]]] = dict(
            zip(FLOW_TAGS, flow, strict=True)
        )

    def open(self, origin: Origin) -> list[Node]:
        """Return the top nodes of a file; report a failure and return an empty list."""
        if origin.file not in self._parsed:
            if origin.parent is not None and not os.path.isfile(origin.file):
                # Reading a device or pipe could block for ever.
                reason = "not a file" if os.path.exists(origin.file) else "no such file"
                self._cannot_read(origin, f"cannot read {origin.file!r}: {reason}")
                return []
            try:
                data = _content(origin.file, MAX_FILE_SIZE + 1)
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                self._cannot_read(origin, f"cannot read {origin.file!r}: {reason}")
                return []
            if len(data) > MAX_FILE_SIZE:
                self._cannot_read(origin, f"{origin.file!r} is larger than 64 MiB")
                return []
            text, warning = decode(data)
            self._parsed[origin.file] = self._parse(text, origin, warning)
        return self._warned(*self._parsed[origin.file], origin)

    def read(self, text: str, origin: Origin) -> list[Node]:
        """Return the top nodes of a text; report a failure and return an empty list."""
        return self._warned(*self._parse(text, origin), origin)

    def _warned(
        self, nodes: list[Node], warnings: list[MarkupWarning], origin: Origin
    ) -> list[Node]:
        for found in warnings:
            self.problems.report(origin, found.line, found.element, found.message, "warning")
        return nodes

    def _parse(
        self, text: str, origin: Origin, warning: str = ""
    ) -> tuple[list[Node], list[MarkupWarning]]:
        """Return the top nodes and warnings of a text; report an error if it cannot be parsed."""
        self.substitution.variables.look_for_uses(text)
        try:
            nodes, warnings = parse(text, RunFinder(RUNS))
        except MarkupError as error:
            self.problems.report(origin, error.line, error.element, error.message)
            self.incomplete = True
            return [], []
        if warning:
            warnings.insert(0, MarkupWarning(1, "", warning))
        return nodes, warnings

    def _cannot_read(self, origin: Origin, message: str) -> None:
        self.incomplete = True
        if origin.parent is None:
            self.problems.report(Origin("", ""), 0, "", message)
        else:
            self.problems.report(origin.parent, origin.line, "include", message)

    def expand(self, nodes: list[Node], scope: Scope) -> Iterator[Element]:
        """Yield the elements that `nodes` expand to, in document order."""
        return self._expand(nodes, _Place(scope, 0))

    def _expand(self, nodes: list[Node], place: _Place) -> Iterator[Element]:
        if place.depth > MAX_DEPTH and nodes:
            message = f"nested deeper than {MAX_DEPTH} levels"
            self._error(nodes[0], place, message)
            return
        for node in nodes:
            flow = self._flow.get(node.tag)
            if isinstance(node, NodeRun):
                yield from self._in_run(node, place)
            elif flow is None:
                yield self._element(node, place)
            else:
                yield from flow(node, place)

    def _in_run(self, run: NodeRun, place: _Place) -> Iterator[Element]:
        elements = ElementRun(
            run, place.scope.origin, lambda index: self._element(run.node(index), place)
        )
        return (_all_of if place.in_class else self.in_runs)(elements)

    def has_room(self, number: int) -> bool:
        """Return whether there may be so many more elements."""
        return self._elements + number <= MAX_ELEMENTS

    def count(self, number: int) -> None:
        """Count elements for which none is made."""
        self._elements += number

    def _element(self, node: Node, place: _Place) -> Element:
        """Return the element of a node; the same one in each turn of a loop where all is equal."""
        if not place.repeated or place.in_class or not self._is_plain(node):
            return self._new_element(node, place)
        origin = place.scope.origin
        key = (id(node), id(origin), place.depth, place.included)
        known = self._known.get(key)
        if known is not None and self._elements + known[3] <= MAX_ELEMENTS:
            self._elements += known[3]
            return known[0]
        before = self._elements
        element = self._new_element(node, place, shared=True)
        self._known[key] = (element, origin, node, self._elements - before)
        return element

    def _is_plain(self, node: Node) -> bool:
        """Return whether a node means the same wherever it stands in a file."""
        known = self._plain.get(id(node))
        if known is None:
            plain = (
                node.tag not in self._flow
                and node.tag not in CLASS_TAGS
                and "$" not in node.text
                and not any("$" in value for value in node.attributes.values())
                # of all children: what is asked for again is then known
                and all([self._is_plain(child) for child in node.children])
            )
            known = self._plain[id(node)] = (plain, node)
        return known[0]

    def _is_static(self, node: Node) -> bool:
        """Return whether a node has the same children wherever it stands."""
        known = self._static.get(id(node))
        if known is None:
            static = not any(child.tag in self._flow for child in node.children)
            known = self._static[id(node)] = (static, node)
        return known[0]

    def _new_element(self, node: Node, place: _Place, *, shared: bool = False) -> Element:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            self._error(node, place, f"the world has more than {MAX_ELEMENTS} elements")
            self.problems.abort()
        scope = self._now(place)
        in_class = place.in_class
        if node.tag in CLASS_TAGS:
            scope, in_class = scope.for_class(), True
        children: list[Element] = []
        if node.children and self._has_plain_leaves(node, place):
            self._elements += len(node.children)
            children = [Element(one, scope, [], False, in_class) for one in node.children]
        elif node.children:
            inside = _Place(scope, place.depth + 1, in_class=in_class, repeated=place.repeated)
            children = list(self._expand(node.children, inside))
        repeated = place.repeated and not (shared or in_class) and self._is_static(node)
        return Element(node, scope, children, place.included, in_class, shared, repeated)

    def _has_plain_leaves(self, node: Node, place: _Place) -> bool:
        """Return whether the children of a node are elements without children.

        They are most of the elements of large files.
        """
        fits = self._elements + len(node.children) <= MAX_ELEMENTS and place.depth < MAX_DEPTH
        return (
            fits
            and not place.repeated
            and not any(
                child.children or child.tag in self._flow or child.tag in CLASS_TAGS
                for child in node.children
            )
        )

    def _now(self, place: _Place) -> Scope:
        return place.scope.at(self.substitution.variables.version)

    def _error(self, node: Node, place: _Place, message: str) -> None:
        self.incomplete |= node.tag != "variable"
        self.problems.report(place.scope.origin, node.line, node.tag, message)

    def _warn(self, node: Node, place: _Place, message: str) -> None:
        self.problems.report(place.scope.origin, node.line, node.tag, message, "warning")

    def _values(self, node: Node, place: _Place, *names: str) -> list[str] | None:
        """Return the evaluated attributes; None, and a report, if one is missing or wrong."""
        values = []
        for name in names:
            raw = node.attributes.get(name)
            if raw is None:
                self._error(node, place, f"the attribute {name!r} is required")
                continue
            try:
                values.append(self.substitution.text(raw, self._now(place)).strip())
            except ReportedError:
                self.incomplete |= node.tag != "variable"
            except (SubstitutionError, BudgetError) as error:
                self._error(node, place, f"{name}: {error}")
                if isinstance(error, BudgetError):
                    self.problems.abort()
        return values if len(values) == len(names) else None

    def _warn_unknown(self, node: Node, place: _Place, *known: str) -> None:
        for name in node.attributes:
            if name not in known:
                self._warn(node, place, f"unknown attribute {name!r} is ignored")

    def _variable(self, node: Node, place: _Place) -> Iterator[Element]:
        self._warn_unknown(node, place, "name", "value")
        variables = self.substitution.variables
        name = self._values(node, place, "name")
        if name is not None and name[0] not in variables.fixed:
            value = self._values(node, place, "value")
            if value is None:
                variables.broken.add(name[0])
            else:
                variables.define(name[0], value[0])
        return iter(())

    def _if(self, node: Node, place: _Place) -> Iterator[Element]:
        self._warn_unknown(node, place, "condition")
        values = self._values(node, place, "condition")
        if values is not None and self._is_true(values[0], node, place):
            yield from self._expand(node.children, self._deeper(place))

    def _is_true(self, condition: str, node: Node, place: _Place) -> bool:
        word = condition.lower()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        try:
            return number(condition) != 0.0
        except ValueError:
            got = condition[:60]
            message = f"condition must be true, false or a number, got {got!r}; false is assumed"
            self._warn(node, place, message)
            return False

    def _for(self, node: Node, place: _Place) -> Iterator[Element]:
        self._warn_unknown(node, place, "var", "from", "to")
        values = self._values(node, place, "var", "from", "to")
        if values is None:
            return
        try:
            first, last = (int(number(text)) for text in values[1:])
        except ValueError:
            got = f"from={values[1][:40]!r} to={values[2][:40]!r}"
            self._error(node, place, f"from and to must be numbers, got {got}")
            return
        if not node.children:
            self._warn(node, place, "the loop has no content")
        if last - first >= MAX_LOOPS:
            message = f"a loop must have at most {MAX_LOOPS} turns, got {last - first + 1}"
            self._error(node, place, message)
            return
        most = MAX_LOOPS - self._loops
        least = counted(node, last - first + 1, most)
        if least.turns > most:
            self._error(node, place, f"all loops together have more than {MAX_LOOPS} turns")
            self.problems.abort()
        if least.bodies > MOST_BODIES or least.vehicles > MOST_VEHICLES:
            self._error(node, place, TOO_MANY_BODIES)
            self.problems.abort()
        if not node.children:
            return
        loop = self._loop(node, place, values[0], range(first, last + 1))
        yield from (all_turns if place.in_class else self.in_loops)(loop)

    def _loop(self, node: Node, place: _Place, variable: str, values: range) -> Loop:
        inside = replace(self._deeper(place), repeated=True)
        variables = self.substitution.variables

        def turn(value: int) -> Iterator[Element]:
            self._loops += 1
            if self._loops > MAX_LOOPS:
                self._error(node, place, f"all loops together have more than {MAX_LOOPS} turns")
                self.problems.abort()
            try:
                self.substitution.budget.spend(TURN)
            except BudgetError as error:
                self._error(node, place, str(error))
                self.problems.abort()
            variables.define(variable, str(value))
            yield from self._expand(node.children, inside)

        def spend(turns: range, steps: int, work: int) -> bool:
            fits = self._loops + len(turns) <= MAX_LOOPS and self.substitution.count(
                len(turns) * steps, len(turns) * (TURN + work)
            )
            if fits:
                self._loops += len(turns)
                variables.skip(variable, str(turns[-1]), len(turns))
            return fits

        return Loop(node, place.scope, variable, values, turn, spend)

    def _searched(self, path: str, text: str, node: Node, place: _Place) -> str:
        """Return `path`, or if it does not exist that of the same name beside another include."""
        if os.path.exists(path) or os.path.isabs(text):
            return path
        for folder in dict.fromkeys(os.path.dirname(file) for file in self._parsed):
            other = os.path.join(folder, text)
            if os.path.isfile(other):
                message = f"{text!r} is not found from the folder of this file; {other!r} is used"
                self._warn(node, place, message)
                return other
        return path

    def _stand_in(self, path: str, node: Node, place: _Place) -> str:
        """Return `path`, or our file in place of a definition of the original that is missing."""
        ours = None if os.path.exists(path) else self.packages.stand_in(path)
        if ours is None:
            return path
        name = os.path.basename(path)
        message = (
            f"{path!r} is not found; the file {name} of this suite is used instead, which"
            " describes a similar robot or sensor"
        )
        self._warn(node, place, message)
        return ours

    def _deeper(self, place: _Place) -> _Place:
        return replace(place, depth=place.depth + 1)

    def _include(self, node: Node, place: _Place) -> Iterator[Element]:
        values = self._values(node, place, "file")
        if values is None:
            return
        here = place.scope.origin
        access = self.substitution.applied
        try:
            path = local_path(values[0], here, self.packages, access)
            if access is not None and not path.lower().endswith(INCLUDED_SUFFIX):
                raise PathError(f"must end with {INCLUDED_SUFFIX}")
        except PathError as error:
            self._error(node, place, f"file {error}, got {values[0][:60]!r}")
            return
        self._included += 1
        if self._included > MAX_INCLUDED:
            self._error(node, place, f"more than {MAX_INCLUDED} includes")
            self.problems.abort()
        if access is None:
            path = self._searched(path, values[0], node, place)
            path = self._stand_in(path, node, place)
        origin = Origin(path, os.path.dirname(path), here, node.line, access)
        origin = self._origins.setdefault(origin, origin)  # one object, to find elements by
        if any(path == above.file for above in here.chain()):
            self._error(node, place, f"include loop: {_route(origin)}")
            return
        if len(origin.included_from()) > MAX_INCLUDES:
            self._error(node, place, f"includes are nested deeper than {MAX_INCLUDES} files")
            return
        now = self._now(place)
        arguments = {name: raw for name, raw in node.attributes.items() if name != "file"}
        outer = Scope(now.origin, now.version, now.arguments, now.outer)
        scope = Scope(origin, now.version, arguments, outer)
        nodes = self.open(origin)
        if len(nodes) == 1 and nodes[0].tag == "mvsim_world":
            nodes = nodes[0].children  # an included world is replaced by its content
        yield from self._expand(
            nodes, _Place(scope, place.depth + 1, True, place.in_class, repeated=True)
        )


def _all_of(elements: ElementRun) -> Iterator[Element]:
    """Yield all elements of a run."""
    return map(elements.element, range(len(elements.run.rows)))


def _content(path: str, size: int) -> bytes:
    """Return the first bytes of a file; BlockingIOError for one that would have to be waited for.

    Some files of the kernel look like regular ones and never end.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | (os.O_NONBLOCK if os.path.isfile(path) else 0)
    with open(os.open(path, flags), "rb", buffering=0) as file:
        parts = []
        while size > 0:
            part = file.read(size)
            if part is None:
                raise BlockingIOError(errno.EAGAIN, "it has no end")
            if not part:
                break
            parts.append(part)
            size -= len(part)
    return b"".join(parts)


def _route(origin: Origin) -> str:
    chain = list(origin.chain())[::-1]
    names = [os.path.basename(place.file) or "text" for place in chain]
    lines = [place.line for place in chain[1:]]
    steps = [f"{name}:{line}" for name, line in zip(names[:-1], lines, strict=True)]
    return " -> ".join([*steps, names[-1]])
