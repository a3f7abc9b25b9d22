# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Hints: what is accepted, harmless, and without effect here."""

import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

import mvsim_core
from mvsim_core import load_world
from mvsim_core.specs.params import Param, Spec, params
from mvsim_core.xmlfile import read_world
from tests.unit.xmlfile.reading import DIFFERENTIAL, ORIGIN, hints, texts


def sensor(kind: str, content: str) -> str:
    return f'<vehicle>{DIFFERENTIAL}{ORIGIN}<sensor class="{kind}">{content}</sensor></vehicle>'


def block(content: str) -> str:
    return f"<block>{ORIGIN}{content}</block>"


HINTS = [
    (
        "<gui><start_maximized>false</start_maximized></gui>",
        "line 2: <gui>: start_maximized is accepted and has no effect: the browser has its own"
        " window, and so has RViz",
    ),
    (
        "\n<joystick_enabled>true</joystick_enabled>",
        "line 3: <mvsim_world>: joystick_enabled is accepted and has no effect: use the topic"
        " cmd_vel, for a joystick with teleop_twist_joy",
    ),
    (
        "<b2d_vel_iters>20</b2d_vel_iters>",
        "line 2: <mvsim_world>: b2d_vel_iters is accepted and has no effect: the contact solver"
        " sets its own number of iterations",
    ),
    (
        "<max_slope_to_collide>0.1</max_slope_to_collide>",
        "line 2: <mvsim_world>: max_slope_to_collide is accepted and has no effect: the original"
        " ignores it too; what a wheel can climb depends on its size",
    ),
    (
        "<save_to_rawlog>run.rawlog</save_to_rawlog>",
        "line 2: <mvsim_world>: save_to_rawlog is accepted and has no effect: mvsim run --log"
        " records vehicles and wheels, ros2 bag record sensors (MCAP)",
    ),
    (
        sensor("wheel_encoders", "\n<publish><publish_topic>/e</publish_topic></publish>"),
        "line 2: <sensor>: publish_topic is accepted and has no effect: the message bus has no"
        " message for a wheel_encoders",
    ),
    (
        sensor("laser", "<publish><publish_pose_topic>/b</publish_pose_topic></publish>"),
        "line 2: <sensor>: publish_pose_topic is accepted and has no effect: the pose of a sensor"
        " on its vehicle is in its readings",
    ),
    (
        block("<publish><publish_topic>/b</publish_topic></publish>"),
        "line 2: <block>: publish_topic is accepted and has no effect: only sensors have readings",
    ),
    (
        block("<publish><publish_odometry_topic>/b</publish_odometry_topic></publish>"),
        "line 2: <block>: publish_odometry_topic is accepted and has no effect: only vehicles"
        " have an odometry",
    ),
    (
        block("<publish><publish_relative_pose_topic>/b</publish_relative_pose_topic></publish>"),
        "line 2: <publish>: publish_relative_pose_topic is accepted and has no effect:"
        " publish_relative_pose_objects names no objects",
    ),
    (
        "<publish><publish_topic>/w</publish_topic></publish>",
        "line 1: <mvsim_world>: publish_topic is accepted and has no effect: it belongs into a"
        " vehicle or sensor",
    ),
    (
        sensor("lidar3d", "<horz_resolution_factor>2</horz_resolution_factor>"),
        "line 2: <sensor>: horz_resolution_factor is accepted and has no effect: rays are cast"
        " exactly, not sampled from a depth image",
    ),
    (
        f'<vehicle>{ORIGIN}<dynamics class="ackermann"><fl_wheel linked_yaw="hub"/></dynamics>'
        "</vehicle>",
        "line 2: <fl_wheel>: linked_yaw is accepted and has no effect: only the visual of the"
        " wheel itself steers",
    ),
]


@pytest.mark.parametrize(("body", "message"), HINTS)
def test_message(body: str, message: str) -> None:
    assert hints(body) == [message]


def test_equal_hints_are_reported_once_with_the_number_of_places() -> None:
    hills = (
        '<element class="elevation_map"><elevation_data_matrix>[0 0;0 1]</elevation_data_matrix>'
        "<model_split_size>5</model_split_size></element>\n"
    )
    assert hints(3 * hills) == [
        "line 2: <element>: model_split_size is accepted and has no effect: models are rendered"
        " in one piece (and 2 more)"
    ]


def test_following_an_unknown_vehicle_is_a_hint() -> None:
    found = hints("<gui><follow_vehicle>r2</follow_vehicle></gui>")
    assert "line 2: <gui>: follow_vehicle: there is no vehicle 'r2'" in found


@pytest.mark.parametrize(
    "body",
    [
        "<b2d_vel_iters>8</b2d_vel_iters>",
        '<element class="horizontal_plane"><cull_face>NONE</cull_face></element>',
        sensor("laser", "<publish><publish_topic>/s</publish_topic></publish>"),
        block('<publish enabled="false"><publish_topic>/s</publish_topic></publish>'),
        "<server_address>10.0.0.1</server_address>",
    ],
)
def test_default_values_give_no_hint(body: str) -> None:
    assert hints(body) == []


def test_hints_are_left_out_of_the_warnings_of_a_world() -> None:
    text = "<mvsim_world><gui win_w='900'/><element class='horizontal_plane'/></mvsim_world>"
    assert texts(read_world(text=text)[1], "hint")
    assert load_world(text=text).warnings == ()


# Every name of the format has an effect or says that it has none


def all_specs(base: type[Spec] = Spec) -> Iterator[type[Spec]]:
    for spec in base.__subclasses__():
        # With slots a dataclass has a twin without a name; a test's own module may be gone.
        module = sys.modules.get(spec.__module__)
        if module is not None and vars(module).get(spec.__name__) is spec:
            yield spec
        yield from all_specs(spec)


def own_params() -> list[tuple[type[Spec], str, Param]]:
    return [
        (spec, name, about)
        for spec in dict.fromkeys(all_specs())
        if spec.__module__.startswith("mvsim_core.specs")
        for name, about in params(spec)
        if name in spec.__annotations__
    ]


@pytest.mark.parametrize(
    ("spec", "name"), [(spec, name) for spec, name, about in own_params() if about.no_effect]
)
def test_a_field_without_effect_gives_a_hint(spec: type[Spec], name: str) -> None:
    values = {bool: False, int: 7, float: 0.25, str: "x"}
    default = next(field.default for field in fields(spec) if field.name == name)
    other = values.get(type(default))
    made = spec(**{name: (not default) if isinstance(default, bool) else other})
    assert sum("has no effect" in hint for hint in made.hints()) == 1


#: Read through the spec itself, by `finished`, a property or a prefix such as depth_ and rgb_.
READ_BY_SPECS = {
    *("f_wheels_x", "f_wheels_d", "value_bool", "value_string", "version"),
    *(f"model_{name}" for name in ("offset_x", "offset_y", "offset_z", "yaw", "pitch", "roll")),
    *(f"{kind}_{name}" for kind in ("depth", "rgb") for name in ("ncols", "nrows", "cx", "cy")),
    *(f"{kind}_{name}" for kind in ("depth", "rgb") for name in ("fx", "fy", "clip_max")),
}


def test_each_field_is_read_or_gives_a_hint() -> None:
    package = Path(mvsim_core.__file__).parent
    apart = ("specs", "xmlfile", "schema")
    files = [f for f in package.rglob("*.py") if f.relative_to(package).parts[0] not in apart]
    files += (package.parents[1] / "mvsim_ros2" / "mvsim_ros2").rglob("*.py")
    read = set(re.findall(r"\w+", "\n".join(file.read_text() for file in files)))
    silent = [
        f"{spec.__name__}.{name}"
        for spec, name, about in own_params()
        if not about.no_effect and name not in read | READ_BY_SPECS and spec.hints is Spec.hints
    ]
    assert silent == []
