# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Notes: what is accepted, harmless, and without effect here."""

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
from tests.unit.xmlfile.reading import DIFFERENTIAL, ORIGIN, notes, texts


def sensor(kind: str, content: str) -> str:
    return f'<vehicle>{DIFFERENTIAL}{ORIGIN}<sensor class="{kind}">{content}</sensor></vehicle>'


def block(content: str) -> str:
    return f"<block>{ORIGIN}{content}</block>"


NOTES = [
    (
        "<gui><ortho>true</ortho></gui>",
        "line 2: <gui>: ortho is accepted and has no effect: RViz is the window, and has its own"
        " settings",
    ),
    (
        '<element class="ground_grid"/>',
        "line 2: <element>: a ground_grid is accepted and has no effect: no sensor sees it, and"
        " RViz draws its own grid",
    ),
    (
        "\n<joystick_enabled>true</joystick_enabled>",
        "line 3: <mvsim_world>: joystick_enabled is accepted and has no effect: drive by cmd_vel,"
        " from a joystick with teleop_twist_joy",
    ),
    (
        "<server_address>10.0.0.1</server_address>",
        "line 2: <mvsim_world>: server_address is accepted and has no effect: there is no server;"
        " ROS 2 finds its nodes",
    ),
    (
        "<b2d_vel_iters>20</b2d_vel_iters>",
        "line 2: <mvsim_world>: b2d_vel_iters is accepted and has no effect: the contact solver"
        " chooses how often it iterates",
    ),
    (
        "<max_slope_to_collide>0.1</max_slope_to_collide>",
        "line 2: <mvsim_world>: max_slope_to_collide is accepted and has no effect: nor has it in"
        " the original; what a wheel can climb depends on its size",
    ),
    (
        sensor("laser", "\n<publish><publish_topic>/scan</publish_topic></publish>"),
        "line 3: <publish>: publish_topic is accepted and has no effect: it is no ROS 2 topic, and"
        " ROS 2 topics need no element",
    ),
    (
        block("<publish><publish_pose_topic>/b</publish_pose_topic></publish>"),
        "line 2: <publish>: publish_pose_topic is accepted and has no effect: it is no ROS 2"
        " topic, and ROS 2 topics need no element",
    ),
    (
        block(
            "<publish><publish_relative_pose_topic>/b</publish_relative_pose_topic>"
            "<publish_relative_pose_objects>r1, r2</publish_relative_pose_objects></publish>"
        ),
        "line 2: <publish>: publish_relative_pose_topic is accepted and has no effect: it is no"
        " ROS 2 topic; subtract the poses of ground_truth, or use tf",
    ),
    (
        sensor("lidar3d", "<horz_resolution_factor>2</horz_resolution_factor>"),
        "line 2: <sensor>: horz_resolution_factor is accepted and has no effect: each ray is cast"
        " by itself, exactly",
    ),
    (
        sensor("laser", "<viz_visiblePlane>true</viz_visiblePlane>"),
        "line 2: <sensor>: viz_visiblePlane is accepted and has no effect: displays of RViz have"
        " their own settings",
    ),
    (
        f'<vehicle>{ORIGIN}<dynamics class="ackermann"><fl_wheel linked_yaw="hub"/></dynamics>'
        "</vehicle>",
        "line 2: <fl_wheel>: linked_yaw is accepted and has no effect: wheels are seen to steer,"
        " other visuals stay as they are",
    ),
]


@pytest.mark.parametrize(("body", "message"), NOTES)
def test_message(body: str, message: str) -> None:
    assert notes(body) == [message]


def test_the_same_note_comes_once_with_the_number_of_places() -> None:
    hills = (
        '<element class="elevation_map"><elevation_data_matrix>[0 0;0 1]</elevation_data_matrix>'
        "<model_split_size>5</model_split_size></element>\n"
    )
    assert notes(3 * hills) == [
        "line 2: <element>: model_split_size is accepted and has no effect: models are drawn whole"
        " (and 2 more)"
    ]


def test_a_follower_of_nobody_is_no_more_than_a_note() -> None:
    said = notes("<gui><follow_vehicle>r2</follow_vehicle></gui>")
    assert "line 2: <gui>: follow_vehicle: no vehicle is called 'r2'" in said


@pytest.mark.parametrize(
    "body",
    [
        "<b2d_vel_iters>8</b2d_vel_iters>",
        '<element class="horizontal_plane"><cull_face>FRONT</cull_face></element>',
        sensor("laser", '<publish enabled="false"><publish_topic>/s</publish_topic></publish>'),
    ],
)
def test_what_changes_nothing_needs_no_note(body: str) -> None:
    assert notes(body) == []


def test_notes_are_not_for_those_who_run_a_world() -> None:
    text = "<mvsim_world><gui ortho='true'/><element class='horizontal_plane'/></mvsim_world>"
    assert texts(read_world(text=text)[1], "note")
    assert load_world(text=text).warnings == ()


# Every name of the format has an effect or says that it has none


def all_specs(base: type[Spec] = Spec) -> Iterator[type[Spec]]:
    for spec in base.__subclasses__():
        # With slots a dataclass has a twin that nobody can name.
        if vars(sys.modules[spec.__module__]).get(spec.__name__) is spec:
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
    ("spec", "name"), [(spec, name) for spec, name, about in own_params() if about.idle]
)
def test_what_has_no_effect_says_so(spec: type[Spec], name: str) -> None:
    values = {bool: False, int: 7, float: 0.25, str: "x"}
    default = next(field.default for field in fields(spec) if field.name == name)
    other = values.get(type(default))
    made = spec(**{name: (not default) if isinstance(default, bool) else other})
    assert sum("has no effect" in note for note in made.notes()) == 1


#: Read through the spec itself, by `finished`, a property or a prefix such as depth_ and rgb_.
READ_BY_SPECS = {
    *("f_wheels_x", "f_wheels_d", "value_bool", "value_string", "version"),
    *(f"model_{name}" for name in ("offset_x", "offset_y", "offset_z", "yaw", "pitch", "roll")),
    *(f"{kind}_{name}" for kind in ("depth", "rgb") for name in ("ncols", "nrows", "cx", "cy")),
    *(f"{kind}_{name}" for kind in ("depth", "rgb") for name in ("fx", "fy", "clip_max")),
}


def test_what_nobody_reads_says_so() -> None:
    package = Path(mvsim_core.__file__).parent
    apart = ("specs", "xmlfile", "schema")
    files = [f for f in package.rglob("*.py") if f.relative_to(package).parts[0] not in apart]
    files += (package.parents[1] / "mvsim_ros2" / "mvsim_ros2").rglob("*.py")
    read = set(re.findall(r"\w+", "\n".join(file.read_text() for file in files)))
    silent = [
        f"{spec.__name__}.{name}"
        for spec, name, about in own_params()
        if not about.idle and name not in read | READ_BY_SPECS and spec.notes is Spec.notes
    ]
    assert silent == []
