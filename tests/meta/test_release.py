# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/release.py finds differing versions, and makes a section of the changelog."""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copy(release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All files with a version."""
    for name in ["CHANGELOG.md", *(name for name, _ in release.PLACES)]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "CHANGELOG", tmp_path / "CHANGELOG.md")
    return tmp_path


def test_the_versions_here_agree(release: ModuleType) -> None:
    assert set(release.versions().values()) == {release.check()}


@pytest.mark.parametrize("number", range(7))
def test_another_version_is_noticed(release: ModuleType, copy: Path, number: int) -> None:
    assert len(release.PLACES) == 7
    version = release.check()
    name, pattern = release.PLACES[number]
    place = f"{name}: {pattern}"
    text = (copy / name).read_text()
    line = next(line for line in text.splitlines() if release.re.search(pattern, line))
    (copy / name).write_text(text.replace(line, line.replace(version, "9.9.9")))
    with pytest.raises(release.ReleaseError, match=r"versions differ"):
        release.check()
    assert release.versions()[place] == "9.9.9"


def raise_versions(release: ModuleType, copy: Path, version: str) -> None:
    """Write another version wherever there is one."""
    old = release.check()
    for name, pattern in release.PLACES:
        text = (copy / name).read_text()
        line = next(line for line in text.splitlines() if release.re.search(pattern, line))
        (copy / name).write_text(text.replace(line, line.replace(old, version)))


def test_notes(release: ModuleType, copy: Path) -> None:
    before = (copy / "CHANGELOG.md").read_text()
    raise_versions(release, copy, "9.8.7")
    release.main("notes", "9.8.7", "2026-12-01")
    text = (copy / "CHANGELOG.md").read_text()
    assert text.count("## [") == before.count("## [") + 1
    assert text.index("## [Unreleased]") < text.index("## [9.8.7] - 2026-12-01")
    assert text.index("## [9.8.7] - 2026-12-01") < text.index("### Added")
    with pytest.raises(release.ReleaseError, match="already"):
        release.main("notes", "9.8.7", "2026-12-01")
    assert release.check() == "9.8.7"  # the commit that is tagged


def test_nothing_is_built_without_notes(release: ModuleType, copy: Path, tmp_path: Path) -> None:
    raise_versions(release, copy, "9.8.7")
    with pytest.raises(release.ReleaseError, match=r"no section \[9\.8\.7\]"):
        release.main("build", str(tmp_path / "dist"))
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize("words", [("notes", "9.9.9", "2026-12-01"), ("notes",), ("fly",)])
def test_wrong_usage(release: ModuleType, copy: Path, words: tuple[str, ...]) -> None:
    before = (copy / "CHANGELOG.md").read_text()
    with pytest.raises(release.ReleaseError):
        release.main(*words)
    assert (copy / "CHANGELOG.md").read_text() == before
