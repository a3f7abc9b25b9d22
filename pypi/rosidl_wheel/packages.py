# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Interface packages: what their package.xml and their folders say."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

SUFFIXES = (".msg", ".srv", ".action")


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfacePackage:
    """One ament package that only holds interface definitions."""

    name: str
    version: str
    folder: Path
    depends: tuple[str, ...]
    """Names of the interface packages that its definitions use, from `<depend>`."""
    files: tuple[Path, ...]
    """Definitions relative to `folder`, such as `msg/TFMessage.msg`."""


def read_package(folder: Path) -> InterfacePackage:
    """Reads the package in a folder."""
    manifest = ET.parse(folder / "package.xml").getroot()
    depends = {tag.text.strip() for tag in manifest.iter("depend") if tag.text}
    return InterfacePackage(
        name=_text(manifest, "name"),
        version=_text(manifest, "version"),
        folder=folder.resolve(),
        depends=tuple(sorted(depends)),
        files=tuple(
            path.relative_to(folder)
            for path in sorted(folder.glob("*/*"))
            if path.suffix == f".{path.parent.name}" and path.suffix in SUFFIXES
        ),
    )


def read_packages(folder: Path) -> list[InterfacePackage]:
    """Reads all packages below a folder; each comes after those it depends on."""
    packages = [read_package(path.parent) for path in sorted(folder.glob("*/package.xml"))]
    return in_build_order(packages)


def in_build_order(packages: Iterable[InterfacePackage]) -> list[InterfacePackage]:
    """Sorts packages such that each comes after those it depends on."""
    by_name = {package.name: package for package in packages}
    graph = {p.name: [d for d in p.depends if d in by_name] for p in by_name.values()}
    return [by_name[name] for name in TopologicalSorter(graph).static_order()]


def _text(manifest: ET.Element, tag: str) -> str:
    text = manifest.findtext(tag)
    if not text:
        raise ValueError(f"package.xml has no <{tag}>")
    return text.strip()
