# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Elements to specs: reads what the fields of a spec class declare and reports everything else.

A spec starts as a copy of a prototype that holds the defaults. The elements of an entity are
ordered, the instance before its class: a single value comes from the first element that has it,
repeated elements come from all. Errors of the file are never raised here: they are reported, the
value of the prototype stays, and so one run finds all problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from mvsim_core.errors import Severity, UnknownName, suggestion
from mvsim_core.specs.converters import BOOLEAN
from mvsim_core.specs.copying import changed
from mvsim_core.specs.params import (
    Alias,
    Param,
    Section,
    Spec,
    SpecIndex,
    Variants,
    Where,
    index_of,
    tags_of,
)
from mvsim_core.specs.sensor import NAME_PREFIXES, SensorSpec
from mvsim_core.xmlfile.advice import advice
from mvsim_core.xmlfile.budget import ITEM, BudgetError
from mvsim_core.xmlfile.paths import Packages, PathError, resolved
from mvsim_core.xmlfile.plan import Plan, is_absent, plan_of, written_params
from mvsim_core.xmlfile.problems import Problems
from mvsim_core.xmlfile.reader import Element
from mvsim_core.xmlfile.substitution import (
    NO_NAMES,
    ReportedError,
    Substitution,
    SubstitutionError,
    short,
)

S = TypeVar("S", bound=Spec)

Names = Mapping[str, str]

_SILENT_ATTRIBUTES = ("xmlns", "xsi:", "xml:")


class Outcome(Enum):
    """Why there is no value."""

    ABSENT = "not in the file"
    INVALID = "in the file, but wrong; an error is reported"


class _Written(NamedTuple):
    """A value as written: text, name and place; `parent` is the element that it belongs to."""

    parent: Element
    element: Element
    line: int
    alias: Alias
    text: str


class Values:
    """Reads single values: what is wrong is reported, never raised."""

    def __init__(self, problems: Problems, substitution: Substitution, packages: Packages) -> None:
        """Report to `problems`, evaluate with `substitution`, resolve paths with `packages`."""
        self.problems = problems
        self.substitution = substitution
        self.packages = packages
        # Values of elements that loops share, by element, param and name.
        self._known: dict[tuple[int, int, str], tuple[Any, Element, Param]] = {}

    def report(
        self, element: Element, line: int, message: str, severity: Severity = "error"
    ) -> None:
        """Report a problem of an element."""
        self.problems.report(element.origin, line, element.tag, message, severity)

    def attribute(self, element: Element, name: str, names: Names) -> str | None:
        """Return an attribute evaluated, "" if absent, None if it cannot be evaluated."""
        text = element.node.attributes.get(name, "")
        if "$" not in text:
            return text.strip()
        line = element.attribute_line(name)
        return self._evaluated(_Written(element, element, line, Alias(name), text), names)

    def param(
        self, about: Param, aliases: tuple[Alias, ...], element: Element, names: Names
    ) -> Any:
        """Return the value that an element gives to a param, or an Outcome."""
        if about.form == "many":
            return self._many(about, aliases, element, names)
        if about.form == "items":
            return self._items(about, aliases, element, names)
        if about.form == "text":
            line, text = element.line, element.node.text
            written = _Written(element, element, line, Alias("its text"), text)
            return self._converted(about, written, names)
        return self._scalar(about, aliases, element, names)

    def _scalar(
        self, about: Param, aliases: tuple[Alias, ...], element: Element, names: Names
    ) -> Any:
        found = [one for alias in aliases for one in _candidates(element, alias, about)]
        if not found:
            return Outcome.ABSENT
        first = found[0]
        if len(found) > 1:
            second, used = found[1].alias.name, first.alias.name
            what = "is given again" if second == used else f"is given besides {used}"
            message = f"{second} {what}; {used} in line {first.line} is used"
            self.report(element, found[1].line, message, "warning")
        if about.form == "flag":
            return self._flag(first, names)
        if first.element.shared:
            key = (id(first.element), id(about), first.alias.name)
            if key not in self._known:
                value = self._converted(about, first, names)
                self._known[key] = (value, first.element, about)
            return self._known[key][0]
        return self._converted(about, first, names)

    def _flag(self, written: _Written, names: Names) -> Any:
        text = self._evaluated(written, names)
        if text is None:
            return Outcome.INVALID
        try:
            value = BOOLEAN.read(text) if text else True
        except ValueError:
            value = True
        if not value:
            message = (
                f"{written.alias.name}: false has its meaning here; the original reads any content"
                " as true"
            )
            self.report(written.parent, written.line, message, "warning")
        return value

    def _many(
        self, about: Param, aliases: tuple[Alias, ...], element: Element, names: Names
    ) -> Any:
        by_name = {alias.name: alias for alias in aliases}
        found = [
            _Written(element, child, child.line, by_name[child.tag], child.node.text)
            for child in element.included_first()
            if child.tag in by_name
        ]
        return self._all(about, found, names) if found else Outcome.ABSENT

    def _items(
        self, about: Param, aliases: tuple[Alias, ...], element: Element, names: Names
    ) -> Any:
        lists = [child for alias in aliases for child in element.by_tag.get(alias.name, ())]
        if not lists:
            return Outcome.ABSENT
        if lists[0].shared:
            key = (id(lists[0]), id(about), aliases[0].name)
            if key not in self._known:
                value = self._items_of(about, aliases, element, lists, names)
                self._known[key] = (value, lists[0], about)
            return self._known[key][0]
        return self._items_of(about, aliases, element, lists, names)

    def _items_of(
        self,
        about: Param,
        aliases: tuple[Alias, ...],
        element: Element,
        lists: list[Element],
        names: Names,
    ) -> Any:
        found = []
        for item in lists[0].children:
            if item.tag == about.item:
                found.append(_Written(lists[0], item, item.line, Alias(item.tag), item.node.text))
            else:
                message = f"unknown element <{item.tag}> is ignored; expected <{about.item}>"
                self.report(lists[0], item.line, message, "warning")
        values = self._all(about, found, names)
        if values is not Outcome.INVALID and about.check and not about.check.passes(values):
            message = f"{aliases[0].name} {about.check.rule}, got {len(values)}"
            self.report(element, lists[0].line, message)
            return Outcome.INVALID
        return values

    def _all(self, about: Param, found: list[_Written], names: Names) -> Any:
        try:
            self.substitution.budget.spend(ITEM * len(found))
        except BudgetError as error:
            self.report(found[0].parent, found[0].line, str(error))
            self.problems.abort()
        values = [self._converted(about, one, names, checked=False) for one in found]
        return Outcome.INVALID if Outcome.INVALID in values else tuple(values)

    def _converted(
        self, about: Param, written: _Written, names: Names, *, checked: bool = True
    ) -> Any:
        text = self._evaluated(written, names)
        if text is None:
            return Outcome.INVALID
        converter = written.alias.converter or about.converter
        try:
            value = converter.read(text)
            if converter.path and value:
                origin, access = written.element.origin, self.substitution.applied
                value = resolved(value, converter.path, origin, self.packages, access)
            if checked and about.check is not None and not about.check.passes(value):
                raise ValueError(about.check.rule)
        except (ValueError, PathError) as rule:
            unit = about.unit_of(converter)
            shown = f" [{unit}]" if unit and "," not in unit else ""
            message = f"{written.alias.name} {rule}{shown}, got {short(text)!r}"
            if about.check is not None:
                message += suggestion(text, about.check.words)
            if text != written.text.strip():
                message += f" (from {short(written.text)!r})"
            self.report(written.parent, written.line, message)
            return Outcome.INVALID
        notice = written.alias.notice or (converter.notice(text) if converter.notice else "")
        if notice:
            message = f"{written.alias.name}: {notice}"
            self.report(written.parent, written.line, message, "warning")
        return value

    def _evaluated(self, written: _Written, names: Names) -> str | None:
        try:
            return self.substitution.text(written.text, written.element.scope, names).strip()
        except ReportedError:
            return None
        except (SubstitutionError, BudgetError) as error:
            self.report(written.parent, written.line, f"{written.alias.name}: {error}")
            if isinstance(error, BudgetError):
                self.problems.abort()
            return None


def _candidates(element: Element, alias: Alias, about: Param) -> Iterator[_Written]:
    """Yield the values that an element has under one name, in the param's own form first."""
    children = []
    inside = [other.inner for other in about.aliases if other.inner and other.name == alias.name]
    for child in element.by_tag.get(alias.name, ()):
        if alias.inner:
            values = child.by_tag.get(alias.inner, ())
            children += [_Written(child, one, one.line, alias, one.node.text) for one in values]
        elif not any(name in child.by_tag for name in inside):
            children.append(_Written(element, child, child.line, alias, child.node.text))
    if about.form != "attribute":
        yield from children
    if alias.name in element.node.attributes and not alias.inner:
        line = element.attribute_line(alias.name)
        yield _Written(element, element, line, alias, element.node.attributes[alias.name])
    if about.form == "attribute":
        yield from children


class Filler:
    """Makes specs of elements."""

    def __init__(self, values: Values) -> None:
        """Read single values with `values`."""
        self.values = values
        # Specs and values in a class or loop that are the same for all its instances.
        self._same: dict[tuple[int, int, str], tuple[Spec, Spec, Element]] = {}
        self._values: dict[tuple[int, int], tuple[Any, Param, Element]] = {}
        self._blanks: dict[type[Spec], Spec] = {}
        self._plans: dict[tuple[int, ...], Plan] = {}

    def fill(
        self,
        prototype: S,
        elements: Sequence[Element],
        names: Names = NO_NAMES,
        given: Mapping[str, Any] = NO_NAMES,
        section: Section | None = None,
    ) -> S:
        """Return `prototype` with the values of the elements.

        `names` are NAME and PARENT_NAME; `given` are values of fields that the caller sets;
        `section` is the section that the spec is read for.
        """
        head = elements[0]
        fields = {**given, "where": Where(head.origin.file, head.line)}
        if head.repeated:
            valid = self._by_plan(prototype, elements, names, fields, section)
        else:
            valid = self._read(prototype, elements, names, fields, section)
        spec = changed(prototype, fields)
        return self._finished(spec, head) if valid else spec

    def _read(
        self,
        prototype: Spec,
        elements: Sequence[Element],
        names: Names,
        fields: dict[str, Any],
        section: Section | None,
    ) -> bool:
        """Read all into `fields` that is not there yet; return whether no param was wrong."""
        index = index_of(type(prototype))
        valid = True
        for param in written_params(index, elements):
            if param[0] not in fields:
                valid &= self._param(param, prototype, elements, names, fields)
        extra = _known_besides(section)
        for field, inner in index.sections:
            if field not in fields and not is_absent(inner, elements):
                default = getattr(prototype, field)
                extra += [spec.name for spec in default] if inner.named else []
                value = self._section(inner, default, elements, names)
                if value is not Outcome.ABSENT:
                    fields[field] = value
        self._report_unknown(elements, index, extra, section)
        return valid

    def _by_plan(
        self,
        prototype: Spec,
        elements: Sequence[Element],
        names: Names,
        fields: dict[str, Any],
        section: Section | None,
    ) -> bool:
        """Do what `_read` does; of what was read before from the same nodes only what differs."""
        head, *classes = elements
        parts = (head.node, head.origin, prototype, *classes, section)
        key = tuple(map(id, parts))
        plan = self._plans.get(key)
        if plan is not None:
            fields |= plan.constant
            valid = True
            for param in plan.params:
                valid &= self._param(param, prototype, elements, names, fields)
            for field, inner in plan.sections:
                value = self._section(inner, getattr(prototype, field), elements, names)
                if value is not Outcome.ABSENT:
                    fields[field] = value
            return valid
        given, reports = set(fields), self.values.problems.reports
        valid = self._read(prototype, elements, names, fields, section)
        if self.values.problems.reports == reports and valid:
            self._plans[key] = plan_of(prototype, elements, fields, given, parts)
        return valid

    def _param(
        self,
        param: tuple[str, Param, tuple[Alias, ...]],
        prototype: Spec,
        elements: Sequence[Element],
        names: Names,
        fields: dict[str, Any],
    ) -> bool:
        """Read a param into `fields`; return whether it was not wrong."""
        field, about, aliases = param
        value: Any = Outcome.ABSENT
        for element in elements:
            attributes, children = element.node.attributes, element.by_tag
            if about.form == "text" or any(
                alias.name in attributes or alias.name in children for alias in aliases
            ):
                value = self._value(about, aliases, element, names)
            if value is not Outcome.ABSENT:
                break
        if value is Outcome.ABSENT and about.required:
            head = elements[0]
            self.values.report(head, head.line, f"{aliases[0].name} is required")
            value = Outcome.INVALID
        if value is Outcome.ABSENT and about.expected:
            self._warn_default(elements[0], prototype, field, about)
        if value is Outcome.INVALID:
            return False
        if value is not Outcome.ABSENT:
            fields.update(zip(about.into, value, strict=True) if about.into else {field: value})
        return True

    def _value(
        self, about: Param, aliases: tuple[Alias, ...], element: Element, names: Names
    ) -> Any:
        """Return the value of a param, from the cache where a class or loop gives all the same."""
        if not (element.in_class or element.shared):
            return self.values.param(about, aliases, element, names)
        key = (id(element), id(about))
        if key in self._values:
            return self._values[key][0]
        before = self.values.substitution.changing
        value = self.values.param(about, aliases, element, names)
        if self.values.substitution.changing == before:
            # The objects are kept so that their ids stay valid.
            self._values[key] = (value, about, element)
        return value

    def _warn_default(self, element: Element, prototype: Spec, field: str, about: Param) -> None:
        """Name the default of a value that the author should have given."""
        value = about.converter.write(getattr(prototype, field))
        unit = f" [{about.file_unit}]" if about.file_unit else ""
        message = f"{about.name or field} is missing; its default {value}{unit} is used"
        self.values.report(element, element.line, message, "warning")

    def _finished(self, spec: S, element: Element) -> S:
        for warning in spec.warnings():
            self.values.report(element, element.line, warning, "warning")
        finished: S = spec.finished()
        for error in finished.errors():
            self.values.report(element, element.line, error)
        for hint in finished.hints():
            self.values.report(element, _line_of(element, hint.partition(" ")[0]), hint, "hint")
        return finished

    def _section(
        self, section: Section, default: Any, elements: Sequence[Element], names: Names
    ) -> Any:
        if section.named:
            return tuple(self._named(spec, elements, names) for spec in default)
        tags = tags_of(section)
        if section.many:
            children = [child for element in elements for child in _tagged(element, tags)]
            return self._specs(section, children, names) or Outcome.ABSENT
        for element in elements:
            children = _tagged(element, tags)
            if len(children) > 1:
                message = (
                    f"<{section.tag}> is given again; the one in line {children[0].line} is used"
                )
                self.values.report(element, children[1].line, message, "warning")
            if children:
                spec = self.spec(section, default, children[0], names, 1)
                return Outcome.ABSENT if spec is None else spec
        if section.required:
            head = elements[0]
            self.values.report(head, head.line, f"<{section.tag}> is required")
        return Outcome.ABSENT

    def _named(self, default: Any, elements: Sequence[Element], names: Names) -> Any:
        for element in elements:
            for child in element.by_tag.get(default.name, ()):
                return self._cached(default, child, names, None)
        return default

    def _specs(self, section: Section, children: list[Element], names: Names) -> tuple[Spec, ...]:
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
            prototype = self._prototype(section, section.spec, child, names)
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
        self, section: Section, variants: Variants, element: Element, names: Names
    ) -> Spec | None:
        if section.by == "tag":
            return variants[element.tag]
        written = [by for by in (section.by, section.by_alias) if by in element.node.attributes]
        if not written:
            message = f"the attribute {section.by!r} is required; known: {', '.join(variants)}"
            self.values.report(element, element.line, message)
            return None
        if len(written) > 1:
            message = f"{written[1]} is given besides {written[0]}; {written[0]} is used"
            self.values.report(element, element.attribute_line(written[1]), message, "warning")
        name = self.values.attribute(element, written[0], names)
        try:
            return None if name is None else variants[name]
        except UnknownName as error:
            self.values.report(element, element.attribute_line(written[0]), str(error))
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
        """Return the result of `fill`, from the cache where it is the same."""
        key = (id(element), id(prototype), name)
        if key in self._same:
            known: Any = self._same[key][0]
            return known  # type: ignore[no-any-return]
        substitution = self.values.substitution
        before = substitution.changing
        given = {"name": name} if name else {}
        spec = self.fill(prototype, [element], names, given=given, section=section)
        if (element.in_class or element.shared) and substitution.changing == before:
            # The objects are kept so that their ids stay valid.
            self._same[key] = (spec, prototype, element)
        return spec

    def _report_unknown(
        self,
        elements: Sequence[Element],
        index: SpecIndex,
        extra: Sequence[str],
        section: Section | None,
    ) -> None:
        for element in elements:
            for tag, children in element.by_tag.items():
                if tag not in index.children and tag not in extra:
                    advice = self._advice(tag, index, extra, section)
                    message = f"unknown element <{tag[:60]}> is ignored{advice}"
                    for child in children:
                        self.values.problems.report(
                            child.origin, child.line, element.tag, message, "warning"
                        )
            for name in element.node.attributes:
                known = name in index.attributes or name in extra
                if not known and not name.startswith(_SILENT_ATTRIBUTES):
                    advice = self._advice(name, index, extra, section)
                    message = f"unknown attribute {name[:60]!r} is ignored{advice}"
                    line = element.attribute_line(name)
                    self.values.report(element, line, message, "warning")
            if element.node.text and not index.reads_text:
                message = f"text {short(element.node.text)!r} has no meaning here and is ignored"
                self.values.report(element, element.line, message, "warning")

    def _advice(
        self, name: str, index: SpecIndex, extra: Sequence[str], section: Section | None
    ) -> str:
        # A search for similar names takes time, and a warning that is not kept needs none.
        return "" if self.values.problems.full else advice(name, index, extra, section)


def _line_of(element: Element, name: str) -> int:
    """Return the line in which an element has a value, or its own."""
    lines = (child.line for child in element.children if child.tag == name)
    return next(lines, element.attribute_line(name))


def _tagged(element: Element, tags: tuple[str, ...]) -> list[Element]:
    if len(tags) == 1:
        return element.by_tag.get(tags[0], [])
    return [child for child in element.included_first() if child.tag in tags]


def _known_besides(section: Section | None) -> list[str]:
    """Return the names that an element may contain besides those that its spec reads."""
    if section is None or not isinstance(section.spec, Variants):
        return []
    by = [section.by, section.by_alias]
    if not section.tolerant:
        return by
    others = {type(prototype) for prototype in section.spec.values()}
    return [*by, *(name for spec in others for name in index_of(spec).known())]
