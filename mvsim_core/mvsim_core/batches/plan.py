# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a study consists of: seeds, values of variables, and what is done in each run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mvsim_core.batches.errors import BatchError
from mvsim_core.batches.functions import FunctionName
from mvsim_core.errors import ArgumentError, require_number

#: Longer studies are refused: their table would need gigabytes.
MOST_RUNS = 10_000_000
#: Seeds are 64-bit numbers in Parquet files.
MOST_SEED = 2**63 - 1
ERROR = "error"  # the last column of the table
ALL = "all"  # as the name of a vehicle: every one that takes a twist

Twist = tuple[float, float, float]


class Run(NamedTuple):
    """One run: its number in the study, its seed, and the values of variables."""

    number: int
    seed: int
    variables: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """Return `seed 3, mu 0.7`."""
        return ", ".join([f"seed {self.seed}", *(f"{n} {v}" for n, v in self.variables)])


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """A study, without what has no influence on its results.

    Attributes:
        world: Absolute path of the world file.
        seeds: All of them, in order.
        variables: Values of each variable, as texts.
        time: Simulated time of a run [s].
        twists: (vx, vy, wz) [m/s, m/s, rad/s] by name of a vehicle, or of `ALL`.
        setup: Called with the world before the first step.
        drive: Called with the world before each step; it returns True to end the run.
        measure: Called with the world after the last step; it returns columns of the table.
    """

    world: Path
    seeds: tuple[int, ...]
    variables: tuple[tuple[str, tuple[str, ...]], ...]
    time: float
    twists: tuple[tuple[str, Twist], ...] = ()
    setup: FunctionName | None = None
    drive: FunctionName | None = None
    measure: FunctionName | None = None

    @property
    def functions(self) -> dict[str, FunctionName]:
        """The user's functions, by their names here."""
        named = {"setup": self.setup, "drive": self.drive, "measure": self.measure}
        return {name: function for name, function in named.items() if function is not None}

    def combinations(self) -> Iterator[tuple[tuple[str, str], ...]]:
        """Yield each combination of values; the last variable changes fastest."""
        names = [name for name, _ in self.variables]
        for values in itertools.product(*(values for _, values in self.variables)):
            yield tuple(zip(names, values, strict=True))

    def runs(self) -> list[Run]:
        """Return all runs in the order of the table."""
        pairs = itertools.product(self.combinations(), self.seeds)
        return [Run(k, seed, variables) for k, (variables, seed) in enumerate(pairs)]

    def settings(self) -> dict[str, Any]:
        """Return all that decides about the results, for the journal."""
        functions = {name: function.text for name, function in self.functions.items()}
        return {
            "world": str(self.world),
            "seeds": seeds_text(self.seeds),
            "variables": {name: list(values) for name, values in self.variables},
            "time": self.time,
            "twists": {name: list(twist) for name, twist in self.twists},
            **{name: functions.get(name) for name in ("setup", "drive", "measure")},
        }


def make_plan(
    world: str | Path,
    *,
    seeds: Iterable[int],
    variables: Mapping[str, Sequence[object]],
    time: float,
    twists: Mapping[str, Sequence[float]],
    functions: Mapping[str, FunctionName | None],
) -> StudyPlan:
    """Check the parts of a study and put them together.

    Raises:
        ArgumentError: One of them cannot be meant.
        BatchError: There are too many runs.
    """
    require_number("time", time, "s", least=0.0)
    plan = StudyPlan(
        world=Path(world).absolute(),
        seeds=_checked_seeds(seeds),
        variables=tuple((name, _checked_values(name, v)) for name, v in variables.items()),
        time=float(time),
        twists=tuple((name, _checked_twist(name, twist)) for name, twist in twists.items()),
        **functions,
    )
    count = math.prod((len(plan.seeds), *(len(values) for _, values in plan.variables)))
    if count > MOST_RUNS:
        raise BatchError(f"{count} runs: more than {MOST_RUNS} are not supported")
    return plan


def _checked_seeds(seeds: Iterable[int]) -> tuple[int, ...]:
    found = []
    for seed in itertools.islice(seeds, MOST_RUNS + 1):
        require_number("seeds: each", seed, least=0, most=MOST_SEED, whole=True)
        found.append(int(seed))
    if not found:
        raise ArgumentError("seeds: expected one or more, got none")
    _refuse_repeated("seeds", found)
    return tuple(found)


def _checked_values(name: str, values: Sequence[object]) -> tuple[str, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ArgumentError(f"variables: expected a list of values of {name!r}, got {values!r}")
    texts = [str(value) for value in values]
    if not texts:
        raise ArgumentError(f"variables: expected one or more values of {name!r}, got none")
    _refuse_repeated(f"values of {name!r}", texts)
    return tuple(texts)


def _checked_twist(name: str, twist: Sequence[float]) -> Twist:
    if len(twist) != 3:
        raise ArgumentError(f"twists: expected (vx, vy, wz) for {name!r}, got {twist!r}")
    for part, value in zip(("vx", "vy", "wz"), twist, strict=True):
        require_number(f"twists: {part} of {name!r}", value)
    vx, vy, wz = twist
    return float(vx), float(vy), float(wz)


def _refuse_repeated(what: str, values: Sequence[object]) -> None:
    if len(set(values)) < len(values):
        seen: set[object] = set()
        twice = next(v for v in values if v in seen or seen.add(v))  # type: ignore[func-returns-value]
        raise ArgumentError(f"{what}: {twice} is given twice")


def parse_seeds(text: str) -> list[int]:
    """Return the seeds of a text such as `0:1000`, `0:100:10` or `1,5,20:30`.

    As in Python, the end of a range is not part of it.

    Raises:
        ArgumentError: It cannot be read.
    """
    found: list[int] = []
    for part in text.split(","):
        words = part.split(":")
        numbers = [int(word) for word in words if word.strip().isdecimal()]
        if len(numbers) != len(words) or len(words) > 3 or (len(words) == 3 and not numbers[2]):
            raise ArgumentError(
                f"expected whole numbers >= 0 or ranges such as 0:100 or 0:100:10, got {text!r}"
            )
        new = range(*numbers) if len(numbers) > 1 else numbers
        if not new:
            raise ArgumentError(f"the range {part.strip()!r} is empty")
        if len(found) + len(new) > MOST_RUNS:
            raise ArgumentError(f"more than {MOST_RUNS} seeds are not supported")
        found += new
    return found


def seeds_text(seeds: Sequence[int]) -> str:
    """Return the text of seeds, ranges of one step each as `0:1000`."""
    parts = []
    start = 0
    for k in range(1, len(seeds) + 1):
        if k == len(seeds) or seeds[k] != seeds[k - 1] + 1:
            one = k == start + 1
            parts.append(str(seeds[start]) if one else f"{seeds[start]}:{seeds[k - 1] + 1}")
            start = k
    return ",".join(parts)


def parse_values(assignment: str) -> tuple[str, list[str]]:
    r"""Return name and values of a text such as `mu=0.3,0.7`; `\,` is a comma in a value.

    Raises:
        ArgumentError: It cannot be read.
    """
    name, equals, values = assignment.partition("=")
    texts = [t.replace("\0", ",").strip() for t in values.replace("\\,", "\0").split(",")]
    if not equals or not name.strip() or not all(texts):
        raise ArgumentError(f"expected NAME=VALUE,VALUE,..., got {assignment!r}")
    return name.strip(), texts


def column_of(variable: str) -> str:
    """Return the column of a variable: its name, unless other columns are called like that."""
    taken = variable in ("seed", "time", ERROR) or "." in variable
    return f"var.{variable}" if taken else variable
