# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Guided fuzzing of the reader and the writer of world files; needs `pip install atheris`.

    nice -n 19 python -m tests.fuzz.reader WORK_FOLDER tests/fuzz/corpus -max_total_time=600

Any bytes must give a world or one WorldFileError with a message, soon and within 1 GiB; and a
world that can be read must read the same after it is written. New inputs of interest go to
WORK_FOLDER, inputs that break a rule to `crash-*`, `timeout-*` or `oom-*` in the current one.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["mvsim_core.xmlfile", "mvsim_core.specs"]):
    from tests.fuzz.rules import check
    from tests.unit.xmlfile.test_fuzz import KINDS, TAGS

LIMITS = ("-timeout=60", "-rss_limit_mb=1024", "-max_len=4096")
WORDS = ("${", "$f{", "$env{", "$(", "|", "randn()", "<!--", "-->", "<![CDATA[", "]]>", "&#10;")


def main() -> None:
    """Fuzz until the time is over or a rule is broken."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "w.world.xml")
        words = Path(folder, "words")
        known = [*TAGS, *KINDS, *WORDS]
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in known))
        atheris.Setup([*sys.argv, *LIMITS, f"-dict={words}"], lambda data: check(data, file))
        atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(c if c.isalnum() else f"\\x{ord(c):02x}" for c in word)


if __name__ == "__main__":
    main()
