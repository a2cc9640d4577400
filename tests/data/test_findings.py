from __future__ import annotations

import logging
from pathlib import Path

import pytest

from treetop.data import Dataset, read
from treetop.data.findings import Findings, survey


def of(texts: list[str], names: list[list[str]]) -> Findings:
    return survey(Dataset.build(texts, names))


def plain(count: int) -> list[str]:
    return [f"text number {number}" for number in range(count)]


def test_figures() -> None:
    findings = of(["a b", "A  b", "", "c", "c"], [["x"], ["x", "y"], [], ["y"], ["z"]])
    assert (findings.texts, findings.labels, findings.true) == (5, 3, 5)
    assert (findings.unlabelled, findings.empty, findings.duplicates) == (1, 1, 2)
    assert str(findings) == "data: 5 texts; 3 labels, 1.0 per text; 1 without labels; 1 empty; 2 duplicates"
    assert findings.remarks == ()


def test_clean_data_needs_no_remark() -> None:
    findings = of(plain(50), [[f"label {number % 7}", f"other {number % 5}"] for number in range(50)])
    assert findings.remarks == ()
    assert str(findings) == "data: 50 texts; 12 labels, 2.0 per text"


@pytest.mark.parametrize(
    ("texts", "names", "expected"),
    [
        (plain(40), [["all", str(n % 5)] for n in range(40)], "label 'all' is on 100 % of the texts"),
        (
            plain(40),
            [["NaN", str(n % 5)] for n in range(40)],
            "there is a label called 'NaN'; if it stands for nothing",
        ),
        (plain(40), [[f"a{n % 9}, b"] for n in range(40)], "9 label names hold ',', such as 'a0, b'; if it separates"),
        (["<p>x</p>"] * 40, [[str(n % 5)] for n in range(40)], "about 100 % of the texts hold HTML; strip it"),
        (["x" * 100_001, *plain(39)], [[str(n % 5)] for n in range(40)], "text 1 has 100,001 characters"),
        (plain(40), [[f"label of {n}"] for n in range(40)], "every label is on one text only"),
    ],
)
def test_what_looks_odd_is_remarked(texts: list[str], names: list[list[str]], expected: str) -> None:
    remarks = of(texts, names).remarks
    assert any(remark.startswith(expected) for remark in remarks), remarks
    assert all(len(remark.splitlines()) == 1 for remark in remarks)


def test_what_reading_noticed_is_remarked(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    rows = [f'text {n} it’s,"Smith {n % 9}, John {n % 9}, x{n % 4}"' for n in range(90)] + ["a,NaN", "b,", "b,x1"]
    path.write_bytes("\r\n".join(["text,labels", *rows]).encode("cp1252"))
    findings = read(path).findings
    assert str(findings) == (
        "export.csv: 93 texts; 22 labels, 2.9 per text; labels split at ','; 2 without labels; 1 duplicates; "
        "read as windows-1252"
    )
    encoding, nothing, pairs = findings.remarks
    assert encoding.startswith("the file is not UTF-8 and was read as windows-1252")
    assert nothing == "1 label cells say NaN, NULL or the like, and count as no labels"
    assert pairs.startswith("'Smith 0' and 'John 0' always stand side by side, like 9 such pairs")


def test_programs_hear_of_it_through_logging(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text('{"text": "x", "labels": ["a"]}')
    with caplog.at_level(logging.INFO, logger="treetop"):
        read(path)
    assert caplog.messages == ["train.jsonl: 1 texts; 1 labels, 1.0 per text"]
    caplog.clear()
    read(path)
    assert not caplog.messages


def test_findings_are_made_when_asked_for_and_do_not_change_a_dataset() -> None:
    dataset = Dataset.build(["x"], [["a"]])
    assert "findings" not in vars(dataset)
    assert "digests" not in vars(dataset.corpus)
    assert dataset.findings is dataset.findings
    assert repr(dataset) == "Dataset(1 texts, 1 labels, 1 true)"
    assert dataset.take([0]).findings.texts == 1
