"""docs/papers.md says where each element of a paper is and which test holds it: both must exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROWS = [
    line for line in (ROOT / "docs" / "papers.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")
]
ELEMENTS = [line for line in ROWS if "`" in line.split("|")[2]]


def test_every_method_has_its_table() -> None:
    assert len(ELEMENTS) >= 40
    assert sum("absent" in row for row in ROWS) == 1


@pytest.mark.parametrize("row", ELEMENTS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_the_file_and_the_test_exist(row: str) -> None:
    _, element, files, tests, _ = row.split("|")
    for name in re.findall(r"`([^`]+)`", files):
        assert (ROOT / "src" / "treetop" / name).exists(), f"{element}: {name}"
    if "absent" in tests:
        return
    places = re.findall(r"`([^`]*)`", tests)
    assert places, element
    file = ""
    for place in places:
        own, _, function = place.partition("::")
        file = own or file
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not function or f"def {function}(" in text, f"{element}: {place}"
