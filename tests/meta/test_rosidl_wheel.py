# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The backend that builds interface packages: order, wheel format, and a package end to end."""

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("rclpy")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pypi"))

from rosidl_wheel.backend import HERE, build_sdist
from rosidl_wheel.compile import compile_packages
from rosidl_wheel.generate import Tree, generate, ros_prefix
from rosidl_wheel.packages import read_package, read_packages
from rosidl_wheel.wheel import Wheel, tag

MANIFEST = """<package format="3"><name>{name}</name><version>1.2.3</version>{depends}</package>"""


def _package(folder: Path, name: str, *depends: str) -> Path:
    (folder / name / "msg").mkdir(parents=True)
    tags = "".join(f"<depend>{other}</depend>" for other in depends)
    (folder / name / "package.xml").write_text(MANIFEST.format(name=name, depends=tags))
    return folder / name


def test_packages_come_after_those_they_need(tmp_path: Path) -> None:
    _package(tmp_path, "a_msgs", "b_msgs", "std_msgs")
    _package(tmp_path, "b_msgs", "c_msgs")
    _package(tmp_path, "c_msgs")
    assert [p.name for p in read_packages(tmp_path)] == ["c_msgs", "b_msgs", "a_msgs"]


def test_only_definitions_in_their_own_folder_count(tmp_path: Path) -> None:
    folder = _package(tmp_path, "a_msgs")
    for name in ("msg/A.msg", "msg/notes.txt", "msg/B.srv"):
        (folder / name).touch()
    package = read_package(folder)
    assert package.files == (Path("msg/A.msg"),)
    assert package.version == "1.2.3"


def test_a_manifest_without_a_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "package.xml").write_text("<package><name>a_msgs</name></package>")
    with pytest.raises(ValueError, match="no <version>"):
        read_package(tmp_path)


def test_wheel_has_a_true_record(tmp_path: Path) -> None:
    (tmp_path / "python" / "probe").mkdir(parents=True)
    (tmp_path / "python" / "probe" / "__init__.py").write_text("x = 1\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libprobe.so").write_bytes(b"\x7fELF")
    wheel = Wheel(name="some-probe", version="1.0", summary="", requires=("numpy",))
    wheel.add_modules(tmp_path / "python")
    wheel.add_data(tmp_path / "lib", "lib")
    path = wheel.write(tmp_path)
    assert path.name == f"some_probe-1.0-{tag()}.whl"
    with zipfile.ZipFile(path) as archive:
        rows = archive.read("some_probe-1.0.dist-info/RECORD").decode().splitlines()
        listed = {row.split(",")[0]: row.split(",")[1] for row in rows}
        assert set(listed) == set(archive.namelist())
        assert "some_probe-1.0.data/data/lib/libprobe.so" in listed
        for name, digest in listed.items():
            if digest:
                sha = hashlib.sha256(archive.read(name)).digest()
                text = base64.urlsafe_b64encode(sha).rstrip(b"=").decode()
                assert digest == f"sha256={text}"


def test_the_source_distribution_is_whole(tmp_path: Path) -> None:
    name = build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / name) as archive:
        members = {member.name.partition("/")[2]: member for member in archive.getmembers()}
        about = archive.extractfile(members["PKG-INFO"])
        assert about is not None
        assert "\nLicense: BSD-3-Clause AND Apache-2.0\n" in about.read().decode()
    own = {path.relative_to(HERE).as_posix() for path in (HERE / "src").rglob("*/*.*")}
    own |= {f"src/mvsim_msgs/msg/{path.name}" for path in (HERE / "src/mvsim_msgs/msg").iterdir()}
    packages = [folder.name for folder in (HERE / "src").iterdir()]
    assert own | {f"src/{package}/LICENSE" for package in packages} <= set(members)
    assert {"pyproject.toml", "rosidl_wheel/backend.py", "src/mvsim_msgs/package.xml"} <= set(
        members
    )
    assert not any(member.issym() for member in members.values())


@pytest.mark.skipif(not shutil.which("c++"), reason="needs a C++ compiler")
def test_packages_that_use_each_other(tmp_path: Path) -> None:
    source = tmp_path / "packages"
    inner = _package(source, "inner_msgs", "std_msgs")
    (inner / "msg" / "Inner.msg").write_text("std_msgs/Header header\nfloat64[3] values\n")
    outer = _package(source, "outer_msgs", "inner_msgs")
    (outer / "msg" / "Outer.msg").write_text("uint8 ONE = 1\ninner_msgs/Inner[] parts\n")

    packages = read_packages(source)
    tree = Tree(ros_prefix(), tmp_path / "build")
    tree.build.mkdir()
    generate(packages, tree, jobs=2)
    compile_packages(packages, tree, jobs=2)

    for package in packages:
        generated = tree.sources("rosidl_generator_py", package.name)
        shutil.copytree(generated, tree.build / "python" / package.name, dirs_exist_ok=True)
    script = (
        "from rclpy.serialization import deserialize_message, serialize_message\n"
        "from inner_msgs.msg import Inner\n"
        "from outer_msgs.msg import Outer\n"
        "sent = Outer(parts=[Inner(values=[1.0, 2.0, 3.0])])\n"
        "assert Outer.ONE == 1\n"
        "assert deserialize_message(serialize_message(sent), Outer) == sent\n"
    )
    command = [sys.executable, "-c", script]
    environment = {
        "LD_LIBRARY_PATH": str(tree.build / "lib"),
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(tree.build / "python"),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
