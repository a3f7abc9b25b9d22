# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a spec field says about itself: XML names, notation, unit, check, help.

This is the one truth about a parameter. The reader, the error texts, the printed schema and
the sweep of all defaults come from it, so a plug-in gets all of them by declaring its fields::

    @dataclass(frozen=True, slots=True, kw_only=True)
    class SpringSpec(Spec):
        stiffness: float = param(10.0, unit="N/m", check=POSITIVE, help="spring constant")

Scalars are accepted as attribute or as child element alike; `attribute=True` only says which
of the two the documentation shows and a dump writes.
"""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Literal, NamedTuple, TypeVar

from mvsim_core.errors import UnknownName
from mvsim_core.specs import converters
from mvsim_core.specs.converters import Color, Converter

T = TypeVar("T")
_log = logging.getLogger(__name__)

Form = Literal["child", "attribute", "text", "flag", "many", "items"]


class Where(NamedTuple):
    """The place that a spec was read from; line 0 when it was made in Python."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """Return `path/to/world.xml:12`, or "" for a spec made in Python."""
        return f"{self.file}:{self.line}" if self.file else ""


NOWHERE = Where()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Base of all specs: plain frozen values that say what a file says."""

    where: Where = dataclasses.field(default=NOWHERE, compare=False, repr=False)

    def faults(self) -> Iterator[str]:
        """Yield what is wrong between fields, each as a sentence without a full stop."""
        yield from ()

    def doubts(self) -> Iterator[str]:
        """Yield what is odd but understood, in the same manner."""
        yield from ()

    def notes(self) -> Iterator[str]:
        """Yield what is accepted and has no effect here, with the reason, in the same manner."""
        for field, name, default, reason in _idle_fields(type(self)):
            if getattr(self, field) != default:
                yield without_effect(name, reason)

    def finished(self) -> Any:
        """Return self with derived fields filled in; the reader calls it last."""
        return self


def without_effect(name: str, reason: str) -> str:
    """Return the note on something that a file asks for and nobody needs."""
    return f"{name} is accepted and has no effect: {reason}"


_IDLE_FIELDS: dict[type[Spec], tuple[tuple[str, str, Any, str], ...]] = {}


def _idle_fields(spec: type[Spec]) -> tuple[tuple[str, str, Any, str], ...]:
    """Return field, name in the file, default and reason of all params without effect."""
    if spec not in _IDLE_FIELDS:
        defaults = {field.name: field.default for field in dataclasses.fields(spec)}
        _IDLE_FIELDS[spec] = tuple(
            (name, about.name or name, defaults[name], about.idle)
            for name, about in params(spec)
            if about.idle
        )
    return _IDLE_FIELDS[spec]


@dataclass(frozen=True, slots=True)
class Check:
    """A rule on one value: `rule` completes "mass ..." in an error message.

    `words` are the texts that pass, if they are few.
    """

    rule: str
    passes: Callable[[Any], bool]
    words: tuple[str, ...] = ()


def in_range(low: float, high: float, shown: str = "") -> Check:
    """Return the check low <= value <= high; `shown` is the range in the file's unit."""
    rule = f"must be in {shown or f'[{low:g}, {high:g}]'}"
    # The slack admits 360 degrees after conversion to radians.
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


POSITIVE = Check("must be > 0", lambda v: v > 0)
NOT_NEGATIVE = Check("must be >= 0", lambda v: v >= 0)
NOT_EMPTY = Check("must not be empty", bool)
#: Corners of the finest shape: to look for crossing edges takes time by the square.
MOST_CORNERS = 2000
POLYGON = Check(
    f"must have 3 to {MOST_CORNERS} different points",
    lambda v: v is None or (len(v) <= MOST_CORNERS and len(set(v)) >= 3),
)


@dataclass(frozen=True, slots=True)
class Alias:
    """Another XML name of a field, perhaps with another notation.

    A `notice` is reported as a warning when the alias is used.
    """

    name: str
    converter: Converter[Any] | None = None
    notice: str = ""


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
    idle: str

    @property
    def file_unit(self) -> str:
        """Return the unit inside the file, which is degrees for angles."""
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
    (`by="class"`), another attribute, or the tag itself (`by="tag"`). With `named`, the
    default is a tuple of specs whose `name` is the tag that may replace each of them. With
    `tolerant`, what only another variant reads is let pass, so that users can switch variants.
    """

    tag: str
    spec: type[Spec] | Variants
    by: str
    many: bool
    named: bool
    required: bool
    tolerant: bool
    help: str


class Variants(Mapping[str, Spec]):
    """The models to choose from by name; each is a spec whose values are the defaults."""

    def __init__(
        self,
        what: str,
        known: Mapping[str, Spec],
        *,
        base: type[Spec] = Spec,
        aliases: Mapping[str, str] | None = None,
        group: str = "",
    ) -> None:
        """Know the prototypes `known`; `what` names the choice for people.

        `group` is the entry-point group whose classes add their `Spec` when a name is not known.
        """
        self.what = what
        self._group = group
        self.base = base
        self.aliases = dict(aliases or {})
        self._known = dict(known)

    def register(self, name: str, prototype: Spec) -> None:
        """Add a model; a name that is taken raises ValueError."""
        if name in self._known:
            raise ValueError(f"{self.what} {name!r} is registered twice")
        self._known[name] = prototype

    def load_plugins(self) -> None:
        """Add the specs of installed plug-ins; a broken one is logged and left out."""
        group, self._group = self._group, ""
        for point in entry_points(group=group) if group else ():
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
        if name not in self._known:
            raise UnknownName(self.what, name, self._known)
        return self._known[name]

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


def param(  # noqa: PLR0913 (one keyword for each thing that a field says about itself)
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
    idle: str = "",
) -> T:
    """Return a dataclass field that is read from XML.

    `xml` is the name in the file when it differs from the field's, `also` lists further
    names, `conv` the notation (by default that of the default's type). `form` is "text" for
    the element's own text, "flag" for an element whose presence means true, "many" for a
    repeated element, "items" for an element that holds repeated `item` elements. `into`
    names the fields that one notation fills together, this one first. Where an `expected`
    one is missing, the default applies with a warning. `idle` says of one that is accepted
    without effect why that is so.
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
        idle=idle,
    )
    return dataclasses.field(default=default, metadata={"param": about})


def section(  # noqa: PLR0913 (likewise)
    default: T,
    tag: str,
    spec: type[Spec] | Variants,
    *,
    by: str = "class",
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


def violations(spec: Spec) -> Iterator[str]:
    """Yield every broken rule of a spec and of the specs inside it, for specs made in Python."""
    for name, about in params(spec):
        yield from _param_violations(spec, name, about)
    for name, _ in sections(spec):
        value = getattr(spec, name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Spec):
                yield from (f"{name}: {fault}" for fault in violations(inner))
    yield from spec.faults()


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
