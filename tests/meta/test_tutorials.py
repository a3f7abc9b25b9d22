# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every block of tutorials and how-to pages works as written, and prints what is printed there.

The blocks of a page run in order, in one folder and one Python session. One after the words
"Save as `NAME`:" is saved; Python runs; in a console block each line after `$ ` is a command; a
text block is what came out of the Python block before it. A line `...` stands for any lines, `…`
for any text in a line.
"""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mvsim_core.cli import main
from tests.opengl import has_gl

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *sorted((DOCS / "tutorials").glob("*.md")),
    *sorted((DOCS / "coming_from").glob("*.md")),
    DOCS / "debugging.md",
    DOCS / "determinism.md",
    DOCS / "large_worlds.md",
    DOCS / "recording.md",
]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"Save as\s+`([\w./-]+)`:\s*\Z")
#: A block of bash is shown: it needs ROS, a terminal or a browser.
SHOWN = "bash"


@dataclass
class Block:
    """A fenced block of a page.

    Attributes:
        kind: Its language.
        text: Its content.
        file: Name of the file that it is saved as, or "".
    """

    kind: str
    text: str
    file: str


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page in order."""
    found = []
    for match in FENCE.finditer(page):
        before = SAVED.search(page[: match.start()])
        found.append(Block(match[1], match[2], before[1] if before else ""))
    return found


class Session:
    """Runs the blocks of a page."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""

    def run(self, block: Block) -> None:
        """Run a block, or compare it with what was printed."""
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text)
        elif block.kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, "tutorial", "exec"), self.names)
            self.printed = out.getvalue()
        elif block.kind == "console":
            self._console(block.text)
        elif block.kind == "text":
            assert_like(self.printed, block.text)
            self.printed = ""
        else:
            assert block.kind == SHOWN, f"a block of {block.kind} that is not saved"

    def _console(self, text: str) -> None:
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            program, *arguments = shlex.split(command)
            output = mvsim(arguments) if program == "mvsim" else python(program, arguments)
            lines = output.splitlines()
            assert_like("\n".join(ln for ln in lines if "compiling kernels" not in ln), expected)


def mvsim(arguments: list[str]) -> str:
    """Run the command line in this process, which has all loaded, and return what it prints."""
    printed = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        contextlib.suppress(SystemExit),
    ):
        patch.setattr(sys, "argv", ["mvsim", *arguments])
        patch.setenv("COLUMNS", "100")
        patch.setenv("TERM", "dumb")
        main()
    return printed.getvalue()


def python(program: str, arguments: list[str]) -> str:
    """Run Python in a process of its own, and return what it prints."""
    assert program == "python"
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    return done.stdout + done.stderr


def assert_like(got: str, expected: str) -> None:
    """Fail if a text is not as expected, where a line `...` stands for any lines."""
    parts = [re.escape(line).replace("…", ".*") for line in expected.rstrip("\n").split("\n")]
    pattern = "\n".join("(?:.*\n?)*?" if part == r"\.\.\." else part for part in parts)
    pattern = pattern.replace("(?:.*\n?)*?\n", "(?:.*\n)*?")
    text = "\n".join(line.rstrip() for line in got.rstrip("\n").split("\n"))
    assert re.fullmatch(pattern, text), f"expected:\n{expected}\ngot:\n{got}"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = blocks_of(page.read_text())
    if not has_gl() and any('class="camera"' in block.text for block in blocks):
        pytest.skip("no OpenGL here")
    monkeypatch.chdir(tmp_path)
    Path("worlds").symlink_to(ROOT / "worlds")
    session = Session()
    for block in blocks:
        session.run(block)


def test_every_fence_is_a_block() -> None:
    """A fence that the pattern does not see would not be tested."""
    for page in PAGES:
        text = page.read_text()
        assert text.count("```") == 2 * len(FENCE.findall(text)), page.name


@pytest.mark.parametrize(
    ("got", "expected"), [("a\nb\n", "a\n"), ("x 1.92\n", "x 1.91\n"), ("a\nb\n", "...\nc\n")]
)
def test_another_output_is_noticed(got: str, expected: str) -> None:
    with pytest.raises(AssertionError):
        assert_like(got, expected)


@pytest.mark.parametrize(
    "expected", ["a\nb\nc\n", "...\nc\n", "a\n...\n", "a\n...\nc\n", "a\n…\nc\n"]
)
def test_dots_stand_for_any_lines(expected: str) -> None:
    assert_like("a\nb\nc\n", expected)
