# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The tokenizer: what it accepts, its warnings, line numbers."""

import time

import pytest

from mvsim_core.xmlfile.markup import MarkupError, Node, parse


def only(text: str) -> Node:
    nodes, warnings = parse(text)
    assert warnings == []
    assert len(nodes) == 1
    return nodes[0]


def test_undeclared_prefix_is_part_of_the_name() -> None:
    node = only('<vehicle:class name="r"><a/></vehicle:class>')
    assert node.tag == "vehicle:class"
    assert node.attributes == {"name": "r"}


def test_two_roots() -> None:
    nodes, warnings = parse("<a/>\n<b/>")
    assert [(node.tag, node.line) for node in nodes] == [("a", 1), ("b", 2)]
    assert warnings == []


def test_closing_tag_of_another_name_closes_with_a_warning() -> None:
    nodes, warnings = parse("<v>\n<x>1</z>\n<y>2</y>\n</v>")
    assert [(child.tag, child.text) for child in nodes[0].children] == [("x", "1"), ("y", "2")]
    assert [(warning.line, warning.element) for warning in warnings] == [(2, "x")]


def test_less_than_and_quotes_in_attributes() -> None:
    node = only("""<if condition="$f{if(iY<=3 or iY>=6, 1, 0)}" other='say "x"'/>""")
    assert node.attributes["condition"] == "$f{if(iY<=3 or iY>=6, 1, 0)}"
    assert node.attributes["other"] == 'say "x"'


def test_entities() -> None:
    node = only('<a b="&lt;&#65;&#x42;&quot;">R&amp;D & &unknown; &#0; &#xD800;</a>')
    assert node.attributes["b"] == '<AB"'
    assert node.text == "R&D & &unknown; &#0; &#xD800;"


def test_document_type_is_skipped_and_its_entities_stay_unknown() -> None:
    laughs = "".join(
        f'<!ENTITY l{i} "&l{i - 1};&l{i - 1};&l{i - 1};&l{i - 1};">' for i in range(1, 30)
    )
    text = f'<!DOCTYPE w [<!ENTITY l0 "ha">{laughs}]><w>&l29;</w>'
    assert only(text).text == "&l29;"


def test_comments_inside_a_value_do_not_cut_it() -> None:
    assert only("<a>1 <!-- was 5 --> 2<![CDATA[<3]]></a>").text == "1  2<3"


def test_the_first_of_two_equal_attributes_is_used() -> None:
    nodes, warnings = parse('<a\nx="1"\nx="2"/>')
    assert nodes[0].attributes == {"x": "1"}
    assert [(warning.line, warning.message) for warning in warnings] == [
        (3, "x is given twice; the first value is used")
    ]


def test_lines_of_tags_and_attributes() -> None:
    nodes, _ = parse('<!-- 1\n2 -->\n<a b="1"\n   c="2"\n\n   d="x\ny"><e/>\n<f>\n</f></a>')
    node = nodes[0]
    assert node.line == 3
    assert node.lines == {"c": 4, "d": 6}
    assert [child.line for child in node.children] == [7, 8]


def test_lines_beyond_two_bytes() -> None:
    nodes, _ = parse("<a>" + "\n<b/>" * 100_000 + "</a>")
    assert nodes[0].children[-1].line == 100_001


def test_text_outside_of_all_elements_gives_a_warning() -> None:
    _, warnings = parse("<a/> stray <b/>")
    assert [warning.message for warning in warnings] == ["text outside of all elements: 'stray'"]


@pytest.mark.parametrize(
    ("text", "line", "element", "message"),
    [
        ("<a>\n<b>\n</a>", 2, "b", "never closed: </a> in line 3 comes first"),
        ("<a>\n<b>", 2, "", "<b> is never closed"),
        ("</a>", 1, "", "</a> closes nothing"),
        ("<a\n", 1, "a", "the file ends inside this tag"),
        ("<a b='1' c>", 1, "a", "expected name=\"value\" or '>', got 'c>'"),
        ("<a>1 < 2</a>", 1, "a", "'<' begins no element here; write &lt; for the character"),
        ("<a></a", 1, "a", "a closing tag without its '>'"),
        ("\n<!-- a -- b", 2, "", "'<!--' is not closed by '-->'"),
        ("<![CDATA[", 1, "", "'<![CDATA[' is not closed by ']]>'"),
        ("<!DOCTYPE a [", 1, "", "'<!' is not closed by '>'"),
    ],
)
def test_what_cannot_be_read(text: str, line: int, element: str, message: str) -> None:
    with pytest.raises(MarkupError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.element) == (line, element)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        "<" * 300_000,
        "<a " * 100_000,
        '<a b="' * 100_000,
        "<a " + 'b="1" ' * 100_000,
        "<!" * 100_000,
        "<a>" * 100_000,
        "</a>" * 100_000,
        "<a>" + " " * 1_000_000,
        "<a b='" + "x" * 1_000_000,
    ],
    ids=lambda text: text[:8],
)
def test_no_text_takes_long(text: str) -> None:
    start = time.process_time()
    with pytest.raises(MarkupError):
        parse(text)
    assert time.process_time() - start < 2.0
