# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""docs/ros2_interface.md agrees with the code, and params/sim.yaml with the defaults."""

import importlib.util
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from mvsim_core.bags.topics import INPUTS, OUTPUTS
from mvsim_ros2.parameters.settings import PARAMETERS, Settings
from tests.conftest import ROOT

DOCUMENT = ROOT / "docs" / "ros2_interface.md"
DEFAULTS = {f.name: f.default for f in fields(Settings)}


def _generator() -> Any:
    """Import docs/make_ros2_interface.py, which is in no package."""
    path = ROOT / "docs" / "make_ros2_interface.py"
    spec = importlib.util.spec_from_file_location("make_ros2_interface", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_ros2_interface = _generator()


def test_the_document_is_up_to_date() -> None:
    text = DOCUMENT.read_text()
    assert make_ros2_interface.update_tables(text) == text
    assert set(re.findall(r"<!-- table: (\w+) -->", text)) == set(make_ros2_interface.TABLES)


def test_all_parameters_and_topics_are_in_it() -> None:
    text = DOCUMENT.read_text()
    for name in (*PARAMETERS, *(t.name for t in (*INPUTS, *OUTPUTS))):
        assert f"`{name}`" in text


def test_tables_are_renewed_whatever_they_held(tmp_path: Path) -> None:
    document = tmp_path / "x.md"
    document.write_text("a\n<!-- table: replaced -->\n<!-- end -->\nb\n")
    assert make_ros2_interface.main([str(document)]) == 0
    once = document.read_text()
    assert once.startswith("a\n")
    assert once.endswith("\nb\n")
    assert "`simul_rate`" in once
    assert make_ros2_interface.update_tables(once.replace("simul_rate", "other")) == once
    with pytest.raises(KeyError):
        make_ros2_interface.update_tables("<!-- table: nothing -->\n<!-- end -->")


def test_the_parameter_file_holds_defaults() -> None:
    given = yaml.safe_load((ROOT / "params" / "sim.yaml").read_text())["/**"]["ros__parameters"]
    assert given == {name: DEFAULTS[name] for name in given}
