# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Single values: from the raw texts of an element to what a spec field holds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from mvsim_core.errors import Severity, suggestion
from mvsim_core.resources.archives import ArchiveError, archive_of, check_member
from mvsim_core.specs.converters import BOOLEAN, Converter
from mvsim_core.specs.params import Alias, Param
from mvsim_core.xmlfile.paths import Packages, PathError, local_path, uri
from mvsim_core.xmlfile.problems import Problems
from mvsim_core.xmlfile.reader import Element
from mvsim_core.xmlfile.substitution import ReportedError, Substitution, SubstitutionError

Names = Mapping[str, str]


class Outcome(Enum):
    """Why there is no value."""

    ABSENT = "the file does not say"
    UNREADABLE = "what the file says is wrong, and reported"


class Layer:
    """An element with its children indexed by tag, those from includes first."""

    def __init__(self, element: Element) -> None:
        """Index the children."""
        self.element = element
        self.children: dict[str, list[Element]] = {}
        self.ordered = element.children
        if any(child.included for child in self.ordered):
            self.ordered = sorted(self.ordered, key=lambda child: not child.included)
        for child in self.ordered:
            self.children.setdefault(child.tag, []).append(child)
        self.names = self.children.keys() | element.node.attributes.keys()


@dataclass(frozen=True, slots=True)
class Raw:
    """A value as written, under which name and where; `parent` is whose value it is."""

    parent: Element
    element: Element
    line: int
    alias: Alias
    text: str


class Values:
    """Reads params; whatever is wrong is reported, never raised."""

    def __init__(self, problems: Problems, substitution: Substitution, packages: Packages) -> None:
        """Report to `problems`, evaluate with `substitution`, resolve paths with `packages`."""
        self.problems = problems
        self.substitution = substitution
        self.packages = packages

    def report(
        self, element: Element, line: int, message: str, severity: Severity = "error"
    ) -> None:
        """Report a problem of an element."""
        self.problems.report(element.origin, line, element.tag, message, severity)

    def attribute(self, element: Element, name: str, names: Names) -> str | None:
        """Return an attribute evaluated, "" if absent, None if it cannot be evaluated."""
        raw = element.node.attributes.get(name, "")
        line = element.attribute_line(name)
        return self._evaluated(Raw(element, element, line, Alias(name), raw), names)

    def param(self, about: Param, aliases: tuple[Alias, ...], layer: Layer, names: Names) -> Any:
        """Return the value that a layer gives to a param, or an Outcome."""
        if about.form == "many":
            return self._many(about, aliases, layer, names)
        if about.form == "items":
            return self._items(about, aliases, layer, names)
        if about.form == "text":
            element = layer.element
            raw = Raw(element, element, element.line, Alias("its text"), element.node.text)
            return self._converted(about, raw, names)
        return self._scalar(about, aliases, layer, names)

    def _scalar(self, about: Param, aliases: tuple[Alias, ...], layer: Layer, names: Names) -> Any:
        found = [raw for alias in aliases for raw in _candidates(layer, alias, about)]
        if not found:
            return Outcome.ABSENT
        first = found[0]
        if len(found) > 1:
            again, counts = found[1].alias.name, first.alias.name
            what = "again" if again == counts else f"beside {counts}"
            message = f"{again} {what}; {counts} in line {first.line} counts"
            self.report(layer.element, found[1].line, message, "warning")
        if about.form == "flag":
            return self._flag(first, names)
        return self._converted(about, first, names)

    def _flag(self, raw: Raw, names: Names) -> Any:
        text = self._evaluated(raw, names)
        if text is None:
            return Outcome.UNREADABLE
        try:
            value = BOOLEAN.read(text) if text else True
        except ValueError:
            value = True
        if not value:
            message = f"{raw.alias.name}: false is honoured; the original only asks if it is there"
            self.report(raw.parent, raw.line, message, "warning")
        return value

    def _many(self, about: Param, aliases: tuple[Alias, ...], layer: Layer, names: Names) -> Any:
        by_name = {alias.name: alias for alias in aliases}
        raws = [
            Raw(layer.element, child, child.line, by_name[child.tag], child.node.text)
            for child in layer.ordered
            if child.tag in by_name
        ]
        return self._all(about, raws, names) if raws else Outcome.ABSENT

    def _items(self, about: Param, aliases: tuple[Alias, ...], layer: Layer, names: Names) -> Any:
        lists = [child for alias in aliases for child in layer.children.get(alias.name, ())]
        if not lists:
            return Outcome.ABSENT
        raws = []
        for item in lists[0].children:
            if item.tag == about.item:
                raws.append(Raw(lists[0], item, item.line, Alias(item.tag), item.node.text))
            else:
                message = f"unknown element <{item.tag}> is ignored; expected <{about.item}>"
                self.report(lists[0], item.line, message, "warning")
        values = self._all(about, raws, names)
        if values is not Outcome.UNREADABLE and about.check and not about.check.passes(values):
            message = f"{aliases[0].name} {about.check.rule}, got {len(values)}"
            self.report(layer.element, lists[0].line, message)
            return Outcome.UNREADABLE
        return values

    def _all(self, about: Param, raws: list[Raw], names: Names) -> Any:
        values = [self._converted(about, raw, names, checked=False) for raw in raws]
        return Outcome.UNREADABLE if Outcome.UNREADABLE in values else tuple(values)

    def _converted(self, about: Param, raw: Raw, names: Names, *, checked: bool = True) -> Any:
        text = self._evaluated(raw, names)
        if text is None:
            return Outcome.UNREADABLE
        converter = raw.alias.converter or about.converter
        try:
            value = converter.read(text)
            if converter.path and value:
                value = self._path(value, converter, raw.element)
            if checked and about.check is not None and not about.check.passes(value):
                raise ValueError(about.check.rule)
        except (ValueError, PathError) as rule:
            unit = about.unit_of(converter)
            shown = f" [{unit}]" if unit and "," not in unit else ""
            message = f"{raw.alias.name} {rule}{shown}, got {short(text)!r}"
            if about.check is not None:
                message += suggestion(text, about.check.words)
            if text != raw.text.strip():
                message += f" (from {short(raw.text)!r})"
            self.report(raw.parent, raw.line, message)
            return Outcome.UNREADABLE
        notice = raw.alias.notice or (converter.notice(text) if converter.notice else "")
        if notice:
            self.report(raw.parent, raw.line, f"{raw.alias.name}: {notice}", "warning")
        return value

    def _evaluated(self, raw: Raw, names: Names) -> str | None:
        try:
            return self.substitution.text(raw.text, raw.element.scope, names).strip()
        except ReportedError:
            return None
        except SubstitutionError as error:
            self.report(raw.parent, raw.line, f"{raw.alias.name}: {error}")
            return None

    def _path(self, text: str, converter: Converter[Any], element: Element) -> str:
        if converter.path == "uri":
            return uri(text, element.origin, self.packages)
        path = local_path(text, element.origin, self.packages)
        inside = archive_of(path)
        if inside is not None:
            try:
                check_member(*inside)
            except ArchiveError as error:
                raise PathError(f"is not found: {error}") from None
        elif not os.path.isfile(path):
            raise PathError(f"is not found at {path!r}")
        return path


def _candidates(layer: Layer, alias: Alias, about: Param) -> Iterator[Raw]:
    """Yield where a layer gives a value under one name, in the form that is usual first."""
    element = layer.element
    children = [
        Raw(element, child, child.line, alias, child.node.text)
        for child in layer.children.get(alias.name, ())
    ]
    if about.form != "attribute":
        yield from children
    if alias.name in element.node.attributes:
        line = element.attribute_line(alias.name)
        yield Raw(element, element, line, alias, element.node.attributes[alias.name])
    if about.form == "attribute":
        yield from children


def short(text: str) -> str:
    """Return `text` on one line of at most 60 characters."""
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."
