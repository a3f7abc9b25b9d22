# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The journal of a study: a file beside its output, with the results so far.

The first line holds the settings of the study. Each other line holds the outcome of a run, in the
order in which they ended, or files that loading has read. A line is written at once when a run
ends, so that the end of the process costs the runs that it was carrying out, and no others.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import IO, Any

from mvsim_core import __version__
from mvsim_core.batches.errors import BatchError
from mvsim_core.batches.files import hash_of
from mvsim_core.batches.outcome import RunOutcome

SUFFIX = ".journal"
KIND = "mvsim batch 1"


class Journal:
    """The journal of one study, or of none if it has no output file.

    Attributes:
        done: Outcomes by number of the run, those of an earlier process too.
        resumed: How many of them an earlier process left.
    """

    def __init__(self, output: Path | None, settings: dict[str, Any], own: dict[str, str]) -> None:
        """Open the journal of an output file and read what is in it.

        Args:
            output: The output file.
            settings: All that decides about the results.
            own: Hashes of the files of the user's functions, by path.

        Raises:
            BatchError: It belongs to another study, its files have changed, another process uses
                it, or it cannot be read or written.
        """
        self.done: dict[int, RunOutcome] = {}
        self.resumed = 0
        self.path = None if output is None else output.with_name(output.name + SUFFIX)
        self._files: dict[str, str] = {}
        self._file: IO[bytes] | None = None
        if self.path is None:
            return
        try:
            self._file = self._open(self.path)
            self._begin(settings)
            self.add_files(own)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise BatchError(f"{self.path}: {error.strerror}") from None
            raise

    def _begin(self, settings: dict[str, Any]) -> None:
        lines = self._lines()
        if lines:
            self._check(lines[0], settings)
            self._read(lines[1:])
        else:
            self._write({"kind": KIND, "version": __version__, "settings": settings})

    def _open(self, path: Path) -> IO[bytes]:
        file = open(path, "a+b", buffering=0)  # noqa: SIM115 (closed by `close`)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise BatchError(f"{path}: another process is writing it") from None
        return file

    def _lines(self) -> list[dict[str, Any]]:
        """Return the complete lines; the rest of one that was being written is removed."""
        assert self._file is not None
        self._file.seek(0)
        content = self._file.read()
        complete = content.rfind(b"\n") + 1
        self._file.truncate(complete)
        try:
            lines = [json.loads(line) for line in content[:complete].splitlines()]
            if lines and lines[0]["kind"] != KIND:
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise BatchError(f"{self.path}: not the journal of a study; {self._advice}") from None
        return lines

    @property
    def _advice(self) -> str:
        return "remove it to start again, or write to another file"

    def _check(self, head: dict[str, Any], settings: dict[str, Any]) -> None:
        if head.get("version") != __version__:
            text = f"is of version {head.get('version')}, this is {__version__}"
            raise BatchError(f"{self.path} {text}; {self._advice}")
        before = head.get("settings") or {}
        now = json.loads(json.dumps(settings))
        for name in sorted({*before, *now}):
            if before.get(name) != now.get(name):
                text = f"{name} was {_short(before.get(name))}, now {_short(now.get(name))}"
                raise BatchError(f"{self.path} is of another command: {text}; {self._advice}")

    def _read(self, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if "files" in line:
                self._files.update(line["files"])
            else:
                self.done[line["run"]] = RunOutcome(line["run"], line["row"], line["error"])
        self.resumed = len(self.done)
        for path, digest in self._files.items():
            if hash_of(path) != digest:
                text = f"{path} has changed since; {self._advice}"
                raise BatchError(f"{self.path} cannot be continued: {text}")

    def add_files(self, files: dict[str, str]) -> None:
        """Take note of files that results depend on.

        Raises:
            BatchError: One of them has changed while the study was running.
        """
        for path, digest in files.items():
            if self._files.get(path, digest) != digest:
                text = f"{path} has changed while it was running; {self._advice}"
                raise BatchError(f"{self.path or 'the study'} cannot be continued: {text}")
        new = {path: digest for path, digest in files.items() if path not in self._files}
        self._files.update(new)
        if new:
            self._write({"files": new})

    def add(self, outcome: RunOutcome) -> None:
        """Keep the outcome of a run.

        Raises:
            BatchError: It cannot be written.
        """
        self.add_files(outcome.files)
        line = {"run": outcome.number, "row": outcome.row, "error": outcome.error}
        self._write(line)
        row = json.loads(json.dumps(outcome.row))  # as after an interruption
        self.done[outcome.number] = RunOutcome(outcome.number, row, outcome.error)

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is None:
            return
        content = json.dumps(line).encode() + b"\n"
        try:
            while content:
                content = content[self._file.write(content) :]
        except OSError as error:
            raise BatchError(f"{self.path}: {error.strerror}") from None

    def remove(self) -> None:
        """Remove the file: the study is complete."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; a later process can go on with it."""
        if self._file is not None:
            self._file.close()
        self._file = None


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old one or the new one at any time.

    Raises:
        BatchError: It cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        raise BatchError(f"{path}: {error.strerror}") from None
