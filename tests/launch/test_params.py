# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The parameter files are what ROS reads: no YAML aliases, simulated time for every node."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image

from mvsim_core import load_world, read_world
from mvsim_core.assembly.floor_plan import floor_plan
from mvsim_core.elements.grid_writing import save_nav2
from tests.conftest import ROOT

FILES = sorted(path for path in (ROOT / "params").glob("*.yaml") if path.stem != "sim")


def sections(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Iterate over the parameters of all nodes in a file."""
    for key, value in tree.items():
        if key == "ros__parameters":
            yield value
        elif isinstance(value, dict):
            yield from sections(value)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_node_takes_simulated_time(path: Path) -> None:
    found = list(sections(yaml.safe_load(path.read_text())))
    assert found
    assert all(section["use_sim_time"] is True for section in found)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_topics_are_relative(path: Path) -> None:
    for section in sections(yaml.safe_load(path.read_text())):
        topics = {k: v for k, v in section.items() if k.endswith("topic")}
        assert not [v for v in topics.values() if v.startswith("/")]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_ros_can_read_it(path: Path) -> None:
    rclpy = pytest.importorskip("rclpy")
    context = rclpy.context.Context()
    context.init(args=["--ros-args", "--params-file", str(path)])  # raises if it cannot
    context.try_shutdown()


def scan_of(tree: dict[str, Any], costmap: str) -> dict[str, Any]:
    """Return the source of a costmap."""
    found: dict[str, Any] = tree[costmap][costmap]["ros__parameters"]["obstacle_layer"]["scan"]
    return found


def test_costmaps_find_the_scan_in_every_distribution(tmp_path: Path) -> None:
    """Jazzy's obstacle layer resolves names below the costmap's own namespace.

    navigation2 (jazzy), nav2_costmap_2d/plugins/obstacle_layer.cpp, onInitialize subscribes by the
    costmap's node, whose namespace is <robot>/local_costmap; Kilted's joinWithParentNamespace
    leaves absolute names alone.
    """
    launch_helpers = pytest.importorskip("mvsim_ros2.launch_helpers", exc_type=ImportError)
    path = ROOT / "params" / "nav2.yaml"
    moved = Path(launch_helpers.params_with_namespaced_costmaps(str(path), "fleet/r1"))
    plain, in_namespace = (yaml.safe_load(p.read_text()) for p in (path, moved))
    moved.unlink()
    for name in ("local_costmap", "global_costmap"):
        assert scan_of(plain, name)["topic"] == "/scan"
        assert scan_of(in_namespace, name).pop("topic") == "/fleet/r1/scan"
        del scan_of(plain, name)["topic"]
    assert in_namespace == plain


def parameters(name: str, *path: str) -> dict[str, Any]:
    """Return the parameters of one node of a file."""
    tree = yaml.safe_load((ROOT / "params" / f"{name}.yaml").read_text())
    for key in (*path, "ros__parameters"):
        tree = tree[key]
    return dict(tree)


@pytest.mark.parametrize("name", ["nav2", "nav2_omni"])
def test_costmaps_clear_by_rays_that_hit_nothing(name: str) -> None:
    for costmap in ("local_costmap", "global_costmap"):
        layer = parameters(name, costmap, costmap)["obstacle_layer"]
        assert layer["scan"]["inf_is_valid"] is True


@pytest.mark.parametrize("name", ["nav2", "nav2_omni"])
def test_amcl_gets_the_initial_pose_from_the_simulator(name: str) -> None:
    """By the simulator on initialpose, in any world and with any x_pose.

    navigation2 (jazzy and main), nav2_amcl/src/amcl_node.cpp, on_activate: a pose that came before
    is used then, unless set_initial_pose makes it that of the parameters.
    """
    amcl = parameters(name, "amcl")
    assert amcl["set_initial_pose"] is False
    assert "initial_pose" not in amcl


@pytest.mark.parametrize("name", ["nav2", "nav2_omni"])
def test_nav2_s_trees_find_their_checkers(name: str) -> None:
    """The trees name them, and a name that does not exist ends the goal.

    navigation2 (1.4.2), nav2_bt_navigator/behavior_trees/navigate_through_poses_w_replanning_and_
    recovery.xml, and findGoalCheckerId in nav2_controller/src/controller_server.cpp.
    """
    controller = parameters(name, "controller_server")
    assert controller["goal_checker_plugins"] == ["general_goal_checker"]
    assert controller["progress_checker_plugins"] == ["progress_checker"]
    assert controller["controller_plugins"] == ["FollowPath"]
    assert parameters(name, "planner_server")["planner_plugins"] == ["GridBased"]


def test_omni_differs_in_motion_and_size_alone() -> None:
    """What is right for one robot stays right for the other."""
    plain, omni = (
        dict(leaves(yaml.safe_load((ROOT / "params" / f"{name}.yaml").read_text())))
        for name in ("nav2", "nav2_omni")
    )
    differing = {key for key in plain.keys() | omni.keys() if plain.get(key) != omni.get(key)}
    controller = "controller_server.ros__parameters.FollowPath."
    assert {key for key in differing if not key.startswith(controller)} == {
        "amcl.ros__parameters.robot_model_type",
        "controller_server.ros__parameters.min_y_velocity_threshold",
        *(
            f"{costmap}.{costmap}.ros__parameters.{key}"
            for costmap in ("local_costmap", "global_costmap")
            for key in ("robot_radius", "inflation_layer.inflation_radius")
        ),
        *(
            f"velocity_smoother.ros__parameters.{bound}"
            for bound in ("max_velocity", "min_velocity", "max_accel", "max_decel")
        ),
        "slam_toolbox.ros__parameters.max_laser_range",
    }


def leaves(tree: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Iterate over all values of a tree with their dotted names."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


@pytest.mark.parametrize(
    ("name", "node", "world"),
    [
        ("slam", "/**", "warehouse"),
        ("nav2", "slam_toolbox", "building"),
        ("nav2_omni", "slam_toolbox", "mecanum"),
    ],
)
def test_slam_takes_the_range_of_the_lidar(name: str, node: str, world: str) -> None:
    """More than a lidar has is a warning of slam_toolbox at each start."""
    spec, _ = read_world(ROOT / "worlds" / f"{world}.world.xml")
    ranges = [s.max_range for v in spec.vehicles for s in v.sensors if s.kind == "laser"]
    assert parameters(name, node)["max_laser_range"] == pytest.approx(min(ranges))


@pytest.mark.parametrize("name", ["nav2", "nav2_omni"])
def test_nav2_knows_its_parameters(name: str) -> None:
    """Scans have no heights, and bt_navigator of Kilted warns where it has no prefixes.

    navigation2, nav2_collision_monitor/src/scan.cpp: "Laser scanner has no own parameters".
    """
    scan = parameters(name, "collision_monitor")["scan"]
    assert set(scan) == {"type", "topic", "enabled"}
    prefixes = parameters(name, "bt_navigator")["error_code_name_prefixes"]
    assert {"compute_path", "follow_path", "nav_to_pose", "nav_thru_poses"} <= set(prefixes)
    behaviors = parameters(name, "behavior_server")["behavior_plugins"]
    assert set(behaviors) <= set(prefixes)


def test_omni_lets_every_part_of_nav2_move_sideways() -> None:
    """Names and meanings as Nav2 has them in Jazzy, Kilted and later."""
    assert parameters("nav2_omni", "amcl")["robot_model_type"] == "nav2_amcl::OmniMotionModel"
    server = parameters("nav2_omni", "controller_server")
    assert server["min_y_velocity_threshold"] < 0.01  # at 0.5 sideways odometry counts as none
    path = server["FollowPath"]
    assert path["plugin"] == "nav2_mppi_controller::MPPIController"
    assert path[path["motion_model"]] == {"plugin": "mppi::OmniMotionModel"}
    assert path["motion_model"] == "Omni"
    assert path["model_dt"] == pytest.approx(1.0 / server["controller_frequency"])
    assert "PreferForwardCritic" not in path["critics"]
    assert "PathAngleCritic" not in path["critics"]
    assert all(path[critic]["enabled"] for critic in path["critics"])
    smoother = parameters("nav2_omni", "velocity_smoother")
    limits = [(path["vx_max"], path["vy_max"], path["wz_max"]), smoother["max_velocity"]]
    assert list(limits[0]) == limits[1] == [-v for v in smoother["min_velocity"]]
    assert smoother["max_accel"] == [path["ax_max"], path["ay_max"], path["az_max"]]
    assert smoother["max_decel"] == [-a for a in smoother["max_accel"]]


def test_omni_fits_the_platform_of_its_world() -> None:
    """The radius covers chassis and wheels."""
    robot = load_world(ROOT / "worlds" / "mecanum.world.xml").vehicles["r1"]
    dynamics = robot.spec.dynamics
    corners = [math.hypot(x, y) for x, y in dynamics.chassis.shape]
    corners += [math.hypot(abs(w.x) + w.radius, abs(w.y) + 0.5 * w.width) for w in dynamics.wheels]
    for costmap in ("local_costmap", "global_costmap"):
        radius = parameters("nav2_omni", costmap, costmap)["robot_radius"]
        assert max(corners) <= radius < 1.1 * max(corners)


def test_the_platform_can_do_what_nav2_may_ask() -> None:
    """Greatest speeds at once, both ways sideways: no wheel slips or lags for long."""
    world = load_world(ROOT / "worlds" / "mecanum.world.xml")
    robot = world.vehicles["r1"]
    vx, vy, _ = parameters("nav2_omni", "velocity_smoother")["max_velocity"]
    for sign in (1.0, -1.0):
        robot.teleport(0.0, 0.0, 0.0)
        robot.set_twist(0.5 * vx, sign * vy, 0.0)
        world.run(1.5)
        assert robot.twist == pytest.approx((0.5 * vx, sign * vy, 0.0), abs=0.03)


def test_the_map_is_that_of_the_world(tmp_path: Path) -> None:
    spec, _ = read_world(ROOT / "worlds" / "mecanum.world.xml")
    drawn = tmp_path / "mecanum.yaml"
    picture = save_nav2(floor_plan(spec).grid, drawn)
    kept = ROOT / "worlds" / "maps" / "mecanum.yaml"
    new, old = (yaml.safe_load(path.read_text()) for path in (drawn, kept))
    assert {**new, "image": ""} == {**old, "image": ""}
    pixels = [np.asarray(Image.open(file)) for file in (picture, kept.parent / old["image"])]
    assert np.array_equal(*pixels)


def test_the_filters_are_set_up_as_the_real_ones_need_it() -> None:
    """Found with robot_localization 3.6: each of these, left out, made it wrong or complain."""
    nodes = yaml.safe_load((ROOT / "params" / "ekf.yaml").read_text())
    local, world = (nodes[f"/**/ekf_{name}"]["ros__parameters"] for name in ("odom", "map"))
    assert local["print_diagnostics"] is world["print_diagnostics"] is True
    assert nodes["/**/navsat_transform"]["ros__parameters"]["wait_for_datum"] is True
    for values in (local["process_noise_covariance"], world["initial_estimate_covariance"]):
        assert len(values) == 15
        assert all(isinstance(value, float) and value > 0.0 for value in values)
