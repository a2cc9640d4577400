"""The version is written in one place, `version.py`; the installed distribution and the changelog have it too."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import treetop

ROOT = Path(__file__).parents[1]


def test_the_package_and_its_distribution_have_one_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", treetop.__version__)
    assert version("treetop-xmc") == treetop.__version__


def test_the_newest_release_of_the_changelog_is_this_version() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    releases = headings[1:] if headings[0] == "Unreleased" else headings
    assert releases[0] == treetop.__version__
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", release) for release in releases)


def test_every_page_and_message_names_the_distribution() -> None:
    """`pip install treetop` would install a stranger's package."""
    folders = [ROOT, *(ROOT / name for name in ("docs", "recipes", "src", "benchmarks"))]
    files = [path for folder in folders for ending in ("md", "py") for path in folder.glob(f"*.{ending}")]
    files += [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    said = [line for path in files for line in re.findall(r"pip install.*", path.read_text(encoding="utf-8"))]
    assert any("treetop-xmc" in line for line in said)
    wrong = [line for line in said if re.search(r"(^|[\s'\"`])treetop(?!-xmc)([\[\s'\"`=<>]|$)", line)]
    assert not wrong
