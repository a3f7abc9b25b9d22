# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The parameter `start_poses` sets initial poses and changes nothing else."""

import pytest

from mvsim_core import MvsimError, UnknownName
from mvsim_ros2.parameters.settings import SettingsError, convert
from mvsim_ros2.parameters.start_poses import (
    StartPoseError,
    load_world_with_start_poses,
    parse_start_poses,
)
from tests.conftest import ROOT

ONE = str(ROOT / "worlds" / "building.world.xml")
TWO = str(ROOT / "worlds" / "two_robots.world.xml")


@pytest.mark.parametrize(
    ("text", "poses"),
    [
        ("", {}),
        (" x= y= z= roll= pitch= yaw=", {}),
        ("x=1 yaw=-0.5", {"": {"x": 1.0, "yaw": -0.5}}),
        ("r1 x=1.0; r 2 y=2e-1 z=;", {"r1": {"x": 1.0}, "r 2": {"y": 0.2}}),
    ],
)
def test_what_users_and_launch_files_write_is_understood(
    text: str, poses: dict[str, dict[str, float]]
) -> None:
    assert convert("start_poses", text) == text
    assert parse_start_poses(text) == poses


@pytest.mark.parametrize("text", ["x=one", "r1 x=nan", "y=inf", "r1 theta=1", 5])
def test_what_is_no_pose_is_refused(text: object) -> None:
    with pytest.raises(SettingsError, match=r"start_poses.*must be a text like"):
        convert("start_poses", text)


def test_the_only_vehicle_needs_no_name_and_keeps_what_is_not_given() -> None:
    world = load_world_with_start_poses(ONE, "x=-4.5 yaw=0.5", seed=0)
    pose = world.vehicles["r1"].pose
    assert (pose.x, pose.y, pose.yaw) == pytest.approx((-4.5, 0.0, 0.5))
    world.run(0.5)
    world.reset()  # to the start pose, not to that of the file
    assert world.vehicles["r1"].pose.x == pytest.approx(-4.5)


def test_of_several_vehicles_the_named_one_is_moved() -> None:
    plain, moved = (
        load_world_with_start_poses(TWO, text, seed=0) for text in ("", "wagon1 y=3 x=-2")
    )
    assert moved.vehicles["courier1"].pose == plain.vehicles["courier1"].pose
    pose = moved.vehicles["wagon1"].pose
    assert (pose.x, pose.y) == pytest.approx((-2.0, 3.0))
    assert pose.yaw == plain.vehicles["wagon1"].pose.yaw


def test_a_vehicle_that_is_not_there_is_named() -> None:
    with pytest.raises(StartPoseError, match=r"name the vehicle.* courier1, wagon1"):
        load_world_with_start_poses(TWO, "x=1", seed=0)
    with pytest.raises(UnknownName, match=r"unknown vehicle 'wagon'\. Did you mean 'wagon1'"):
        load_world_with_start_poses(TWO, "wagon x=1", seed=0)
    assert issubclass(StartPoseError, MvsimError)
