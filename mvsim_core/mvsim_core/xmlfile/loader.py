# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A world file to a `WorldSpec`: who is in it, under which name, of which class."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from mvsim_core.errors import Severity, suggestion
from mvsim_core.progress import watched
from mvsim_core.specs.actor import ActorSpec
from mvsim_core.specs.block import BlockSpec
from mvsim_core.specs.params import Section, Spec, Where, sections
from mvsim_core.specs.simulable import SimulableSpec
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.xmlfile.fill import Filler
from mvsim_core.xmlfile.markup import Node
from mvsim_core.xmlfile.paths import Packages
from mvsim_core.xmlfile.plan import tags_of
from mvsim_core.xmlfile.problems import Problems
from mvsim_core.xmlfile.reader import CLASS_TAGS, Element, Reader
from mvsim_core.xmlfile.scope import Origin, Scope, Variables
from mvsim_core.xmlfile.substitution import NO_NAMES, Substitution
from mvsim_core.xmlfile.values import Values

S = TypeVar("S", bound=SimulableSpec)

_ROOTS = ("mvsim_world", "world")


@dataclass(slots=True)
class Library:
    """What outlives the reading of a world: classes, variables, random numbers.

    It lets vehicles be added later just as if they stood at the end of the file.
    """

    substitution: Substitution
    packages: Packages
    origin: Origin
    classes: dict[str, dict[str, Element]] = field(
        default_factory=lambda: {tag: {} for tag in CLASS_TAGS}
    )

    def class_names(self, kind: str = "vehicle") -> tuple[str, ...]:
        """Return the names of the vehicle, block or actor classes."""
        return tuple(self.classes[f"{kind}:class"])


def new_library(
    origin: Origin, variables: Mapping[str, str], seed: int, *, allow_shell: bool
) -> Library:
    """Return an empty library for a world that begins in the file of `origin`."""
    packages = Packages()
    substitution = Substitution(Variables(variables), Random(seed), packages, allow_shell)
    return Library(substitution, packages, origin)


@dataclass(slots=True)
class _Kind:
    """How things of one kind are named when the file does not."""

    prototype: SimulableSpec
    pattern: str
    count: int = 0


class Loader:
    """Reads one document into the spec of a world, or of a vehicle."""

    def __init__(self, library: Library) -> None:
        """Read with the variables and classes of `library`, and add to them."""
        self.library = library
        library.substitution.variables.broken.clear()
        self.problems = Problems()
        self.reader = Reader(self.problems, library.substitution, library.packages)
        self.values = Values(self.problems, library.substitution, library.packages)
        self.filler = Filler(self.values)
        self._places: dict[str, Where] = {}
        self._kinds = {
            "vehicle": _Kind(VehicleSpec(), "veh{}"),
            "block": _Kind(BlockSpec(), "block{:03}"),
            "actor": _Kind(ActorSpec(), "actor{:03}"),
        }
        self._found: dict[str, list[Spec]] = {}
        self._lost = False  # whether a body is left out, or its name, because of an error

    def world(self, nodes: list[Node]) -> WorldSpec:
        """Return the world that the top nodes of its file describe."""
        root = self._root(nodes)
        if root is None:
            return WorldSpec()
        scope = self._scope()
        by_tag = _handlers(self)
        rest = []
        for element in watched(self.reader.walk(root.children, scope), "reading elements"):
            handler = by_tag.get(element.tag)
            if handler is None:
                rest.append(element)
            else:
                handler(element)
        whole = Element(root, self._scope(), rest, included=False, shared=False)
        given = {name: tuple(specs) for name, specs in self._found.items()}
        spec = self.filler.fill(
            WorldSpec(), [whole], given={**given, "file": self.library.origin.file}
        )
        self._check_references(spec)
        return replace(spec, library=self.library)

    def vehicle(self, nodes: list[Node], name: str, taken: Mapping[str, Where]) -> VehicleSpec:
        """Return the one vehicle among the top nodes, called `name` unless that is ""."""
        self._places = dict(taken)
        found = []
        for element in self.reader.walk(nodes, self._scope()):
            if element.tag == "vehicle":
                found.append(self._simulable("vehicle", element, name))
            elif element.tag in CLASS_TAGS:
                self._class(element)
            else:
                message = f"expected <vehicle>, got <{element.tag[:60]}>"
                self.values.report(element, element.line, message)
        if len(found) != 1 and not self.problems.all():
            self._top_error(f"expected one <vehicle>, got {len(found)}")
        spec = found[0] if found else None
        return spec if isinstance(spec, VehicleSpec) else VehicleSpec()

    def _scope(self) -> Scope:
        return Scope(self.library.origin, self.library.substitution.variables.version)

    def _top_error(self, message: str, line: int = 0) -> None:
        self.problems.report(self.library.origin, line, "", message)

    def _root(self, nodes: list[Node]) -> Node | None:
        roots = [node for node in nodes if node.tag in _ROOTS]
        if not roots:
            if nodes:
                message = f"expected <mvsim_world>, got <{nodes[0].tag[:60]}>"
                if nodes[0].tag in CLASS_TAGS or nodes[0].tag == "sensor":
                    message += "; this is a definition, to be included by a world"
                self._top_error(message, nodes[0].line)
            elif all(problem.severity != "error" for problem in self.problems.all()):
                self._top_error("no <mvsim_world> in it")
            return None
        root = roots[0]
        if root.tag == "world":
            message = "<world> is read like <mvsim_world>, which is the proper name"
            self._root_warning(root, message)
        for node in nodes:
            if node is not root:
                self._root_warning(node, "ignored, because it stands outside of <mvsim_world>")
        return root

    def _root_warning(self, node: Node, message: str) -> None:
        self.problems.report(self.library.origin, node.line, node.tag, message, "warning")

    def _class(self, element: Element) -> None:
        name = self.values.attribute(element, "name", NO_NAMES)
        if not name:
            if name is not None:
                self.values.report(element, element.line, "needs the attribute 'name'")
            self.reader.incomplete = True
            return
        known = self.library.classes[element.tag]
        before = known.get(name)
        if before is not None and before.node is not element.node:
            place = _brief(Where(before.origin.file, before.line))
            message = f"{name!r} replaces the class of {place} from here on"
            self.values.report(element, element.line, message, "warning")
        known[name] = element

    def _simulable(self, kind: str, element: Element, name: str = "") -> SimulableSpec | None:
        """Return a vehicle, block or actor, or None if its class is unknown."""
        layers = self._layers(kind, element)
        if layers is None:
            self._lost = True
            return None
        name = self._name(kind, element, name)
        prototype: Any = self._kinds[kind].prototype
        given = {"name": name}
        if len(layers) > 1:
            given["class_name"] = str(self.values.attribute(element, "class", NO_NAMES))
        names = {"NAME": name}
        spec: SimulableSpec = self.filler.fill(prototype, layers, names, given=given)
        self._check_pose(element, layers)
        self._check_sensors(spec)
        return spec

    def _layers(self, kind: str, element: Element) -> list[Element] | None:
        if "class" not in element.node.attributes:
            return [element]
        name = self.values.attribute(element, "class", NO_NAMES)
        known = self.library.classes[f"{kind}:class"]
        if name is None:
            return None
        if name not in known:
            if self.reader.incomplete:
                return None  # it may be defined in what could not be read
            hint = suggestion(name, known, listed=True) if known else "; the file defines none"
            message = f"unknown {kind} class {name!r}{hint}"
            self.values.report(element, element.attribute_line("class"), message)
            return None
        return [element, known[name]]

    def _name(self, kind: str, element: Element, name: str) -> str:
        own = self._kinds[kind]
        if not name:
            written = self.values.attribute(element, "name", NO_NAMES)
            self._lost |= written is None
            name = written or ""
        if not name:
            own.count += 1
            while (name := own.pattern.format(own.count)) in self._places:
                own.count += 1
        elif name in self._places:
            place = _brief(self._places[name])
            message = f"the name {name!r} is taken by another object, in {place}"
            self.values.report(element, element.line, message)
        self._places.setdefault(name, Where(element.origin.file, element.line))
        return name

    def _check_pose(self, element: Element, layers: list[Element]) -> None:
        given = set(element.node.attributes)
        given.update(child.tag for layer in layers for child in layer.children)
        if not given & {"init_pose", "init_pose3d"}:
            message = "has no <init_pose>; it starts at the origin"
            self.values.report(element, element.line, message, "warning")

    def _check_sensors(self, spec: SimulableSpec) -> None:
        if not isinstance(spec, VehicleSpec):
            return
        first: dict[str, Where] = {}
        for sensor in spec.sensors:
            if sensor.name in first:
                place = _brief(first[sensor.name])
                message = f"the name {sensor.name!r} is taken by the sensor in {place}"
                self._report_where(sensor.where, "sensor", message)
            first.setdefault(sensor.name, sensor.where)

    def _check_references(self, spec: WorldSpec) -> None:
        if self._lost or self.reader.incomplete:
            return  # what is missing may be what could not be read
        tangible = [block.name for block in spec.blocks if not block.intangible]
        bodies = [*(vehicle.name for vehicle in spec.vehicles), *tangible]
        known = frozenset(bodies)
        for joint in spec.joints:
            for side, name in (("body_a", joint.body_a), ("body_b", joint.body_b)):
                if name and name not in known:
                    message = f"{side}: no vehicle or tangible block is called {name!r}"
                    self._report_where(joint.where, "joint", message + suggestion(name, bodies))
        follow = spec.gui.follow_vehicle
        vehicles = [vehicle.name for vehicle in spec.vehicles]
        if follow and follow not in vehicles:
            message = (
                f"follow_vehicle: no vehicle is called {follow!r}{suggestion(follow, vehicles)}"
            )
            self._report_where(spec.gui.where, "gui", message, "note")

    def _report_where(
        self, where: Where, element: str, message: str, severity: Severity = "error"
    ) -> None:
        self.problems.report(Origin(where.file, ""), where.line, element, message, severity)

    def add(self, field_name: str, spec: Spec | None) -> None:
        """Add a spec to a field of the world."""
        if spec is not None:
            self._found.setdefault(field_name, []).append(spec)

    def add_simulable(self, field_name: str, element: Element) -> None:
        """Add a vehicle, block or actor."""
        self.add(field_name, self._simulable(element.tag, element))

    def add_section(self, field_name: str, section: Section, element: Element) -> None:
        """Add what needs no class: elements, walls, joints, sensors, markers."""
        number = len(self._found.get(field_name, ())) + 1
        self.add(field_name, self.filler.spec(section, None, element, NO_NAMES, number))

    add_class = _class


def _handlers(loader: Loader) -> dict[str, Callable[[Element], None]]:
    """Return what to do with each tag of a world that may come often."""
    handlers: dict[str, Callable[[Element], None]] = {tag: loader.add_class for tag in CLASS_TAGS}
    for field_name, section in sections(WorldSpec):
        if not section.many:
            continue
        for tag in tags_of(section):
            handlers[tag] = _handler(loader, field_name, section)
    return handlers


def _handler(loader: Loader, field_name: str, section: Section) -> Callable[[Element], None]:
    if isinstance(section.spec, type) and issubclass(section.spec, SimulableSpec):
        return lambda element: loader.add_simulable(field_name, element)
    return lambda element: loader.add_section(field_name, section, element)


def _brief(where: Where) -> str:
    name = os.path.basename(where.file)
    return f"{name}:{where.line}" if name else f"line {where.line}"
