# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""All launch files can be read, and their arguments reach the right nodes.

These tests need `launch` and `launch_ros`, which a ROS installation has and PyPI has not.
"""

import tempfile
from pathlib import Path

import pytest

pytest.importorskip("launch.actions")
pytest.importorskip("launch_ros.actions")

from mvsim_ros2 import launch_helpers
from tests.conftest import ROOT
from tests.launch.launch_visitor import Started, visit_launch

LAUNCH = ROOT / "launch"
FILES = sorted(LAUNCH.glob("*.launch.*"))
EKF = ROOT / "launch" / "ekf.launch.py"
SIM = LAUNCH / "sim.launch.py"
WORLDS = sorted(path.name.partition(".")[0] for path in (ROOT / "worlds").glob("*.world.xml"))
#: Launch files with other people's packages, and the argument that leaves those out.
CONSUMERS = {"nav2": "use_nav2", "slam": "use_slam", "ekf": "use_ekf"}
ALONE = dict.fromkeys(CONSUMERS.values(), "false")
#: Launch files that start no simulator.
BESIDE = {"rviz", "teleop"}
#: Any world will do where nothing is started.
ANY = {"world_file": "x.world.xml"}


@pytest.fixture(autouse=True)
def _temporary_files_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def everything_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nodes of other packages pass for installed; nothing is started here."""
    monkeypatch.setattr(launch_helpers, "missing_package", lambda package: "")


def path_of(name: str) -> Path:
    return LAUNCH / f"{name}.launch.py"


def test_every_world_has_a_launch_file() -> None:
    names = {path.name.partition(".")[0] for path in FILES}
    assert set(WORLDS) == names - {"sim", *CONSUMERS, *BESIDE}


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_it_can_be_read_and_every_argument_has_help(file: Path) -> None:
    declared = visit_launch(file, **ANY, **ALONE).declared()
    assert len(declared) >= (3 if file.name.partition(".")[0] in BESIDE else 10)
    assert all(argument.description.endswith(".") for argument in declared.values())


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_files_that_it_names_exist(file: Path) -> None:
    values = visit_launch(file, world_file=str(SIM), **ALONE).values
    named = [n for n in ("world_file", "rviz_config_file", "params_file", "map") if n in values]
    assert named
    assert all(Path(values[name]).is_file() for name in named)


@pytest.mark.usefixtures("everything_installed")
@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        ({}, ["mvsim_node", "rviz2"]),
        ({"headless": "true"}, ["mvsim_node"]),
        ({"headless": "True", "use_rviz": "True"}, ["mvsim_node"]),
        ({"use_rviz": "false"}, ["mvsim_node"]),
    ],
)
@pytest.mark.parametrize("file", [p for p in FILES if p.name.partition(".")[0] not in BESIDE])
def test_no_window_where_none_is_wanted(
    file: Path, arguments: dict[str, str], started: list[str]
) -> None:
    assert visit_launch(file, **ANY, **ALONE, **arguments).executables == started


@pytest.mark.usefixtures("everything_installed")
@pytest.mark.parametrize("name", WORLDS)
def test_a_demo_opens_its_own_world_and_rviz_configuration(name: str) -> None:
    visit = visit_launch(path_of(name))
    assert Path(visit.nodes[0].parameters["world_file"]) == ROOT / "worlds" / f"{name}.world.xml"
    assert Path(visit.values["rviz_config_file"]) == ROOT / "rviz" / f"{name}.rviz"
    other = {"rviz_config_file": "/mine.rviz", "realtime_factor": "max", "use_rviz": "false"}
    changed = visit_launch(path_of(name), **other)
    assert changed.values["rviz_config_file"] == "/mine.rviz"
    assert changed.executables == ["mvsim_node"]
    assert changed.nodes[0].parameters["realtime_factor"] == "max"


def test_every_rviz_configuration_is_used() -> None:
    used = {*WORLDS, "sim", "nav2", "ekf"}
    assert {path.stem for path in (ROOT / "rviz").iterdir()} == used
    for name in ("sim", "nav2", "ekf"):
        default = visit_launch(path_of(name), **ANY, **ALONE).values["rviz_config_file"]
        assert Path(default).name == f"{name}.rviz"


# ------------------------------------------------------------------------------- the twin
def simulator(file: Path, **arguments: str) -> Started:
    """Return the node of a launch file that simulates."""
    (node,) = (n for n in visit_launch(file, **arguments).nodes if n.executable == "mvsim_node")
    return node


def test_the_xml_twin_has_the_same_arguments() -> None:
    texts = []
    for file in (SIM, SIM.with_suffix(".xml")):
        visit = visit_launch(file, **ANY)
        texts.append(
            {
                name: (argument.description, visit.values[name].replace("/launch/..", ""))
                for name, argument in visit.declared().items()
            }
        )
    assert len(texts[0]) == 18
    assert texts[0] == texts[1]


@pytest.mark.usefixtures("everything_installed")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"realtime_factor": "max", "frame_prefix": "<name>/", "headless": "true"},
        {"start_poses": "r1 x=1; r2 y=2", "use_sim_time": "false", "rviz_namespace": "r2"},
        {"enable_stamped_cmd_vel": "false", "use_rviz": "false", "params_file": "/mine.yaml"},
    ],
)
def test_the_xml_twin_starts_the_same(arguments: dict[str, str]) -> None:
    python, xml = (
        visit_launch(file, **ANY, **arguments) for file in (SIM, SIM.with_suffix(".xml"))
    )
    assert python.executables == xml.executables
    for one, other in zip(python.nodes, xml.nodes, strict=True):
        assert one.parameters == other.parameters
        assert one.namespace == other.namespace
        assert [p.resolve() for p in one.files] == [p.resolve() for p in other.files]


# ---------------------------------------------------------------------------- many robots
@pytest.mark.usefixtures("everything_installed")
@pytest.mark.parametrize("name", ["multi_robot", "two_robots", "trailers"])
def test_several_robots_share_a_tf_or_have_one_each(name: str) -> None:
    shared, apart = (visit_launch(path_of(name), shared_tf=flag) for flag in ("true", "false"))
    assert shared.nodes[0].parameters["frame_prefix"] == "<name>/"
    assert apart.nodes[0].parameters["frame_prefix"] == ""
    assert Path(apart.values["rviz_config_file"]).name == "sim.rviz"
    assert shared.nodes[1].namespace == ""
    assert apart.nodes[1].namespace in ("robot1", "courier1", "wagon1")
    assert ("/tf", "tf") in apart.nodes[1].remappings


def test_the_number_of_robots_reaches_the_simulator_alone() -> None:
    visit = visit_launch(path_of("multi_robot"), robots="12")
    assert visit.nodes[0].environment["ROBOTS"] == "12"
    assert visit.nodes[0].parameters["force_publish_vehicle_namespace"] is True
    assert "ROBOTS" not in visit.context.environment


# ------------------------------------------------------------------- other people's packages
@pytest.mark.parametrize("name", CONSUMERS)
def test_missing_packages_are_reported_and_not_fatal(name: str) -> None:
    arguments = {**ANY, "use_rviz": "false", "use_composition": "False"}
    present = visit_launch(path_of(name), **arguments)
    assert present.executables[0] == "mvsim_node"
    assert "is not installed" in present.reports or len(present.nodes) > 1
    without = visit_launch(path_of(name), **arguments, **{CONSUMERS[name]: "false"})
    assert without.executables == ["mvsim_node"]
    assert without.reports == ""


@pytest.mark.parametrize("name", CONSUMERS)
def test_somebody_else_owns_the_transforms(name: str) -> None:
    node = simulator(path_of(name), **ANY, **{CONSUMERS[name]: "false"})
    assert node.parameters["do_fake_localization"] is False
    assert node.parameters["publish_tf_odom2baselink"] is (name != "ekf")


@pytest.mark.usefixtures("everything_installed")
def test_a_namespace_moves_robot_rviz_and_nav2() -> None:
    arguments = {**ANY, "use_nav2": "false"}
    visit = visit_launch(path_of("nav2"), **arguments, namespace="robot7")
    assert [node.namespace for node in visit.nodes] == ["robot7", "robot7"]
    params = Path(visit.values["params_file"])
    assert "topic: /robot7/scan" in params.read_text()
    visit = visit_launch(path_of("nav2"), **arguments)
    assert [node.namespace for node in visit.nodes] == ["", ""]
    assert Path(visit.values["params_file"]) == ROOT / "params" / "nav2.yaml"


@pytest.mark.usefixtures("everything_installed")
def test_nav2_can_join_a_simulator_that_runs() -> None:
    joined = {"use_simulator": "False", "use_nav2": "false", "namespace": "robot2"}
    visit = visit_launch(path_of("nav2"), **joined)
    assert visit.executables == ["rviz2"]
    assert visit.nodes[0].namespace == "robot2"


def test_slam_toolbox_is_missed_only_where_nav2_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        launch_helpers, "missing_package", lambda p: f"no {p}" if p != "rviz2" else ""
    )
    nav2 = path_of("nav2")
    assert visit_launch(nav2, headless="true").reports == "no nav2_bringup"
    assert (
        visit_launch(nav2, headless="true", slam="True").reports
        == "no nav2_bringup no slam_toolbox"
    )


@pytest.mark.skipif(
    bool(launch_helpers.missing_package("nav2_bringup")), reason="nav2_bringup is missing"
)
@pytest.mark.parametrize("namespace", ["", "robot7"])
def test_nav2_s_own_launch_files_take_the_arguments(namespace: str) -> None:
    arguments = {"namespace": namespace, "use_composition": "False", "use_rviz": "false"}
    nodes = {node.executable: node for node in visit_launch(path_of("nav2"), **arguments).nodes}
    assert {"mvsim_node", "map_server", "amcl", "controller_server", "bt_navigator"} <= set(nodes)
    assert {node.namespace for node in nodes.values()} == {namespace}
    kept = str(ROOT / "worlds" / "maps" / "building.yaml")
    assert nodes["map_server"].parameters["yaml_filename"] == kept


@pytest.mark.usefixtures("everything_installed")
@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ({"world_file": "my.world.xml"}, True),
        ({"world_file": "my.world.xml", "map": "my.yaml"}, False),
        ({"world_file": "my.world.xml", "slam": "True"}, False),
        ({"world_file": "my.world.xml", "use_nav2": "false"}, False),
        ({"world_file": "my.world.xml", "use_simulator": "False"}, False),
        ({}, False),
    ],
)
def test_another_world_without_its_map_is_reported(
    arguments: dict[str, str], reported: bool
) -> None:
    visit = visit_launch(path_of("nav2"), **arguments)
    assert ("map:= is missing" in visit.reports) is reported


def test_nav2_puts_the_robot_where_its_launch_arguments_say() -> None:
    place = {"robot_name": "r1", "x_pose": "-2.00", "y_pose": "0.5", "yaw": "1.57"}
    node = simulator(path_of("nav2"), **place, use_nav2="false")
    text = node.parameters["start_poses"]
    assert text == "r1 x=-2.00 y=0.5 z= roll= pitch= yaw=1.57"
    assert node.parameters["publish_initialpose"] is True
    start_poses = pytest.importorskip("mvsim_ros2.parameters.start_poses")
    assert start_poses.parse_start_poses(text) == {"r1": {"x": -2.0, "y": 0.5, "yaw": 1.57}}
    plain = simulator(path_of("nav2"), use_nav2="false")
    assert start_poses.parse_start_poses(plain.parameters["start_poses"]) == {}


def test_nav2_has_the_arguments_of_nav2_s_own_simulations() -> None:
    """nav2_bringup/launch/tb3_simulation_launch.py of Jazzy, Kilted and later.

    Not those that say what Gazebo loads (world, robot_sdf), for that is `world_file`, and
    use_robot_state_pub, for the simulator does that.
    """
    visit = visit_launch(path_of("nav2"), use_nav2="false")
    declared, values = visit.declared(), visit.values
    defaults = {
        **{"namespace": "", "slam": "false", "use_sim_time": "true", "autostart": "true"},
        **{"use_composition": "true", "use_respawn": "false", "use_simulator": "true"},
        **{"use_rviz": "true", "use_intra_process_comms": "false"},
    }
    assert {name: values[name].lower() for name in defaults} == defaults
    places = {"x_pose", "y_pose", "z_pose", "roll", "pitch", "yaw", "robot_name", "headless"}
    assert places | {"map", "params_file", "rviz_config_file", "use_namespace"} <= set(declared)


def test_nav2_drives_the_mecanum_platform_with_its_own_map_and_parameters() -> None:
    arguments = {"use_nav2": "true", "use_rviz": "false", "use_composition": "False"}
    visit = visit_launch(path_of("mecanum"), **arguments)
    assert Path(visit.nodes[0].parameters["world_file"]).name == "mecanum.world.xml"
    assert Path(visit.values["map"]) == ROOT / "worlds" / "maps" / "mecanum.yaml"
    assert Path(visit.values["rviz_config_file"]).name == "nav2.rviz"
    alone = visit_launch(path_of("mecanum"), use_rviz="false")
    assert "map" not in alone.values
    assert alone.reports == ""


# ------------------------------------------------------------------------------- teleop
@pytest.mark.usefixtures("everything_installed")
def test_keyboard_and_joystick_drive_one_robot() -> None:
    arguments = {"namespace": "robot2", "stamped": "true", "prefix": "env", "joy_dev": "3"}
    visit = visit_launch(path_of("teleop"), **arguments, use_joystick="true")
    assert visit.executables == ["teleop_twist_keyboard", "joy_node", "teleop_node"]
    assert {node.namespace for node in visit.nodes} == {"robot2"}
    keyboard, joystick, teleop = visit.nodes
    assert keyboard.parameters["stamped"] is True
    assert joystick.parameters["device_id"] == 3
    assert teleop.parameters["publish_stamped_twist"] is True
    assert teleop.files == (ROOT / "params" / "teleop.yaml",)
    assert visit_launch(path_of("teleop"), prefix="env").executables == ["teleop_twist_keyboard"]


def test_a_terminal_or_package_that_is_missing_is_named() -> None:
    visit = visit_launch(path_of("teleop"), prefix="no_such_terminal -e")
    assert "terminal 'no_such_terminal' is not installed" in visit.reports
    visit = visit_launch(path_of("teleop"), prefix="env", use_joystick="true")
    assert len(visit.nodes) + visit.reports.count("is not installed") == 3


@pytest.mark.usefixtures("everything_installed")
def test_the_filter_shares_the_origin_of_the_world() -> None:
    field, warehouse = (ROOT / "worlds" / f"{n}.world.xml" for n in ("field", "warehouse"))
    for given, expected in (("", (40.0, -3.5, 0.0)), ("[1.5, 2.0, 0.0]", (1.5, 2.0, 0.0))):
        arguments = {"datum": given} if given else {}
        visit = visit_launch(EKF, world_file=str(field), use_gps="true", **arguments)
        (navsat,) = (n for n in visit.nodes if n.executable == "navsat_transform_node")
        datum = navsat.parameters["datum"]
        assert tuple(datum) == expected
        assert all(isinstance(number, float) for number in datum)  # a whole number ends the node
    visit = visit_launch(EKF, world_file=str(warehouse), use_gps="true")
    assert "warehouse.world.xml has no <georeference>" in visit.reports
