# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim schema`, as a user calls it."""

from collections.abc import Callable

from mvsim_core.schema import as_markdown, as_xsd
from tests.unit.cli.conftest import Outcome


def test_one_element(mvsim: Callable[..., Outcome]) -> None:
    code, out, _ = mvsim("schema", "friction")
    assert code == 0
    assert out.count('<friction class="') == 3
    assert "    mu: number = 0.8\n        friction coefficient; must be >= 0\n" in out


def test_all_as_text_document_or_xml_schema(mvsim: Callable[..., Outcome]) -> None:
    assert mvsim("schema")[1].startswith("<mvsim_world>\n")
    assert mvsim("schema", "--markdown")[1] == as_markdown()
    assert mvsim("schema", "--xsd")[1] == as_xsd()


def test_wrong_usage(mvsim: Callable[..., Outcome]) -> None:
    code, _, err = mvsim("schema", "lasr")
    assert code == 1
    assert "Did you mean 'laser'?" in err
    assert mvsim("schema", "--markdown", "--xsd")[0] == 2
    assert mvsim("schema", "laser", "--xsd")[0] == 2
