# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What holds for all elements: includes, variables, loops, formulas, classes, units."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from mvsim_core.xmlfile.formula_functions import CONSTANTS, FUNCTIONS, random_functions

_TEXT = """\
# The world file format

This page is made by `mvsim schema --markdown` from the same declarations that read the files.
`mvsim check my.world.xml` says what a file has wrong; `docs/mvsim_world.xsd` lets editors complete
and explain names.

## What holds everywhere

A world file is one `<mvsim_world>`. Lengths are in metres, angles in degrees, masses in
kilograms; x points forward, y to the left, z up. Unknown names are reported and ignored. Of a
value that is given twice the first counts; of an instance and its class the instance.

| element | meaning |
| --- | --- |
| `<include file="..." NAME="value"/>` | the content of that file, which sees `${NAME}` |
| `<variable name="N" value="3"/>` | from here on `${N}` is `3` |
| `<for var="i" from="1" to="${N}">` | its content for each whole number, both ends included |
| `<if condition="${X}">` | its content if that is yes, true, on, y, or not 0 |
| `<vehicle:class name="c">` | what all `<vehicle class="c">` share |

These work at every depth of every file. Blocks and actors have classes likewise.

| in any value | meaning |
| --- | --- |
| `${NAME}` | argument of the include, `NAME` or `PARENT_NAME`, variable, environment variable |
| `${NAME\\|default}` | likewise, with a default |
| `${MVSIM_CURRENT_FILE_DIRECTORY}` | folder of the file that this is written in |
| `$env{NAME}` | environment variable |
| `$f{2*N + sin(pi/4)}` | result of a formula; variables go without `${}` |
| `$(ros2 pkg prefix NAME)` | answered without running anything; other commands are refused |
| `package://NAME/path` | file of a ROS package, installed or near the world file |

A relative path counts from the folder of the file that it is written in."""


def notation() -> Iterator[str]:
    """Yield the lines of the chapter."""
    yield _TEXT
    yield ""
    yield f"- Functions of formulas: {_listed(sorted(FUNCTIONS))}."
    randoms = sorted(random_functions(Random(0)))
    yield f"- Random numbers, from the world's seed: {_listed(randoms)}."
    yield f"- Constants: {_listed(sorted(CONSTANTS))}."


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
