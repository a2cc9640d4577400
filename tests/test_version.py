"""The version is written in one place, `version.py`; the installed distribution and the changelog have it too."""

from __future__ import annotations

import re
from importlib.metadata import metadata, version
from pathlib import Path

from tools.wheels import SUPPORTED

import treetop
from treetop.methods.registry import trainable

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


def test_whoever_needs_torch_is_told_how_to_get_it_without_a_gpu() -> None:
    """The newest torch brings gigabytes of CUDA."""
    assert "CPU build" in (ROOT / "docs" / "encoder.md").read_text(encoding="utf-8")
    for record in trainable():
        if record.extra == "neural":
            page = (ROOT / "docs" / f"{record.name}.md").read_text(encoding="utf-8")
            assert "(encoder.md#installing)" in page, record.name


def test_the_distribution_says_whose_it_is_and_what_it_runs_on() -> None:
    about = metadata("treetop-xmc")
    assert about["Author"] or about["Author-email"]
    stated = {line.rpartition(" ")[2] for line in about.get_all("Classifier", []) if "Python :: 3." in line}
    assert stated == {"3.10", "3.11", "3.12", "3.13"}
    assert {f"3.{minor}" for _, minor in SUPPORTED} == stated  # for each of which a wheel is built and tested


def test_the_first_figures_people_see_are_of_texts_held_out() -> None:
    tutorial = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    shell = "".join(re.findall(r"```console\n(.*?)```", tutorial, re.S))
    trainings = re.findall(r"treetop train .*--data (\S+).*", shell)
    assert "--test-share" in re.findall(r"treetop train .*", shell)[0]
    assert not re.search(rf"treetop evaluate .*--data ({'|'.join(map(re.escape, trainings))})\b", shell)
