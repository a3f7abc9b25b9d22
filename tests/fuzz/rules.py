# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What must hold for any bytes that are read as a world file."""

from dataclasses import replace
from pathlib import Path

from mvsim_core.errors import BuildError, WorldFileError
from mvsim_core.xmlfile import dump_world, read_world


def check(data: bytes, file: Path) -> None:
    """Raise AssertionError, or what the reader raises wrongly, if `data` breaks a rule."""
    file.write_bytes(data)
    try:
        spec, _ = read_world(file)
    except WorldFileError as error:
        assert error.errors, "an error without a problem"  # noqa: PT017 (either may come)
        assert str(error).strip(), "an error without a message"  # noqa: PT017
        return
    try:
        text = dump_world(spec)
    except BuildError:
        return
    back, _ = read_world(text=text)
    assert replace(back, file=spec.file) == spec, f"{text}\nreads in another way"
