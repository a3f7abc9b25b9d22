# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a spec class accepts in XML: an index of its params and sections, made once a class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mvsim_core.errors import nearest
from mvsim_core.specs.params import Alias, Param, Section, Spec, Variants, params, sections


@dataclass(frozen=True, slots=True)
class Plan:
    """The index of one spec class; wheels' tags depend on the prototype and are not in it."""

    params: tuple[tuple[str, Param, tuple[Alias, ...]], ...]
    by_name: Mapping[str, tuple[int, ...]]  # rows of params, by the name in the file
    always: frozenset[int]  # those to be looked at even when no name tells of them
    sections: tuple[tuple[str, Section], ...]
    children: frozenset[str]
    attributes: frozenset[str]
    reads_text: bool

    def concerned(self, names: Iterable[str]) -> list[int]:
        """Return the rows of params to be read where these names stand, in order."""
        rows = set(self.always)
        for name in names:
            rows.update(self.by_name.get(name, ()))
        return sorted(rows)

    def known(self) -> frozenset[str]:
        """Return all names, of children and attributes."""
        return self.children | self.attributes


_PLANS: dict[type[Spec], Plan] = {}


def plan_of(spec: type[Spec]) -> Plan:
    """Return the index of a spec class."""
    if spec not in _PLANS:
        _PLANS[spec] = _make_plan(spec)
    return _PLANS[spec]


def _make_plan(spec: type[Spec]) -> Plan:
    indexed = []
    children: set[str] = set()
    attributes: set[str] = set()
    by_name: dict[str, tuple[int, ...]] = {}
    always = set()
    for row, (field, about) in enumerate(params(spec)):
        names = about.named(field)
        indexed.append((field, about, names))
        for alias in names:
            by_name[alias.name] = (*by_name.get(alias.name, ()), row)
        if about.form == "text" or about.required or about.expected:
            always.add(row)
        if about.form == "text":
            continue
        children.update(alias.name for alias in names)
        if about.form in ("child", "attribute", "flag"):
            attributes.update(alias.name for alias in names)
    nested = tuple(sections(spec))
    for _, section in nested:
        children.update(tags_of(section))
    return Plan(
        params=tuple(indexed),
        by_name=by_name,
        always=frozenset(always),
        sections=nested,
        children=frozenset(children),
        attributes=frozenset(attributes),
        reads_text=any(about.form == "text" for _, about, _ in indexed),
    )


def tags_of(section: Section) -> tuple[str, ...]:
    """Return the tags of the elements that a section is read from."""
    if section.by == "tag" and isinstance(section.spec, Variants):
        return tuple(section.spec)
    return (section.tag,) if section.tag else ()


def advice(name: str, plan: Plan, extra: Sequence[str], section: Section | None) -> str:
    """Return where an unknown name may belong: `. Did you mean 'mass'?`, or "".

    `extra` are names known besides the plan's, `section` is what the spec is read for.
    """
    for field, about, _ in plan.params:
        if name == field and about.name:  # the spec's own name of a parameter
            return f". Did you mean {about.name!r}?"
    readers = _readers(name, section)
    if readers:
        return f". Only {', '.join(readers)} {'read' if len(readers) > 1 else 'reads'} it"
    for inner in plan.sections:
        if any(name in plan_of(spec).known() for spec in _specs_of(inner[1])):
            tags = tags_of(inner[1])
            if tags:
                return f". It belongs inside <{'> or <'.join(tags)}>"
    near = nearest(name, [*plan.known(), *extra])
    return "" if near is None else f". Did you mean {near!r}?"


def _readers(name: str, section: Section | None) -> list[str]:
    """Return the variants of a section that read a name."""
    if section is None or not isinstance(section.spec, Variants):
        return []
    return [
        variant
        for variant, prototype in section.spec.items()
        if name in plan_of(type(prototype)).known() or name in _parts(prototype)
    ]


def _parts(prototype: Spec) -> list[str]:
    """Return the tags of named parts, such as wheels."""
    return [
        part.name
        for field, inner in sections(prototype)
        if inner.named
        for part in getattr(prototype, field)
    ]


def _specs_of(section: Section) -> tuple[type[Spec], ...]:
    if isinstance(section.spec, Variants):
        return tuple({type(prototype) for prototype in section.spec.values()})
    return (section.spec,)
