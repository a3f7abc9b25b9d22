# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where a name that nothing reads may belong."""

from __future__ import annotations

from collections.abc import Sequence

from mvsim_core.errors import nearest
from mvsim_core.specs.params import Section, Spec, SpecIndex, Variants, index_of, sections, tags_of


def advice(name: str, index: SpecIndex, extra: Sequence[str], section: Section | None) -> str:
    """Return where an unknown name may belong: `. Did you mean 'mass'?`, or "".

    `extra` are names known besides those of the index, `section` is what the spec is read for.
    """
    for field, about, _ in index.params:
        if name == field and about.name:  # the spec's own name of a parameter
            return f". Did you mean {about.name!r}?"
    readers = _readers(name, section)
    if readers:
        return f". Only {', '.join(readers)} {'have' if len(readers) > 1 else 'has'} it"
    for _, inner in index.sections:
        if any(name in index_of(spec).known() for spec in _specs_of(inner)):
            tags = tags_of(inner)
            if tags:
                return f". It belongs inside <{'> or <'.join(tags)}>"
    near = nearest(name, [*index.known(), *extra])
    return "" if near is None else f". Did you mean {near!r}?"


def _readers(name: str, section: Section | None) -> list[str]:
    """Return the variants of a section that read a name."""
    if section is None or not isinstance(section.spec, Variants):
        return []
    return [
        variant
        for variant, prototype in section.spec.items()
        if name in index_of(type(prototype)).known() or name in _parts(prototype)
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
