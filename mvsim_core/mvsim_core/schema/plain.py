# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The format as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from mvsim_core.errors import UnknownName
from mvsim_core.schema.elements import Element, Entry, elements


def as_text(name: str = "") -> str:
    """Return all elements, or those with the tag or the class `name`, with those of plug-ins.

    Raises:
        UnknownName: There is no such element.
    """
    known = elements(plugins=True)
    chosen = [element for element in known if not name or name in _names(element)]
    if not chosen:
        names = dict.fromkeys(word for element in known for word in _names(element))
        raise UnknownName("element", name, names)
    return "\n".join(line for element in chosen for line in (*_lines(element), ""))


def _names(element: Element) -> tuple[str, ...]:
    return (element.tag,) if element.by is None else (element.tag, element.by[1], *element.aliases)


def _lines(element: Element) -> Iterator[str]:
    yield element.title + (f"  in {', '.join(element.inside)}" if element.inside else "")
    if element.aliases:
        yield f"  also {', '.join(element.aliases)}"
    for line in element.text.splitlines():
        yield f"  {line}".rstrip()
    for entry in element.entries:
        yield from _entry(entry)
    for inner in element.inner:
        often = ", any number" if inner.many else ", required" if inner.required else ""
        yield f"    <{inner.tag}>{often}"


def _entry(entry: Entry) -> Iterator[str]:
    unit = f" [{entry.unit}]" if entry.unit else ""
    default = " (required)" if entry.required else f" = {entry.default}" if entry.default else ""
    name = entry.names[0] if entry.form != "text" else "its text"
    yield f"    {name}: {entry.kind}{unit}{default}"
    others = f"also {', '.join(entry.others)}" if entry.others else ""
    about = "; ".join(part for part in (entry.help, entry.rule, others) if part)
    if about:
        yield f"        {about}"
