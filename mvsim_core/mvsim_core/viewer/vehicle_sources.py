# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles that can be added to a world: its classes, and those in files beside it.

A browser chooses one of them; it can name no file.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import quoteattr

from mvsim_core.world.world import World

#: Folders below that of the world file in which files with vehicle classes are looked for.
FOLDERS = (".", "definitions")
PATTERN = "*.vehicle.xml"
#: Longest file that is looked at [bytes].
LONGEST = 1_000_000
_CLASS = re.compile(r"<vehicle:class\b[^>]*?\bname\s*=\s*[\"']([^\"'&<>]+)[\"']")


def sources_of(world: World) -> dict[str, str]:
    """Return the XML of each vehicle that can be added, by what it is called in the list."""
    state = world.file_state
    if state is None:
        return {}
    known = state.class_names()
    sources = {name: f"<vehicle class={quoteattr(name)}/>" for name in known}
    if not state.origin.file:
        return sources
    for folder in FOLDERS:
        for file in sorted((Path(state.origin.directory) / folder).glob(PATTERN)):
            for name in _classes_in(file):
                if name not in sources:
                    include = f"<include file={quoteattr(str(file.resolve()))}/>"
                    sources[name] = f"{include}<vehicle class={quoteattr(name)}/>"
    return sources


def _classes_in(file: Path) -> list[str]:
    try:
        if file.stat().st_size > LONGEST:
            return []
        return _CLASS.findall(file.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []
