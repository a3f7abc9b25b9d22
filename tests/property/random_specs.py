# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random specs that follow all rules, made from what the fields declare of themselves."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from mvsim_core.geometry.poses import Pose, Twist
from mvsim_core.specs import (
    BlockSpec,
    ElevationMapSpec,
    JointSpec,
    PointcloudSpec,
    PropertyRegionSpec,
    Spec,
    Variants,
    VehicleSpec,
    WallsSpec,
    WorldSpec,
    converters,
    violations,
)
from mvsim_core.specs.converters import MOST_NUMBER, Color, Keyframe
from mvsim_core.specs.params import Param, Section, params, sections
from mvsim_core.specs.simulable import AnimationSpec
from mvsim_core.specs.visual import GeometrySpec

FLOAT = st.one_of(
    st.floats(0.01, 1.0),
    st.floats(-1e4, 1e4),
    st.floats(-MOST_NUMBER, MOST_NUMBER),
    st.sampled_from([0.0, 1.0, -1.0, 1e-300, MOST_NUMBER]),
)
ANGLE = st.one_of(st.floats(-3.2, 3.2), st.floats(1e-9, 1.5), st.floats(-1e6, 1e6))
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=8).map(str.strip),
    st.sampled_from(["${N}", "$$f{1}", "a < b & \"c\" 'd'", "$(ls)", "$env{HOME}", "]]>", "$"]),
)
POINT = st.tuples(FLOAT, FLOAT)
POINT3 = st.tuples(FLOAT, FLOAT, FLOAT)
CHANNEL = st.integers(0, 255).map(lambda part: part / 255)
POSE3D = st.builds(Pose, FLOAT, FLOAT, FLOAT, ANGLE, ANGLE, ANGLE)
POSE = st.one_of(st.builds(lambda x, y, yaw: Pose(x, y, yaw=yaw), FLOAT, FLOAT, ANGLE), POSE3D)
KEYFRAME = st.builds(Keyframe, st.floats(0.0, 100.0), POSE)
IDENTITY = tuple(tuple(float(i == j) for j in range(4)) for i in range(4))
MATRIX = st.one_of(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.tuples(*[FLOAT] * n), min_size=1, max_size=3).map(tuple)
    ),
    st.sampled_from([IDENTITY, ((0.25, 0.25), (0.25, 0.25)), ((0.0, 1.0), (2.0, 3.0))]),
)
BY_CONVERTER: dict[Any, st.SearchStrategy[Any]] = {
    converters.TEXT: TEXT,
    converters.OUTPUT: TEXT,
    converters.URI: st.sampled_from(["", "/a b/${c}/%s.png", "https://example.org/x?y=1&z=%s"]),
    converters.WORDS: st.lists(st.sampled_from(["a", "${b}", "c/d"]), max_size=3).map(tuple),
    converters.NUMBER: FLOAT,
    converters.INTEGER: st.one_of(st.integers(1, 40), st.sampled_from([0, 90, -90, 180, 2**40])),
    converters.BOOLEAN: st.booleans(),
    converters.RECORDING: st.booleans(),
    converters.COLOR: st.builds(Color, CHANNEL, CHANNEL, CHANNEL, CHANNEL),
    converters.DEGREES: ANGLE,
    converters.REVERSED: FLOAT,
    converters.NUMBERS: st.lists(FLOAT, max_size=4).map(tuple),
    converters.ANGLES: st.lists(ANGLE, max_size=4).map(tuple),
    converters.MATRIX: MATRIX,
    converters.POINT2: POINT,
    converters.POINT3: POINT3,
    converters.POINTS3: st.lists(POINT3, max_size=4).map(tuple),
    converters.POSE3D: POSE3D,
    converters.POSE2D: POSE,
    converters.TWIST: st.builds(Twist, FLOAT, FLOAT, ANGLE),
    converters.WHEEL_POSITION: st.tuples(FLOAT, FLOAT, ANGLE),
    converters.TIME_POSE: KEYFRAME,
}
# What has no default that follows its own rules begins with these values.
BEGINNINGS: dict[type[Spec], dict[str, Any]] = {
    AnimationSpec: {"frames": (Keyframe(1.0, Pose()),)},
    ElevationMapSpec: {"elevation_data_matrix": ((0.0, 1.0), (2.0, 3.0))},
    GeometrySpec: {"type": "box", "lx": 1.0, "ly": 1.0, "lz": 1.0, "radius": 1.0, "length": 1.0},
    PropertyRegionSpec: {"property_name": "mine", "value_string": "x"},
    WallsSpec: {"shape": ((0.0, 0.0), (1.0, 0.0))},
}


@st.composite
def worlds(draw: st.DrawFn, file: str) -> WorldSpec:
    """Any world; files in it are `file`."""
    world = draw(specs(WorldSpec(), file))
    bodies: list[str] = []
    for field in ("vehicles", "blocks", "actors"):
        named = []
        for spec in getattr(world, field):
            made = replace(spec, name=f"{draw(TEXT)}{len(bodies)}")
            if isinstance(made, VehicleSpec):
                made = replace(made, sensors=_numbered(made.sensors))
            bodies.append(made.name)
            named.append(replace(made, class_name=draw(st.sampled_from(["", "c", "$(d)"]))))
        world = replace(world, **{field: tuple(named)})
    tangible = [b.name for b in (*world.vehicles, *world.blocks) if not _intangible(b)]
    joints = world.joints if len(tangible) > 1 else ()
    joints = tuple(replace(j, body_a=tangible[0], body_b=tangible[1]) for j in joints)
    return replace(world, joints=joints, sensors=_numbered(world.sensors))


def _intangible(spec: Spec) -> bool:
    return isinstance(spec, BlockSpec) and spec.intangible


def _numbered(sensors: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(replace(s, name=f"{s.name}{i}") for i, s in enumerate(sensors))


@st.composite
def specs(draw: st.DrawFn, prototype: Any, file: str, depth: int = 0) -> Any:
    """Change some fields of a prototype, where all rules allow it."""
    spec = replace(prototype, **BEGINNINGS.get(type(prototype), {}))
    if type(spec) is PointcloudSpec:
        spec = replace(spec, file_txt_3d=file)
    if type(spec) is JointSpec:
        spec = replace(spec, type="weld", body_a="a", body_b="b")
    spec = spec.finished()  # as the reader returns it, also where no field is changed
    for field, about in params(spec):
        if about.required or draw(st.integers(0, 3)) == 0:
            spec = _accepted(spec, field, about, draw(values(about, file)))
    for field, section in sections(spec):
        if draw(st.integers(0, depth)) == 0:
            value = draw(section_values(section, getattr(spec, field), file, depth + 1))
            spec = _allowed(spec, {field: value})
    return spec


def _accepted(spec: Any, field: str, about: Param, value: Any) -> Any:
    names = about.into or (field,)
    return _allowed(spec, dict(zip(names, value if about.into else (value,), strict=True)))


def _allowed(spec: Any, change: dict[str, Any]) -> Any:
    changed = replace(spec, **change).finished()
    before, after = list(violations(spec)), list(violations(changed))
    return changed if len(after) < len(before) or not after else spec


def values(about: Param, file: str) -> st.SearchStrategy[Any]:
    """Return values that pass the check of a param."""
    converter = about.converter
    if about.check is not None and about.check.words:
        return st.sampled_from(about.check.words)
    if converter.path == "file":
        return st.just(file)
    kind = BY_CONVERTER.get(converter, FLOAT)
    if about.form == "many":
        return st.lists(kind, min_size=1, max_size=3).map(lambda v: tuple(sorted(v)))
    if about.form == "items":
        return st.lists(kind, max_size=5).map(tuple)
    return kind


def section_values(section: Section, default: Any, file: str, depth: int) -> Any:
    """Return values of a section."""
    if section.named:
        return st.tuples(*(specs(wheel, file, depth) for wheel in default))
    if isinstance(section.spec, Variants):
        one = st.sampled_from(list(section.spec.values())).flatmap(
            lambda prototype: specs(prototype, file, depth)
        )
    else:
        usual = None if section.many else default
        one = specs(section.spec() if usual is None else usual, file, depth)
    return st.lists(one, max_size=2).map(tuple) if section.many else one
