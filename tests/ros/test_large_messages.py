# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""When Fast DDS gets a larger shared-memory segment."""

from pathlib import Path

import pytest

from mvsim_ros2 import large_messages as lm


def test_the_variable_is_there_only_within_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lm, "has_room", lambda: True)
    environment: dict[str, str] = {}
    with lm.large_messages(environment) as larger:
        assert larger
        assert environment == {lm.VARIABLE: lm.TRANSPORTS}
    assert environment == {}


@pytest.mark.parametrize("variable", lm.USER_VARIABLES)
def test_a_set_up_of_the_user_is_left_alone(variable: str, tmp_path: Path) -> None:
    environment = {variable: "something"}
    assert lm.decided_by_user(environment, tmp_path)
    with lm.large_messages(environment) as larger:
        assert not larger
    assert environment == {variable: "something"}


def test_a_profile_file_in_the_folder_is_the_users(tmp_path: Path) -> None:
    assert not lm.decided_by_user({}, tmp_path)
    (tmp_path / lm.USER_FILE).touch()
    assert lm.decided_by_user({}, tmp_path)


@pytest.mark.parametrize(
    ("rmw", "other"), [("rmw_fastrtps_cpp", False), ("", False), ("rmw_cyclonedds_cpp", True)]
)
def test_other_middleware_is_left_alone(rmw: str, other: bool, tmp_path: Path) -> None:
    assert lm.decided_by_user({"RMW_IMPLEMENTATION": rmw}, tmp_path) is other


def test_no_room_no_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lm, "LEAST_FREE", 2**62)
    assert not lm.has_room()
    assert not lm.has_room(tmp_path / "missing")
    environment: dict[str, str] = {}
    with lm.large_messages(environment) as larger:
        assert not larger
    assert environment == {}
