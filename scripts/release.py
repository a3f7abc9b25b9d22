# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Prepares a release: `release.py check | notes VERSION DATE | build FOLDER`.

`check` compares the version numbers of all packages with the changelog. `notes` turns what is
unreleased in CHANGELOG.md into a section of its own. `build` makes wheels and source
distributions, installs the wheel of the core into a clean environment and simulates one of its
worlds there; it needs the package build.
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
    """Return the version, which must be the same everywhere and not be released yet."""
    found = versions()
    if len(set(found.values())) != 1:
        lines = "\n".join(f"  {version}  {place}" for place, version in found.items())
        raise ReleaseError(f"the versions differ:\n{lines}")
    version = next(iter(found.values()))
    text = CHANGELOG.read_text()
    if UNRELEASED not in text:
        raise ReleaseError(f"{CHANGELOG.name} has no section [Unreleased]")
    if f"## [{version}]" in text:
        raise ReleaseError(f"{version} is in {CHANGELOG.name} already: raise the versions first")
    return version


def notes(text: str, version: str, date: str) -> str:
    """Return the changelog with what was unreleased as the section of a version."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise ReleaseError(f"expected a date such as 2026-12-01, got {date!r}")
    head, _, tail = text.partition(UNRELEASED)
    return f"{head}{UNRELEASED}\n## [{version}] - {date}\n{tail}"


def build(folder: Path) -> None:
    """Make wheels and source distributions, and try the core's wheel."""
    version = check()
    for name in PACKAGES:
        run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT / name))
        (wheel,) = folder.glob(f"{name}-{version}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        if not any(entry.endswith("licenses/LICENSE") for entry in names):
            raise ReleaseError(f"{wheel.name} has no licence")
    (core,) = folder.glob(f"mvsim_core-{version}-*.whl")
    with tempfile.TemporaryDirectory() as place:
        venv.create(place, with_pip=True)
        python = str(Path(place, "bin", "python"))
        run(python, "-m", "pip", "install", "--quiet", str(core))
        mvsim = str(Path(place, "bin", "mvsim"))
        world = subprocess.run([mvsim, "worlds", "warehouse"], capture_output=True, check=True)
        run(
            mvsim,
            "run",
            world.stdout.decode().strip(),
            "--time",
            "2",
            "--twist",
            "r1",
            "0.5",
            "0.2",
        )
    print(*sorted(path.name for path in folder.iterdir()), sep="\n")


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
