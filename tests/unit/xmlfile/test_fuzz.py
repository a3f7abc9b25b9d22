# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Any bytes give a world or one WorldFileError, soon."""

import time
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mvsim_core.errors import WorldFileError
from mvsim_core.specs import WorldSpec
from mvsim_core.specs.params import Section, Spec, Variants, params, sections
from mvsim_core.specs.world import WorldSpec as Root
from mvsim_core.xmlfile import read_world

LIMIT = 2.0  # s, on a busy machine; typical are milliseconds
PER_VEHICLE = 2e-3  # s; a file may well ask for thousands


def check(data: bytes, file: Path) -> None:
    file.write_bytes(data)
    start = time.process_time()
    try:
        outcome: WorldSpec | WorldFileError = read_world(file)[0]
    except WorldFileError as error:
        outcome = error
    assert isinstance(outcome, WorldSpec) or (outcome.errors and str(outcome))
    vehicles = len(outcome.vehicles) if isinstance(outcome, WorldSpec) else 0
    assert time.process_time() - start < LIMIT + vehicles * PER_VEHICLE


def names() -> tuple[list[str], list[str]]:
    """Return all tags and all class names of the format."""
    tags = {"include", "variable", "for", "if", "pt", "l_wheel", "rr_wheel"}
    kinds: set[str] = {"c", "true"}
    seen: set[type[Spec]] = set()
    waiting: list[type[Spec]] = [Root]
    while waiting:
        spec = waiting.pop()
        if spec in seen:
            continue
        seen.add(spec)
        tags.update(alias.name for field, about in params(spec) for alias in about.named(field))
        for _, section in sections(spec):
            tags.add(section.tag or "door")
            waiting += _classes(section)
            if isinstance(section.spec, Variants):
                kinds.update(section.spec)
    tags.update({"vehicle:class", "block:class", "actor:class"})
    return sorted(tags), sorted(kinds)


def _classes(section: Section) -> list[type[Spec]]:
    if isinstance(section.spec, Variants):
        return [type(prototype) for prototype in section.spec.values()]
    return [section.spec]


TAGS, KINDS = names()
VALUES = st.one_of(
    st.sampled_from(
        [
            *("0", "1", "-1", "1e999", "nan", "0 0 0", "1 2 3 4 5 6", "#ff0000", "[1 2;3 4]", ""),
            *("${X}", "${X|1}", "$f{rand()}", "$f{X*2}", "$(ls)", "$env{PATH}", "${", "$f{1+}"),
            *("w.world.xml", "/dev/null", "/", "package://a/b", "http://x/y.dae", "%s"),
            *("KP", "\x00", "\ufffe", "9" * 400, "--", "<", "&amp;", "NaN NaN NaN"),
        ]
    ),
    st.text(max_size=12),
)
ATTRIBUTES = st.dictionaries(
    st.one_of(st.sampled_from(["class", "name", "file", "var", "from", "to", "condition",
                               "value", "type", "pos"]), st.sampled_from(TAGS)),
    st.one_of(VALUES, st.sampled_from(KINDS)),
    max_size=4,
)  # fmt: skip


@st.composite
def elements(draw: st.DrawFn, depth: int = 0) -> str:
    tag = draw(st.sampled_from(TAGS))
    attributes = "".join(
        f' {name}="{value.replace(chr(34), "")}"' for name, value in draw(ATTRIBUTES).items()
    )
    inner = draw(VALUES)
    if depth < 3:
        inner = "".join(draw(st.lists(elements(depth + 1), max_size=3))) or inner
    end = draw(st.sampled_from([tag, tag, tag, tag, "x"]))
    return f"<{tag}{attributes}>{inner}</{end}>"


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.binary(max_size=300))
def test_any_bytes(data: bytes, tmp_path: Path) -> None:
    check(data, tmp_path / "w.world.xml")


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(text=st.text("<>/=\"'ab \n&!-[]?;#x1${}|f", max_size=200))
def test_any_markup(text: str, tmp_path: Path) -> None:
    check(f"<mvsim_world>{text}</mvsim_world>".encode(), tmp_path / "w.world.xml")


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(content=st.lists(elements(), max_size=4))
def test_any_tree_of_known_words(content: list[str], tmp_path: Path) -> None:
    body = "".join(content)
    data = f"<mvsim_world>{body}</mvsim_world>".encode("utf-8", "surrogatepass")
    check(data, tmp_path / "w.world.xml")


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_real_files_with_errors(data: st.DataObject, tmp_path: Path) -> None:
    """Cut, swap and overwrite pieces of a proper world."""
    text = bytearray(PROPER)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        size = data.draw(st.integers(0, 12))
        text[place : place + size] = data.draw(st.binary(max_size=6))
    check(bytes(text), tmp_path / "w.world.xml")


PROPER = b"""<?xml version="1.0" encoding="utf-8"?>
<mvsim_world version="1.0">
  <variable name="N" value="3"/>
  <element class="vertical_plane"><x0>0</x0><door position="0.3" width="1"/></element>
  <vehicle:class name="c">
    <dynamics class="differential_4_wheels">
      <lf_wheel pos="0.1 0.2" mass="1" width="0.1" diameter="0.2"/>
      <chassis mass="10"><shape><pt>0 0</pt><pt>1 0</pt><pt>1 1</pt></shape></chassis>
      <controller class="twist_pid"><KP>10</KP><max_torque>$f{5*N}</max_torque></controller>
    </dynamics>
    <friction class="ellipse"/>
    <sensor class="laser" name="scan"><pose>0 0 90</pose><nrays>90</nrays></sensor>
  </vehicle:class>
  <for var="i" from="1" to="${N}">
    <vehicle name="r${i}" class="c"><init_pose>$f{2*i} 0 0</init_pose></vehicle>
  </for>
  <if condition="$f{N>2}"><block><init_pose>9 9 0</init_pose></block></if>
</mvsim_world>
"""


def test_the_proper_world_is_proper(tmp_path: Path) -> None:
    file = tmp_path / "w.world.xml"
    file.write_bytes(PROPER)
    spec, warnings = read_world(file)
    assert warnings == ()
    assert len(spec.vehicles) == 3


def test_ten_megabytes(tmp_path: Path) -> None:
    block = b'<block name="b%d">\n  <init_pose>%d 0 0</init_pose>\n  <mass>%d</mass></block>\n'
    body = b"".join(block % (i, i, i + 1) for i in range(20_000))
    padding = b"<!-- " + b"x" * 9_000_000 + b" -->\n"
    file = tmp_path / "big.world.xml"
    file.write_bytes(b"<mvsim_world>\n" + padding + body + b"</mvsim_world>")
    start = time.process_time()
    spec, _ = read_world(file)
    assert time.process_time() - start < 20.0  # about 2 s on an idle core
    assert len(spec.blocks) == 20_000
    assert spec.blocks[-1].where.line == 3 + 3 * 19_999


def test_suggestions_take_no_time() -> None:
    """Fuzzing found long garbage names in loops, each compared with all names each time."""
    long = "\N{REPLACEMENT CHARACTER}" * 1500
    unknown = " ".join(f'{long}{i}="1" wrng{i}="2"' for i in range(40))
    body = f'<for var="i" from="1" to="20"><block {unknown}><init_pose>0 0 0</init_pose></block>'
    start = time.process_time()
    spec, warnings = read_world(text=f"<mvsim_world>{body}</for></mvsim_world>")
    assert time.process_time() - start < LIMIT  # about 0.1 s on an idle core
    assert len(spec.blocks) == 20
    assert warnings
