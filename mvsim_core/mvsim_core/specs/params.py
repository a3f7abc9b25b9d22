# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of spec fields: XML names, notation, unit, check, help.

Each parameter is declared once. The reader, the error texts, the printed schema and the test of
all defaults use the declaration, so a plug-in gets all of them by declaring its fields::

    @dataclass(frozen=True, slots=True, kw_only=True)
    class SpringSpec(Spec):
        stiffness: float = param(10.0, unit="N/m", check=POSITIVE, help="spring constant")

Scalars are accepted as attribute and as child element; `attribute=True` only selects the form
that the documentation shows and `dump_world` writes.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeVar

from mvsim_core.errors import UnknownName
from mvsim_core.registry import REGISTRIES, plugins
from mvsim_core.specs import converters
from mvsim_core.specs.converters import Color, Converter

T = TypeVar("T")
S = TypeVar("S", bound="Spec")
_log = logging.getLogger(__name__)

Form = Literal["child", "attribute", "text", "flag", "many", "items"]


class Where(NamedTuple):
    """The place that a spec is read from; line 0 if it is made in Python."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """Return `path/to/world.xml:12`, or "" for a spec made in Python."""
        return f"{self.file}:{self.line}" if self.file else ""


NOWHERE = Where()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Spec:
    """Base of all specs: immutable plain values in SI units that hold the content of a file.

    Specs compare by value, can be pickled, and a copy of one is the spec itself. Those of this
    package leave comparison and text to the base: to compile these for each class would take a
    sixth of the time in which all are imported.
    """

    where: Where = dataclasses.field(default=NOWHERE, compare=False, repr=False)

    def errors(self) -> Iterator[str]:
        """Yield errors in the relation of fields, each as a sentence without a full stop."""
        yield from ()

    def warnings(self) -> Iterator[str]:
        """Yield warnings about values that are accepted but probably not meant, likewise."""
        yield from ()

    def hints(self) -> Iterator[str]:
        """Yield what is accepted without effect, with the reason, likewise."""
        for field, name, default, reason in _fields_without_effect(type(self)):
            if getattr(self, field) != default:
                yield no_effect_hint(name, reason)

    def finished(self) -> Any:
        """Return self with derived fields filled in; the reader calls it last."""
        return self

    def __eq__(self, other: object) -> bool:
        """Return whether another spec is of the same class and has the same values."""
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(self._compared() == other._compared())

    def __hash__(self) -> int:
        """Return a hash of all values that are compared."""
        return hash(self._compared())

    def _compared(self) -> Any:
        cls: Any = type(self)
        return _reader_of(cls)(self)

    def __repr__(self) -> str:
        """Return class and values, as dataclasses do."""
        shown = [field.name for field in dataclasses.fields(self) if field.repr]
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({values})"

    def __copy__(self: S) -> S:
        """Return self, which cannot change."""
        return self

    def __deepcopy__(self: S, memo: dict[int, Any]) -> S:
        """Return self, which cannot change."""
        return self


@cache
def _reader_of(cls: Any) -> Callable[[Any], Any]:
    """Return what reads the class of a spec and its fields that are compared."""
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    return attrgetter("__class__", *names)


def no_effect_hint(name: str, reason: str) -> str:
    """Return the hint that something in a file is accepted without effect."""
    return f"{name} is accepted and has no effect: {reason}"


_FIELDS_WITHOUT_EFFECT: dict[type[Spec], tuple[tuple[str, str, Any, str], ...]] = {}


def _fields_without_effect(spec: type[Spec]) -> tuple[tuple[str, str, Any, str], ...]:
    """Return field, name in the file, default and reason of all params without effect."""
    if spec not in _FIELDS_WITHOUT_EFFECT:
        defaults = {field.name: field.default for field in dataclasses.fields(spec)}
        _FIELDS_WITHOUT_EFFECT[spec] = tuple(
            (name, about.name or name, defaults[name], about.no_effect)
            for name, about in params(spec)
            if about.no_effect
        )
    return _FIELDS_WITHOUT_EFFECT[spec]


@dataclass(frozen=True, slots=True)
class Check:
    """A rule on one value: `rule` completes "mass ..." in an error message.

    `words` are the texts that pass, if the rule lists them.
    """

    rule: str
    passes: Callable[[Any], bool]
    words: tuple[str, ...] = ()


def optional(check: Check) -> Check:
    """Return the same check for a value that may be absent: None passes."""
    return Check(check.rule, lambda v: v is None or check.passes(v), check.words)


def in_range(low: float, high: float, shown: str = "") -> Check:
    """Return the check low <= value <= high; `shown` is the range in the file's unit."""
    rule = f"must be in {shown or f'[{low:g}, {high:g}]'}"
    # The tolerance admits 360 degrees after their conversion to radians.
    return Check(rule, lambda v: low - 1e-9 <= v <= high + 1e-9)


def above(low: float, high: float, shown: str) -> Check:
    """Return the check low < value <= high."""
    return Check(f"must be in {shown}", lambda v: low < v <= high + 1e-9)


def at_least(low: float) -> Check:
    """Return the check value >= low."""
    return Check(f"must be >= {low:g}", lambda v: v >= low)


def one_of(*words: str) -> Check:
    """Return the check that a text is one of `words`."""
    shown = [word for word in words if word]  # "" stands for an absent value
    rule = f"must be one of {', '.join(shown)}" if len(shown) > 1 else f"must be {shown[0]}"
    return Check(rule, lambda v: v in words, words)


#: Smaller positive numbers count as 0: what is divided by them is no longer finite.
SMALLEST = 1e-15
POSITIVE = Check("must be > 0", lambda v: v >= SMALLEST)
NOT_NEGATIVE = Check("must be >= 0", lambda v: v >= 0)
NOT_EMPTY = Check("must not be empty", bool)
#: Most corners of a shape: the search for crossing edges takes time by their square.
MOST_CORNERS = 2000
POLYGON = Check(
    f"must have 3 to {MOST_CORNERS} different points",
    lambda v: v is None or (len(v) <= MOST_CORNERS and len(set(v)) >= 3),
)


@dataclass(frozen=True, slots=True)
class Alias:
    """Another XML name of a field, possibly with another notation.

    A `notice` is reported as a warning where the alias is used. With `inner` the value is not that
    of the element of this name, but of its child of that name.
    """

    name: str
    converter: Converter[Any] | None = None
    notice: str = ""
    inner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """How one field (or several, `into`) is written in XML."""

    name: str
    form: Form
    item: str
    into: tuple[str, ...]
    aliases: tuple[Alias, ...]
    converter: Converter[Any]
    check: Check | None
    unit: str
    help: str
    required: bool
    expected: bool
    no_effect: str

    @property
    def file_unit(self) -> str:
        """Return the unit in the file, which is degrees for angles."""
        return self.unit_of(self.converter)

    def unit_of(self, converter: Converter[Any]) -> str:
        """Return the unit of a text that `converter` reads, such as deg/s for a field in rad/s."""
        if converter.unit == "deg" and "rad" in self.unit:
            return self.unit.replace("rad", "deg")
        return converter.unit or self.unit

    def named(self, field: str) -> tuple[Alias, ...]:
        """Return all XML names of the field, the canonical one first."""
        return (Alias(self.name or field), *self.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """How a field that is itself a spec, or a tuple of specs, is written in XML.

    `spec` is the spec class, or the `Variants` to choose from by the `class` attribute
    (`by="class"`), another attribute, or the tag itself (`by="tag"`); `by_alias` is another name
    of that attribute. With `named`, the default is a tuple of specs, and `name` of each is the
    tag that replaces it. With `tolerant`, names that only another variant reads give no warning,
    so that users can switch variants.
    """

    tag: str
    spec: type[Spec] | Variants
    by: str
    by_alias: str
    many: bool
    named: bool
    required: bool
    tolerant: bool
    help: str


class Variants(Mapping[str, Spec]):
    """Models to choose from by name; each is a spec that holds the defaults."""

    def __init__(
        self,
        what: str,
        known: Mapping[str, Spec],
        *,
        base: type[Spec] = Spec,
        aliases: Mapping[str, str] | None = None,
        group: str = "",
    ) -> None:
        """Start with the prototypes `known`; `what` names the choice in messages.

        `group` is the entry-point group of plug-ins, whose classes are loaded, and their `Spec`
        added, when a name is not known. The `Spec` of a class that the program itself registers
        is found without an entry point.
        """
        self.what = what
        self._group = group
        self._kind = group
        self.base = base
        self.aliases = dict(aliases or {})
        self._known = dict(known)

    def register(self, name: str, prototype: Spec) -> None:
        """Add a model; a name that is already used raises ValueError."""
        if name in self._known:
            raise ValueError(f"{self.what} {name!r} is registered twice")
        self._known[name] = prototype

    def load_plugins(self) -> None:
        """Add the specs of installed plug-ins; a broken one is logged and skipped."""
        group, self._group = self._group, ""
        for point in plugins(group) if group else ():
            name = point.name.rpartition("/")[2]  # a controller may be "dynamics/controller"
            if name in self._known:
                continue
            try:
                self.register(name, dataclasses.replace(point.load().Spec(), kind=name))
            except Exception:  # a broken plug-in must not stop the simulator
                _log.exception("the spec of %s plug-in %r could not be loaded", self.what, name)

    def __getitem__(self, name: str) -> Spec:
        """Return the prototype of `name`, or raise UnknownName with a suggestion."""
        name = self.aliases.get(name, name)
        if name not in self._known:
            self.load_plugins()
        if name in self._known:
            return self._known[name]
        registered = self._registered()
        if name not in registered:
            raise UnknownName(self.what, name, (*self._known, *registered))
        return registered[name]

    def with_plugins(self) -> dict[str, Spec]:
        """Return all models by name, with those of plug-ins and of the running program."""
        self.load_plugins()
        return {**self._registered(), **self._known}

    def _registered(self) -> dict[str, Spec]:
        """Return the specs of classes that are registered in this process.

        They are not kept, since a class of a notebook may be defined again.
        """
        registry = REGISTRIES.get(self._kind)
        found: dict[str, Spec] = {}
        for path, cls in registry.registered().items() if registry else ():
            name = path.rpartition("/")[2]
            spec = getattr(cls, "Spec", None)
            if name not in self._known and spec is not None:
                found[name] = dataclasses.replace(spec(), kind=name)
        return found

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._known)

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self._known)


_BY_TYPE: tuple[tuple[type, Converter[Any]], ...] = (
    (bool, converters.BOOLEAN),
    (int, converters.INTEGER),
    (float, converters.NUMBER),
    (str, converters.TEXT),
    (Color, converters.COLOR),
)


def param(  # noqa: PLR0913 (one keyword for each property of a field)
    default: T,
    *,
    xml: str = "",
    also: tuple[str | Alias, ...] = (),
    conv: Converter[Any] | None = None,
    check: Check | None = None,
    unit: str = "",
    help: str = "",
    attribute: bool = False,
    form: Form = "child",
    item: str = "",
    into: tuple[str, ...] = (),
    required: bool = False,
    expected: bool = False,
    no_effect: str = "",
) -> T:
    """Return a dataclass field that is read from XML.

    `xml` is the name in the file if it differs from the field's, `also` lists further names,
    `conv` is the notation (by default that of the default's type). `form` is "text" for the
    element's own text, "flag" for an element whose presence means true, "many" for a repeated
    element, "items" for an element that holds repeated `item` elements. `into` names the fields
    that one notation fills together, this one first. A missing `expected` value gives a warning
    that names the default. `no_effect` is the reason why a value is accepted without effect.
    """
    if conv is None:
        conv = next((c for kind, c in _BY_TYPE if isinstance(default, kind)), None)
    if conv is None:
        raise TypeError(f"param({default!r}) needs a converter")
    about = Param(
        name=xml,
        form="attribute" if attribute else form,
        item=item,
        into=into,
        aliases=tuple(a if isinstance(a, Alias) else Alias(a) for a in also),
        converter=conv,
        check=check,
        unit=unit,
        help=help,
        required=required,
        expected=expected,
        no_effect=no_effect,
    )
    return dataclasses.field(default=default, metadata={"param": about})


def section(  # noqa: PLR0913 (likewise)
    default: T,
    tag: str,
    spec: type[Spec] | Variants,
    *,
    by: str = "class",
    by_alias: str = "",
    many: bool = False,
    named: bool = False,
    required: bool = False,
    tolerant: bool = False,
    help: str = "",
) -> T:
    """Return a dataclass field that is read from a child element of its own."""
    about = Section(
        tag=tag,
        spec=spec,
        by=by,
        by_alias=by_alias,
        many=many,
        named=named,
        required=required,
        tolerant=tolerant,
        help=help,
    )
    return dataclasses.field(default=default, metadata={"section": about})


def params(spec: type[Spec] | Spec) -> Iterator[tuple[str, Param]]:
    """Iterate over (field name, Param) of a spec class."""
    for field in dataclasses.fields(spec):
        if "param" in field.metadata:
            yield field.name, field.metadata["param"]


def sections(spec: type[Spec] | Spec) -> Iterator[tuple[str, Section]]:
    """Iterate over (field name, Section) of a spec class."""
    for field in dataclasses.fields(spec):
        if "section" in field.metadata:
            yield field.name, field.metadata["section"]


@dataclass(frozen=True, slots=True)
class SpecIndex:
    """The names that a spec class reads, but for tags of wheels: they depend on the prototype."""

    params: tuple[tuple[str, Param, tuple[Alias, ...]], ...]
    by_name: Mapping[str, tuple[int, ...]]  # rows of params, by name in the file
    always: frozenset[int]  # rows to read even if none of their names occurs
    sections: tuple[tuple[str, Section], ...]
    children: frozenset[str]
    attributes: frozenset[str]
    reads_text: bool

    def rows(self, names: Iterable[str]) -> list[int]:
        """Return the rows of the params to read where these names occur, in order."""
        rows = set(self.always)
        for name in names:
            rows.update(self.by_name.get(name, ()))
        return sorted(rows)

    def known(self) -> frozenset[str]:
        """Return all names, of children and attributes."""
        return self.children | self.attributes


_INDEXES: dict[type[Spec], SpecIndex] = {}


def index_of(spec: type[Spec]) -> SpecIndex:
    """Return the index of a spec class; it is made once for each class."""
    if spec not in _INDEXES:
        _INDEXES[spec] = _make_index(spec)
    return _INDEXES[spec]


def _make_index(spec: type[Spec]) -> SpecIndex:
    rows = []
    children: set[str] = set()
    attributes: set[str] = set()
    by_name: dict[str, tuple[int, ...]] = {}
    always = set()
    for row, (field, about) in enumerate(params(spec)):
        names = about.named(field)
        rows.append((field, about, names))
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
    return SpecIndex(
        params=tuple(rows),
        by_name=by_name,
        always=frozenset(always),
        sections=nested,
        children=frozenset(children),
        attributes=frozenset(attributes),
        reads_text=any(about.form == "text" for _, about, _ in rows),
    )


def tags_of(section: Section) -> tuple[str, ...]:
    """Return the tags of the elements that a section is read from."""
    if section.by == "tag" and isinstance(section.spec, Variants):
        return tuple(section.spec)
    return (section.tag,) if section.tag else ()


def violations(spec: Spec) -> Iterator[str]:
    """Yield every broken rule of a spec and of the specs inside it, for specs made in Python.

    Rules between parameters count where each parameter keeps its own, as in files.
    """
    kept = True
    for error in _violations_within(spec):
        kept = False
        yield error
    if kept:
        yield from spec.errors()


def _violations_within(spec: Spec) -> Iterator[str]:
    for name, about in params(spec):
        yield from _param_violations(spec, name, about)
    for name, _ in sections(spec):
        value = getattr(spec, name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Spec):
                yield from (f"{name}: {error}" for error in violations(inner))


def _param_violations(spec: Spec, name: str, about: Param) -> Iterator[str]:
    value = getattr(spec, name)
    unit = f" [{about.unit}]" if about.unit else ""
    if not _finite(value):
        yield f"{name} must be finite{unit}, got {value!r}"
    elif value is not None and about.check and not about.check.passes(value):
        yield f"{name} {about.check.rule}{unit}, got {value!r}"


def _finite(value: object) -> bool:
    if isinstance(value, tuple):
        return all(_finite(part) for part in value)
    return not isinstance(value, float) or math.isfinite(value)
