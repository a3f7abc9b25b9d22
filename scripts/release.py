# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Prepares a release: `release.py check | notes VERSION DATE | build FOLDER`.

`check` compares the version numbers of all packages. `notes` turns what is unreleased in
CHANGELOG.md into a section of its own. `build` makes wheels and source distributions of
`mvsim_core`, `mvsim_ros2` and `mvsim-interfaces` (with `mvsim_msgs`), and tries them in a clean
environment: a world with the core alone, then the demo over ROS 2. It needs the package build.
"""

import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("mvsim_core", "mvsim_ros2")
#: The wheel with the interfaces of ROS 2.
INTERFACES = "mvsim_interfaces"
CHANGELOG = ROOT / "CHANGELOG.md"
UNRELEASED = "## [Unreleased]\n"
#: Where a version is written, and how.
PLACES = (
    *((f"{name}/package.xml", r"<version>(.+?)</version>") for name in (*PACKAGES, "mvsim_msgs")),
    *((f"{name}/setup.cfg", r"^version = (.+)$") for name in PACKAGES),
    ("mvsim_core/mvsim_core/__init__.py", r'^__version__ = "(.+)"$'),
    ("mvsim_ros2/setup.cfg", r"^    mvsim_core==(.+)$"),
)


class ReleaseError(Exception):
    """Ends the program with one line."""


def versions() -> dict[str, str]:
    """Return the version in each place."""
    found = {}
    for name, pattern in PLACES:
        match = re.search(pattern, (ROOT / name).read_text(), re.MULTILINE)
        if match is None:
            raise ReleaseError(f"{name} has no version")
        found[f"{name}: {pattern}"] = match[1]
    return found


def check() -> str:
    """Return the version, which must be the same everywhere."""
    found = versions()
    if len(set(found.values())) != 1:
        lines = "\n".join(f"  {version}  {place}" for place, version in found.items())
        raise ReleaseError(f"the versions differ:\n{lines}")
    if UNRELEASED not in CHANGELOG.read_text():
        raise ReleaseError(f"{CHANGELOG.name} has no section [Unreleased]")
    return next(iter(found.values()))


def has_notes(version: str) -> bool:
    """Return whether the changelog has a section of a version."""
    return f"\n## [{version}] - " in CHANGELOG.read_text()


def notes(text: str, version: str, date: str) -> str:
    """Return the changelog with what was unreleased as the section of a version."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise ReleaseError(f"expected a date such as 2026-12-01, got {date!r}")
    head, _, tail = text.partition(UNRELEASED)
    return f"{head}{UNRELEASED}\n## [{version}] - {date}\n{tail}"


def build(folder: Path) -> None:
    """Make wheels and source distributions, and try them."""
    version = check()
    if not has_notes(version):
        raise ReleaseError(f"{CHANGELOG.name} has no section [{version}]: make it by notes first")
    for name in PACKAGES:
        run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT / name))
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT / "pypi"))
    wheels = {name: wheel_of(folder, name, version) for name in (*PACKAGES, INTERFACES)}
    with tempfile.TemporaryDirectory() as place:
        venv.create(place, with_pip=True)
        bin_ = Path(place, "bin")
        pip = (str(bin_ / "python"), "-m", "pip", "install", "--quiet")
        mvsim = str(bin_ / "mvsim")
        run(*pip, str(wheels["mvsim_core"]))
        found = subprocess.run([mvsim, "worlds", "warehouse"], capture_output=True, check=True)
        world = found.stdout.decode().strip()
        run(mvsim, "run", world, "--time", "2", "--twist", "r1", "0.5", "0.2")
        run(*pip, "-r", str(ROOT / "requirements" / "run.txt"))
        run(*pip, "--no-deps", *(str(wheels[name]) for name in ("mvsim_ros2", INTERFACES)))
        run(str(bin_ / "mvsim_demo"), world, "--time", "5")
    print(*sorted(path.name for path in folder.iterdir()), sep="\n")


def wheel_of(folder: Path, name: str, version: str) -> Path:
    """Return the wheel of a package, which must have its licence."""
    (wheel,) = folder.glob(f"{name}-{version}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    if not any(entry.endswith("/LICENSE") for entry in names):
        raise ReleaseError(f"{wheel.name} has no licence")
    return wheel


def run(*command: str) -> None:
    """Run a command; its messages stay visible."""
    print("+", *command, flush=True)
    if subprocess.run(command, check=False).returncode:
        raise ReleaseError(f"failed, see above: {' '.join(command)}")


def main(verb: str = "", *words: str) -> None:
    """Do what the first word says."""
    if verb == "check" and not words:
        print(check())
    elif verb == "notes" and len(words) == 2:
        if check() != words[0]:
            raise ReleaseError(f"the packages have version {check()}, not {words[0]}")
        if has_notes(words[0]):
            raise ReleaseError(
                f"{CHANGELOG.name} has {words[0]} already: raise the versions first"
            )
        CHANGELOG.write_text(notes(CHANGELOG.read_text(), *words))
    elif verb == "build" and len(words) == 1:
        build(Path(words[0]).resolve())
    else:
        raise ReleaseError("usage: release.py check | notes VERSION DATE | build FOLDER")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except ReleaseError as error:
        sys.exit(f"release: {error}")
