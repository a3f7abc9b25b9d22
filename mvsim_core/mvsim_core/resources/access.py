# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a text from a client, such as a message, may read.

A text that is read with a `FileAccess` reads files below some folders alone, no environment
variable, runs no command and names no file that is written. Texts and files of the user have
none (None) and may do all of this.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

#: Suffix of the files that a client's text may include: others hold no definitions, and what an
#: error quotes of them would reach the client.
INCLUDED_SUFFIX = ".xml"


@dataclass(frozen=True, slots=True)
class FileAccess:
    """The files that a text may name.

    Attributes:
        folders: Files below them may be read; links are resolved.
        folder: Where relative paths start.
        remote: Whether http and https addresses may be read.
        folders_hint: Ends the message about another file, such as the name of a setting.
        remote_hint: Ends the message about an address.
    """

    folders: tuple[str, ...]
    folder: str
    remote: bool = False
    folders_hint: str = ""
    remote_hint: str = ""

    def __post_init__(self) -> None:
        """Resolve the folders once."""
        resolved = dict.fromkeys(os.path.realpath(folder) for folder in self.folders)
        object.__setattr__(self, "folders", tuple(resolved))

    def allows(self, path: str) -> bool:
        """Return whether a path is below one of the folders, after resolving links and `..`."""
        try:
            real = os.path.realpath(path)
        except (OSError, ValueError):  # a zero character, or too long
            return False
        return any(os.path.commonpath((real, folder)) == folder for folder in self.folders)

    @property
    def outside(self) -> str:
        """Why a file is refused."""
        return f"is outside the folders that a message may name{_after(self.folders_hint)}"

    @property
    def no_address(self) -> str:
        """Why an address is refused."""
        return f"is a web address, which a message must not name{_after(self.remote_hint)}"


def _after(hint: str) -> str:
    return f" ({hint})" if hint else ""
