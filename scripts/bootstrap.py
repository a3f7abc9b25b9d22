# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Brings a checkout to the point where `make` can use it: `bootstrap.py run|dev`.

Makes `.venv` with pinned packages, the interface wheel of `pypi/` and the two packages of this
repository in editable form. It runs with the system's Python and its standard library only. A
fingerprint of all inputs makes further runs a matter of milliseconds, without a network.
"""

import ctypes.util
import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
CACHE = ROOT / ".cache"
PYTHON = VENV / "bin" / "python"
BUILD = "requirements/build.txt"
REQUIREMENTS = {
    "run": ["requirements/run.txt"],
    "dev": ["requirements/run.txt", "requirements/dev.txt"],
    "docs": ["requirements/run.txt", "requirements/docs.txt"],
}
PACKAGES = ["mvsim_core", "mvsim_ros2"]
CAMERA_PACKAGES = ["libegl1", "libgl1", "libgl1-mesa-dri"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
INTERFACES = ["pypi/src", "pypi/rosidl_wheel", "mvsim_msgs"]
TAG = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
"""What compiled modules depend on, such as `cpython-311-linux-x86_64`."""
ALIEN = {
    "AMENT_PREFIX_PATH",
    "CMAKE_PREFIX_PATH",
    "LD_LIBRARY_PATH",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONHOME",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
}
"""Variables of a sourced ROS installation or another environment that would mislead ours."""


class SetupError(Exception):
    """Ends the program with one line that tells what to do."""


def main(kind: str) -> None:
    """Makes the environment for running (`run`), development (`dev`) or the site (`docs`)."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = Stamp(VENV / "mvsim.json")
        want = fingerprint(kind)
        if stamp.values.get(kind) == want and PYTHON.exists():
            return
        check_platform()
        install_system_packages(missing_packages())
        if kind == "dev":
            install_optional_packages()
        make_environment()
        say("Python packages")
        pip("install", "-r", BUILD)
        pip("install", *(f"-r{name}" for name in REQUIREMENTS[kind]))
        install_interfaces(stamp)
        say("mvsim_core, mvsim_ros2")
        pip("install", "--no-deps", "--no-build-isolation", *(f"-e./{p}" for p in PACKAGES))
        link_shares()
        compile_kernels()
        stamp.set(kind, want)


class Stamp:
    """What the environment was made from, kept inside it."""

    def __init__(self, path: Path) -> None:
        """Reads the file if it exists."""
        self.path = path
        self.values: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}

    def set(self, key: str, value: str) -> None:
        """Stores one value."""
        self.values[key] = value
        self.path.write_text(json.dumps(self.values, indent=1))


def fingerprint(kind: str) -> str:
    """A hash of all that the environment depends on."""
    files = [BUILD, *REQUIREMENTS[kind], "scripts/bootstrap.py"]
    files += [f"{name}/{file}" for name in PACKAGES for file in ("setup.cfg", "package.xml")]
    launch = sorted(path.name for path in (ROOT / "launch").iterdir())
    parts = [TAG, str(ROOT), interface_key(), *launch]
    return digest([part.encode() for part in parts] + [(ROOT / f).read_bytes() for f in files])


def interface_key() -> str:
    """A hash of the interface packages' sources and of what they are compiled for."""
    parts = [TAG.encode()]
    for top in INTERFACES:
        for path in sorted((ROOT / top).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                parts += [path.relative_to(ROOT).as_posix().encode(), path.read_bytes()]
    return digest(parts)


def digest(parts: list[bytes]) -> str:
    """A short hash of byte strings."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(len(part).to_bytes(8, "little") + part)
    return sha.hexdigest()[:16]


def check_platform() -> None:
    """Stops where the ROS wheels do not exist."""
    if not (3, 10) <= sys.version_info[:2] <= (3, 14):
        found = platform.python_version()
        raise SetupError(
            f"needs Python 3.10 to 3.14, found {found}; choose one: make PYTHON=python3.11"
        )
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise SetupError(
            "the ROS 2 wheels on PyPI are for Linux x86_64 only; on this machine build with colcon"
            " in a ROS 2 installation (README.md)"
        )


def missing_packages() -> list[str]:
    """The Debian names of what the system lacks to make the environment."""
    missing = []
    if not all(importlib.util.find_spec(name) for name in ("ensurepip", "venv")):
        missing.append("python3-venv")
    if not cached_wheel():
        if not all(shutil.which(name) for name in ("cc", "c++")):
            missing.append("g++")
        if not Path(sysconfig.get_path("include"), "Python.h").exists():
            missing.append("python3-dev")
    system = Path("/usr/bin/python3")
    if system.exists() and system.resolve() == Path(sys.executable).resolve():
        return missing
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return [name.replace("python3", version) for name in missing]


def install_system_packages(names: list[str]) -> None:
    """Installs Debian packages where that needs no password, else says what to install."""
    if not names:
        return
    root = root_prefix()
    if root is None or not shutil.which("apt-get"):
        raise SetupError(f"missing system packages; run: sudo apt-get install {' '.join(names)}")
    say(f"system packages: {' '.join(names)}")
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    install = [*apt, "install", "-y", "--no-install-recommends", *names]
    for command in ([*apt, "update"], install):
        if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
            raise SetupError(f"could not install system packages; try: {' '.join(install)}")


def install_optional_packages() -> None:
    """Installs what some tests need, where that needs no password: without it they skip."""
    wanted = []
    if not (ctypes.util.find_library("EGL") and ctypes.util.find_library("GL")):
        wanted.append(("cameras", CAMERA_PACKAGES))
    if not any(shutil.which(name) for name in BROWSERS) and on_debian():
        wanted.append(("the viewer", ["chromium"]))
    if not wanted:
        return
    names = [name for _, packages in wanted for name in packages]
    if root_prefix() is None or not shutil.which("apt-get"):
        parts = " and ".join(part for part, _ in wanted)
        say(f"note: tests of {parts} will be skipped, for want of {' '.join(names)}")
        return
    install_system_packages(names)


def on_debian() -> bool:
    """Whether this is Debian, whose Chromium is a package; Ubuntu's needs a running snapd."""
    release = Path("/etc/os-release")
    return release.exists() and "ID=debian" in release.read_text().split()


def root_prefix() -> "list[str] | None":
    """What to write before a command to run it as root without a password; None = impossible."""
    if os.geteuid() == 0:
        return []
    sudo = ["sudo", "-n"]
    nothing = subprocess.DEVNULL
    if not shutil.which("sudo") or subprocess.run([*sudo, "true"], stderr=nothing).returncode:
        return None
    return sudo


def make_environment() -> None:
    """Makes or mends `.venv`; only another Python version means a new start."""
    say("virtual environment")
    clear = [] if site_packages().is_dir() else ["--clear"]
    run([sys.executable, "-m", "venv", *clear, str(VENV)])


def install_interfaces(stamp: Stamp) -> None:
    """Builds the interface wheel once for each state of its sources, and installs it."""
    key = interface_key()
    wheel = cached_wheel()
    if wheel is None:
        say("ROS 2 interface packages (about half a minute)")
        folder = CACHE / "wheels" / key
        partial = folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        pip("wheel", "--no-deps", "--no-build-isolation", "-w", str(partial), "./pypi")
        partial.replace(folder)
        (wheel,) = folder.glob("*.whl")
    if stamp.values.get("interfaces") != key or not (site_packages() / "tf2_msgs").is_dir():
        pip("install", "--no-deps", "--force-reinstall", str(wheel))
        stamp.set("interfaces", key)


def cached_wheel() -> "Path | None":
    """The interface wheel for the present sources, if it was built before."""
    return next((CACHE / "wheels" / interface_key()).glob("*.whl"), None)


def link_shares() -> None:
    """Registers both packages in the ament index, as colcon's symlink install would.

    An editable install carries no data files; with these links a package's share folder holds
    the checkout's launch files and worlds, and ROS tools find its executables. `ros2 launch`
    follows links to files, and none to folders.
    """
    for package in PACKAGES:
        share = VENV / "share" / package
        if share.is_symlink():  # as older versions made it
            share.unlink()
        shutil.rmtree(share, ignore_errors=True)
        for path in (ROOT / package).iterdir():
            files = path.iterdir() if path.name == "launch" else [path]
            for file in files:
                link(share / file.relative_to(ROOT / package), file)
        marker = VENV / "share" / "ament_index" / "resource_index" / "packages" / package
        link(marker, ROOT / package / "resource" / package)
    for name in ("mvsim_node", "mvsim_demo"):
        link(VENV / "lib" / "mvsim_ros2" / name, VENV / "bin" / name)


def compile_kernels() -> None:
    """Runs each world for a moment, so that the first demo need not wait for the compiler.

    Only a matter of speed: a world that does not run is reported by the tests and by the demo.
    Two processes begin at the two ends of the list; each loads what the other has compiled.
    """
    say("kernels (compiled once, some minutes)")
    worlds = sorted(str(path) for path in (ROOT / "worlds").glob("*.world.xml"))
    code = "import sys, mvsim_core as m; [m.load_world(w).run(0.3) for w in sys.argv[1:]]"
    running = [
        subprocess.Popen(
            [str(PYTHON), "-c", code, *order],
            env=clean(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for order in (worlds, worlds[::-1])
    ]
    for process in running:
        process.wait()


def link(path: Path, target: Path) -> None:
    """Makes a symbolic link, in place of an older one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        path.unlink()
    path.symlink_to(target)


def site_packages() -> Path:
    """The environment's folder of modules, for this version of Python."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return VENV / "lib" / version / "site-packages"


def pip(*args: str) -> None:
    """Runs pip in the environment."""
    options = ["--quiet", "--disable-pip-version-check", "--no-input"]
    run([str(PYTHON), "-m", "pip", *args[:1], *options, *args[1:]])


def run(command: list[str]) -> None:
    """Runs a command in the repository; its messages stay visible."""
    result = subprocess.run(command, cwd=ROOT, env=clean(), check=False)
    if result.returncode:
        raise SetupError(f"failed, see above: {' '.join(command)}")


def clean() -> "dict[str, str]":
    """The process environment without what would mislead ours."""
    kept = {name: value for name, value in os.environ.items() if name not in ALIEN}
    return {**kept, "PYTHONNOUSERSITE": "1"}


def say(step: str) -> None:
    """Tells what is being done."""
    print(f"[setup] {step}", flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except SetupError as error:
        sys.exit(f"mvsim: {error}")
