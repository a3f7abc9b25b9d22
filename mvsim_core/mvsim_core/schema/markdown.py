# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The format as a Markdown document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mvsim_core.schema.elements import Element, Entry, Inner, elements
from mvsim_core.schema.notation import notation

_COLUMNS = ("name", "written as", "notation", "unit", "default", "must be", "meaning")


def as_markdown(*, plugins: bool = False) -> str:
    """Return the document `docs/world_format.md`; `plugins`: with what plug-ins add."""
    return "\n".join(_document(plugins)) + "\n"


def _document(plugins: bool) -> Iterator[str]:
    yield from notation()
    yield ""
    yield "## Elements"
    yield ""
    yield "A single value may be an attribute or a child element; the tables show the usual form."
    for element in elements(plugins=plugins):
        yield ""
        yield from _section(element)


def _section(element: Element) -> Iterator[str]:
    yield f"### `{element.title}`"
    if element.inside:
        yield f"In {_listed(f'`{title}`' for title in element.inside)}."
    if element.by is not None:
        others = [f'`{element.by[0]}="{name}"`' for name in element.aliases]
        others += [f'`{element.by_alias}="{element.by[1]}"`'] if element.by_alias else []
        if others:
            yield f"Also {_listed(others)}."
    yield ""
    yield element.text
    if element.entries:
        yield ""
        yield _row(_COLUMNS)
        yield _row("---" for _ in _COLUMNS)
        for entry in element.entries:
            yield _row(_cells(entry))
    if element.inner:
        yield ""
        yield f"Contains {_listed(map(_shown, element.inner))}."


def _cells(entry: Entry) -> Iterator[str]:
    name = f"`{entry.names[0]}`" if entry.form != "text" else ""
    yield (
        f"{name} (or {', '.join(f'`{other}`' for other in entry.others)})"
        if entry.others
        else name
    )
    yield entry.form.replace("<", "`<").replace(">", ">`")
    yield entry.kind
    yield entry.unit
    yield "required" if entry.required else f"`{entry.default}`" if entry.default else ""
    yield entry.rule.removeprefix("must be ")
    yield entry.help


def _shown(inner: Inner) -> str:
    words = [word for word, holds in (("required", inner.required), ("any number", inner.many))
             if holds]  # fmt: skip
    words += [inner.help] if inner.help else []
    return f"`<{inner.tag}>`" + (f" ({'; '.join(words)})" if words else "")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
