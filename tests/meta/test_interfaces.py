# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The interface packages of pypi/ are the official ones: same names, same type hashes."""

import importlib
import json
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

OFFICIAL = {
    "tf2_msgs/msg/TFMessage": "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
    "ackermann_msgs/msg/AckermannDriveStamped": (
        "48ca7612a08d3bb72744fd98b71b7cf2ea24c6ad50fa4e1aa0bbad963c90d8cf"
    ),
    "simulation_interfaces/action/SimulateSteps": (
        "f0837c898e1219cd73bf4c041feab41e8c533e8e1057e982744dba7b093467eb"
    ),
    "simulation_interfaces/msg/SimulatorFeatures": (
        "8b101c8529bc0ea3dcf056078254768f39832b9ef0adaf93bd5cea96c0de3305"
    ),
    "simulation_interfaces/srv/GetEntitiesStates": (
        "0a76170d0c1c90e1eaf805cfab78ea801d1f82df309a28c1f0fae4b570f19754"
    ),
    "simulation_interfaces/srv/LoadWorld": (
        "f210682338f195f6f06191b46b20ec4992bddf485d33e2cffab2dd15341b4e3e"
    ),
    "simulation_interfaces/srv/SpawnEntity": (
        "d4c086345d4194a5fc4c9ae45095736ca4062b5cdac4d06a42dec93d683e03cf"
    ),
}
"""RIHS01 hashes computed from the definitions in the packages' own repositories."""


def _interfaces(root: Path) -> list[tuple[str, str, str]]:
    """Package, kind and name of each definition in the repository."""
    files = [path for path in (root / "pypi" / "src").glob("*/*/*") if path.parent.name in KINDS]
    return sorted((f.parent.parent.name, f.parent.name, f.stem) for f in files)


KINDS = ("msg", "srv", "action")
INTERFACES = _interfaces(Path(__file__).resolve().parents[2])


def _share(package: str) -> Path:
    """The share folder that belongs to the Python package that is imported."""
    module = importlib.import_module(package)
    assert module.__file__ is not None
    for folder in Path(module.__file__).parents:
        if (folder / "share" / package).is_dir():
            return folder / "share" / package
    pytest.fail(f"no share folder for {module.__file__}")


def test_all_definitions_are_found() -> None:
    packages = {package for package, _, _ in INTERFACES}
    assert packages == {"ackermann_msgs", "mvsim_msgs", "simulation_interfaces", "tf2_msgs"}
    assert len(INTERFACES) >= 48


@pytest.mark.parametrize(("package", "kind", "name"), INTERFACES)
def test_interface_imports_and_has_its_type_support(package: str, kind: str, name: str) -> None:
    interface = getattr(importlib.import_module(f"{package}.{kind}"), name)
    for part in {"srv": ("Request", "Response"), "action": ("Goal", "Result")}.get(kind, ()):
        getattr(interface, part)()
    metaclass = type(interface)
    metaclass.__import_type_support__()
    assert metaclass._TYPE_SUPPORT is not None


@pytest.mark.parametrize("name", OFFICIAL)
def test_type_hash_is_the_official_one(name: str) -> None:
    package, kind, stem = name.split("/")
    described = json.loads((_share(package) / kind / f"{stem}.json").read_text())
    hashes = {row["type_name"]: row["hash_string"] for row in described["type_hashes"]}
    assert hashes[name] == f"RIHS01_{OFFICIAL[name]}"


def test_type_hash_on_the_wire(ros_domain_id: int) -> None:
    import rclpy
    from tf2_msgs.msg import TFMessage

    context = rclpy.Context()
    rclpy.init(context=context, domain_id=ros_domain_id)
    try:
        node = rclpy.create_node("hash_probe", context=context)
        node.create_publisher(TFMessage, "tf", 10)
        (info,) = node.get_publishers_info_by_topic("tf")
        assert str(info.topic_type_hash) == f"RIHS01_{OFFICIAL['tf2_msgs/msg/TFMessage']}"
    finally:
        rclpy.shutdown(context=context)
