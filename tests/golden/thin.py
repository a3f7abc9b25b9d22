# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Make the small recordings of this folder from full ones: fewer rows, columns and digits.

    python -m tests.golden.thin FOLDER

FOLDER has the full recordings as `csv/CASE.csv`. The cases are those of `recordings/CASES.md`.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

from tests.golden.recordings import OWN, read_cases

PERIOD = 0.2  # s between rows
DIGITS = 6  # significant, the number that the full recordings have
KEPT = re.compile(r"t|x|y|yaw|w\d_(omega|torque|yaw)|b\d_(x|y)")


def thin(source: Path, target: Path) -> None:
    """Write the kept columns of each row whose time is a multiple of PERIOD."""
    with source.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if KEPT.fullmatch(name)]
    with target.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in rows:
            periods = float(row["t"]) / PERIOD
            if abs(periods - round(periods)) < 1e-6:
                writer.writerow(f"{float(row[name]):.{DIGITS}g}" for name in names)


def main(folder: Path) -> None:
    """Thin all cases of this folder's table."""
    for name in read_cases(OWN):
        thin(folder / "csv" / f"{name}.csv", OWN / "csv" / f"{name}.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
