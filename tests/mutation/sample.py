# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Leave a sample of the mutants in a session of cosmic-ray, and list those that survived.

    python -m tests.mutation.sample SESSION N      keeps N of each module, always the same ones
    python -m tests.mutation.sample SESSION        lists survivors and their numbers by module

Bit operations, shifts, powers and remainders on floats only give errors that any test notices;
decorators say how a kernel is compiled, not what it computes. They are left out.
"""

from __future__ import annotations

import json
import random
import re
import sqlite3
import sys
from collections import Counter

POINTLESS = re.compile(
    r"_(BitAnd|BitOr|BitXor|LShift|RShift|Pow|Mod|FloorDiv|Not|Invert)$"
    r"|ReplaceTrueWithFalse|RemoveDecorator|Is(Not)?_|_Is"
)
SEED = 12


def sample(session: str, count: int) -> None:
    """Delete all but `count` mutants of each module."""
    with sqlite3.connect(session) as base:
        order = "module_path, operator_name, occurrence, operator_args, job_id"
        rows = base.execute(
            f"SELECT module_path, operator_name, job_id FROM mutation_specs ORDER BY {order}"
        ).fetchall()
        kept: set[str] = set()
        for module in sorted({row[0] for row in rows}):
            jobs = [job for path, name, job in rows if path == module and sensible(name)]
            random.Random(SEED).shuffle(jobs)
            kept.update(jobs[:count])  # a larger sample holds a smaller one
        gone = [(job,) for *_, job in rows if job not in kept]
        for table in ("mutation_specs", "work_items"):
            base.executemany(f"DELETE FROM {table} WHERE job_id = ?", gone)
    print(f"{len(kept)} of {len(rows)} mutants are kept")  # noqa: T201


def sensible(operator: str) -> bool:
    """Tell whether an operator makes mutants worth a run."""
    return POINTLESS.search(operator) is None


def survivors(session: str) -> None:
    """Print the mutants that no test noticed, and a count by module."""
    query = """SELECT s.module_path, s.start_pos_row, s.operator_name, s.operator_args,
        s.definition_name, r.test_outcome FROM mutation_specs s JOIN work_results r USING (job_id)
        ORDER BY 1, 2"""
    with sqlite3.connect(session) as base:
        rows = base.execute(query).fetchall()
    totals: Counter[str] = Counter()
    alive: Counter[str] = Counter()
    for path, line, operator, arguments, function, outcome in rows:
        totals[path] += 1
        if "SURVIVED" in str(outcome).upper():
            alive[path] += 1
            more = "" if arguments in (None, "{}") else f" {json.loads(arguments)}"
            print(f"{path}:{line}: {operator.removeprefix('core/')}{more} in {function}")  # noqa: T201
    for path in sorted(totals):
        print(f"{path}: {alive[path]} of {totals[path]} survive")  # noqa: T201


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sample(sys.argv[1], int(sys.argv[2]))
    else:
        survivors(sys.argv[1])
