# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The set-up script where something is missing; its usual way is what runs these tests."""

import importlib.util
import os
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "bootstrap.py"


@pytest.fixture
def bootstrap(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("nothing may be run here")

    monkeypatch.setattr(module.subprocess, "run", refuse)
    return module


def _nothing_found(*_: object) -> None:
    return None


def test_nothing_to_install(bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[object] = []
    monkeypatch.setattr(bootstrap.subprocess, "run", lambda *args, **_: ran.append(args))
    bootstrap.install_system_packages([])
    assert ran == []


def test_one_line_names_what_is_missing(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(bootstrap.shutil, "which", _nothing_found)
    with pytest.raises(bootstrap.SetupError) as caught:
        bootstrap.install_system_packages(["python3-venv", "g++"])
    assert str(caught.value) == (
        "missing system packages; run: sudo apt-get install python3-venv g++"
    )


def test_compilers_are_needed_only_without_a_cached_wheel(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bootstrap.shutil, "which", _nothing_found)
    monkeypatch.setattr(bootstrap, "CACHE", tmp_path)
    assert any(name.endswith("g++") for name in bootstrap.missing_packages())
    folder = tmp_path / "wheels" / bootstrap.interface_key()
    folder.mkdir(parents=True)
    (folder / "some.whl").touch()
    assert bootstrap.missing_packages() == []


def test_packages_of_another_python_carry_its_version(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", _nothing_found)
    monkeypatch.setattr(bootstrap.sys, "executable", str(tmp_path / "python3.12"))
    monkeypatch.setattr(bootstrap, "cached_wheel", lambda: tmp_path)
    major, minor = bootstrap.sys.version_info[:2]
    assert bootstrap.missing_packages() == [f"python{major}.{minor}-venv"]


@pytest.mark.parametrize("version", [(3, 9, 18), (3, 15, 0)])
def test_wrong_python_is_refused(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int]
) -> None:
    monkeypatch.setattr(bootstrap, "sys", SimpleNamespace(version_info=version))
    with pytest.raises(bootstrap.SetupError, match=r"needs Python 3.10 to 3.14"):
        bootstrap.check_platform()


def test_fingerprint_follows_its_inputs(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, dev = bootstrap.fingerprint("run"), bootstrap.fingerprint("dev")
    assert run != dev
    assert run == bootstrap.fingerprint("run")
    monkeypatch.setattr(bootstrap, "TAG", "cpython-399-linux-x86_64")
    assert bootstrap.fingerprint("run") != run


def test_alien_variables_stay_outside(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/opt/ros/kilted/lib/python3/site-packages")
    monkeypatch.setenv("HOME", "/home/someone")
    environment = bootstrap.clean()
    assert "PYTHONPATH" not in environment
    assert environment["HOME"] == "/home/someone"


def test_launch_finds_its_files_by_links_to_them(
    bootstrap: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`ros2 launch` follows no link to a folder below the share folder of a package."""
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "mvsim_ros2").symlink_to(bootstrap.ROOT / "mvsim_ros2")
    for _ in range(2):
        bootstrap.link_shares()
        found = {
            name for _, _, files in os.walk(tmp_path / "share" / "mvsim_ros2") for name in files
        }
        assert {"package.xml", "sim.launch.py", "sim.launch.xml"} <= found
    share = tmp_path / "share" / "mvsim_ros2"
    assert (share / "worlds" / "warehouse.world.xml").is_file()
    assert (bootstrap.ROOT / "mvsim_ros2" / "package.xml").is_file()
