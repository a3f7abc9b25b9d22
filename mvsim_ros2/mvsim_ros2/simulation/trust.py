# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What clients may make the node read, and what of it answers and logs may quote.

A client is not the node's user. Files that a client names must be below the folders of
the running world or of the parameter `resource_paths`; those are the user's own and are read as
if he named them. The text of a client is read with limited `FileAccess`. Messages about the
content of a file stay within the process: an answer names the place, `mvsim check` the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from mvsim_core import BuildError, MvsimError, Problem, World, WorldFileError
from mvsim_core.resources.access import FileAccess
from mvsim_ros2.simulation.result_codes import FAILED, RequestError

#: Ends messages about files.
_REASON = "`mvsim check` shows why"


class Trust:
    """Decides what clients may name.

    Args:
        paths: Folders of the parameter `resource_paths`.
        remote: Whether texts of clients may name http addresses.
    """

    def __init__(self, paths: Iterable[str | Path] = (), *, remote: bool = False) -> None:
        """Start without a world."""
        self._paths = [str(path) for path in paths]
        self._remote = remote
        self._first: list[str] | None = None
        #: Where relative paths in texts of clients start.
        self.folder = str(Path.cwd())
        self.set_world(None)

    def set_world(self, world: World | None) -> None:
        """Allow the folders of a world, besides those of the first one."""
        folders = list(_folders(world)) if world is not None else []
        if self._first is None and world is not None:
            self._first = folders
        if folders:
            self.folder = folders[0]
        self.access = FileAccess(
            folders=(*folders, *(self._first or ()), *self._paths),
            folder=self.folder,
            remote=self._remote,
            folders_hint="see the parameter resource_paths",
            remote_hint="see the parameter allow_remote_files",
        )

    def check(self, path: Path) -> Path:
        """Return a path that a client names.

        Raises:
            RequestError: It is outside the folders; nothing tells whether it exists.
        """
        if not self.access.allows(str(path)):
            raise RequestError(FAILED, f"{str(path)[:200]!r} {self.access.outside}")
        return path


def _folders(world: World) -> Iterator[str]:
    """Yield the folders of the files of a world, that of relative paths first."""
    state = world.file_state
    if state is None or state.origin.access is not None:  # the text of a client
        return
    yield state.origin.directory
    for classes in state.classes.values():
        for element in classes.values():
            yield element.origin.directory


def public_text(error: MvsimError) -> str:
    """Return what an answer may say of an error."""
    if isinstance(error, WorldFileError):
        return "\n".join(map(public_problem, error.errors))
    if isinstance(error, BuildError):
        return "\n".join(map(public_problem, error.problems))
    return str(error)


def public_problem(problem: Problem) -> str:
    """Return what an answer or the log may say of a problem in a file or text of a client."""
    if problem.file:
        name = Path(problem.file).name
        return f"{name}:{problem.line}: this file is not valid; {_REASON}"
    if problem.quotes:
        place = f"line {problem.line}: " if problem.line else ""
        element = f"<{problem.element}>: " if problem.element else ""
        return f"{place}{element}a file that it names cannot be used as it is"
    return str(problem)


def encodable(text: str) -> str:
    """Return a text that a message can hold: names of files need not be UTF-8."""
    return text.encode("utf-8", "replace").decode()
