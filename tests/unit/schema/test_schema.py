# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The printed format says what the reader does, and the documents say what is printed."""

import re
from pathlib import Path

import pytest
from lxml import etree

from mvsim_core import UnknownName, dump_world, read_world
from mvsim_core.schema import as_markdown, as_text, as_xsd, elements
from tests.unit.xmlfile.test_fuzz import TAGS

ROOT = Path(__file__).resolve().parents[3]


def test_the_document_is_up_to_date() -> None:
    expected = (ROOT / "docs" / "world_format.md").read_text()
    assert as_markdown() == expected, "run: mvsim schema --markdown > docs/world_format.md"


def test_the_xml_schema_is_up_to_date() -> None:
    expected = (ROOT / "docs" / "mvsim_world.xsd").read_text()
    assert as_xsd() == expected, "run: mvsim schema --xsd > docs/mvsim_world.xsd"


@pytest.fixture(scope="module")
def xsd() -> etree.XMLSchema:
    return etree.XMLSchema(etree.fromstring(as_xsd().encode()))


def test_patterns_escape_only_what_the_standard_allows() -> None:
    """Some versions of libxml2 are lenient; editors are not (XML Schema 1.1, part 2, G.4.1)."""
    patterns = re.findall(r'<xs:pattern value="([^"]*)"', as_xsd())
    assert patterns
    for pattern in set(patterns):
        assert not re.search(r"\\[^nrt\\|.?*+(){}\[\]^sSiIcCdDwWpP-]", pattern), pattern


def proper(path: Path) -> etree._Element:
    """A world as one file without loops, whose prefixes are declared."""
    text = dump_world(read_world(path)[0])
    prefixes = ' xmlns:vehicle="vehicle" xmlns:block="block" xmlns:actor="actor"'
    return etree.fromstring(text.replace("<mvsim_world", f"<mvsim_world{prefixes}", 1).encode())


@pytest.mark.parametrize(
    "path", sorted((ROOT / "worlds").glob("*.world.xml")), ids=lambda path: path.name
)
def test_own_worlds_are_valid(path: Path, xsd: etree.XMLSchema) -> None:
    xsd.assertValid(proper(path))


def test_worlds_of_the_original_are_valid(mvsim_worlds: Path, xsd: etree.XMLSchema) -> None:
    for path in sorted(mvsim_worlds.rglob("*.world.xml")):
        xsd.assertValid(proper(path))


@pytest.mark.parametrize(
    "text",
    [
        "<mvsim_world><gravty>9.81</gravty></mvsim_world>",
        '<mvsim_world><element class="gruond_grid"/></mvsim_world>',
        "<mvsim_world><for var='i'/></mvsim_world>",
    ],
)
def test_what_an_editor_marks(text: str, xsd: etree.XMLSchema) -> None:
    assert not xsd.validate(etree.fromstring(text))


def test_an_editor_lets_flow_and_variables_pass(xsd: etree.XMLSchema) -> None:
    body = (
        "<variable name='K' value='laser'/><vehicle><for var='i' from='1' to='3'>"
        "<sensor class='${K}'><name>s${i}</name></sensor></for></vehicle>"
    )
    xsd.assertValid(etree.fromstring(f"<mvsim_world>{body}</mvsim_world>"))


def test_all_names_of_the_reader_are_documented() -> None:
    documented = {
        name for element in elements() for entry in element.entries for name in entry.names
    }
    documented |= {inner.tag for element in elements() for inner in element.inner}
    documented |= {element.tag for element in elements()}
    assert set(TAGS) - documented <= {
        *("include", "variable", "for", "if", "pt"),
        *("vehicle:class", "block:class", "actor:class"),
    }


def test_defaults_are_those_of_the_place() -> None:
    masses = {
        entry.default: element.inside
        for element in elements()
        if element.tag == "chassis"
        for entry in element.entries
        if entry.names[0] == "mass"
    }
    assert '<dynamics class="ackermann">' in masses["500"]
    assert '<dynamics class="differential">' in masses["15"]


def test_one_element_as_text() -> None:
    text = as_text("laser")
    assert text.startswith('<sensor class="laser">  in <mvsim_world>, <vehicle>\n')
    rule = "        angle from the first ray to the last; must be in (0, 360]\n"
    assert f"    fov_degrees: number [deg] = 180\n{rule}" in text
    assert "also rate_hz [Hz]" in text
    assert "lidar3d" not in text
    assert as_text("sensor").count('<sensor class="') >= 6
    with pytest.raises(UnknownName, match="Did you mean 'laser'"):
        as_text("lasr")


def test_rules_are_sentences_in_the_text() -> None:
    text = as_text("joint")
    assert "; must not be empty\n" in text
    assert "must be not" not in as_text()
    assert "must be have" not in as_text()
