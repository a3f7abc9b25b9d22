# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (the calls describe the fields; their defaults are immutable)
"""The parameters of the node: names, defaults, limits and help, each defined once.

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
from mvsim_ros2.parameters.start_poses import parse_start_poses

#: Prefix of the parameters that override the QoS of a publisher.
QOS_PREFIX = "qos_overrides."

StampedChoice = Literal["auto", "true", "false"]
MapChoice = Literal["auto", "true", "false"]
OdometryStart = Literal["zero", "spawn"]
NoHit = Literal["inf", "range_max", "beyond", "zero"]


class SettingsError(MvsimError):
    """A parameter has a value that cannot be used."""


#: Largest integer that a parameter can hold.
MAX_INT = 2**63 - 1
MOST_PORT = 65535
#: Limits of the real-time factor.
FACTOR_RANGE = (0.0, 1e6)


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """Description and rule of a parameter, whose name and default are those of its field.

    Attributes:
        help: One sentence for `ros2 param describe` and the documentation.
        convert: From a value that ROS delivers to the field's; raises ValueError.
        limits: The rule in words, with the unit.
        live: Whether it can be set while the node runs.
        span: Lowest and highest number, both included.
    """

    help: str
    convert: Callable[[Any], Any]
    limits: str
    live: bool = False
    span: tuple[float, float] | None = None


# Converters: from a value that ROS delivers to that of the field; ValueError breaks the rule.
def _boolean(value: Any) -> bool:
    """Return a boolean from a boolean or a text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError


def _text(value: Any) -> str:
    """Return a text."""
    if isinstance(value, str):
        return value
    raise ValueError


def _frame(value: Any) -> str:
    """Return the name of a frame, without a leading slash."""
    # tf2 rejects frame names that begin with a slash.
    name = _text(value).lstrip("/")
    if not name or any(c.isspace() for c in name):
        raise ValueError
    return name


def _no_spaces(value: Any) -> str:
    """Return a part of frame names, perhaps empty."""
    name = _text(value).lstrip("/")
    if any(c.isspace() for c in name):
        raise ValueError
    return name


def _number(value: Any) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _between(low: float, high: float) -> Callable[[Any], float]:
    """Return a converter of numbers within limits, both included."""

    def convert(value: Any) -> float:
        found = _number(value)
        if not low <= found <= high:
            raise ValueError
        return found

    return convert


def _factor(value: Any) -> float:
    """Return a real-time factor; 0 for max."""
    if isinstance(value, str):
        if value.lower() == "max":
            return 0.0
        value = float(value)
    return _between(*FACTOR_RANGE)(value)


def _whole(value: Any) -> int:
    """Return a whole number, at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INT:
        raise ValueError
    return value


def _port(value: Any) -> int:
    """Return a TCP port, or 0."""
    if _whole(value) > MOST_PORT:
        raise ValueError
    return int(value)


def _three_way(value: Any) -> str:
    """Return auto, true or false as a text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.lower() in ("auto", "true", "false"):
        return value.lower()
    raise ValueError


def _folders(value: Any) -> str:
    """Return folders separated by colons."""
    if isinstance(value, list | tuple):
        return ":".join(map(_text, value))
    return _text(value)


def _start_poses(value: Any) -> str:
    """Return start poses that can be read, still as a text."""
    parse_start_poses(_text(value))
    return str(value)


def _no_hit(value: Any) -> str:
    """Return the range for rays without a hit."""
    name = "inf" if value == math.inf else value  # YAML takes .inf for a number
    if name not in ("inf", "range_max", "beyond", "zero"):
        raise ValueError
    return str(name)


def _odometry_start(value: Any) -> str:
    """Return where odometry starts."""
    if value not in ("zero", "spawn"):
        raise ValueError
    return str(value)


def _switch(default: bool, help_text: str) -> Any:
    info = ParameterInfo(help_text, _boolean, "true or false")
    return field(default=default, metadata={"info": info})


def _param(
    default: Any,
    help_text: str,
    convert: Callable[[Any], Any] = _text,
    limits: str = "a text",
    *,
    live: bool = False,
    span: tuple[float, float] | None = None,
) -> Any:
    info = ParameterInfo(help_text, convert, limits, live, span)
    return field(default=default, metadata={"info": info})


def _quantity(
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
        span=FACTOR_RANGE,
    )
    start_paused: bool = _switch(
        False, "Start paused after the first step; services play and step."
    )
    seed: int = _param(
        0,
        "Random seed of the simulation.",
        _whole,
        "a whole number >= 0",
        span=(0, MAX_INT),
    )
    enable_stamped_cmd_vel: StampedChoice = _param(
        "auto",
        "Type of cmd_vel: true = TwistStamped, false = Twist, auto = the type that is published.",
        *_THREE_WAY,
    )
    cmd_angle_instead_rotvel: bool = _switch(
        False,
        "For vehicles that steer, take angular.z of cmd_vel as the angle [rad] of a virtual front"
        " centre wheel; false: as the yaw rate.",
    )
    command_timeout: float = _quantity(
        0.5,
        "Simulated time without a command after which a vehicle stops; 0: never.",
        (0.0, 1e6),
        "s",
        live=True,
    )
    publish_rate: float = _quantity(
        50.0,
        "Rate of odom, ground truth, TF and collision, in simulated time.",
        (0.1, 1e4),
        "Hz",
        live=True,
    )
    clock_rate: float = _quantity(
        200.0,
        "Minimum rate of /clock in simulated time; every tick with other messages gets one too.",
        (1.0, 1e4),
        "Hz",
        live=True,
    )
    use_wall_time: bool = _switch(
        False,
        "Stamps follow the wall clock and /clock is not published, for nodes without use_sim_time;"
        " realtime_factor must be 1.",
    )
    do_fake_localization: bool = _switch(
        True, "Publish map -> odom from the true pose, in place of a localiser."
    )
    publish_tf_odom2baselink: bool = _switch(
        True, "Publish odom -> base_footprint; false if a filter such as robot_localization does."
    )
    publish_base_footprint: bool = _switch(
        True, "Publish the frame base_footprint between odom and base_link, on the ground."
    )
    odom_starts_at: OdometryStart = _param(
        "zero",
        "Initial pose of the odometry: zero, or spawn = the initial pose in the world.",
        _odometry_start,
        "zero or spawn",
    )
    start_poses: str = _param(
        "",
        "Initial poses of vehicles of the first world, in place of those in its file; the ground"
        " sets z, roll and pitch of most vehicles, as with <init_pose3d>.",
        _start_poses,
        "a text like r1 x=1.0 yaw=1.57; r2 y=-4 [m, rad], or without name for the only vehicle",
    )
    publish_initialpose: bool = _switch(
        False, "Publish the true pose on initialpose to each new subscriber, such as AMCL."
    )
    publish_map: MapChoice = _param(
        "auto",
        "Publish the occupancy grid of the world on map; auto: only with do_fake_localization,"
        " because otherwise a map server or SLAM publishes there.",
        *_THREE_WAY,
    )
    force_publish_vehicle_namespace: bool = _switch(
        False, "Use the namespace of the vehicle for its topics even if it is the only vehicle."
    )
    mvsim_topic_names: bool = _switch(
        True, "Publish also on the topic names of the C++ MVSim where they differ."
    )
    publish_log_topics: bool = _switch(
        False, "Publish each column of the logs of vehicles and wheels on a topic, in each step."
    )
    scan_topic: str = _param(
        "scan",
        "Additional topic for the scans of a vehicle with exactly one 2D lidar; empty: none.",
    )
    scan_no_hit: NoHit = _param(
        "inf",
        "Range of a ray without a hit in LaserScan: inf as in REP-117, or for consumers that do"
        " not support it range_max, beyond (1 cm more) or zero.",
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
        "Prefix of all frames but map; <name> stands for the name of the vehicle. All vehicles"
        " then share one /tf. Empty: plain frame names, and a tf in each vehicle namespace.",
        _no_spaces,
        "a text without spaces such as <name>/",
    )
    world_frame: str = _param(
        "",
        "Parent frame of map, published on tf_static; with frame_prefix each vehicle then has its"
        " own map frame, such as r1/map, below it. Empty: none.",
        _no_spaces,
        "a name without spaces, or empty",
    )
    resource_paths: str = _param(
        "",
        "Folders below which LoadWorld and SpawnEntity may name files, besides those of the world"
        " and of the worlds of this package; see docs/trust.md.",
        _folders,
        "a text of folders separated by ':', or a list of them",
    )
    allow_remote_files: bool = _switch(
        False, "Let worlds and vehicles that come as text name http and https addresses."
    )
    message_bus: int = _param(
        0,
        "TCP port of MVSim's message bus on this machine, 23700 by custom, for clients without"
        " ROS; 0: none.",
        _port,
        "a whole number in [0, 65535]",
        span=(0, MOST_PORT),
    )
    record: str = _param(
        "",
        "MCAP file to which topics are recorded, subscribed to or not, until the node ends; see"
        " docs/recording.md. Empty: none.",
    )
    viewer: bool = _switch(False, "Show the world in browsers, see docs/viewer.md.")
    viewer_port: int = _param(
        8080,
        "TCP port of the viewer; where it is taken, the next free one. 0: any.",
        _port,
        "a whole number in [0, 65535]",
        span=(0, MOST_PORT),
    )
    viewer_address: str = _param(
        "127.0.0.1", "Address that the viewer is bound to; it has no password."
    )
    headless: bool = _switch(True, "Open no window; false: with `viewer`, open a browser.")

    @property
    def resource_folders(self) -> tuple[str, ...]:
        """The folders of `resource_paths`."""
        return tuple(filter(None, self.resource_paths.split(":")))

    @property
    def publishes_map(self) -> bool:
        """Whether the occupancy grid is published on `map`."""
        return (
            self.do_fake_localization if self.publish_map == "auto" else self.publish_map == "true"
        )

    @property
    def common_frame(self) -> str:
        """Frame of the world, for messages that belong to no vehicle."""
        return self.world_frame if self.world_frame and self.frame_prefix else self.map_frame


PARAMETERS: Mapping[str, ParameterInfo] = {f.name: f.metadata["info"] for f in fields(Settings)}

#: Parameters of the C++ node that this node does not have, with their replacement.
REPLACED: Mapping[str, str] = {
    "simul_rate": "the world file's <simul_timestep> sets the step",
    "base_watchdog_timeout": "use command_timeout [s]",
    "period_ms_publish_tf": "use publish_rate [Hz]",
    "publisher_history_len": "use qos_overrides.<topic>.publisher.depth",
    "gui_refresh_period": "there is no window in this node",
}


def convert(name: str, value: Any) -> Any:
    """Return a parameter's value converted for `Settings`.

    Raises:
        SettingsError: It breaks the parameter's rule.
    """
    info = PARAMETERS[name]
    try:
        return info.convert(value)
    except ValueError:
        raise SettingsError(f"parameter {name!r} must be {info.limits}, got {value!r}") from None


def settings_from(values: Mapping[str, Any]) -> Settings:
    """Return the settings for some values by name; the others keep their defaults.

    Raises:
        SettingsError: A value breaks its rule.
    """
    settings = Settings(**{name: convert(name, value) for name, value in values.items()})
    return _consistent(settings)


def _consistent(settings: Settings) -> Settings:
    """Check rules between parameters and return the settings.

    Raises:
        SettingsError: A rule is broken.
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


def with_changes(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Return settings with parameters set while the node runs.

    Raises:
        SettingsError: A value breaks its rule, or the parameter can only be set at the start.
    """
    for name, value in values.items():
        if not PARAMETERS[name].live and convert(name, value) != getattr(settings, name):
            raise SettingsError(f"parameter {name!r} can only be set when the node starts")
    values = {name: convert(name, value) for name, value in values.items()}
    return _consistent(replace(settings, **values))


def unknown_parameters(names: Iterable[str]) -> list[str]:
    """Return one warning for each name that is no parameter of the node."""
    found = []
    for name in names:
        if name in PARAMETERS or name == "use_sim_time" or name.startswith(QOS_PREFIX):
            continue
        if name in REPLACED:
            found.append(f"parameter {name!r} has no effect: {REPLACED[name]}")
            continue
        near = difflib.get_close_matches(name, PARAMETERS, n=1)
        hint = f". Did you mean {near[0]!r}?" if near else ""
        found.append(f"unknown parameter {name!r}{hint}")
    return found


class ParameterHost(Protocol):
    """The part of a node that `declare` uses."""

    def declare_parameter(
        self, name: str, value: Any, descriptor: Any, ignore_override: bool
    ) -> Any:
        """Declare a parameter."""


def descriptor(name: str) -> Any:
    """Return the ParameterDescriptor: help, rule, range.

    Types are dynamic, so that `publish_rate:=50` is accepted for 50.0. ROS checks only ranges of
    numbers of one type; `with_changes` checks the rest.
    """
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    info = PARAMETERS[name]
    described = ParameterDescriptor(
        description=info.help,
        additional_constraints=f"must be {info.limits}",
        read_only=not info.live,
        dynamic_typing=True,
    )
    if info.span is not None:
        low, high = info.span
        if isinstance(low, int):
            described.integer_range = [IntegerRange(from_value=low, to_value=int(high))]
        else:
            described.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    return described


def declare(node: ParameterHost, given: Mapping[str, Any]) -> Settings:
    """Declare all parameters on a node and return their values.

    Args:
        node: The node.
        given: Parameter overrides that the node was started with, by name.

    Raises:
        SettingsError: A value breaks its rule.
    """
    values = {}
    for f in fields(Settings):
        name, value = f.name, given[f.name].value if f.name in given else None
        value = f.default if value is None else value
        values[name] = convert(name, value)  # before rclpy, whose error does not state the rule
        if isinstance(value, int) and isinstance(values[name], float):
            value = values[name]  # or tools would show the parameter as an integer
        node.declare_parameter(name, value, descriptor(name), ignore_override=True)
    return settings_from(values)
