# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A world file to a `WorldSpec`, a vehicle's text to a `VehicleSpec`: names, classes, references.

`FileState` is what reading a world leaves for texts that are read later. It is a plain immutable
value: reading a text takes one and returns the next one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, NamedTuple

from mvsim_core import progress
from mvsim_core.errors import Problem, Severity, suggestion
from mvsim_core.geometry.poses import Pose
from mvsim_core.resources.access import FileAccess
from mvsim_core.specs.actor import ActorSpec
from mvsim_core.specs.block import BlockSpec
from mvsim_core.specs.params import Section, Spec, Where, sections, tags_of
from mvsim_core.specs.simulable import (
    MOST_BODIES,
    MOST_ELEMENTS,
    MOST_VEHICLES,
    TOO_MANY_BODIES,
    SimulableSpec,
)
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.xmlfile.block_runs import BlockRuns
from mvsim_core.xmlfile.fill import Filler, Values
from mvsim_core.xmlfile.markup import Node
from mvsim_core.xmlfile.names import EntityNames
from mvsim_core.xmlfile.paths import Packages
from mvsim_core.xmlfile.problems import Origin, Problems
from mvsim_core.xmlfile.reader import CLASS_TAGS, Element, Reader
from mvsim_core.xmlfile.substitution import (
    NO_NAMES,
    History,
    Scope,
    Substitution,
    Variables,
)
from mvsim_core.xmlfile.twins import Twins

_ROOTS = ("mvsim_world", "world")
#: Prototypes of what may have a class.
_KINDS: dict[str, SimulableSpec] = {
    "vehicle": VehicleSpec(),
    "block": BlockSpec(),
    "actor": ActorSpec(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """What reading a world file leaves for vehicles that are added later.

    With it they are read as if they stood at the end of the file. It is immutable, compares by
    value and can be pickled; a deep copy is the object itself.

    Attributes:
        origin: The file, from whose folder relative paths start.
        classes: The elements of vehicle, block and actor classes, by tag and name.
        variables: Their values, as far as the classes need them, and the latest ones.
        version: Version of the table of variables.
        fixed: Names of variables that the caller set.
        counts: Number of names given to entities without one, by tag.
        random: State of the random numbers of formulas, as `random.Random.getstate` returns it.
        allow_shell: Whether commands in `$(...)` are run.
    """

    origin: Origin
    classes: Mapping[str, Mapping[str, Element]]
    variables: History
    version: int
    fixed: frozenset[str]
    counts: Mapping[str, int]
    random: tuple[Any, ...]
    allow_shell: bool

    def class_names(self, kind: str = "vehicle") -> tuple[str, ...]:
        """Return the names of the vehicle, block or actor classes."""
        return tuple(self.classes.get(f"{kind}:class", ()))

    def __deepcopy__(self, memo: dict[int, Any]) -> FileState:
        """Return self, which cannot change."""
        return self


class UsedVariables(dict[str, str]):
    """Values for variables that a world file must use: one that it does not use is an error.

    In other mappings it is a warning, as vehicles that are added later may use it.
    """


class WorldFile(NamedTuple):
    """A world file as read: its content, its warnings and hints, the state for later texts."""

    spec: WorldSpec
    problems: tuple[Problem, ...]
    state: FileState


def read_world_file(
    path: str | os.PathLike[str] | None = None,
    *,
    text: str | None = None,
    variables: Mapping[str, object] | None = None,
    seed: int = 0,
    allow_shell: bool = False,
    access: FileAccess | None = None,
) -> WorldFile:
    """Return the world of a file or a text, its warnings and hints, and the state after reading.

    Args:
        path: The file.
        text: The content, instead of a file; relative paths start in the working directory.
        variables: Values of `${NAME}` in the file; they override its own `<variable>`. Of
            `UsedVariables` each must be used.
        seed: Seed of the random numbers in formulas.
        allow_shell: Run the commands in `$(...)` by a shell; for trusted files only.
        access: What a text from a client may read; None: everything.

    Raises:
        WorldFileError: The file has errors; the message lists all of them.
    """
    if (path is None) == (text is None):
        raise TypeError("exactly one of path and text is required")
    if path is None:
        origin = Origin("", access.folder if access else os.getcwd(), access=access)
    else:
        file = os.path.abspath(os.fspath(path))
        origin = Origin(file, os.path.dirname(file))
    state = _initial_state(origin, variables or {}, seed, allow_shell=allow_shell)
    loader = Loader(state, access=access)
    if isinstance(variables, UsedVariables):
        loader.unused_variables = "error"
    reader = loader.reader
    nodes = reader.open(origin) if text is None else reader.read(text, origin)
    spec = loader.world(nodes)
    problems = (*loader.problems.warnings(), *loader.problems.hints())
    return WorldFile(spec, problems, loader.state())


def read_world(
    path: str | os.PathLike[str] | None = None,
    *,
    text: str | None = None,
    variables: Mapping[str, object] | None = None,
    seed: int = 0,
    allow_shell: bool = False,
) -> tuple[WorldSpec, tuple[Problem, ...]]:
    """Return the world of a file or a text, and its warnings and hints; see `read_world_file`.

    Raises:
        WorldFileError: The file has errors; the message lists all of them.
    """
    file = read_world_file(
        path, text=text, variables=variables, seed=seed, allow_shell=allow_shell
    )
    return file.spec, file.problems


def read_vehicle(
    text: str,
    state: FileState | None = None,
    *,
    name: str = "",
    pose: Pose | None = None,
    taken: Collection[str] = (),
    access: FileAccess | None = None,
) -> tuple[VehicleSpec, tuple[Problem, ...], FileState]:
    """Return the vehicle of a text such as `<vehicle class="jackal"/>`, and what changes by it.

    The text may use the classes and variables of a world, include files and define classes.

    Args:
        text: One `<vehicle>`, classes, includes and variables.
        state: The state that reading the world and earlier texts left; None for no world.
        name: Overrides the name in the text.
        pose: Overrides the initial pose in the text, world frame.
        taken: Names that a vehicle without a name must not get.
        access: What the text may read if a client wrote it; None: everything.

    Returns:
        The vehicle, the warnings, and the state for the next text.

    Raises:
        WorldFileError: The text has errors; the message lists all of them. The state stays valid.
    """
    if state is None:
        state = _initial_state(Origin("", os.getcwd()), {}, 0, allow_shell=False)
    loader = Loader(state, taken, access)
    nodes = loader.reader.read(text, loader.origin)
    spec = loader.vehicle(nodes, name)
    warnings = loader.problems.warnings()
    after = loader.state()
    if access is not None:  # classes and variables of a client are not for later texts
        after = replace(
            after, classes=state.classes, variables=state.variables, version=state.version
        )
    return (spec if pose is None else replace(spec, init_pose=pose)), warnings, after


def _initial_state(
    origin: Origin, variables: Mapping[str, object], seed: int, *, allow_shell: bool
) -> FileState:
    """Return the state before a world file or a text is read."""
    return FileState(
        origin=origin,
        classes={tag: {} for tag in CLASS_TAGS},
        variables={name: ((0,), (str(value),)) for name, value in variables.items()},
        version=0,
        fixed=frozenset(variables),
        counts=dict.fromkeys(_KINDS, 0),
        random=Random(seed).getstate(),
        allow_shell=allow_shell,
    )


class Loader:
    """Reads one document into the spec of a world or of a vehicle."""

    def __init__(
        self,
        state: FileState,
        taken: Collection[str] = (),
        access: FileAccess | None = None,
    ) -> None:
        """Start from what earlier documents left; names in `taken` are not given to others."""
        self._before = state
        self.origin = (
            state.origin if access is None else Origin("", state.origin.directory, access=access)
        )
        self._random = Random()
        self._random.setstate(state.random)
        self._variables = Variables(state.variables, state.version, state.fixed)
        self._classes = {tag: dict(state.classes[tag]) for tag in CLASS_TAGS}
        self._names = EntityNames(state.counts, taken)
        self._bodies = 0
        self._read = 0  # elements of the world
        packages = Packages()
        substitution = Substitution(
            self._variables, self._random, packages, state.allow_shell, access
        )
        self.problems = Problems()
        self.reader = Reader(self.problems, substitution, packages)
        self.values = Values(self.problems, substitution, packages)
        self.filler = Filler(self.values)
        self._twins = Twins(substitution)
        self._found: dict[str, list[Spec]] = {}
        # Whether a body or its name is left out because of an error: references to it are then
        # not reported.
        self._incomplete = False
        self.unused_variables: Severity = "warning"

    def state(self) -> FileState:
        """Return the state for the next document."""
        before = self._before
        classes = before.classes if self._classes == before.classes else self._classes
        variables = before.variables
        if self._variables.version != before.version or classes is not before.classes:
            elements = [element for known in classes.values() for element in known.values()]
            variables = self._variables.history(_versions(elements))
        return replace(
            before,
            classes=classes,
            variables=variables,
            version=self._variables.version,
            counts=self._names.counts,
            random=self._random.getstate(),
        )

    def world(self, nodes: list[Node]) -> WorldSpec:
        """Return the world that the top nodes of its file describe."""
        root = self._root(nodes)
        if root is None:
            return WorldSpec()
        by_tag = _handlers(self)
        runs = BlockRuns(self._twins, self._names, (self._has_room, self._add_blocks))
        self.reader.in_runs, self.reader.in_loops = runs.read, runs.read_loop
        rest = []
        for element in self.reader.expand(root.children, self._scope()):
            self._count(1)
            handler = by_tag.get(element.tag)
            if handler is None:
                rest.append(element)
            else:
                handler(element)
        progress.end_count()
        whole = Element(root, self._scope(), rest, included=False, in_class=False)
        given = {name: tuple(specs) for name, specs in self._found.items()}
        spec = self.filler.fill(WorldSpec(), [whole], given={**given, "file": self.origin.file})
        self._check_references(spec)
        self._check_variables()
        return spec

    def _check_variables(self) -> None:
        """Report values that the caller gives to variables which no file has."""
        if self.problems.failed or self.reader.incomplete:
            return
        for name, known in self._variables.unused():
            text = f"the file uses no variable {name!r}{known}"
            self.problems.report(self.origin, 0, "", text, self.unused_variables)

    def vehicle(self, nodes: list[Node], name: str) -> VehicleSpec:
        """Return the one vehicle among the top nodes, called `name` unless that is ""."""
        found = []
        for element in self.reader.expand(nodes, self._scope()):
            if element.tag == "vehicle":
                found.append(self._simulable("vehicle", element, name))
            elif element.tag in CLASS_TAGS:
                self.add_class(element)
            else:
                message = f"expected <vehicle>, got <{element.tag[:60]}>"
                self.values.report(element, element.line, message)
        if len(found) != 1 and not self.problems.failed:
            self._top_error(f"expected one <vehicle>, got {len(found)}")
        spec = found[0] if found else None
        return spec if isinstance(spec, VehicleSpec) else VehicleSpec()

    def _scope(self) -> Scope:
        return Scope(self.origin, self._variables.version)

    def _top_error(self, message: str, line: int = 0) -> None:
        self.problems.report(self.origin, line, "", message)

    def _root(self, nodes: list[Node]) -> Node | None:
        roots = [node for node in nodes if node.tag in _ROOTS]
        if not roots:
            if nodes:
                message = f"expected <mvsim_world>, got <{nodes[0].tag[:60]}>"
                if nodes[0].tag in CLASS_TAGS or nodes[0].tag == "sensor":
                    message += "; this file is a definition, to be included by a world file"
                self._top_error(message, nodes[0].line)
            elif not self.problems.failed:
                self._top_error("the file has no <mvsim_world>")
            return None
        root = roots[0]
        if root.tag == "world":
            self._root_warning(root, "<world> is read as <mvsim_world>, the name of the format")
        for node in nodes:
            if node is not root:
                self._root_warning(node, "ignored, because it is outside of <mvsim_world>")
        return root

    def _root_warning(self, node: Node, message: str) -> None:
        self.problems.report(self.origin, node.line, node.tag, message, "warning")

    def add_class(self, element: Element) -> None:
        """Add a vehicle, block or actor class, or replace the one of the same name."""
        name = self.values.attribute(element, "name", NO_NAMES)
        if not name:
            if name is not None:
                self.values.report(element, element.line, "the attribute 'name' is required")
            self.reader.incomplete = True
            return
        known = self._classes[element.tag]
        before = known.get(name)
        if before is not None and before.node is not element.node:
            place = _brief(Where(before.origin.file, before.line))
            message = f"{name!r} replaces the class defined in {place} from here on"
            self.values.report(element, element.line, message, "warning")
        known[name] = element

    def _simulable(self, kind: str, element: Element, name: str = "") -> SimulableSpec | None:
        """Return a vehicle, block or actor, or None if its class is unknown."""
        elements = self._with_class(kind, element)
        if elements is None:
            self._incomplete = True
            return None
        name = self._name(kind, element, name)
        if kind == "block":
            return self._block(element, elements, name)
        return self._new_simulable(kind, element, elements, name)

    def _new_simulable(
        self, kind: str, element: Element, elements: list[Element], name: str
    ) -> SimulableSpec:
        prototype: Any = _KINDS[kind]
        given = {"name": name}
        if len(elements) > 1:
            given["class_name"] = str(self.values.attribute(element, "class", NO_NAMES))
        names = {"NAME": name}
        spec: SimulableSpec = self.filler.fill(prototype, elements, names, given=given)
        self._check_pose(element, elements)
        self._check_sensors(spec)
        return spec

    def _block(self, element: Element, elements: list[Element], name: str) -> SimulableSpec:
        """Return a block; one like another one is a copy of it."""
        likeness = self._twins.likeness(elements)
        twin = None if likeness is None else self._twins.twin(likeness, element, name)
        if likeness is None or twin is not None:
            return twin or self._new_simulable("block", element, elements, name)
        substitution = self.values.substitution
        before = (substitution.changing, self.problems.reports)
        spec = self._new_simulable("block", element, elements, name)
        if isinstance(spec, BlockSpec) and before == (
            substitution.changing,
            self.problems.reports,
        ):
            self._twins.keep(likeness, spec, elements)
        return spec

    def _with_class(self, kind: str, element: Element) -> list[Element] | None:
        """Return an instance and its class, or None if that is unknown."""
        if "class" not in element.node.attributes:
            return [element]
        name = self.values.attribute(element, "class", NO_NAMES)
        known = self._classes[f"{kind}:class"]
        if name is None:
            return None
        if name not in known:
            if self.reader.incomplete:
                return None  # it may be defined in a part that could not be read
            hint = suggestion(name, known, listed=True) if known else "; the file defines none"
            message = f"unknown {kind} class {name!r}{hint}"
            self.values.report(element, element.attribute_line("class"), message)
            return None
        return [element, known[name]]

    def _name(self, kind: str, element: Element, name: str) -> str:
        if not name:
            written = self.values.attribute(element, "name", NO_NAMES)
            self._incomplete |= written is None
            name = written or ""
        places = self._names.places
        if not name:
            name = self._names.next(kind)
        elif name in places:
            message = f"the name {name!r} is already used in {_brief(places[name])}"
            self.values.report(element, element.line, message)
        places.setdefault(name, Where(element.origin.file, element.line))
        return name

    def _check_pose(self, element: Element, elements: list[Element]) -> None:
        given = set(element.node.attributes).union(*(one.by_tag for one in elements))
        if not given & {"init_pose", "init_pose3d"}:
            message = "<init_pose> is missing; the initial pose is the origin"
            self.values.report(element, element.line, message, "warning")

    def _check_sensors(self, spec: SimulableSpec) -> None:
        if not isinstance(spec, VehicleSpec):
            return
        first: dict[str, Where] = {}
        for sensor in spec.sensors:
            if sensor.name in first:
                place = _brief(first[sensor.name])
                message = f"the name {sensor.name!r} is already used by the sensor in {place}"
                self._report_where(sensor.where, "sensor", message)
            first.setdefault(sensor.name, sensor.where)

    def _check_references(self, spec: WorldSpec) -> None:
        if self._incomplete or self.reader.incomplete:
            return  # what is missing may be in a part that could not be read
        bodies: list[str] = []
        if spec.joints:
            bodies += [vehicle.name for vehicle in spec.vehicles]
            bodies += [block.name for block in spec.blocks if not block.intangible]
        known = frozenset(bodies)
        for joint in spec.joints:
            for side, name in (("body_a", joint.body_a), ("body_b", joint.body_b)):
                if name and name not in known:
                    message = f"{side}: there is no vehicle or tangible block {name!r}"
                    self._report_where(joint.where, "joint", message + suggestion(name, bodies))
        follow = spec.gui.follow_vehicle
        vehicles = [vehicle.name for vehicle in spec.vehicles]
        if follow and follow not in vehicles:
            message = f"follow_vehicle: there is no vehicle {follow!r}"
            message += suggestion(follow, vehicles)
            self._report_where(spec.gui.where, "gui", message, "hint")

    def _report_where(
        self, where: Where, element: str, message: str, severity: Severity = "error"
    ) -> None:
        self.problems.report(Origin(where.file, ""), where.line, element, message, severity)

    def _add(self, field: str, spec: Spec | None) -> None:
        if spec is not None:
            self._found.setdefault(field, []).append(spec)

    def add_simulable(self, field: str, element: Element) -> None:
        """Add a vehicle, block or actor to a field of the world."""
        self._add(field, self._simulable(element.tag, element))
        self._bodies += 1
        vehicles = len(self._found.get("vehicles", ()))
        if self._bodies > MOST_BODIES or vehicles > MOST_VEHICLES:
            self.values.report(element, element.line, TOO_MANY_BODIES)
            self.problems.abort()

    def _count(self, elements: int) -> None:
        """Count elements that are read, and report their number now and then."""
        before = self._read
        self._read += elements
        if self._read // progress.STRIDE > before // progress.STRIDE:
            progress.count("reading elements", self._read)

    def _has_room(self, blocks: int, elements: int) -> bool:
        return self._bodies + blocks <= MOST_BODIES and self.reader.has_room(elements)

    def _add_blocks(self, blocks: Sequence[BlockSpec], elements: int) -> None:
        """Add blocks for which there is room, and count their elements."""
        self._found.setdefault("blocks", []).extend(blocks)
        self._bodies += len(blocks)
        self.reader.count(elements)
        self._count(len(blocks))

    def add_section(self, field: str, section: Section, element: Element) -> None:
        """Add what has no class, such as elements, walls, joints, sensors, markers."""
        number = len(self._found.get(field, ())) + 1
        if field == "elements" and number > MOST_ELEMENTS:
            text = f"the world has more than {MOST_ELEMENTS} elements; <walls> has many lines"
            self.values.report(element, element.line, text)
            self.problems.abort()
        self._add(field, self.filler.spec(section, None, element, NO_NAMES, number))


def _handlers(loader: Loader) -> dict[str, Callable[[Element], None]]:
    """Return what to do with each tag that may occur repeatedly in a world."""
    handlers: dict[str, Callable[[Element], None]] = {tag: loader.add_class for tag in CLASS_TAGS}
    for field, section in sections(WorldSpec):
        if not section.many:
            continue
        for tag in tags_of(section):
            handlers[tag] = _handler(loader, field, section)
    return handlers


def _handler(loader: Loader, field: str, section: Section) -> Callable[[Element], None]:
    if isinstance(section.spec, type) and issubclass(section.spec, SimulableSpec):
        return lambda element: loader.add_simulable(field, element)
    return lambda element: loader.add_section(field, section, element)


def _versions(elements: Iterable[Element]) -> set[int]:
    """Return the versions of variables that elements and those inside them need."""
    found: set[int] = set()
    waiting = list(elements)
    while waiting:
        element = waiting.pop()
        found |= element.scope.versions()
        waiting += element.children
    return found


def _brief(where: Where) -> str:
    name = os.path.basename(where.file)
    return f"{name}:{where.line}" if name else f"line {where.line}"
