# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes wheel files (PEP 427)."""

import base64
import hashlib
import sys
import sysconfig
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

LICENCES = "BSD-3-Clause AND Apache-2.0"
"""Of the packages; each has its text in its share folder."""


@dataclass(slots=True, kw_only=True)
class Wheel:
    """The contents of one wheel, collected file by file."""

    name: str
    version: str
    summary: str
    requires: tuple[str, ...]
    files: dict[str, Path] = field(default_factory=dict)
    """Path inside the wheel -> file."""

    @property
    def stem(self) -> str:
        """The start of all names that belong to this wheel."""
        return f"{self.name.replace('-', '_')}-{self.version}"

    def add_modules(self, folder: Path) -> None:
        """Adds a folder's packages to site-packages."""
        self._add(folder, "")

    def add_data(self, folder: Path, target: str) -> None:
        """Adds a folder to `<prefix>/<target>`."""
        self._add(folder, f"{self.stem}.data/data/{target}/")

    def write(self, folder: Path) -> Path:
        """Writes the wheel file to a folder and returns its path."""
        path = folder / f"{self.stem}-{tag()}.whl"
        contents = {name: file.read_bytes() for name, file in self.files.items()}
        about = metadata(self.name, self.version, self.summary, self.requires)
        contents[f"{self.stem}.dist-info/METADATA"] = about.encode()
        contents[f"{self.stem}.dist-info/WHEEL"] = _wheel_file().encode()
        record = f"{self.stem}.dist-info/RECORD"
        rows = [_record_row(name, data) for name, data in contents.items()]
        contents[record] = "".join([*rows, f"{record},,\n"]).encode()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in sorted(contents.items()):
                archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
        return path

    def _add(self, folder: Path, target: str) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                self.files[target + path.relative_to(folder).as_posix()] = path


def metadata(name: str, version: str, summary: str, requires: tuple[str, ...]) -> str:
    """The core metadata of a wheel or a source distribution."""
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {summary}\n"
    licences = f"License: {LICENCES}\n"
    return head + licences + "".join(f"Requires-Dist: {name}\n" for name in requires)


def tag() -> str:
    """The compatibility tag of this interpreter, such as `cp311-cp311-linux_x86_64`."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def _wheel_file() -> str:
    return f"Wheel-Version: 1.0\nGenerator: rosidl_wheel\nRoot-Is-Purelib: false\nTag: {tag()}\n"


def _record_row(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"
