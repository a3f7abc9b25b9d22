# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Specs to the text of a world file: the inverse of the reader, by the same declarations.

Only values that differ from the defaults are written, in the units of the file and with enough
digits to read back the same. Paths of files are absolute. What vehicles of one class have in
common is written once, as that class. Includes, variables and loops are expanded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from mvsim_core.errors import BuildError
from mvsim_core.specs.controller import PidSpec
from mvsim_core.specs.params import Alias, Param, Section, Spec, Variants, params, sections
from mvsim_core.specs.simulable import SimulableSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.xmlfile.markup import Node
from mvsim_core.xmlfile.reader import CLASS_TAGS

_BEGIN = re.compile(r"\$(?=\{|env\{|f\{|\()")
# A variable for a `$` that begins no substitution: the result of a substitution is not scanned.
_DOLLAR = "literal_dollar"
# Not by xml.sax.saxutils, which imports a web client.
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_QUOTED = {**_TEXT, **str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})}


def dump_world(spec: WorldSpec) -> str:
    """Return a world file that reads as `spec`.

    Colours have 8 bits a channel there. Entities without a name get one when they are read, and
    derived fields are filled in as by `Spec.finished`.

    Raises:
        BuildError: The spec holds a value that a file cannot express, such as an infinite number.
    """
    root = _node("mvsim_world", spec, WorldSpec())
    for tag in CLASS_TAGS:
        _share(root, tag)
    text = "\n".join(_lines(root, ""))
    if f"${{{_DOLLAR}}}" in text:
        variable = Node("variable", 0, {"name": _DOLLAR, "value": "$"})
        root.children.insert(0, variable)
        text = "\n".join(_lines(root, "")).replace(f'value="${{{_DOLLAR}}}"', 'value="$"', 1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def dump_controller(spec: PidSpec) -> str:
    """Return the <controller> of a vehicle, to be pasted into a file, with all its gains."""
    unlike = math.nan  # differs from any value, so that the gains are written if they are usual
    usual = replace(type(spec)(), kp=unlike, ki=unlike, kd=unlike, max_torque=unlike)
    node = _node("controller", spec, usual)
    node.attributes = {"class": spec.kind, **node.attributes}
    return "\n".join(_lines(node, ""))


def _node(tag: str, spec: Spec, prototype: Spec) -> Node:
    """Return an element that turns `prototype` into `spec`."""
    node = Node(tag, 0)
    for field, about in params(spec):
        value = _value(spec, field, about)
        wanted = about.required or (field == "init_pose" and isinstance(spec, SimulableSpec))
        if value != _value(prototype, field, about) or wanted:
            if value is None:
                _check_derived(spec, field, prototype)
            else:
                _add_param(node, field, about, value)
    for field, section in sections(spec):
        for child in _children(section, getattr(spec, field), getattr(prototype, field)):
            node.children.append(child)
    return node


def _value(spec: Spec, field: str, about: Param) -> Any:
    if about.into:
        return tuple(getattr(spec, part) for part in about.into)
    return getattr(spec, field)


def _check_derived(spec: Spec, field: str, prototype: Spec) -> None:
    """Raise BuildError for None, for which there is no notation, unless it is derived."""
    with_default: Any = replace(spec, **{field: getattr(prototype, field)})
    if with_default.finished() != spec:
        raise BuildError(f"{field}: a world file cannot express None here")


def _add_param(node: Node, field: str, about: Param, value: Any) -> None:
    names = about.named(field)
    if about.form == "many":
        node.children += [_text_node(*_written(about, names, one)) for one in value]
    elif about.form == "items":
        item = (Alias(about.item),)
        pieces = [_text_node(*_written(about, item, one)) for one in value]
        node.children.append(Node(names[0].name, 0, children=pieces))
    elif about.form == "flag":
        node.children.append(Node(names[0].name, 0, text="" if value else "false"))
    else:
        name, text = _written(about, names, value)
        if about.form == "attribute":
            node.attributes[name] = text
        elif about.form == "text":
            node.text = text
        else:
            node.children.append(_text_node(name, text))


def _text_node(name: str, text: str) -> Node:
    return Node(name, 0, text=text)


def _written(about: Param, names: tuple[Alias, ...], value: Any) -> tuple[str, str]:
    """Return the first name and text that read back as `value`, those without a notice first."""
    fallback = None
    for alias in names:
        converter = alias.converter or about.converter
        try:
            text = converter.write(value)
            if converter.exact and converter.read(text) != value:
                continue
        except (ArithmeticError, TypeError, ValueError):
            continue
        noticed = alias.notice or (converter.notice(text) if converter.notice else "")
        if not noticed:
            return alias.name, text
        fallback = fallback or (alias.name, text)
    if fallback is None:
        raise BuildError(f"{names[0].name}: a world file cannot express {value!r}")
    return fallback


def _children(section: Section, value: Any, default: Any) -> Iterator[Node]:
    """Yield the elements of a section whose default is `default`."""
    if section.named:
        if [spec.name for spec in value] != [spec.name for spec in default]:
            expected = ", ".join(spec.name for spec in default)
            raise BuildError(f"expected these wheels in this order: {expected}")
        for spec, usual in zip(value, default, strict=True):
            if spec != usual:
                yield _node(spec.name, spec, usual)
    elif section.many:
        for spec in value:
            yield _section_node(section, spec, None)
    elif value is None:
        if default is not None:
            raise BuildError(f"<{section.tag}>: a world file cannot express None here")
    elif value != default or section.required:
        yield _section_node(section, value, default)


def _section_node(section: Section, spec: Spec, default: Spec | None) -> Node:
    if not isinstance(section.spec, Variants):
        return _node(section.tag, spec, section.spec() if default is None else default)
    name = _variant(section.spec, spec)
    if section.by == "tag":
        return _node(name, spec, section.spec[name])
    node = _node(section.tag, spec, section.spec[name])
    node.attributes = {section.by: name, **node.attributes}
    return node


def _variant(variants: Variants, spec: Spec) -> str:
    kind = getattr(spec, "kind", None)
    for name, prototype in variants.items():
        if type(prototype) is type(spec) and getattr(prototype, "kind", None) == kind:
            return name
    raise BuildError(f"{type(spec).__name__} is not a {variants.what}")


def _share(root: Node, class_tag: str) -> None:
    """Move the children that all instances of a class have in common into the class."""
    tag = class_tag.partition(":")[0]
    members = [node for node in root.children if node.tag == tag]
    first = next((i for i, node in enumerate(root.children) if node.tag == tag), 0)
    classes = []
    for name in dict.fromkeys(node.attributes.get("class", "") for node in members):
        if name:
            own = [node for node in members if node.attributes.get("class") == name]
            classes.append(Node(class_tag, 0, {"name": name}, children=_common(own)))
    root.children[first:first] = classes


def _common(members: list[Node]) -> list[Node]:
    """Remove the children that are the same in all members, and return them.

    Children of one tag are moved together or not at all, because their order matters.
    """
    groups: list[dict[str, list[Node]]] = []
    for node in members:
        by_tag: dict[str, list[Node]] = {}
        for child in node.children:
            by_tag.setdefault(child.tag, []).append(child)
        groups.append(by_tag)
    shared = {
        tag
        for tag, children in groups[0].items()
        if not tag.startswith("init_") and all(group.get(tag) == children for group in groups)
    }
    common = [child for child in members[0].children if child.tag in shared]
    for node in members:
        node.children = [child for child in node.children if child.tag not in shared]
    return common


def _lines(node: Node, indent: str) -> Iterator[str]:
    values = (f' {name}="{_escaped(text, _QUOTED)}"' for name, text in node.attributes.items())
    head = f"{indent}<{node.tag}{''.join(values)}"
    text = _escaped(node.text, _TEXT)
    if node.children:
        yield f"{head}>"
        if text:
            yield f"{indent}  {text}"
        for child in node.children:
            yield from _lines(child, indent + "  ")
        yield f"{indent}</{node.tag}>"
    elif text:
        yield f"{head}>{text}</{node.tag}>"
    else:
        yield f"{head}/>"


def _escaped(text: str, entities: dict[int, str]) -> str:
    return _BEGIN.sub(f"${{{_DOLLAR}}}", text).translate(entities)
