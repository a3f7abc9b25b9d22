# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""How elements that stand in a file once and in the document many times are read again.

Turns of a loop and includes of one file give elements of the same nodes. What has no substitution
in it is read once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from mvsim_core.specs.params import Alias, Param, Section, Spec, SpecIndex, index_of, tags_of
from mvsim_core.xmlfile.reader import Element


class Plan(NamedTuple):
    """How to read again what the nodes of elements say; only what differs is read again."""

    constant: Mapping[str, Any]  # fields that are the same each time
    params: tuple[tuple[str, Param, tuple[Alias, ...]], ...]
    sections: tuple[tuple[str, Section], ...]
    kept: tuple[Any, ...]  # objects by whose ids the plan is found


def plan_of(
    prototype: Spec,
    elements: Sequence[Element],
    fields: Mapping[str, Any],
    given: Collection[str],
    parts: tuple[Any, ...],
) -> Plan:
    """Return how to read the nodes of elements again, after they were read into `fields`.

    `given` are the fields that were not read; `parts` are kept alive.
    """
    index = index_of(type(prototype))
    again = tuple(
        param
        for param in written_params(index, elements)
        if param[0] not in given and not _is_constant(param, elements)
    )
    inner = tuple(
        (field, section)
        for field, section in index.sections
        if field not in given
        and not is_absent(section, elements)
        and not _is_shared(section, getattr(prototype, field), elements)
    )
    varying = {one for field, about, _ in again for one in (field, *about.into)}
    varying |= {*given, *(field for field, _ in inner)}
    constant = {name: value for name, value in fields.items() if name not in varying}
    return Plan(constant, again, inner, parts)


def _is_constant(param: tuple[str, Param, tuple[Alias, ...]], elements: Sequence[Element]) -> bool:
    """Return whether a param has the same value for all elements of the same nodes."""
    _, about, aliases = param
    head, *classes = elements
    texts = [head.node.attributes.get(alias.name, "") for alias in aliases]
    texts += [head.node.text] if about.form == "text" else []
    children = [child for alias in aliases for child in head.by_tag.get(alias.name, ())]
    if any("$" in text for text in texts) or not all(child.shared for child in children):
        return False
    return not classes or bool(children) or any(texts)


def written_params(
    index: SpecIndex, elements: Sequence[Element]
) -> list[tuple[str, Param, tuple[Alias, ...]]]:
    """Return the params of a spec class to read where elements give what they give, in order."""
    names = (one for e in elements for one in (*e.by_tag, *e.node.attributes))
    return [index.params[row] for row in index.rows(names)]


def _is_shared(section: Section, default: Any, elements: Sequence[Element]) -> bool:
    """Return whether a section is the same for all elements of the same nodes."""
    head, *classes = elements
    tags = [spec.name for spec in default] if section.named else tags_of(section)
    return not any(tag in one.by_tag for one in classes for tag in tags) and all(
        child.shared for tag in tags for child in head.by_tag.get(tag, ())
    )


def is_absent(section: Section, elements: Sequence[Element]) -> bool:
    """Return whether it is clear at once that nothing is to be read for a section."""
    if section.named or section.required or section.by == "tag":
        return False
    return all(section.tag not in element.by_tag for element in elements)
