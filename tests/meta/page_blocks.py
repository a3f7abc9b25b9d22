# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the blocks of a page in order, in one folder and one Python session.

A block after the words "Save as `NAME`:" is saved; so is a file that the page names as "`NAME` of
[title](page.md)", from that page. Python runs. In a console block each line after `$ ` is a
command; one that ends with `&` runs beside the rest of the page. A text block is what came out of
the Python block before it; a line `...` stands for any lines, `…` for any text in a line. In a
pycon block each expression is followed by its value, as in doctests. XML that is not saved is a
fragment of a world file: it is completed, and loads without errors and warnings. A browser that a
block opens reads the page, and its user ends the block by Ctrl-C after a second. Bash is shown
only.
"""

from __future__ import annotations

import _thread
import contextlib
import doctest
import io
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mvsim_core import read_world
from mvsim_core.cli import main
from mvsim_core.comms import DEFAULT_PORT
from mvsim_core.viewer import server as viewer_server

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"Save as\s+`([\w./-]+)`:\s*\Z")
ELSEWHERE = re.compile(
    r"((?:`[\w./-]+\.(?:xml|py|yaml)`(?:,|\s+and)?\s+)+)of\s+\[[^\]]+\]\(([\w./-]+\.md)\)"
)
#: A block of bash is shown: it needs ROS, installs something, or does not end.
SHOWN = "bash"
#: Seconds for which a block that has opened a browser runs.
LOOK = 1.0
#: Starts the command line in a process of its own.
MVSIM = [sys.executable, "-c", "from mvsim_core.cli import main; main()"]


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


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page in order, those first that it takes from others."""
    text = page.read_text()
    found = []
    for names, other in ELSEWHERE.findall(text):
        wanted = re.findall(r"`([\w./-]+)`", names)
        there = {block.file: block for block in _own_blocks(page.parent / other)}
        found += [there[name] for name in wanted]
    return found + _own_blocks(page)


def _own_blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found = []
    for match in FENCE.finditer(text):
        before = SAVED.search(text[: match.start()])
        found.append(Block(match[1], match[2], before[1] if before else ""))
    return found


class Session:
    """Runs the blocks of a page; a context manager that ends what runs beside them."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""
        self._beside: list[subprocess.Popen[str]] = []

    def run(self, block: Block) -> None:
        """Run a block, or compare it with what was printed."""
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text)
        elif block.kind == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out, browser():
                exec(compile(block.text, "page", "exec"), self.names)
            self.printed = out.getvalue()
        elif block.kind == "pycon":
            self._doctest(block.text)
        elif block.kind == "console":
            self._console(block.text)
        elif block.kind == "text":
            assert_like(self.printed, block.text)
            self.printed = ""
        elif block.kind == "xml":
            load_fragment(block.text)
        elif not block.kind.startswith("{"):  # those are directives of the site
            assert block.kind == SHOWN, f"a block of {block.kind!r} that is not saved"

    def _doctest(self, text: str) -> None:
        test = doctest.DocTestParser().get_doctest(
            text.replace("…", "..."), self.names, "page", None, None
        )
        assert test.examples
        report = io.StringIO()
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        runner.run(test, out=report.write, clear_globs=False)
        self.names.update(test.globs)
        assert not runner.summarize(verbose=False).failed, report.getvalue()

    def _console(self, text: str) -> None:
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            program, *arguments = shlex.split(command, comments=True)
            if arguments[-1] == "&":
                self._start(program, arguments[:-1])
                continue
            output = mvsim(arguments) if program == "mvsim" else python(program, arguments)
            lines = output.splitlines()
            assert_like("\n".join(ln for ln in lines if "compiling kernels" not in ln), expected)

    def _start(self, program: str, arguments: list[str]) -> None:
        """Start a simulation with a message bus, which is what pages run beside the rest."""
        assert program == "mvsim"
        assert "--server" in arguments
        if listening(DEFAULT_PORT):
            pytest.skip(f"port {DEFAULT_PORT} is taken")
        process = subprocess.Popen(
            [*MVSIM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._beside.append(process)
        end = time.monotonic() + 300.0
        while not listening(DEFAULT_PORT):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < end, "the server does not start"
            time.sleep(0.05)

    def __enter__(self) -> Session:
        """Return self."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the processes."""
        for process in self._beside:
            process.terminate()
            process.communicate(timeout=60.0)


def listening(port: int) -> bool:
    """Return whether a server listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def browser() -> Iterator[None]:
    """Let blocks open a browser: one that reads the page, whose user ends the block by Ctrl-C."""
    over = threading.Event()
    looking: list[threading.Thread] = []

    def look(url: str) -> None:
        with urllib.request.urlopen(url, timeout=30.0) as page:
            assert page.status == 200
        if not over.wait(LOOK):
            _thread.interrupt_main()

    def open_page(url: str) -> bool:
        looking.append(threading.Thread(target=look, args=(url,)))
        looking[-1].start()
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(viewer_server, "has_display", lambda: True)
        patch.setattr(webbrowser, "open", open_page)
        try:
            yield
            over.set()
            for thread in looking:
                thread.join()
        except KeyboardInterrupt:
            if not looking:
                raise


def load_fragment(text: str) -> None:
    """Read a part of a world file, in which `…` stands for what is left out."""
    text = text.replace("…", "")
    root = re.match(r"\s*(?:<!--.*?-->\s*)*<([\w:]+)", text, re.DOTALL)
    assert root is not None
    if root[1] == "sensor":
        text = f'<vehicle name="r1"><init_pose>0 0 0</init_pose>{text}</vehicle>'
    if "<dynamics" not in text:
        text = re.sub(r"(<vehicle\b[^>]*>)", r'\1<dynamics class="differential"/>', text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir("worlds")  # where paths of fragments start
        spec, warnings = read_world(text=f'<mvsim_world version="1.0">{text}</mvsim_world>')
    assert not warnings, warnings
    assert spec.vehicles or spec.blocks or spec.elements


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
    lines = [re.escape(line).replace("…", ".*") + "\n" for line in expected.rstrip().split("\n")]
    pattern = "".join("(?:.*\n)*?" if line == "\\.\\.\\.\n" else line for line in lines)
    text = "".join(f"{line.rstrip()}\n" for line in got.rstrip("\n").split("\n"))
    assert re.fullmatch(pattern, text), f"expected:\n{expected}\ngot:\n{got}"
