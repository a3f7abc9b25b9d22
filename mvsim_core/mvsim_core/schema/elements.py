# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""All elements of the format with their content, collected from the declarations of specs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mvsim_core.specs.params import Alias, Param, Section, Spec, Variants, params, sections
from mvsim_core.specs.world import WorldSpec

ROOT = "mvsim_world"
_FORMS = {
    "child": "child",
    "attribute": "attribute",
    "text": "text",
    "flag": "child, empty",
    "many": "child, repeated",
    "items": "child with <{item}>",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of an element, as the documentation shows it.

    `names` has the main name first, `others` the rest, with their notation if it differs;
    `default` is in the notation and unit of the file, `rule` begins with "must".
    """

    names: tuple[str, ...]
    others: tuple[str, ...]
    form: str
    kind: str
    unit: str
    default: str
    rule: str
    help: str
    required: bool
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inner:
    """An element inside another: its title, and how often it may occur."""

    title: str
    tag: str
    required: bool
    many: bool
    help: str


@dataclass(slots=True)
class Element:
    """An element of the format, or one of its variants.

    `by` is the attribute that selects the variant, and its name; `by_alias` is another name of
    the attribute, `aliases` are other names of the variant.
    """

    title: str
    tag: str
    by: tuple[str, str] | None
    by_alias: str
    aliases: tuple[str, ...]
    text: str
    entries: tuple[Entry, ...]
    inner: tuple[Inner, ...] = ()
    inside: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """The first sentence of its description."""
        return self.text.partition("\n\n")[0]


@dataclass(frozen=True, slots=True)
class _Found:
    """A spec and the element that it is read from."""

    tag: str
    by: tuple[str, str] | None
    prototype: Spec
    parent: str
    by_alias: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"<{self.tag}>" if self.by is None else f'<{self.tag} {self.by[0]}="{self.by[1]}">'


def elements(*, plugins: bool = False) -> list[Element]:
    """Return all elements, each after one that contains it; the first is the root.

    The same element in several places is listed once, unless its defaults differ between them.
    With `plugins`, those of installed and registered plug-ins are among them.
    """
    known: dict[tuple[str, str], tuple[Element, Spec]] = {}
    order: list[Element] = []
    waiting = [_Found(ROOT, None, WorldSpec(), "")]
    while waiting:
        found = waiting.pop(0)
        same = [
            element
            for (title, _), (element, spec) in known.items()
            if title == found.title and spec == found.prototype
        ]
        if same:
            if found.parent not in same[0].inside:
                same[0].inside.append(found.parent)
            continue
        element = _element(found)
        known[found.title, found.parent] = (element, found.prototype)
        order.append(element)
        waiting += _below(found.prototype, element.title, plugins)
    return order


def _element(found: _Found) -> Element:
    spec = found.prototype
    return Element(
        title=found.title,
        tag=found.tag,
        by=found.by,
        by_alias=found.by_alias,
        aliases=found.aliases,
        text=inspect.cleandoc(type(spec).__doc__ or ""),
        entries=tuple(_entry(spec, name, about) for name, about in params(spec)),
        inner=tuple(_inner(spec)),
        inside=[found.parent] if found.parent else [],
    )


def _entry(spec: Spec, name: str, about: Param) -> Entry:
    check = about.check
    return Entry(
        names=tuple(alias.name for alias in about.named(name) if not alias.inner),
        others=tuple(_other(alias, about) for alias in about.aliases if not alias.inner),
        form=_FORMS[about.form].format(item=about.item),
        kind=about.converter.kind,
        unit=about.file_unit,
        default=_default(spec, name, about),
        rule=check.rule if check else "",
        help=_help(about),
        required=about.required,
        words=check.words if check else (),
    )


def _help(about: Param) -> str:
    no_effect = f"no effect: {about.no_effect}" if about.no_effect else ""
    return "; ".join(part for part in (about.help, no_effect) if part)


def _other(alias: Alias, about: Param) -> str:
    if alias.converter is None:
        return alias.name
    kind, unit = alias.converter.kind, alias.converter.unit
    shown = kind if kind != about.converter.kind else f"[{unit}]" if unit else ""
    return f"{alias.name} {shown}".strip()


def _default(spec: Spec, name: str, about: Param) -> str:
    if about.required:
        return ""
    value: Any = getattr(spec, name)
    if about.into:
        value = tuple(getattr(spec, part) for part in about.into)
    if about.form in ("many", "items"):
        return ", ".join(about.converter.write(one) for one in value or ())
    if about.form == "flag":
        return "present" if value else "absent"
    return "" if value is None else about.converter.write(value)


def _inner(spec: Spec) -> Iterator[Inner]:
    for name, section in sections(spec):
        for tag in _tags(section, getattr(spec, name)):
            title = "<wheel>" if section.named else f"<{tag}>"
            yield Inner(title, tag, section.required, section.many, section.help)


def _tags(section: Section, default: Any) -> tuple[str, ...]:
    if section.named:
        return tuple(spec.name for spec in default)
    if section.by == "tag" and isinstance(section.spec, Variants):
        return tuple(section.spec)
    return (section.tag,)


def _below(spec: Spec, title: str, plugins: bool) -> Iterator[_Found]:
    for name, section in sections(spec):
        default = getattr(spec, name)
        if isinstance(section.spec, Variants):
            known = section.spec.with_plugins() if plugins else dict(section.spec)
            for kind, prototype in known.items():
                if section.by == "tag":
                    yield _Found(kind, None, prototype, title)
                else:
                    aliases = tuple(
                        alias for alias, name in section.spec.aliases.items() if name == kind
                    )
                    by = (section.by, kind)
                    yield _Found(section.tag, by, prototype, title, section.by_alias, aliases)
        elif section.named:  # they differ in position only
            yield _Found("wheel", None, section.spec(), title)
        else:
            usual = None if section.many else default
            yield _Found(section.tag, None, section.spec() if usual is None else usual, title)
