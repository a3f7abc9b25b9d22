# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every block of README, tutorials and other pages works as written, and prints what is shown."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.meta.page_blocks import FENCE, SHOWN, Session, assert_like, blocks_of
from tests.opengl import has_gl

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *sorted((DOCS / "tutorials").glob("*.md")),
    *sorted((DOCS / "coming_from").glob("*.md")),
    *(
        DOCS / f"{name}.md"
        for name in (
            "batches",
            "debugging",
            "definitions",
            "determinism",
            "index",
            "kinematics",
            "large_worlds",
            "learning",
            "message_bus",
            "motion_sensors",
            "recording",
            "sensors3d",
            "start",
            "trust",
            "tuning",
            "viewer",
        )
    ),
]
#: Pages whose blocks another test runs.
ELSEWHERE = {"extending.md": "run by tests/unit/test_plugins.py", "ARCHITECTURE.md": "a drawing"}
#: Why a block is shown only; the first pattern that is in it counts.
REASONS = {
    r"\b(ros2|colcon|rosdep|mvsim_node)\b|install ros-|test_node": "needs a ROS installation",
    r"\b(pip install|git clone|make \w+)\b": "installs packages",
    r"\bmvsim \w+ my\.world\.xml": "any world of the reader's",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = blocks_of(page)
    assert blocks, "nothing on the page is run"
    if not has_gl() and any('class="camera"' in block.text for block in blocks):
        pytest.skip("no OpenGL here")
    monkeypatch.chdir(tmp_path)
    for name in ("worlds", "examples"):
        Path(name).symlink_to(ROOT / name)
    installed = tmp_path / "prefix" / "share"  # where package:// finds the files of the suite
    installed.mkdir(parents=True)
    (installed / "mvsim_core").symlink_to(ROOT / "mvsim_core")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(installed.parent))
    with Session() as session:
        for block in blocks:
            session.run(block)


def pages() -> list[Path]:
    """Return README and all pages of the site."""
    return [ROOT / "README.md", *(p for p in DOCS.rglob("*.md") if "_build" not in p.parts)]


def test_every_block_runs_or_has_a_reason() -> None:
    """It prints how many blocks there are: `pytest -s`."""
    counts: Counter[str] = Counter()
    for page in pages():
        for kind, text in FENCE.findall(page.read_text()):
            if kind.startswith("{"):
                continue  # a directive of the site
            where = f"{page.name}: {text[:60]!r}"
            if page.name in ELSEWHERE:
                counts[ELSEWHERE[page.name]] += 1
            elif kind == SHOWN:
                reason = next((why for what, why in REASONS.items() if re.search(what, text)), "")
                assert reason, f"a block that is not run, without a reason: {where}"
                counts[f"shown: {reason}"] += 1
            else:
                assert page in PAGES, f"a block that no test runs: {where}"
                counts["run or compared"] += 1
    sys.stdout.write(f"\n{sum(counts.values())} blocks: {dict(counts.most_common())}\n")


def test_every_fence_is_a_block() -> None:
    """A fence that the pattern does not see would not be tested."""
    for page in pages():
        text = page.read_text()
        assert text.count("```") == 2 * len(FENCE.findall(text)), page.name


@pytest.mark.parametrize(
    ("got", "expected"), [("a\nb\n", "a\n"), ("x 1.92\n", "x 1.91\n"), ("a\nb\n", "...\nc\n")]
)
def test_another_output_is_noticed(got: str, expected: str) -> None:
    with pytest.raises(AssertionError):
        assert_like(got, expected)


@pytest.mark.parametrize(
    "expected",
    ["a\nb\nc\n", "...\nc\n", "a\n...\n", "a\n...\nc\n", "a\n…\nc\n", "...\na\nb\nc\n..."],
)
def test_dots_stand_for_any_lines(expected: str) -> None:
    assert_like("a\nb\nc\n", expected)
