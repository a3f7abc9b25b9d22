# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The list of all timed cases; a case is imported when it is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec

MODULES = ("mvsim_core.bench.steps", "mvsim_core.bench.sensors")
#: Of a checkout.
FURTHER = ("benchmarks.worlds", "benchmarks.sensors3d", "benchmarks.envs")


@dataclass(frozen=True, slots=True)
class Case:
    """Something to be timed; `run` returns microseconds by what they are for."""

    name: str
    run: Callable[[], dict[str, float]]


def cases() -> Iterator[Case]:
    """Iterate over all cases."""
    further = [name for name in FURTHER if find_spec("benchmarks") and find_spec(name)]
    for name in (*MODULES, *further):
        module = import_module(name)
        for case, run in getattr(module, "STEPS", {}).items():
            yield Case(f"step.{case}", run)
        for case, call in getattr(module, "CASES", {}).items():
            yield Case(f"sensors.{case}", partial(_in_microseconds, call))


def _in_microseconds(call: Callable[[], float]) -> dict[str, float]:
    return {"best": call() * 1e6}
