# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The format as an XML schema, for editors that complete and explain names.

It is wider than the reader: values are any text, because each may hold `${...}`, and an element
whose content depends on its class has what all classes know. `mvsim check` is the judge.
Elements with a colon, such as `vehicle:class`, want `xmlns:vehicle` declared in the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from mvsim_core.schema.elements import ROOT, Element, Entry, elements

_FLOW: dict[str, tuple[str, tuple[str, ...]]] = {
    "include": ("The content of another file, which sees the attributes as variables.", ("file",)),
    "variable": ("From here on ${name} is the value.", ("name", "value")),
    "for": ("Its content for each whole number, both ends included.", ("var", "from", "to")),
    "if": ("Its content if the condition holds.", ("condition",)),
}
_ANY = '<xs:any namespace="##other" processContents="lax"/>'


@dataclass
class _Merged:
    """What all elements with one tag hold together."""

    text: str = ""
    by: str = ""
    kinds: list[str] = field(default_factory=list)
    entries: dict[str, list[Entry]] = field(default_factory=dict)
    inner: dict[str, str] = field(default_factory=dict)


def as_xsd() -> str:
    """Return the schema `docs/mvsim_world.xsd`."""
    return "\n".join(_schema()) + "\n"


def _schema() -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield "<!-- Made by the verb schema of mvsim. -->"
    yield '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">'
    merged = _merge(elements())
    yield f'  <xs:element name="{ROOT}" type="{ROOT}"/>'
    for tag, one in merged.items():
        yield from _type(tag, one)
    yield '  <xs:group name="flow">'
    yield "    <xs:choice>"
    for tag, (text, names) in _FLOW.items():
        yield from _flow(tag, text, names)
    yield f"      {_ANY}"
    yield "    </xs:choice>"
    yield "  </xs:group>"
    yield "</xs:schema>"


def _merge(known: list[Element]) -> dict[str, _Merged]:
    merged: dict[str, _Merged] = {}
    for element in known:
        one = merged.setdefault(element.tag, _Merged(text=element.summary))
        if element.by is not None:
            one.by = element.by[0]
            if element.by[1] not in one.kinds:
                one.kinds.append(element.by[1])
        for entry in element.entries:
            for name in entry.names if entry.form != "text" else ():
                one.entries.setdefault(name, []).append(entry)
        for inner in element.inner:
            one.inner[inner.tag] = inner.title.strip("<>")
    return merged


def _type(tag: str, one: _Merged) -> Iterator[str]:
    yield f'  <xs:complexType name="{tag}" mixed="true">'
    yield from _note(one.text, "    ")
    yield '    <xs:choice minOccurs="0" maxOccurs="unbounded">'
    for name, entries in one.entries.items():
        if name in one.inner:
            continue
        yield from _value("element", name, entries)
    for name, kind in one.inner.items():
        yield f'      <xs:element name="{name}" type="{kind}"/>'
    yield '      <xs:group ref="flow"/>'
    yield "    </xs:choice>"
    if one.by and one.by not in one.entries:
        yield f'    <xs:attribute name="{one.by}">'
        yield from _words(one.kinds, "      ")
        yield "    </xs:attribute>"
    for name, entries in one.entries.items():
        if entries[0].form in ("child", "attribute", "child, empty"):
            yield from _value("attribute", name, entries)
    yield '    <xs:anyAttribute processContents="lax"/>'
    yield "  </xs:complexType>"


def _value(kind: str, name: str, entries: list[Entry]) -> Iterator[str]:
    indent = "      " if kind == "element" else "    "
    items = entries[0].form.partition("with <")[2].rstrip(">")
    words = list(dict.fromkeys(word for entry in entries for word in entry.words))
    simple = not words and not items
    base = ' type="xs:string"' if simple else ""
    yield f'{indent}<xs:{kind} name="{name}"{base}>'
    yield from _note("\n".join(dict.fromkeys(map(_told, entries))), indent + "  ")
    if items:
        yield f'{indent}  <xs:complexType><xs:choice minOccurs="0" maxOccurs="unbounded">'
        yield f'{indent}    <xs:element name="{items}" type="xs:string"/>'
        yield f'{indent}    <xs:group ref="flow"/>'
        yield f"{indent}  </xs:choice></xs:complexType>"
    elif words:
        yield from _words(words, indent + "  ")
    yield f"{indent}</xs:{kind}>"


def _told(entry: Entry) -> str:
    unit = f" [{entry.unit}]" if entry.unit else ""
    default = ", required" if entry.required else f", {entry.default}" if entry.default else ""
    rule = f", {entry.rule}" if entry.rule else ""
    return f"{entry.kind}{unit}{default}{rule}" + (f": {entry.help}" if entry.help else "")


def _note(text: str, indent: str) -> Iterator[str]:
    body = escape(text)
    yield f"{indent}<xs:annotation><xs:documentation>{body}</xs:documentation></xs:annotation>"


def _words(words: list[str], indent: str) -> Iterator[str]:
    """Yield a type that is one of `words` or any text with a replacement in it."""
    yield f"{indent}<xs:simpleType><xs:union><xs:simpleType>"
    yield f'{indent}  <xs:restriction base="xs:string">'
    for word in words:
        yield f"{indent}    <xs:enumeration value={quoteattr(word)}/>"
    yield f"{indent}  </xs:restriction></xs:simpleType><xs:simpleType>"
    yield f'{indent}  <xs:restriction base="xs:string"><xs:pattern value=".*[$].*"/>'
    yield f"{indent}  </xs:restriction>"
    yield f"{indent}</xs:simpleType></xs:union></xs:simpleType>"


def _flow(tag: str, text: str, names: tuple[str, ...]) -> Iterator[str]:
    yield f'      <xs:element name="{tag}">'
    yield from _note(text, "        ")
    yield '        <xs:complexType mixed="true">'
    yield '          <xs:sequence><xs:any processContents="lax" minOccurs="0"'
    yield '            maxOccurs="unbounded"/></xs:sequence>'
    for name in names:
        yield f'          <xs:attribute name="{name}" type="xs:string" use="required"/>'
    yield '          <xs:anyAttribute processContents="lax"/>'
    yield "        </xs:complexType>"
    yield "      </xs:element>"
