# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Elements to specs: `fill` reads what a spec's fields declare and reports the rest.

A spec is filled over a prototype that holds the defaults. The elements come in layers, the
instance before its class: for a single value the first layer that has it wins, repeated
elements are taken from all layers. Nothing that a file says raises here; it is reported, the
prototype's value is kept, and so one run shows all problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from mvsim_core.errors import UnknownName
from mvsim_core.specs.params import Alias, Param, Section, Spec, Variants, Where
from mvsim_core.specs.sensor import NAME_PREFIXES, SensorSpec
from mvsim_core.xmlfile.plan import Plan, advice, plan_of, tags_of
from mvsim_core.xmlfile.reader import Element
from mvsim_core.xmlfile.substitution import NO_NAMES
from mvsim_core.xmlfile.values import Layer, Names, Outcome, Values, short

S = TypeVar("S", bound=Spec)

_SILENT_ATTRIBUTES = ("xmlns", "xsi:", "xml:")


class Filler:
    """Fills specs from elements."""

    def __init__(self, values: Values) -> None:
        """Read single values with `values`."""
        self.values = values
        # Parts of classes that turn out the same for all their vehicles.
        self._same: dict[tuple[int, int, str], tuple[Spec, Spec, Element]] = {}
        self._blanks: dict[type[Spec], Spec] = {}
        self._layers: dict[int, Layer] = {}
        self._values: dict[tuple[int, int], tuple[Any, Param]] = {}

    def fill(
        self,
        prototype: S,
        elements: Sequence[Element],
        names: Names = NO_NAMES,
        given: Mapping[str, Any] = NO_NAMES,
        section: Section | None = None,
    ) -> S:
        """Return `prototype` with what the elements say.

        `names` are NAME and PARENT_NAME; `given` are fields that the caller has decided;
        `section` is what the spec is read for.
        """
        plan = plan_of(type(prototype))
        layers = [self._layer(element) for element in elements]
        fields = dict(given)
        sound = self._params(plan, prototype, layers, names, fields)
        extra = _known(section)
        for field, inner in plan.sections:
            if field not in fields:
                default = getattr(prototype, field)
                extra += [spec.name for spec in default] if inner.named else []
                value = self._section(inner, default, layers, names)
                if value is not Outcome.ABSENT:
                    fields[field] = value
        self._unknown(layers, plan, extra, section)
        head = elements[0]
        spec = replace(prototype, where=Where(head.origin.file, head.line), **fields)
        return self._finished(spec, head) if sound else spec

    def _params(
        self,
        plan: Plan,
        prototype: Spec,
        layers: list[Layer],
        names: Names,
        fields: dict[str, Any],
    ) -> bool:
        """Read all params into `fields`; return whether none was wrong."""
        sound = True
        for row in plan.concerned(name for layer in layers for name in layer.names):
            field, about, aliases = plan.params[row]
            if field in fields:
                continue
            value: Any = Outcome.ABSENT
            for layer in layers:
                if about.form == "text" or any(alias.name in layer.names for alias in aliases):
                    value = self._value(about, aliases, layer, names)
                if value is not Outcome.ABSENT:
                    break
            if value is Outcome.ABSENT and about.required:
                element = layers[0].element
                self.values.report(element, element.line, f"{aliases[0].name} is required")
                value = Outcome.UNREADABLE
            if value is Outcome.ABSENT and about.expected:
                self._remark_default(layers[0].element, prototype, field, about)
            if value is Outcome.UNREADABLE:
                sound = False
            elif value is not Outcome.ABSENT:
                fields.update(
                    zip(about.into, value, strict=True) if about.into else {field: value}
                )
        return sound

    def _layer(self, element: Element) -> Layer:
        """Return the index of an element, that of a class from memory."""
        if not element.shared:
            return Layer(element)
        if id(element) not in self._layers:
            self._layers[id(element)] = Layer(element)  # which keeps the element, and so its id
        return self._layers[id(element)]

    def _value(self, about: Param, aliases: tuple[Alias, ...], layer: Layer, names: Names) -> Any:
        """Return the value of a param, from memory where a class gives all the same one."""
        if not layer.element.shared:
            return self.values.param(about, aliases, layer, names)
        key = (id(layer.element), id(about))
        if key in self._values:
            return self._values[key][0]
        before = self.values.substitution.changing
        value = self.values.param(about, aliases, layer, names)
        if self.values.substitution.changing == before:
            self._values[key] = (value, about)
        return value

    def _remark_default(self, element: Element, prototype: Spec, field: str, about: Param) -> None:
        """Say which default stands for something that its author should have chosen."""
        value = about.converter.write(getattr(prototype, field))
        unit = f" [{about.file_unit}]" if about.file_unit else ""
        message = f"{about.name or field} is missing: its default {value}{unit} applies"
        self.values.report(element, element.line, message, "warning")

    def _finished(self, spec: S, element: Element) -> S:
        for doubt in spec.doubts():
            self.values.report(element, element.line, doubt, "warning")
        finished: S = spec.finished()
        for fault in finished.faults():
            self.values.report(element, element.line, fault)
        for note in finished.notes():
            self.values.report(element, _line_of(element, note.partition(" ")[0]), note, "note")
        return finished

    def _section(self, section: Section, default: Any, layers: list[Layer], names: Names) -> Any:
        if section.named:
            return tuple(self._named(spec, layers, names) for spec in default)
        tags = tags_of(section)
        if section.many:
            children = [child for layer in layers for child in _tagged(layer, tags)]
            return self.specs(section, children, names) or Outcome.ABSENT
        for layer in layers:
            children = _tagged(layer, tags)
            if len(children) > 1:
                message = f"<{section.tag}> again; the one in line {children[0].line} counts"
                self.values.report(layer.element, children[1].line, message, "warning")
            if children:
                spec = self.spec(section, default, children[0], names, 1)
                return Outcome.ABSENT if spec is None else spec
        if section.required:
            element = layers[0].element
            self.values.report(element, element.line, f"needs <{section.tag}>")
        return Outcome.ABSENT

    def _named(self, default: Any, layers: list[Layer], names: Names) -> Any:
        for layer in layers:
            for child in layer.children.get(default.name, ()):
                return self._cached(default, child, names, None)
        return default

    def specs(self, section: Section, children: list[Element], names: Names) -> tuple[Spec, ...]:
        """Return the specs of repeated elements, without those that cannot be made."""
        made: list[Spec] = []
        for child in children:
            spec = self.spec(section, None, child, names, len(made) + 1)
            if spec is not None:
                made.append(spec)
        return tuple(made)

    def spec(
        self, section: Section, default: Spec | None, child: Element, names: Names, number: int
    ) -> Spec | None:
        """Return the spec of one element, the `number`th of its kind, or None."""
        if isinstance(section.spec, Variants):
            prototype = self._prototype(section.spec, section.by, child, names)
        else:
            prototype = self._blank(section.spec) if default is None else default
        if prototype is None:
            return None
        if isinstance(prototype, SensorSpec):
            return self._sensor(prototype, child, names, number, section)
        return self._cached(prototype, child, names, section)

    def _blank(self, spec: type[Spec]) -> Spec:
        if spec not in self._blanks:
            self._blanks[spec] = spec()
        return self._blanks[spec]

    def _prototype(
        self, variants: Variants, by: str, element: Element, names: Names
    ) -> Spec | None:
        if by == "tag":
            return variants[element.tag]
        if by not in element.node.attributes:
            message = f"needs the attribute {by!r}; known: {', '.join(variants)}"
            self.values.report(element, element.line, message)
            return None
        name = self.values.attribute(element, by, names)
        try:
            return None if name is None else variants[name]
        except UnknownName as error:
            self.values.report(element, element.attribute_line(by), str(error))
            return None

    def _sensor(
        self,
        prototype: SensorSpec,
        element: Element,
        names: Names,
        number: int,
        section: Section,
    ) -> SensorSpec:
        """Return a sensor, named by prefix and number if it has no name."""
        owner = {"PARENT_NAME": names["NAME"]} if "NAME" in names else {}
        # While the sensor has no name yet, NAME is its owner's.
        name = self.values.attribute(element, "name", {**owner, **names})
        if not name:
            name = f"{NAME_PREFIXES.get(prototype.kind, prototype.kind)}{number}"
        inner = {**owner, "NAME": name}
        return self._cached(prototype, element, inner, section, name)

    def _cached(
        self,
        prototype: S,
        element: Element,
        names: Names,
        section: Section | None,
        name: str = "",
    ) -> S:
        """Return what `fill` does, with `name` if given, from memory where that is the same."""
        key = (id(element), id(prototype), name)
        if key in self._same:
            known: Any = self._same[key][0]
            return known  # type: ignore[no-any-return]
        substitution = self.values.substitution
        before = substitution.changing
        given = {"name": name} if name else {}
        spec = self.fill(prototype, [element], names, given=given, section=section)
        if element.shared and substitution.changing == before:
            # The objects are kept so that their ids stay theirs.
            self._same[key] = (spec, prototype, element)
        return spec

    def _advice(self, name: str, plan: Plan, extra: Sequence[str], section: Section | None) -> str:
        # Likeness takes time; what nobody will read needs none.
        return "" if self.values.problems.full else advice(name, plan, extra, section)

    def _unknown(
        self, layers: list[Layer], plan: Plan, extra: Sequence[str], section: Section | None
    ) -> None:
        for layer in layers:
            element = layer.element
            for tag, children in layer.children.items():
                if tag not in plan.children and tag not in extra:
                    hint = self._advice(tag, plan, extra, section)
                    message = f"unknown element <{tag[:60]}> is ignored{hint}"
                    for child in children:
                        self.values.problems.report(
                            child.origin, child.line, element.tag, message, "warning"
                        )
            for name in element.node.attributes:
                known = name in plan.attributes or name in extra
                if not known and not name.startswith(_SILENT_ATTRIBUTES):
                    hint = self._advice(name, plan, extra, section)
                    message = f"unknown attribute {name[:60]!r} is ignored{hint}"
                    line = element.attribute_line(name)
                    self.values.report(element, line, message, "warning")
            if element.node.text and not plan.reads_text:
                message = f"text {short(element.node.text)!r} has no meaning here and is ignored"
                self.values.report(element, element.line, message, "warning")


def _line_of(element: Element, name: str) -> int:
    """Return the line in which an element has a value, or its own."""
    lines = (child.line for child in element.children if child.tag == name)
    return next(lines, element.attribute_line(name))


def _tagged(layer: Layer, tags: tuple[str, ...]) -> list[Element]:
    if len(tags) == 1:
        return layer.children.get(tags[0], [])
    return [child for child in layer.ordered if child.tag in tags]


def _known(section: Section | None) -> list[str]:
    """Return what an element may hold beside what its spec reads."""
    if section is None or not isinstance(section.spec, Variants):
        return []
    if not section.tolerant:
        return [section.by]
    others = {type(prototype) for prototype in section.spec.values()}
    return [section.by, *(name for spec in others for name in plan_of(spec).known())]
