# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Specs that no world file can say, each with the reason."""

import math
from dataclasses import replace
from typing import Any

import pytest

from mvsim_core import dump_world
from mvsim_core.errors import BuildError
from mvsim_core.geometry.poses import Pose
from mvsim_core.specs import (
    BlockSpec,
    DifferentialSpec,
    ImuSpec,
    PidSpec,
    TwistPidSpec,
    VehicleSpec,
    WheelSpec,
    WorldSpec,
)

WHEELS = (WheelSpec(name="left", y=1.0), WheelSpec(name="right", y=-1.0))


def robot(**more: Any) -> WorldSpec:
    return WorldSpec(vehicles=(VehicleSpec(name="r1", **more),))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (WorldSpec(gravity=math.inf), "gravity: a world file cannot express inf"),
        (
            WorldSpec(blocks=(BlockSpec(name="b", init_pose=Pose(x=math.nan)),)),
            "init_pose: a world file cannot express Pose(x=nan, y=0.0, z=0.0, roll=0.0, pitch=0.0,"
            " yaw=0.0)",
        ),
        (
            WorldSpec(blocks=(BlockSpec(name="b", zmin=0.0, zmax=1.0, shape=None),)),
            "shape: a world file cannot express None here",
        ),
        (
            robot(dynamics=DifferentialSpec(wheels=WHEELS)),
            "expected these wheels in this order: l_wheel, r_wheel",
        ),
        (
            robot(friction=None),
            "<friction>: a world file cannot express None here",
        ),
        (
            robot(dynamics=DifferentialSpec(controller=PidSpec(kind="pid"))),
            "PidSpec is not a controller class",
        ),
        (robot(dynamics=ImuSpec(kind="imu")), "ImuSpec is not a dynamics class"),
    ],
)  # fmt: skip
def test_message(spec: WorldSpec, message: str) -> None:
    with pytest.raises(BuildError) as caught:
        dump_world(spec)
    assert str(caught.value) == message


def test_what_a_file_can_express_is_written() -> None:
    pid = TwistPidSpec(kp=3.0)
    wheels = tuple(replace(wheel, y=2 * wheel.y) for wheel in DifferentialSpec().wheels)
    text = dump_world(robot(dynamics=DifferentialSpec(wheels=wheels, controller=pid)))
    assert '<l_wheel pos="0 1"/>' in text
    assert "<KP>3</KP>" in text
