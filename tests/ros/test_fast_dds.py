# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""When and how Fast DDS is configured."""

from pathlib import Path

import pytest

from mvsim_ros2.runtime import fast_dds


def test_the_variables_are_there_only_within_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_dds, "has_shared_memory", lambda: True)
    environment: dict[str, str] = {}
    with fast_dds.configured(environment) as done:
        assert done
        assert environment[fast_dds.TRANSPORTS] == fast_dds.LARGE_SEGMENT
        assert Path(environment[fast_dds.PROFILES]).read_text().startswith("<?xml")
    assert environment == {}
    with fast_dds.configured(environment, large_messages=False):
        assert set(environment) == {fast_dds.PROFILES}


@pytest.mark.parametrize("variable", fast_dds.USER_VARIABLES)
def test_a_configuration_of_the_user_is_kept(variable: str, tmp_path: Path) -> None:
    environment = {variable: "something"}
    assert fast_dds.configured_by_user(environment, tmp_path)
    with fast_dds.configured(environment) as done:
        assert not done
    assert environment == {variable: "something"}


def test_a_profile_file_in_the_folder_is_the_users(tmp_path: Path) -> None:
    assert not fast_dds.configured_by_user({}, tmp_path)
    (tmp_path / fast_dds.USER_FILE).touch()
    assert fast_dds.configured_by_user({}, tmp_path)


@pytest.mark.parametrize(
    ("rmw", "other"), [("rmw_fastrtps_cpp", False), ("", False), ("rmw_cyclonedds_cpp", True)]
)
def test_other_middleware_is_left_alone(rmw: str, other: bool, tmp_path: Path) -> None:
    assert fast_dds.configured_by_user({"RMW_IMPLEMENTATION": rmw}, tmp_path) is other


def test_a_small_shared_memory_is_not_filled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fast_dds, "MIN_FREE", 2**62)
    assert not fast_dds.has_shared_memory()
    assert not fast_dds.has_shared_memory(tmp_path / "missing")
    environment: dict[str, str] = {}
    with fast_dds.configured(environment):
        assert set(environment) == {fast_dds.PROFILES}
