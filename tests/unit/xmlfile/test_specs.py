# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The declarations of all specs, swept."""

import copy
import dataclasses
import pickle
from collections.abc import Iterator

import pytest

from mvsim_core.errors import UnknownName
from mvsim_core.specs import (
    DYNAMICS,
    ELEMENTS,
    FRICTIONS,
    KINEMATICS,
    MODULATIONS,
    SENSORS,
    ActorSpec,
    BlockSpec,
    ChassisSpec,
    JointSpec,
    LaserSpec,
    Spec,
    Variants,
    VehicleSpec,
    WallsSpec,
    WheelSpec,
    WorldSpec,
    violations,
)
from mvsim_core.specs.copying import copies
from mvsim_core.specs.params import (
    NOT_NEGATIVE,
    Alias,
    Where,
    param,
    params,
    sections,
)


def specs() -> Iterator[Spec]:
    """Yield a prototype of every spec that can stand in a world file, each class once."""
    seen: set[int] = set()
    waiting: list[Spec] = [WorldSpec(), VehicleSpec(), BlockSpec(), ActorSpec()]
    while waiting:
        spec = waiting.pop()
        if id(spec) in seen:
            continue
        seen.add(id(spec))
        yield spec
        for name, section in sections(spec):
            if isinstance(section.spec, Variants):
                waiting += section.spec.values()
            default = getattr(spec, name)
            waiting += [part for part in _parts(default) if isinstance(part, Spec)]
            if not isinstance(section.spec, Variants) and not default:
                waiting.append(section.spec())


def _parts(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


ALL = list(
    {f"{type(spec).__name__}-{getattr(spec, 'kind', '')}": spec for spec in specs()}.items()
)


@pytest.mark.parametrize(("name", "spec"), ALL, ids=[name for name, _ in ALL])
def test_every_default_passes_its_own_check(name: str, spec: Spec) -> None:
    for field, about in params(spec):
        value = getattr(spec, field)
        if about.check is not None and not about.required:
            assert about.check.passes(value), f"{name}.{field} = {value!r}: {about.check.rule}"


@pytest.mark.parametrize(("name", "spec"), ALL, ids=[name for name, _ in ALL])
def test_every_default_survives_writing_and_reading(name: str, spec: Spec) -> None:
    for field, about in params(spec):
        value = getattr(spec, field)
        if value is None or value == () or about.form == "flag":
            continue
        if about.into:
            value = tuple(getattr(spec, part) for part in about.into)
        values = value if about.form in ("many", "items") else (value,)
        for one in values:
            back = about.converter.read(about.converter.write(one))
            assert back == one, f"{name}.{field}: {back} is not {one}"


@pytest.mark.parametrize(("name", "spec"), ALL, ids=[name for name, _ in ALL])
def test_every_spec_can_be_pickled_and_copied(name: str, spec: Spec) -> None:
    back = pickle.loads(pickle.dumps(spec))
    assert type(back) is type(spec)
    assert (back, back.where) == (spec, spec.where)
    for copied in (copy.copy(spec), copy.deepcopy(spec)):
        assert copied is spec, name


def test_the_sweep_sees_all_kinds() -> None:
    assert len(ALL) > 45
    swept = [spec for _, spec in ALL]
    for variants in (DYNAMICS, ELEMENTS, FRICTIONS, KINEMATICS, MODULATIONS, SENSORS):
        assert all(prototype in swept for prototype in variants.values())
    names = {type(spec).__name__ for _, spec in ALL}
    assert {"WheelSpec", "WaypointSpec", "OpeningSpec", "GeometrySpec", "WallsSpec"} <= names


def test_no_two_fields_share_a_name() -> None:
    for name, spec in ALL:
        seen: set[str] = set()
        for field, about in params(spec):
            for alias in about.named(field):
                written = f"{alias.name}/{alias.inner}"
                assert written not in seen, f"{name}: {written}"
                seen.add(written)


def test_specs_are_frozen_and_compare_by_value() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        WheelSpec().mass = 3  # type: ignore[misc]
    assert WheelSpec(mass=3) == WheelSpec(mass=3)
    assert WheelSpec(mass=3) != WheelSpec(mass=4)
    assert WheelSpec() != ChassisSpec()
    with pytest.raises(dataclasses.FrozenInstanceError):
        del WheelSpec().mass  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "spec"), ALL, ids=[name for name, _ in ALL])
def test_each_field_counts_in_comparison_and_text_but_not_the_place(name: str, spec: Spec) -> None:
    moved = dataclasses.replace(spec, where=Where("other.xml", 7))
    assert moved == spec
    assert hash(moved) == hash(spec)
    assert repr(moved) == repr(spec)
    for field in dataclasses.fields(spec):
        if field.name != "where":
            other = copies(spec, {field.name: [object()]})[0]
            assert other != spec, field.name
            assert hash(other) != hash(spec), field.name
            assert f"{field.name}={getattr(spec, field.name)!r}" in repr(spec)
    assert repr(spec).startswith(f"{type(spec).__name__}(")


def test_specs_made_in_python_are_checked_by_the_same_rules() -> None:
    assert list(violations(WheelSpec(mass=-1.0))) == ["mass must be > 0 [kg], got -1.0"]
    assert list(violations(ChassisSpec(zmin=2.0, zmax=1.0))) == [
        "zmin (2 m) must be below zmax (1 m)"
    ]
    nan = float("nan")
    spec = VehicleSpec(sensors=(LaserSpec(max_range=nan),))
    assert list(violations(spec)) == ["sensors: max_range must be finite [m], got nan"]
    assert list(violations(VehicleSpec())) == []


@pytest.mark.parametrize("value", [(), "", 0, 0.0, -1.0, 1e300, float("nan")], ids=repr)
def test_any_value_of_a_field_is_judged(value: object) -> None:
    """Also one that breaks its own rule, on which the rules between fields then rely."""
    for name, spec in ALL:
        for field, about in params(spec):
            default = getattr(spec, field)
            if type(value) is not type(default):
                continue
            changed = dataclasses.replace(spec, **{field: value})
            judged = list(violations(changed))
            broken = about.check is not None and not about.check.passes(value)
            assert not broken or judged, f"{name}: {field}"


def test_variants() -> None:
    assert {"default", "wardiagnemma", "ellipse"} <= set(FRICTIONS)
    assert len(DYNAMICS) >= 5
    assert len(SENSORS) >= 6
    assert ELEMENTS["point_cloud"] is ELEMENTS["pointcloud"]
    with pytest.raises(UnknownName, match="Did you mean 'laser'"):
        SENSORS["lasr"]
    for variants in (DYNAMICS, SENSORS, ELEMENTS, FRICTIONS):
        for kind, prototype in variants.items():
            assert getattr(prototype, "kind", kind) == kind


def test_a_plug_in_registers_its_own_spec() -> None:
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class SpringSpec(Spec):
        """A model of one's own."""

        kind: str = "spring"
        stiffness: float = param(10.0, unit="N/m", check=NOT_NEGATIVE, also=("k", Alias("stiff")))

    variants = Variants("thing class", {})
    variants.register("spring", SpringSpec())
    assert variants["spring"] == SpringSpec()
    with pytest.raises(ValueError, match="registered twice"):
        variants.register("spring", SpringSpec())


def test_walls_and_joints_name_what_is_wrong() -> None:
    assert "walls require" in next(WallsSpec().errors())
    joint = JointSpec(type="pin", body_a="a", body_b="a", min_length=9.0)
    assert len(list(joint.errors())) == 2
