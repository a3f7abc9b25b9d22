# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (the calls describe the fields; their defaults are immutable)
"""The parameters of the node: names, defaults, limits and help, each written once.

The fields of `Settings` are the parameters. Declaration, checks, error texts and the table in
docs/ros2_interface.md are made from them.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol

from mvsim_core import MvsimError

#: How the names of parameters begin that change the quality of service of a publisher.
QOS_PREFIX = "qos_overrides."

#: The largest whole number that a parameter can hold.
LARGEST = 2**63 - 1

StampedChoice = Literal["auto", "true", "false"]
MapChoice = Literal["auto", "true", "false"]
OdometryStart = Literal["zero", "spawn"]
NoHit = Literal["inf", "range_max", "beyond", "zero"]


class SettingsError(MvsimError):
    """A parameter has a value that cannot be used."""


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a parameter besides its name and default.

    Attributes:
        help: One sentence for `ros2 param describe` and the documentation.
        convert: From any value that ROS delivers to the field's; raises ValueError with the rule.
        limits: The rule in words, unit included.
        live: Whether it may change while the node runs.
        span: Lowest and highest number, both allowed: whole numbers or floating-point ones.
    """

    help: str
    convert: Callable[[Any], Any]
    limits: str
    live: bool = False
    span: tuple[float, float] | None = None


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError


def _frame(value: Any) -> str:
    # tf2 refuses frame names that begin with a slash.
    name = _text(value).lstrip("/")
    if not name or any(c.isspace() for c in name):
        raise ValueError
    return name


def _no_spaces(value: Any) -> str:
    text = _text(value).lstrip("/")
    if any(c.isspace() for c in text):
        raise ValueError
    return text


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _between(low: float, high: float) -> Callable[[Any], float]:
    def convert(value: Any) -> float:
        number = _number(value)
        if not low <= number <= high:
            raise ValueError
        return number

    return convert


_FACTORS = (0.0, 1e6)


def _factor(value: Any) -> float:
    if isinstance(value, str):
        if value.lower() == "max":
            return 0.0
        value = float(value)
    return _between(*_FACTORS)(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST:
        raise ValueError
    return value


def _three_way(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.lower() in ("auto", "true", "false"):
        return value.lower()
    raise ValueError


def _no_hit(value: Any) -> str:
    text = "inf" if value == math.inf else value  # YAML takes .inf for a number
    if text not in ("inf", "range_max", "beyond", "zero"):
        raise ValueError
    return str(text)


def _start(value: Any) -> str:
    if value not in ("zero", "spawn"):
        raise ValueError
    return str(value)


def _switch(default: bool, help_text: str) -> Any:
    about = About(help_text, _boolean, "true or false")
    return field(default=default, metadata={"about": about})


def _param(
    default: Any,
    help_text: str,
    convert: Callable[[Any], Any] = _text,
    limits: str = "a text",
    *,
    live: bool = False,
    span: tuple[float, float] | None = None,
) -> Any:
    about = About(help_text, convert, limits, live, span)
    return field(default=default, metadata={"about": about})


def _measure(
    default: float, help_text: str, span: tuple[float, float], unit: str, *, live: bool = False
) -> Any:
    low, high = (f"{end:g}".replace("e+0", "e") for end in span)
    limits = f"a number in [{low}, {high}] {unit}"
    return _param(default, help_text, _between(*span), limits, live=live, span=span)


_FRAME = (_frame, "a name without spaces")
_THREE_WAY = (_three_way, "auto, true or false")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of all parameters; SI units."""

    world_file: str = _param("", "World file (.world.xml) to simulate; must be given.")
    realtime_factor: float = _param(
        1.0,
        "Simulated seconds per second; max or 0: as fast as possible.",
        _factor,
        "max or a number in [0, 1e6]",
        live=True,
        span=_FACTORS,
    )
    start_paused: bool = _switch(
        False, "Begin paused after the first step; see the services for playing and stepping."
    )
    seed: int = _param(
        0,
        "Seed of all random numbers of the simulation.",
        _whole,
        "a whole number >= 0",
        span=(0, LARGEST),
    )
    enable_stamped_cmd_vel: StampedChoice = _param(
        "auto",
        "Type of cmd_vel: true = TwistStamped, false = Twist, auto = what publishers offer.",
        *_THREE_WAY,
    )
    cmd_angle_instead_rotvel: bool = _switch(
        False,
        "Take angular.z of cmd_vel as the steering angle [rad] of a virtual front centre wheel,"
        " of vehicles that steer; false: as the yaw rate.",
    )
    command_timeout: float = _measure(
        0.5,
        "Simulated time without a command after which a vehicle stops; 0: never.",
        (0.0, 1e6),
        "s",
        live=True,
    )
    publish_rate: float = _measure(
        50.0,
        "Rate of odom, ground truth, TF and collision, in simulated time.",
        (0.1, 1e4),
        "Hz",
        live=True,
    )
    clock_rate: float = _measure(
        200.0,
        "Least rate of /clock in simulated time; ticks in which something is published get one.",
        (1.0, 1e4),
        "Hz",
        live=True,
    )
    use_wall_time: bool = _switch(
        False,
        "Let stamps follow the wall clock and publish no /clock, for nodes without use_sim_time;"
        " realtime_factor must be 1.",
    )
    do_fake_localization: bool = _switch(
        True, "Publish map -> odom from the true pose, so that no localiser is needed."
    )
    publish_tf_odom2baselink: bool = _switch(
        True, "Publish odom -> base; false when a filter such as robot_localization does it."
    )
    publish_base_footprint: bool = _switch(
        True, "Put base_footprint between odom and base_link, on the ground."
    )
    odom_starts_at: OdometryStart = _param(
        "zero",
        "Pose by the odometry at the start: zero, or spawn = the vehicle's in the world.",
        _start,
        "zero or spawn",
    )
    publish_initialpose: bool = _switch(
        False, "Tell whoever comes to listen on initialpose, such as AMCL, where the vehicle is."
    )
    publish_map: MapChoice = _param(
        "auto",
        "Publish occupancy grids of the world on map; auto: only with do_fake_localization,"
        " so that a map server or SLAM is not disturbed.",
        *_THREE_WAY,
    )
    force_publish_vehicle_namespace: bool = _switch(
        False, "Put the topics of a vehicle into its namespace even if it is the only one."
    )
    mvsim_topic_names: bool = _switch(
        True, "Publish also under the topic names of the C++ MVSim where they differ."
    )
    publish_log_topics: bool = _switch(
        False, "Publish each column of the logs of vehicles and wheels on a topic, in each step."
    )
    scan_topic: str = _param(
        "scan",
        "Further topic for the scans of a vehicle that has exactly one 2D lidar; empty: none.",
    )
    scan_no_hit: NoHit = _param(
        "inf",
        "Range of LaserScan where nothing is met: inf as REP-117 has it, or for consumers that"
        " cannot take it range_max, beyond (1 cm more) or zero.",
        _no_hit,
        "inf, range_max, beyond or zero",
    )
    map_frame: str = _param("map", "Frame of the world.", *_FRAME)
    odom_frame: str = _param("odom", "Frame of the odometry.", *_FRAME)
    base_frame: str = _param("base_link", "Frame of the vehicle's reference point.", *_FRAME)
    footprint_frame: str = _param(
        "base_footprint", "Frame of the vehicle's projection on the ground.", *_FRAME
    )
    frame_prefix: str = _param(
        "",
        "Put before all frames but the map's, with <name> for the vehicle's name; all vehicles"
        " then share one /tf. Empty: plain names, and a /tf in each vehicle's namespace.",
        _no_spaces,
        "a text without spaces such as <name>/",
    )
    world_frame: str = _param(
        "",
        "Frame above map, tied to it on tf_static; with frame_prefix each vehicle then has a map"
        " frame of its own, such as r1/map, and this is above all of them. Empty: none.",
        _no_spaces,
        "a name without spaces, or empty",
    )
    headless: bool = _switch(True, "Open no window; false has no effect yet.")

    @property
    def sends_map(self) -> bool:
        """Whether grids go to `map`."""
        return (
            self.do_fake_localization if self.publish_map == "auto" else self.publish_map == "true"
        )

    @property
    def common_frame(self) -> str:
        """Frame of the world, in which is what belongs to no vehicle."""
        return self.world_frame if self.world_frame and self.frame_prefix else self.map_frame


PARAMETERS: Mapping[str, About] = {f.name: f.metadata["about"] for f in fields(Settings)}

#: Parameters of the C++ node that have no meaning here, and what to use.
ELSEWHERE: Mapping[str, str] = {
    "simul_rate": "the world file's <simul_timestep> sets the step",
    "base_watchdog_timeout": "use command_timeout [s]",
    "period_ms_publish_tf": "use publish_rate [Hz]",
    "publisher_history_len": "use qos_overrides.<topic>.publisher.depth",
    "gui_refresh_period": "there is no window in this node",
}


def checked(name: str, value: Any) -> Any:
    """Return a parameter's value converted for `Settings`.

    Raises:
        SettingsError: It breaks the parameter's rule.
    """
    about = PARAMETERS[name]
    try:
        return about.convert(value)
    except ValueError:
        raise SettingsError(f"parameter {name!r} must be {about.limits}, got {value!r}") from None


def settings_from(values: Mapping[str, Any]) -> Settings:
    """Return the settings for some values by name; the others keep their defaults.

    Raises:
        SettingsError: A value breaks its rule.
    """
    settings = Settings(**{name: checked(name, value) for name, value in values.items()})
    return _consistent(settings)


def _consistent(settings: Settings) -> Settings:
    """Return settings that fit together.

    Raises:
        SettingsError: They do not.
    """
    if settings.use_wall_time and settings.realtime_factor != 1.0:
        raise SettingsError(
            "parameter 'realtime_factor' must be 1 with use_wall_time,"
            f" got {settings.realtime_factor:g}"
        )
    if settings.world_frame == settings.map_frame and not settings.frame_prefix:
        raise SettingsError(
            f"parameter 'world_frame' must differ from map_frame, got {settings.map_frame!r}"
        )
    return settings


def changed(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Return settings with some values changed while the node runs.

    Raises:
        SettingsError: A value breaks its rule, or the parameter is fixed at the start.
    """
    for name, value in values.items():
        if not PARAMETERS[name].live and checked(name, value) != getattr(settings, name):
            raise SettingsError(f"parameter {name!r} can only be set when the node starts")
    values = {name: checked(name, value) for name, value in values.items()}
    return _consistent(replace(settings, **values))


def unknown(names: Iterable[str]) -> list[str]:
    """Return one sentence for each name that is no parameter of the node."""
    sentences = []
    for name in names:
        if name in PARAMETERS or name == "use_sim_time" or name.startswith(QOS_PREFIX):
            continue
        if name in ELSEWHERE:
            sentences.append(f"parameter {name!r} has no effect: {ELSEWHERE[name]}")
            continue
        near = difflib.get_close_matches(name, PARAMETERS, n=1)
        hint = f". Did you mean {near[0]!r}?" if near else ""
        sentences.append(f"unknown parameter {name!r}{hint}")
    return sentences


class ParameterHost(Protocol):
    """What `declare` needs of a node."""

    def declare_parameter(self, name: str, value: Any, descriptor: Any) -> Any:
        """Declare a parameter and return it."""


def descriptor_of(name: str) -> Any:
    """Return what ROS shall know of a parameter: help, rule, range.

    Types are dynamic: `publish_rate:=50` need not be written 50.0. ROS itself checks the range of
    floating-point numbers only, or of whole ones; the rest is checked by `changed`.
    """
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    about = PARAMETERS[name]
    descriptor = ParameterDescriptor(
        description=about.help,
        additional_constraints=f"must be {about.limits}",
        read_only=not about.live,
        dynamic_typing=True,
    )
    if about.span is not None:
        low, high = about.span
        if isinstance(low, int):
            descriptor.integer_range = [IntegerRange(from_value=low, to_value=int(high))]
        else:
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return descriptor


def declare(node: ParameterHost, given: Mapping[str, Any]) -> Settings:
    """Declare all parameters on a node and return their values.

    Args:
        node: Where.
        given: What the node was started with, by name; values are in their attribute `value`.

    Raises:
        SettingsError: A value breaks its rule.
    """
    for name, parameter in given.items():
        if name in PARAMETERS and parameter.value is not None:
            checked(name, parameter.value)  # here, as what rclpy raises names no rule
    values = {}
    for f in fields(Settings):
        value = node.declare_parameter(f.name, f.default, descriptor_of(f.name)).value
        values[f.name] = f.default if value is None else value
    return settings_from(values)
