# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The table of parameters, and what it accepts."""

from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest

from mvsim_ros2.parameters.settings import (
    PARAMETERS,
    REPLACED,
    Settings,
    SettingsError,
    convert,
    declare,
    settings_from,
    unknown_parameters,
    with_changes,
)


def test_stamps_cannot_follow_the_wall_clock_at_another_pace() -> None:
    with pytest.raises(SettingsError, match="must be 1 with use_wall_time, got 2"):
        settings_from({"use_wall_time": True, "realtime_factor": 2})
    with pytest.raises(SettingsError, match="must be 1 with use_wall_time, got 0"):
        with_changes(settings_from({"use_wall_time": True}), {"realtime_factor": "max"})


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_has_a_sentence_of_help_and_a_valid_default(name: str) -> None:
    info = PARAMETERS[name]
    default = {f.name: f.default for f in fields(Settings)}[name]
    assert info.help[0].isupper()
    assert info.help.endswith(".")
    assert convert(name, default) == default


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("realtime_factor", "max", 0.0),
        ("realtime_factor", "MAX", 0.0),
        ("realtime_factor", 0, 0.0),
        ("realtime_factor", 2, 2.0),
        ("realtime_factor", "0.5", 0.5),
        ("enable_stamped_cmd_vel", True, "true"),
        ("enable_stamped_cmd_vel", False, "false"),
        ("enable_stamped_cmd_vel", "Auto", "auto"),
        ("publish_rate", 50, 50.0),
        ("scan_no_hit", float("inf"), "inf"),  # YAML makes a number of it
        ("scan_no_hit", "range_max", "range_max"),
        ("odom_frame", "/odom", "odom"),
        ("frame_prefix", "/<name>/", "<name>/"),
        ("do_fake_localization", "False", False),
    ],
)
def test_what_users_write_is_understood(name: str, given: Any, value: Any) -> None:
    assert convert(name, given) == value


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("realtime_factor", "fast"),
        ("realtime_factor", -1.0),
        ("realtime_factor", float("nan")),
        ("realtime_factor", True),
        ("publish_rate", 0.0),
        ("publish_rate", float("inf")),
        ("clock_rate", "200"),
        ("command_timeout", -0.1),
        ("enable_stamped_cmd_vel", "yes"),
        ("enable_stamped_cmd_vel", 1),
        ("odom_frame", ""),
        ("odom_frame", "my odom"),
        ("map_frame", 3),
        ("frame_prefix", "the <name>/"),
        ("seed", -1),
        ("seed", 1.5),
        ("world_file", 7),
        ("headless", "maybe"),
    ],
)
def test_nonsense_is_refused_with_name_rule_and_value(name: str, given: Any) -> None:
    with pytest.raises(SettingsError) as caught:
        convert(name, given)
    assert str(caught.value) == (
        f"parameter {name!r} must be {PARAMETERS[name].limits}, got {given!r}"
    )


NUMBERS = [f.name for f in fields(Settings) if type(f.default) in (int, float)]


@pytest.mark.parametrize("name", NUMBERS)
def test_the_range_of_every_number_is_what_its_rule_accepts(name: str) -> None:
    span = PARAMETERS[name].span
    assert span is not None
    low, high = span
    assert [convert(name, end) for end in span] == [low, high]
    beyond = 1 if isinstance(low, int) else 0.01
    for outside in (low - beyond, high + beyond):
        with pytest.raises(SettingsError):
            convert(name, outside)


def test_what_is_no_number_has_no_range() -> None:
    assert not [name for name in PARAMETERS if name not in NUMBERS and PARAMETERS[name].span]


class Host:
    """Remembers what is declared."""

    def __init__(self) -> None:
        self.declared: dict[str, Any] = {}

    def declare_parameter(
        self, name: str, value: Any, descriptor: Any, ignore_override: bool
    ) -> None:
        assert ignore_override
        self.declared[name] = value


def test_whole_numbers_become_floating_point_ones_where_those_are_meant() -> None:
    host = Host()
    given = {
        "publish_rate": SimpleNamespace(value=25),
        "realtime_factor": SimpleNamespace(value="max"),
        "seed": SimpleNamespace(value=3),
        "headless": SimpleNamespace(value=False),
        "unknown": SimpleNamespace(value=1),
    }
    settings = declare(host, given)
    assert (settings.publish_rate, settings.realtime_factor, settings.seed) == (25.0, 0.0, 3)
    assert type(host.declared["publish_rate"]) is float
    assert type(host.declared["seed"]) is int
    assert host.declared["realtime_factor"] == "max"  # as it was written
    assert host.declared["headless"] is False
    assert set(host.declared) == set(PARAMETERS)


def test_live_parameters_change_and_others_do_not() -> None:
    settings = settings_from({"world_file": "a.world.xml"})
    assert with_changes(settings, {"realtime_factor": "max"}).realtime_factor == 0.0
    assert with_changes(settings, {"world_file": "a.world.xml"}) == settings
    with pytest.raises(SettingsError, match="can only be set when the node starts"):
        with_changes(settings, {"world_file": "b.world.xml"})


@pytest.mark.parametrize(
    ("publish_map", "fake", "sent"),
    [("auto", True, True), ("auto", False, False), ("true", False, True), ("false", True, False)],
)
def test_the_map_is_left_to_a_map_server_unless_localization_is_faked(
    publish_map: str, fake: bool, sent: bool
) -> None:
    settings = settings_from({"publish_map": publish_map, "do_fake_localization": fake})
    assert settings.publishes_map is sent


def test_unknown_names_get_a_suggestion_and_those_of_the_cpp_node_a_replacement() -> None:
    names = ["use_sim_time", "qos_overrides./scan.publisher.depth", "world_file"]
    assert unknown_parameters(names) == []
    assert unknown_parameters(["world_fil"]) == [
        "unknown parameter 'world_fil'. Did you mean 'world_file'?"
    ]
    assert unknown_parameters(["simul_rate"]) == [
        f"parameter 'simul_rate' has no effect: {REPLACED['simul_rate']}"
    ]
